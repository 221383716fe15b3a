"""Files named `.env*` in the project: what would show them is asked about, unless it is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.protocol import commands, events
from grokmini.protocol.items import ToolResultItem
from grokmini.protocol.permission import PermissionAnswer, PermissionMode
from grokmini.tools.verdicts import Allow, Ask
from tests.cost import LINEAR, growth
from tests.fakes.model_server import ModelServer, call, reply
from tests.session.sessions import session
from tests.tools.judging import Ground, word

ASKING = [PermissionMode.ASK, PermissionMode.ACCEPT_EDITS, PermissionMode.AUTO, PermissionMode.PLAN]


def ground_in(base: Path, **rules: list[str]) -> Ground:
    """A workspace with such files, and others beside it."""
    ground = Ground(base, **rules)  # type: ignore[arg-type]
    (ground.root / "sub").mkdir()
    (ground.root / ".env.d").mkdir()
    for name in (".env", ".envrc", "sub/.env.local", ".env.d/a", "README", "env"):
        (ground.root / name).write_text("KEY=1\n")
    (base / ".env").write_text("KEY=1\n")
    (ground.root / "linked").symlink_to(".env")
    return ground


@pytest.mark.parametrize("mode", ASKING)
@pytest.mark.parametrize("rule_name", ["Read", "Grep"])
def test_the_read_tools_ask_in_every_mode_but_always_approve(
    tmp_path: Path, mode: PermissionMode, rule_name: str
) -> None:
    ground = ground_in(tmp_path)
    for name in (".env", ".envrc", "sub/.env.local", "linked"):
        asked = ground.read(name, mode, rule_name)
        assert isinstance(asked, Ask), name
        assert "may hold keys" in " ".join(asked.details)
        assert ground.read(name, PermissionMode.ALWAYS_APPROVE, rule_name) == Allow()
    for name in ("README", "env", ".", ".env.d", ".env.d/a", "../.env", ".env.not.there"):
        assert ground.read(name, mode, rule_name) == Allow(), name


@pytest.mark.parametrize("name", [".env", "linked"])
def test_a_rule_or_an_always_answer_lets_one_file_be_read(tmp_path: Path, name: str) -> None:
    ground = ground_in(tmp_path)
    asked = ground.read(name)
    assert isinstance(asked, Ask)
    assert asked.rule == f"Read({ground.root}/.env)"
    ground.answer(asked, "2")
    assert ground.read(name) == Allow()
    assert word(ground.read(".envrc")) == "ask"
    other = Ground(tmp_path, allow=["Read(.env)"])
    assert other.read(name) == Allow()
    assert word(other.read(".envrc")) == "ask"
    assert other.run("cat .env") == Allow(), "what may be read may be shown"
    assert word(other.run("cat .env .envrc")) == "ask"


SHOWING = [
    "cat .env",
    "cat ./sub/../.env",
    "head -n 3 .envrc",
    "cat sub/.env.local | sort",
    "cd sub && cat .env.local",
    "ls && cat < .env",
    "grep KEY .env",
    "grep -f.env README",
    "cat .e*",
    "cat linked",
    "tail -n1 */.env*",
    "diff .env README",
    "git diff .env",
    "git show HEAD:.env",
]


@pytest.mark.parametrize("command", SHOWING)
def test_a_command_that_only_reads_asks_too(tmp_path: Path, command: str) -> None:
    ground = ground_in(tmp_path)
    ground.repository()
    for mode in ASKING:
        asked = ground.run(command, mode, contained=True)
        assert isinstance(asked, Ask), mode
        assert "may hold keys" in " ".join(asked.details)
    assert ground.run(command, PermissionMode.ALWAYS_APPROVE) == Allow()
    ground.answer(asked, "2")
    assert ground.run(command) == Allow()


HARMLESS = [
    "ls -la .env",
    "ls .env*",
    "wc -l .env",
    "find . -name .env",
    "cat env",
    "cat README .env.d/a",
    "git status .env",
    "echo .env",
    "cat ../.env",
]


@pytest.mark.parametrize("command", HARMLESS)
def test_names_sizes_and_other_files_are_shown_unasked(tmp_path: Path, command: str) -> None:
    ground = ground_in(tmp_path)
    ground.repository()
    assert ground.run(command) == Allow()


def test_a_rule_for_the_command_lets_it_show_them(tmp_path: Path) -> None:
    assert ground_in(tmp_path, allow=["Bash(cat *)"]).run("cat .env") == Allow()


def test_many_words_and_folders_hide_none_and_cost_little(tmp_path: Path) -> None:
    ground = ground_in(tmp_path)

    def words(count: int) -> None:
        assert word(ground.run("cat " + "".join(f"f{number} " for number in range(count)) + ".env")) == "ask"

    assert growth(words, 1_000) < LINEAR
    assert growth(lambda count: ground.run("ls" + " && cd a && cat .e*" * count), 200) < LINEAR


async def test_in_a_session_nothing_of_it_is_read_before_a_yes(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / ".env").write_text("KEY=hidden\n")
    script = [
        reply(
            calls=[
                call("read_file", target_file=".env"),
                call("run_terminal_command", command="cat .env"),
                call("grep", pattern="KEY", glob=".env*"),
            ]
        ),
        reply("done"),
    ]
    with ModelServer(script, strict=True) as server:
        async with session(work, server) as driver:
            driver.prompt("go")
            asked = await driver.until(events.PermissionAsked)
            assert asked.subject == str(work / ".env")
            driver.send(commands.AnswerPermission(asked.request_id, PermissionAnswer("allow")))
            asked = await driver.until(events.PermissionAsked)
            assert asked.subject == "cat .env"
            driver.send(commands.AnswerPermission(asked.request_id, PermissionAnswer("allow")))
            await driver.until(events.TurnEnded)
        read, shown, searched = (i for i in driver.history() if isinstance(i, ToolResultItem))
        assert "KEY=hidden" in read.prompt_text and "KEY=hidden" in shown.prompt_text
        assert "hidden" not in searched.prompt_text and "only when given as `path`" in searched.prompt_text
    with ModelServer(script, strict=True) as server:
        async with session(work, server, interactive=False) as driver:
            assert (await driver.ask("go")).exit_code == 4
        read, shown, _ = (i for i in driver.history() if isinstance(i, ToolResultItem))
        assert f"--allow 'Read({work}/.env)'" in read.prompt_text
        assert "--allow 'Bash(cat .env)'" in shown.prompt_text
        assert "hidden" not in f"{read.prompt_text} {shown.prompt_text}"


async def test_protected_they_cannot_be_read_by_commands_or_file_tools(tmp_path: Path) -> None:
    work, settings = tmp_path / "work", tmp_path / "home/.config/grokmini/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[sandbox]\nprotect_env_files = true\n")
    (work / "sub").mkdir(parents=True)
    names = (".env", ".envrc", ".env.local", "sub/.env", "sub/.envrc")
    for name in names:
        (work / name).write_text("KEY=hidden\n")
    calls = [call("run_terminal_command", command=f"cat {name}; cp {name} copy; cat copy") for name in names]
    calls += [call("read_file", target_file=name) for name in names]
    with ModelServer([reply(calls=calls), reply("done")], strict=True) as server:
        env = {"HOME": str(tmp_path / "home")}
        async with session(work, server, interactive=False, mode="always-approve", env=env) as driver:
            await driver.ask("go")
        results = [item for item in driver.history() if isinstance(item, ToolResultItem)]
    assert len(results) == len(calls)
    for result, name in zip(results, names * 2, strict=True):
        assert "hidden" not in result.prompt_text, name
        assert "is denied" in result.prompt_text, name

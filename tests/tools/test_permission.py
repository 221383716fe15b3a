"""Modes, rules, questions and answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.protocol.errors import ToolErrorKind, UsageError
from grokmini.protocol.permission import PermissionAnswer, PermissionMode
from grokmini.protocol.tools import ToolKind, ToolNamespace
from grokmini.tools.contract import Subject
from grokmini.tools.questions import short_path
from grokmini.tools.rules import parse_rule
from grokmini.tools.verdicts import Allow, Ask, Deny
from tests.cost import LINEAR, growth
from tests.tools.judging import Ground, MemoryGrants, tool, word

ASK, EDITS, PLAN = PermissionMode.ASK, PermissionMode.ACCEPT_EDITS, PermissionMode.PLAN
AUTO, ALWAYS = PermissionMode.AUTO, PermissionMode.ALWAYS_APPROVE


@pytest.mark.parametrize(
    ("mode", "read", "edit", "command", "confined_command"),
    [
        (ASK, "allow", "ask", "ask", "ask"),
        (EDITS, "allow", "allow", "ask", "ask"),
        (PLAN, "allow", "deny", "deny", "deny"),
        (AUTO, "allow", "allow", "ask", "allow"),
        (ALWAYS, "allow", "allow", "allow", "allow"),
    ],
)
def test_a_mode_says_what_runs_unasked(
    tmp_path: Path, mode: PermissionMode, read: str, edit: str, command: str, confined_command: str
) -> None:
    ground = Ground(tmp_path)
    assert word(ground.read("a.py", mode)) == read
    assert word(ground.edit("a.py", mode)) == edit
    assert word(ground.run("python x.py", mode)) == command
    assert word(ground.run("python x.py", mode, contained=True)) == confined_command


def test_plan_mode_refuses_even_what_rules_allow_and_tells_the_model(tmp_path: Path) -> None:
    ground = Ground(tmp_path, allow=["Bash", "Edit"])
    for verdict in (ground.run("npm test", PLAN, contained=True), ground.edit("a.py", PLAN)):
        assert isinstance(verdict, Deny)
        assert verdict.kind is ToolErrorKind.PLAN_MODE
        assert "plan mode" in verdict.message


@pytest.mark.parametrize("mode", [mode for mode in PermissionMode if mode is not PLAN])
def test_deny_beats_ask_beats_allow_in_every_mode(tmp_path: Path, mode: PermissionMode) -> None:
    ground = Ground(
        tmp_path,
        allow=["Bash(make *)"],
        ask=["Bash(make install)", "Bash(make clean)"],
        deny=["Bash(make clean)"],
    )
    assert word(ground.run("make test", mode)) == "allow"
    assert word(ground.run("make install", mode)) == "ask"
    assert word(ground.run("make clean", mode)) == "deny"


def test_a_denial_names_the_rule(tmp_path: Path) -> None:
    verdict = Ground(tmp_path, deny=["Bash(git push *)"]).run("ls && git push origin")
    assert isinstance(verdict, Deny)
    assert "Bash(git push *)" in verdict.message


@pytest.mark.parametrize(
    ("rule", "command", "expected"),
    [
        ("Bash(npm test)", "npm test", "allow"),
        ("Bash(npm test)", "npm  test", "allow"),
        ("Bash(npm test)", "npm 'test'", "allow"),
        ("Bash(npm test)", "npm test --x", "ask"),
        ("Bash(npm test)", "npm testing", "ask"),
        ("Bash(npm test:*)", "npm test --x", "allow"),
        ("Bash(npm test:*)", "npm test", "allow"),
        ("Bash(npm test:*)", "npm testing", "ask"),
        ("Bash(npm test *)", "npm test a b", "allow"),
        ("Bash(npm *)", "npmx test", "ask"),
        ("Bash(npm run test_*)", "npm run test_a", "allow"),
        ("Bash(npm run test_*)", "npm run test_a b", "ask"),
        ("Bash(npm * --ci)", "npm a b --ci", "allow"),
        ("Bash(npm * --ci)", "npm a b", "ask"),
        ("Bash(npm run 'a b')", "npm run 'a b'", "allow"),
        ("Bash(npm run 'a b')", "npm run a b", "ask"),
        ("Bash(npm run \\*)", "npm run '*'", "allow"),
        ("Bash(npm run \\*)", "npm run x", "ask"),
        ("Bash(npm *)", "npm run $x", "allow"),
        ("Bash(npm run x)", "npm run $x", "ask"),
        ("Bash(npm *)", "npm test && npm run x", "allow"),
        ("Bash(npm *)", "cat f | npm run x | head", "allow"),
        ("Bash(npm *)", "npm test > out", "ask"),
        ("Bash(npm *)", "npm test && touch x", "ask"),
        ("Bash(a && b > c)", "a && b > c", "allow"),
        ("Bash(a && b > c)", "a && b > d", "ask"),
        ("Bash(python3 *)", "cat f | python3", "ask"),
        ("Bash(python3 *)", "python3 < f", "ask"),
        ("Bash", "anything | sh", "allow"),
        ("run_terminal_command", "anything", "allow"),
        ("*", "anything", "allow"),
        ("Bash(rm x)", "rm x", "allow"),
        ("Bash(rm *)", "rm x", "allow"),
        ("Bash(rm *)", "rm -rf x", "ask"),
        ("Bash(rm -rf x)", "rm -rf x", "allow"),
        ("Bash(git *)", "git push", "ask"),
        ("Bash(git push *)", "git push origin", "allow"),
        ("Bash(git push *)", "git push --force", "ask"),
        ("Bash(git push --force)", "git push --force", "allow"),
    ],
)
def test_an_allow_rule_is_read_narrowly(tmp_path: Path, rule: str, command: str, expected: str) -> None:
    assert word(Ground(tmp_path, allow=[rule]).run(command)) == expected


@pytest.mark.parametrize(
    ("rule", "command", "expected"),
    [
        ("Bash(git push)", "git push --force", "deny"),
        ("Bash(git push)", "git -C x push", "deny"),
        ("Bash(git push)", "git -c a=b push", "deny"),
        ("Bash(git push)", "git pushy", "allow"),
        ("Bash(rm*)", "rm -rf x", "deny"),
        ("Bash(* --force)", "git push --force", "deny"),
        ("Bash(curl * | sh)", "curl x  |  sh", "deny"),
        ("Bash(curl * | sh)", "curl x", "allow"),
        ("Read(.env)", "cat .env", "deny"),
        ("Read(.env)", "cat sub/.env", "deny"),
        ("Read(.env)", "cat < .env", "deny"),
        ("Read(.env)", "grep x --file=.env", "deny"),
        ("Read(.env)", "cd sub && cat ../.env", "deny"),
        ("Read(.env)", "cat .envrc", "allow"),
        ("Read(secrets)", "cat secrets/a/b", "deny"),
        ("Read(cfg/key)", "cat cfg/../cfg/key", "deny"),
        ("Read(cfg/key)", "cat cfg/other", "allow"),
        ("Edit(docs/**)", "cat docs/x", "allow"),
        ("Edit(docs/**)", "cp a docs/x", "deny"),
    ],
)
def test_a_deny_rule_is_read_widely(tmp_path: Path, rule: str, command: str, expected: str) -> None:
    ground = Ground(tmp_path, deny=[rule])
    (ground.root / "sub").mkdir()
    assert word(ground.run(command, ALWAYS)) == expected


@pytest.mark.parametrize(
    ("rule", "path", "expected"),
    [
        ("Edit(docs/*.md)", "docs/a.md", "allow"),
        ("Edit(docs/*.md)", "docs/sub/a.md", "ask"),
        ("Edit(docs/**)", "docs/sub/a.md", "allow"),
        ("Edit(docs/)", "docs/sub/a.md", "allow"),
        ("Edit(docs)", "docs/a.md", "ask"),
        ("Edit(a.md)", "sub/a.md", "ask"),
        ("Edit(**/a.md)", "sub/a.md", "allow"),
        ("Edit(**/a.md)", "a.md", "allow"),
        ("Write(a.m?)", "a.md", "allow"),
        ("Edit", "any/thing", "allow"),
        ("search_replace", "any/thing", "allow"),
        ("Read(a.md)", "a.md", "ask"),
    ],
)
def test_an_allow_rule_for_paths_covers_what_it_says(
    tmp_path: Path, rule: str, path: str, expected: str
) -> None:
    assert word(Ground(tmp_path, allow=[rule]).edit(path)) == expected


@pytest.mark.parametrize("rule_name", ["Read", "Grep"])
def test_a_deny_rule_for_reading_also_covers_searching_and_links(tmp_path: Path, rule_name: str) -> None:
    ground = Ground(tmp_path, deny=["Read(secret)"])
    (ground.root / "secret").mkdir()
    (ground.root / "link").symlink_to("secret")
    for path in ("secret", "secret/a", "x/secret", "link/a", "./secret/../secret"):
        assert word(ground.read(path, ALWAYS, rule_name)) == "deny"
    assert word(ground.read("other", ASK, rule_name)) == "allow"
    assert ground.policy.read_denials().covers(f"{ground.root}/secret/a")
    assert not ground.policy.read_denials().covers(f"{ground.root}/other")


@pytest.mark.parametrize("mode", [ASK, EDITS, AUTO])
def test_an_edit_outside_of_the_workspace_asks_with_the_real_path(tmp_path: Path, mode: PermissionMode) -> None:
    ground = Ground(tmp_path, allow=["Edit"])
    (tmp_path / "outside").mkdir()
    (ground.root / "box").symlink_to("../outside")
    for path in ("box/n.txt", "../outside/n.txt", tmp_path / "outside" / "n.txt"):
        verdict = ground.edit(path, mode)
        assert isinstance(verdict, Ask)
        assert any(str(tmp_path / "outside" / "n.txt") in line for line in verdict.details)
        assert word(ground.edit(path, ALWAYS)) == "allow"


def test_a_rule_with_a_whole_path_allows_outside_of_the_workspace(tmp_path: Path) -> None:
    ground = Ground(tmp_path, allow=[f"Edit({tmp_path}/outside/**)"])
    assert word(ground.edit("../outside/a")) == "allow"


@pytest.mark.parametrize("mode", list(PermissionMode))
def test_our_own_folders_are_never_written(tmp_path: Path, mode: PermissionMode) -> None:
    ground = Ground(tmp_path, allow=["*"])
    (ground.root / "link").symlink_to(ground.config)
    for path in (ground.config / "config.toml", ground.state / "grants.json", "link/config.toml"):
        assert word(ground.edit(path, mode)) == "deny"
        assert word(ground.run(f"echo x > {ground.root / path}", mode)) == "deny"


@pytest.mark.parametrize("mode", [mode for mode in PermissionMode if mode is not PLAN])
def test_commands_that_name_our_own_folders_are_asked_about_in_every_mode(
    tmp_path: Path, mode: PermissionMode
) -> None:
    ground = Ground(tmp_path, allow=["*"])
    for command in (f"cp x {ground.config}/config.toml", f"sed -i s/a/b/ {ground.state}/grants.json",
                    f"python x.py --out={ground.state}", "cd ../own && cp x config/config.toml"):  # fmt: skip
        assert word(ground.run(command, mode, contained=True)) == "ask"


def test_reading_our_own_state_is_free_but_settings_may_hold_keys(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    assert word(ground.read(ground.state / "tool_output" / "1-1.txt")) == "allow"
    assert word(ground.run(f"cat {ground.state}/tool_output/1-1.txt")) == "allow"
    assert word(ground.read(ground.config / "config.toml")) == "ask"
    assert word(ground.run(f"cat {ground.config}/config.toml")) == "ask"
    assert word(ground.run("cat ../own/*/config.toml")) == "ask"
    assert word(ground.run("grep -r key ..")) == "ask"
    assert word(ground.read("..", rule_name="Grep")) == "ask"


@pytest.mark.parametrize("mode", [ASK, EDITS, AUTO, ALWAYS])
@pytest.mark.parametrize(
    "path", [".git/hooks/pre-commit", ".git/config", "sub/.git/config", ".grokmini/config.toml", ".GIT/config"]
)
def test_what_steers_git_or_us_is_asked_about_each_time(
    tmp_path: Path, mode: PermissionMode, path: str
) -> None:
    verdict = Ground(tmp_path, allow=["*"]).edit(path, mode)
    assert isinstance(verdict, Ask)
    assert not any(option.rule for option in verdict.options)
    assert word(Ground(tmp_path, allow=["*"]).run(f"echo x > {path}", mode, contained=True)) == "ask"


def test_a_command_question_offers_the_exact_rule_and_its_scopes(tmp_path: Path) -> None:
    verdict = Ground(tmp_path).run("./build.sh --fast")
    assert isinstance(verdict, Ask)
    assert (verdict.title, verdict.subject) == ("Run this?", "./build.sh --fast")
    assert [(o.key, o.decision, o.scope, o.rule, o.wants_text) for o in verdict.options] == [
        ("1", "allow", "once", "", False),
        ("2", "allow", "session", "Bash(./build.sh --fast)", False),
        ("3", "deny", "once", "", False),
        ("4", "deny", "once", "", True),
        ("5", "allow", "repository", "Bash(./build.sh --fast)", False),
    ]
    assert "Bash(./build.sh --fast)" in verdict.options[1].label and "session" in verdict.options[1].label
    assert str(tmp_path / "work") in verdict.options[4].label
    assert "no sandbox: it can do what you can" in verdict.details[1]
    assert verdict.details[2] == "asked because ./build.sh is not known to only read"


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("pytest -q tests/a.py", "Bash(pytest *)"),
        ("python -m pytest x", "Bash(python -m pytest *)"),
        ("npm run build -- --x", "Bash(npm run build *)"),
        ("npm run '$x'", "Bash(npm run '$x')"),
        ("cd src && npm test", "Bash(npm test *)"),
        ("cd src && ./a b", "Bash(./a b)"),
        ("ls | sh", "Bash(ls | sh)"),
        ("pytest -q > out", "Bash(pytest -q > out)"),
        ("pytest $(x)", "Bash(pytest $(x))"),
        ("rm *.pyc", "Bash(rm \\*.pyc)"),
        ("git push origin main", "Bash(git push origin main)"),
        ("chmod +x a", "Bash(chmod +x a)"),
        ("a && b", "Bash(a && b)"),
    ],
)
def test_an_always_answer_stores_no_more_than_it_says(tmp_path: Path, command: str, rule: str) -> None:
    ground = Ground(tmp_path)
    (ground.root / "src").mkdir()
    verdict = ground.run(command)
    assert isinstance(verdict, Ask)
    assert verdict.options[1].rule == verdict.rule == rule
    ground.answer(verdict, "2")
    assert word(ground.run(command)) == "allow"


def test_an_answer_for_one_command_is_not_one_for_another(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    ground.answer(ground.run("rm *.pyc"), "2")
    assert word(ground.run("rm a.py x.pyc")) == "ask"
    assert word(ground.run("rm *.pyc; rm x")) == "ask"


def test_session_answers_end_with_the_session_and_repository_answers_do_not(tmp_path: Path) -> None:
    grants = MemoryGrants()
    ground = Ground(tmp_path, grants=grants)
    ground.answer(ground.run("./a"), "2")
    ground.answer(ground.run("./b"), "5")
    assert (word(ground.run("./a")), word(ground.run("./b"))) == ("allow", "allow")
    later = Ground(tmp_path, grants=grants)
    assert (word(later.run("./a")), word(later.run("./b"))) == ("ask", "allow")
    assert grants.by_repository == {ground.root.resolve(): ["Bash(./b)"]}


def test_repository_answers_are_kept_for_the_root_not_for_a_folder_in_it(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    ground.repository()
    root, ground.root = ground.root, ground.root / "sub"
    ground.root.mkdir()
    ground.answer(ground.run("./b"), "5")
    assert list(ground.grants.by_repository) == [root.resolve()]


def test_answering_once_or_no_stores_nothing(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    for key in ("1", "3", "4"):
        ground.answer(ground.run("./a"), key)
    assert word(ground.run("./a")) == "ask"


def test_a_number_means_the_same_in_every_question(tmp_path: Path) -> None:
    ground = Ground(tmp_path, ask=["Bash(./deploy)"])
    meanings: dict[str, set[tuple[str, str, bool]]] = {}
    for verdict in (ground.run("./a"), ground.edit("a.py"), ground.edit("../out.py"), ground.run("./deploy")):
        assert isinstance(verdict, Ask)
        for option in verdict.options:
            meaning = (option.decision, option.scope, option.wants_text)
            meanings.setdefault(option.key, set()).add(meaning)
    assert meanings == {
        "1": {("allow", "once", False)},
        "2": {("allow", "session", False)},
        "3": {("deny", "once", False)},
        "4": {("deny", "once", True)},
        "5": {("allow", "repository", False)},
    }


def test_an_edit_question_offers_all_edits_in_this_session(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    verdict = ground.edit("a.py")
    assert isinstance(verdict, Ask)
    assert [(o.key, o.decision, o.scope, o.rule) for o in verdict.options] == [
        ("1", "allow", "once", ""),
        ("2", "allow", "session", "Edit"),
        ("3", "deny", "once", ""),
        ("4", "deny", "once", ""),
    ]
    ground.answer(verdict, "2")
    assert word(ground.edit("sub/b.py")) == "allow"
    assert word(ground.edit("../outside.py")) == "ask"
    assert word(ground.run("./a")) == "ask"


def test_all_edits_outside_are_never_offered(tmp_path: Path) -> None:
    verdict = Ground(tmp_path).edit("../out.py")
    assert isinstance(verdict, Ask)
    assert verdict.options[1].rule == f"Edit({tmp_path}/out.py)"


def test_what_an_ask_rule_asks_is_never_remembered(tmp_path: Path) -> None:
    verdict = Ground(tmp_path, ask=["Bash(./deploy)"]).run("./deploy")
    assert isinstance(verdict, Ask)
    assert [option.rule for option in verdict.options] == ["", "", ""]
    assert "Bash(./deploy)" in verdict.details[-1]


def test_a_question_cannot_drive_the_terminal_or_deceive(tmp_path: Path) -> None:
    verdict = Ground(tmp_path).run("./a \x1b[2J\u202e\x07\rx\u200b")
    assert isinstance(verdict, Ask)
    shown = verdict.title + verdict.subject + verdict.rule + "".join(verdict.details)
    shown += "".join(option.label for option in verdict.options)
    assert not any(char in shown for char in "\x1b\u202e\x07\r\u200b")
    assert "\u241b" in verdict.subject


def test_harmless_tools_run_and_tools_that_reach_out_ask(tmp_path: Path) -> None:
    policy = Ground(tmp_path).policy
    todo = policy.judge(tool(ToolKind.PLAN), Subject("TodoWrite", "", "Change?"), (), ASK, contained=False)
    fetch = policy.judge(
        tool(ToolKind.WEB_FETCH, read_only=True),
        Subject("WebFetch", "https://a.org/x", "Fetch?"),
        (),
        AUTO,
        contained=True,
    )
    server = policy.judge(
        tool(ToolKind.OTHER, read_only=True, namespace=ToolNamespace.MCP), Subject("MCPTool", "s__t", "Call?"), (), ASK,
        contained=True,
    )  # fmt: skip
    assert [word(verdict) for verdict in (todo, fetch, server)] == ["allow", "ask", "ask"]


@pytest.mark.parametrize(
    ("rule", "url", "expected"),
    [
        ("WebFetch(domain:a.org)", "https://a.org/x", "allow"),
        ("WebFetch(domain:a.org)", "https://docs.a.org/x", "allow"),
        ("WebFetch(domain:a.org)", "https://evila.org/x", "ask"),
        ("WebFetch(domain:a.org)", "https://evil.org/a.org", "ask"),
        ("WebFetch(domain:a.org)", "https://a.org@evil.org/", "ask"),
        ("WebFetch(https://a.org/*)", "https://a.org/x", "allow"),
    ],
)
def test_a_rule_for_a_domain_covers_the_hosts_below_it(
    tmp_path: Path, rule: str, url: str, expected: str
) -> None:
    policy = Ground(tmp_path, allow=[rule]).policy
    verdict = policy.judge(
        tool(ToolKind.WEB_FETCH), Subject("WebFetch", url, "Fetch?"), (), ASK, contained=False
    )
    assert word(verdict) == expected


@pytest.mark.parametrize("text", ["Bsh(x)", "", "Bash(x", "Bash()", "Bash( )", "Shell"])
def test_a_rule_that_means_nothing_is_an_error_with_a_hint(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_rule(text, "deny")
    assert caught.value.hint


def test_a_mistyped_tool_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        parse_rule("Bsh(x)", "deny")
    assert "Bash" in caught.value.hint


def test_an_unknown_answer_is_no_rule(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        Ground(tmp_path).policy.remember(PermissionAnswer("allow", "session", "Nonsense(x)"))


def test_a_command_that_changes_folders_again_and_again_is_asked_about_and_not_followed(tmp_path: Path) -> None:
    often = "ls" + " && cd a && cat x" * 1_000
    asked = Ground(tmp_path).run(often)
    assert isinstance(asked, Ask) and "too long or too nested to be checked" in " ".join(asked.details)
    assert word(Ground(tmp_path, deny=["Read(secret)"]).run(often)) == "deny"
    assert Ground(tmp_path).run("ls" + " && cd a && cat x" * 20) == Allow()


def test_judging_a_command_costs_no_more_for_each_word_the_longer_it_is(tmp_path: Path) -> None:
    ground = Ground(tmp_path, deny=["Bash(* a * b * c)", "Read(**/x/**/y)"])
    assert (
        growth(lambda count: ground.run("./tool " + " ".join(f"{n}/a" for n in range(count))), 2_000) < LINEAR
    )
    assert growth(lambda count: ground.run("./tool " + "a " * count), 50_000) < LINEAR


@pytest.mark.parametrize(
    "command",
    ["python3 - <<'E'\nprint(1)\nE", "echo a > b\necho c > d", f"mv {'a' * 40} {'b' * 40}", f"a {'*' * 80}"],
)
def test_a_long_or_many_lined_command_is_named_in_the_answers_not_repeated(
    tmp_path: Path, command: str
) -> None:
    ground = Ground(tmp_path)
    asked = ground.run(command)
    assert isinstance(asked, Ask)
    always = {option.key: option for option in asked.options if option.rule}
    assert always["2"].label == "always exactly this command in this session"
    assert always["5"].label == f"always exactly this command in {short_path(ground.root)}"
    ground.policy.remember(PermissionAnswer("allow", "session", always["2"].rule))
    assert ground.run(command) == Allow()


def test_a_rule_for_more_than_the_command_is_always_shown_whole(tmp_path: Path) -> None:
    target = "t" * 70
    asked = Ground(tmp_path).run(f"make {target} && echo '{'x' * 60}'")
    assert isinstance(asked, Ask)
    assert asked.options[1].label == f"always Bash(make {target} *) in this session"


def test_a_long_value_of_another_tool_is_named_too(tmp_path: Path) -> None:
    subject = Subject("WebFetch", f"https://example.org/{'x' * 60}", "Fetch this?")
    asked = Ground(tmp_path).policy.judge(
        tool(ToolKind.WEB_FETCH), subject, (), PermissionMode.ASK, contained=False
    )
    assert isinstance(asked, Ask)
    assert asked.options[1].label == "always exactly this in this session"

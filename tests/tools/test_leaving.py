"""What is judged differently because of the sandbox: files beyond it, profiles that nothing keeps, what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.protocol.errors import ToolErrorKind
from grokmini.protocol.permission import PermissionMode
from grokmini.protocol.tools import ToolKind
from grokmini.sandbox.file_guard import FileGuard
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.runner import CommandSpec
from grokmini.tools.contract import Stopped, Subject
from grokmini.tools.leaving import LetOut, what_was_stopped
from grokmini.tools.permission import PermissionPolicy
from grokmini.tools.protected import protect
from grokmini.tools.rules import parse_rules
from grokmini.tools.verdicts import Allow, Ask, Deny, Verdict
from tests.tools.judging import MemoryGrants, tool, word

ANY_MODE = [PermissionMode.ASK, PermissionMode.ACCEPT_EDITS, PermissionMode.AUTO, PermissionMode.ALWAYS_APPROVE]
each_mode = pytest.mark.parametrize("mode", ANY_MODE)


class Ground:
    """A workspace under a profile, with a folder beside it."""

    def __init__(self, base: Path, *, allow: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> None:
        self.root, self.out, self.own = base / "work", base / "out", base / "own"
        for folder in (self.root, self.out, self.own):
            folder.mkdir()
        self.confining = Policy(
            "workspace",
            write_roots=(str(self.root),),
            protected=(f"{self.root}/.grokmini", f"{self.root}/.git/hooks", f"{self.root}/.git/config"),
        )
        self.policy = PermissionPolicy(
            parse_rules(allow, (), deny),
            MemoryGrants(),
            lambda: self.root,
            protected=protect((self.own,), (self.own,)),
            leaves_sandbox=FileGuard(lambda: self.confining).why_not_written,
        )

    def edit(
        self, path: Path, mode: PermissionMode, *, contained: bool = True, profile: str = "workspace"
    ) -> Verdict:
        """Judge a write, as the tools hand it over."""
        subject = Subject("Write", str(path), f"Write {path.name}?")
        paths = (path.resolve(),)
        return self.policy.judge(
            tool(ToolKind.WRITE), subject, paths, mode, contained=contained, profile=profile
        )

    def run(
        self,
        command: str,
        mode: PermissionMode,
        *,
        contained: bool = True,
        profile: str = "workspace",
        degraded: bool = False,
        shown: str = "",
    ) -> Verdict:
        """Judge a command."""
        return self.policy.judge(
            tool(ToolKind.EXECUTE),
            Subject("Bash", command, "Run this?"),
            (),
            mode,
            contained=contained,
            profile=profile,
            degraded=degraded,
            shown=shown,
        )


@each_mode
def test_a_file_beyond_the_sandbox_is_asked_about_whatever_rules_allow(
    tmp_path: Path, mode: PermissionMode
) -> None:
    ground = Ground(tmp_path, allow=("Edit", "Write"))
    verdict = ground.edit(ground.out / "new", mode)
    assert isinstance(verdict, Ask)
    assert verdict.outside == (ground.out / "new",)
    assert verdict.rule == ""
    assert {option.scope for option in verdict.options} == {"once", "session"}
    assert f"outside of the sandbox profile workspace: only {ground.root} can be written" in verdict.details[0]
    assert ground.edit(ground.root / "new", mode) == Allow()


def test_what_was_let_out_is_exactly_that_file_under_that_profile(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    ground.policy.let_out.add_files("workspace", (ground.out / "new",))
    assert ground.edit(ground.out / "new", PermissionMode.ASK) == Allow((ground.out / "new",))
    assert word(ground.edit(ground.out / "other", PermissionMode.ASK)) == "ask"
    assert word(ground.edit(ground.out / "new", PermissionMode.ASK, profile="strict")) == "ask"
    assert isinstance(ground.edit(ground.out / "new", PermissionMode.PLAN), Deny)


def test_a_deny_rule_wins_over_what_was_let_out(tmp_path: Path) -> None:
    ground = Ground(tmp_path, deny=("Edit(**/new)", f"Edit({tmp_path}/out/new)"))
    ground.policy.let_out.add_files("workspace", (ground.out / "new",))
    assert word(ground.edit(ground.out / "new", PermissionMode.ALWAYS_APPROVE)) == "deny"


@each_mode
@pytest.mark.parametrize("name", [".grokmini/x", ".grokmini/hooks/x", ".git/hooks/x", ".GROKMINI/x"])
def test_what_steers_us_or_git_is_refused_in_a_sandbox(tmp_path: Path, mode: PermissionMode, name: str) -> None:
    ground = Ground(tmp_path)
    ground.policy.let_out.add_files("workspace", (ground.root / name,))
    verdict = ground.edit(ground.root / name, mode)
    if name.startswith(".G"):
        assert isinstance(verdict, Ask), "another name where names have cases, but it may be meant for ours"
        return
    assert isinstance(verdict, Deny)
    assert verdict.kind is ToolErrorKind.SANDBOX_DENIED
    assert isinstance(ground.edit(ground.own / "config.toml", mode), Deny)


@each_mode
def test_git_s_settings_are_asked_about(tmp_path: Path, mode: PermissionMode) -> None:
    ground = Ground(tmp_path, allow=("Edit",))
    assert word(ground.edit(ground.root / ".git/config", mode)) == "ask"


@each_mode
def test_under_a_profile_that_nothing_keeps_commands_and_edits_ask_and_say_how_to_go_without(
    tmp_path: Path, mode: PermissionMode
) -> None:
    ground = Ground(tmp_path, allow=("Bash", "Edit"))
    for verdict in (
        ground.run("ls", mode, contained=False),
        ground.run("make", mode, contained=False),
        ground.edit(ground.root / "a", mode, contained=False),
    ):
        assert isinstance(verdict, Ask)
        assert "nothing here keeps the sandbox profile workspace" in " ".join(verdict.details)
        assert "--sandbox off" in " ".join(verdict.details)
        assert {option.scope for option in verdict.options} == {"once"}
    subject = Subject("Read", str(ground.root / "a"), "Read?")
    read = ground.policy.judge(
        tool(ToolKind.READ, read_only=True), subject, (), mode, contained=False, profile="workspace"
    )
    assert read == Allow()


def test_without_a_profile_nothing_of_this_applies(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    always = PermissionMode.ALWAYS_APPROVE
    assert ground.edit(ground.out / "new", always, contained=False, profile="") == Allow()
    assert ground.run("make", always, contained=False, profile="") == Allow()
    assert word(ground.edit(ground.root / ".git/hooks/x", always, contained=False, profile="")) == "ask"


def test_a_question_shows_the_sandbox_in_a_line_that_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    ground = Ground(tmp_path)
    words = "sandbox workspace: can write here and in temp, network open"
    asked = ground.run("make", PermissionMode.ASK, shown=words)
    assert isinstance(asked, Ask) and asked.details[0] == f"in ~/work · {words}"
    assert len(asked.details[0]) <= 76
    longer = ground.run("make", PermissionMode.ASK, shown=f"{words} and then some")
    assert isinstance(longer, Ask) and longer.details[:2] == ("in ~/work", f"{words} and then some")
    bare = ground.run("make", PermissionMode.ASK, contained=False, profile="", shown="")
    assert isinstance(bare, Ask) and bare.details[0].endswith("no sandbox: it can do what you can")


def test_auto_runs_commands_unasked_only_in_a_sandbox_that_keeps_all_it_promises(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    assert ground.run("make", PermissionMode.AUTO) == Allow()
    asked = ground.run("make", PermissionMode.AUTO, degraded=True)
    assert isinstance(asked, Ask) and "keeps only a part of its profile" in " ".join(asked.details)
    assert ground.run("ls", PermissionMode.AUTO, degraded=True) == Allow()
    assert ground.edit(ground.root / "new", PermissionMode.AUTO) == Allow()


def test_a_command_that_was_let_out_is_known_by_text_folder_and_environment(tmp_path: Path) -> None:
    spec = CommandSpec(("bash", "-c", "x"), tmp_path, {"A": "1", "GROKMINI_COMMAND": "make"})
    others = [
        CommandSpec(spec.argv, tmp_path / "sub", spec.env),
        CommandSpec(spec.argv, tmp_path, {**spec.env, "A": "2"}),
        CommandSpec(spec.argv, tmp_path, {**spec.env, "B": ""}),
        CommandSpec(spec.argv, tmp_path, {**spec.env, "GROKMINI_COMMAND": "make "}),
    ]
    let_out = LetOut()
    assert not let_out.has_command("workspace", spec)
    let_out.add_command("workspace", spec)
    assert let_out.has_command("workspace", spec)
    assert not let_out.has_command("strict", spec)
    assert not any(let_out.has_command("workspace", other) for other in others)


async def test_a_command_that_only_reads_was_not_kept_from_writing(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    said = f"touch: cannot touch '{ground.out}/x': Read-only file system\n"
    stopped = await what_was_stopped(said, ground.confining, "make", (ground.root,))
    assert stopped.sentence.startswith(f"{ground.out}/x: only {ground.root} can be written")
    assert stopped.notes[0].startswith("stopped by the sandbox: ")
    for command in ("cat log", "grep -r touch .", "tail -n 5 log | grep touch"):
        assert await what_was_stopped(said, ground.confining, command, (ground.root,)) == Stopped()
    assert await what_was_stopped(said, None, "make", (ground.root,)) == Stopped()


async def test_a_file_that_a_search_was_not_shown_is_told_and_not_asked_about(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    key = ground.out / "key"
    key.write_text("secret")
    policy = Policy("workspace", write_roots=(str(ground.root),), denied=(str(key),))
    for command, asked in (
        (f"cat {key}", True),
        ("cat ../out/key | head", True),
        (f"cp {key} here", True),
        (f"grep -r x {ground.out}", False),
        ("grep -r x ../out", False),
        ("cat ../out/*", False),
    ):
        stopped = await what_was_stopped(f"grep: {key}: Permission denied\n", policy, command, (ground.root,))
        assert bool(stopped.sentence) == asked, command
        assert stopped.notes[0].startswith(f"stopped by the sandbox: {key} is denied"), command


async def test_a_path_with_line_ends_cannot_forge_a_note(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    policy = Policy("x]\n[y", write_roots=(str(ground.root),))
    said = f"touch: cannot touch '{ground.out}/a\x1b[31m]': Read-only file system\n"
    stopped = await what_was_stopped(said, policy, "make", (ground.root,))
    assert stopped.notes
    assert not any(char in note for note in stopped.notes for char in "\n\x1b")

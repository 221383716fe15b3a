"""Every child that grokmini starts itself: without the terminal, in a session of its own, in a quiet environment."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from grokmini.repl.clipboard import read_clipboard
from grokmini.sampler.credentials import Credential
from grokmini.sandbox.environment import neutral_environment
from grokmini.text.quiet import quiet_environment

PACKAGE = Path(__file__).resolve().parents[2] / "grokmini"
STARTERS = {
    "run",
    "Popen",
    "call",
    "check_call",
    "check_output",
    "create_subprocess_exec",
    "create_subprocess_shell",
}
OF_OS = {
    "fork",
    "forkpty",
    "execv",
    "execve",
    "execvp",
    "execvpe",
    "posix_spawn",
    "posix_spawnp",
    "system",
    "popen",
    "spawn",
}
# ripgrep is a command of the session's runner (tools/builtin/grep.py), as what the model runs is.
CHILDREN = {
    "repl/copying.py": "clipboard",
    "repl/clipboard.py": "clipboard",
    "sampler/credentials.py": "the command that gets a key",
    "sandbox/launch.py": "the launcher",
    "sandbox/outliving.py": "the guardian, and who puts git folders right when we are dead",
    "sandbox/probe.py": "trying bubblewrap",
    "sandbox/seatbelt_runner.py": "the proof on macOS",
    "sandbox/survivors.py": "ps on macOS",
    "sandbox/unconfined.py": "commands without a sandbox",
}
HANDED_THE_TERMINAL = {"repl/handover.py": "the editor", "cli/log_output.py": "the pager"}
FORKS = {"sandbox/launcher.py"}
"""Its children set themselves up: a session of their own before anything else."""


def starts(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """The calls in a file that start a process, with what they are called by."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
            if owner in ("subprocess", "asyncio") and node.func.attr in STARTERS:
                if not (owner == "asyncio" and node.func.attr == "run"):
                    yield f"{owner}.{node.func.attr}", node
            elif owner in ("os", "pty") and node.func.attr in OF_OS:
                yield f"{owner}.{node.func.attr}", node


def found() -> dict[str, list[tuple[str, ast.Call]]]:
    calls = {str(path.relative_to(PACKAGE)): list(starts(path)) for path in sorted(PACKAGE.rglob("*.py"))}
    return {name: each for name, each in calls.items() if each}


def test_these_places_and_no_others_start_processes() -> None:
    """No git among them: what a repository's settings name is run by nobody."""
    assert set(found()) == set(CHILDREN) | set(HANDED_THE_TERMINAL) | FORKS


def test_each_has_its_own_session_a_given_environment_and_no_input_of_ours() -> None:
    for name, calls in found().items():
        for called, node in calls:
            if name in HANDED_THE_TERMINAL or name in FORKS:
                continue
            given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            assert given.get("start_new_session") == "True", f"{name}: {called}"
            assert "env" in given, f"{name}: {called}"
            assert given.get("stdin", "") not in ("", "None"), f"{name}: {called}"


ASK = "ps -o sid=,pid= -p $$; cat; (: </dev/tty) 2>/dev/null && echo tty; env"


def check(text: str) -> None:
    first, *rest = text.strip().split("\n")
    session, pid = first.split()
    assert session == pid
    assert "tty" not in rest
    env = dict(line.split("=", 1) for line in rest if "=" in line)
    assert env["GPG_TTY"] == ""
    assert (env["GIT_TERMINAL_PROMPT"], env["PAGER"], env["EDITOR"]) == ("0", "cat", "true")
    assert not {"GROKMINI_API_KEY", "SSH_ASKPASS", "BASH_ENV"} & env.keys()


GIVEN = {
    "PATH": "/usr/bin:/bin",
    "GPG_TTY": "/dev/pts/1",
    "PAGER": "less",
    "EDITOR": "vi",
    "SSH_ASKPASS": "x",
    "GROKMINI_API_KEY": "k",
    "VAULT_TOKEN": "t",
}


async def test_the_command_that_gets_a_key_has_no_terminal_and_keeps_the_token_it_may_need(
    tmp_path: Path,
) -> None:
    command = f"({ASK}) >{tmp_path}/said 2>&1; echo key"
    assert await Credential("here", command=command, env=GIVEN).key() == "key"
    text = await asyncio.to_thread((tmp_path / "said").read_text)
    check(text)
    assert "VAULT_TOKEN=t" in text


def test_a_clipboard_program_has_no_terminal_and_no_keys(tmp_path: Path) -> None:
    program = tmp_path / "xclip"
    program.write_text(f"#!/bin/sh\n({ASK}) >{tmp_path}/said 2>&1\necho copied\n")
    program.chmod(0o755)
    assert read_clipboard({**GIVEN, "PATH": f"{tmp_path}:/usr/bin:/bin", "DISPLAY": ":0"}) == "copied\n"
    text = (tmp_path / "said").read_text()
    check(text)
    assert "VAULT_TOKEN" not in text


def test_a_quiet_environment_keeps_tokens_and_a_neutral_one_does_not() -> None:
    assert quiet_environment(GIVEN)["VAULT_TOKEN"] == "t"
    assert "VAULT_TOKEN" not in neutral_environment(GIVEN)
    assert quiet_environment(GIVEN).keys() - {"VAULT_TOKEN"} == neutral_environment(GIVEN).keys()


def test_bubblewrap_is_not_taken_from_a_folder_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grokmini.sandbox.probe import probe

    stub = tmp_path / "bwrap"
    stub.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    stub.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert probe(".:").bwrap is None
    assert not (tmp_path / "ran").exists()

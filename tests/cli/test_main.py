"""The entry point: what is printed where, and the exit code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grokmini import __version__
from grokmini.cli.main import main
from grokmini.cli.table import COMMANDS, LATER

SPECIFIED = frozenset(
    ("sessions", "log", "models", "doctor", "config", "rewind", "worktree", "compaction", "plugin", "mcp", "memory",
     "policy", "sandbox", "prompt", "acp", "completions", "demo")
)  # fmt: skip


@pytest.mark.parametrize("flag", ["--version", "-V", "-v"])
def test_the_version_is_one_line(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([flag]) == 0
    assert capsys.readouterr().out == f"grokmini {__version__}\n"


def test_the_version_is_also_told_among_other_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--debug", "--version"]) == 0
    assert capsys.readouterr().out == f"grokmini {__version__}\n"


def test_native_windows_is_pointed_to_wsl(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert main([]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "WSL" in captured.err


def test_a_wrong_option_is_one_line_and_a_hint_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--modle", "x"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "grokmini: unknown option --modle\n  did you mean --model?\n"


def test_control_characters_in_a_word_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--x\x1b[2J"]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_a_command_rejects_words_and_options_it_does_not_take(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completions", "tcsh"]) == 2
    assert main(["demo", "now"]) == 2
    assert main(["demo", "--model", "x"]) == 2
    assert "bash, zsh, fish" in capsys.readouterr().err


def test_help_into_a_closed_pipe_ends_quietly() -> None:
    program = f"{sys.executable} -m grokmini --help all | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout == "0\n"


@pytest.mark.parametrize("word", sorted(LATER))
def test_a_command_of_a_later_version_is_refused_and_never_sent_as_a_prompt(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"grokmini: this version has no command '{word}'\n")


def test_every_command_of_the_specification_is_there_or_known_to_come() -> None:
    assert LATER.isdisjoint(COMMANDS)
    assert set(COMMANDS) | LATER >= SPECIFIED


def test_a_working_folder_that_is_gone_is_told_and_no_fault(tmp_path: Path) -> None:
    script = (
        f"mkdir {tmp_path}/gone; cd {tmp_path}/gone; rmdir {tmp_path}/gone; exec {sys.executable} -m grokmini"
    )
    for words in ("config", "prompt", "-p hi"):
        done = subprocess.run(
            ["sh", "-c", f"{script} {words}"],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 2
        assert done.stderr.startswith("grokmini: cannot work in this folder: No such file or directory\n")


def test_no_traceback_leaves_the_program_and_the_log_has_it(fresh_home: Path) -> None:
    program = [sys.executable, "-c", FAULTY]
    done = subprocess.run(program, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert done.stdout == ""
    first, second = done.stderr.splitlines()
    assert first == "grokmini: a fault inside the program (ZeroDivisionError: caf\ufffd is broken)"
    assert "--continue" in second
    (log,) = (fresh_home / ".local/state/grokmini/logs").iterdir()
    assert str(log) in second
    assert "ZeroDivisionError" in log.read_text(encoding="utf-8")


FAULTY = """
import sys, types
from grokmini.cli import table
from grokmini.cli.main import main
from grokmini.cli.option import CommandSpec

def run(parsed):
    raise ZeroDivisionError("caf\\udce9 is broken")

sys.modules["broken"] = types.SimpleNamespace(SPEC=CommandSpec(), run=run)
table.COMMANDS["broken"] = ("broken", "a command that breaks")
raise SystemExit(main(["broken"]))
"""

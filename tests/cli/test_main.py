"""The entry point: what is printed where, and the exit code."""

from __future__ import annotations

import subprocess
import sys

import pytest

from grokmini import __version__
from grokmini.cli.__main__ import main


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

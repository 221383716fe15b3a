"""The shell reader against a real shell."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grokmini.tools.shell_parse import Word, parse
from tests.tools.judging import Ground, word

BASH = shutil.which("bash") or "/bin/sh"
PIECES = ["a", "b-c", "'", '"', "\\", " ", "\t", "$", "*", "~", "#", "=", "é", "{", ",", "}", "!", "-", "\\\n"]
TRICKS = [
    "ls", "echo x", "git log", "touch p", " ", " ", ";", "&&", "|", "&", "\n", "$(", "`", ")", "(", "'", '"', "\\",
    ">", ">p", "<", "<<E", "E", "<<<", "{", "}", "#", "$x", "${x:-", "$'", "\\x70", "if", "then", "fi", "!", "2", "p",
    "sort -o", "find . -delete", "cat", "\r", "*", "~", "=", "\\\n", "<(", ">(", "$((", "))", "eval", "sh -c",
]  # fmt: skip


@settings(max_examples=80)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_words_that_are_literal_are_what_a_shell_passes_on(text: str) -> None:
    script = parse(f"printf '%s\\0' {text}")
    plain = len(script.commands) == 1 and not script.doubts and not script.commands[0].writes
    if not plain or any(
        entry.kind != "literal" or entry.text.startswith("~") for entry in script.commands[0].words
    ):
        return
    run = subprocess.run(
        [BASH, "-c", f"printf '%s\\0' {text}"], capture_output=True, check=True, stdin=subprocess.DEVNULL
    )
    expected = [entry.text for entry in script.commands[0].words[2:]] or [""]
    assert run.stdout.decode() == "".join(entry + "\0" for entry in expected)


@settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.sampled_from(TRICKS), min_size=1, max_size=9).map("".join))
def test_whatever_runs_unasked_leaves_the_folder_as_it_was(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ground = Ground(Path(folder))
        (ground.root / "kept").write_text("x")
        if word(ground.run(text)) != "allow":
            return
        subprocess.run(
            [BASH, "-c", text],
            cwd=ground.root,
            capture_output=True,
            check=False,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )
        assert [entry.name for entry in ground.root.iterdir()] == ["kept"]
        assert (ground.root / "kept").read_text() == "x"


@settings(max_examples=80)
@given(st.text(max_size=60) | st.text("a1-#;|&()<>{}!$`'\"\\ \n", max_size=6))
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    """Whatever says something is a command that was read, or a doubt; a comment says nothing."""
    found = parse(text)
    said = text.replace("\\\n", "").strip()
    assert found.commands or found.doubts or not said or said.startswith("#")


def test_a_long_command_is_read_in_one_pass() -> None:
    assert len(parse("echo " + "x " * 60_000).commands[0].words) == 60_001


def test_deep_nesting_ends_in_a_doubt_not_in_a_crash() -> None:
    assert parse("$(" * 30_000).doubts
    assert parse("`" * 30_001).doubts
    assert parse("((((" * 20_000).doubts


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a.py", "literal"),
        ("'*'", "literal"),
        ("\\*", "literal"),
        ("*.py", "glob"),
        ("a?", "glob"),
        ("[ab]", "glob"),
        ("$x", "dynamic"),
        ("a$x", "dynamic"),
        ('"$x"', "dynamic"),
        ("'$x'", "literal"),
        ("{a,b}", "dynamic"),
        ("{1..3}", "dynamic"),
        ("{a}", "literal"),
        ("a$", "literal"),
    ],
)
def test_a_word_knows_what_the_shell_may_make_of_it(text: str, kind: str) -> None:
    assert parse(f"echo {text}").commands[0].words[1].kind == kind


def test_redirections_are_told_apart() -> None:
    (command,) = parse("cmd <in >out 2>>err 3<>both >&2 2>&1 4>&- &>all <<<text").commands
    assert command.writes == (Word("out"), Word("err"), Word("both"), Word("all"))
    assert command.reads == (Word("in"),)
    assert command.inputs == ("text",)


def test_a_here_document_belongs_to_its_command() -> None:
    script = parse("cat <<-'E' && ls\n\trm x\n\tE\npwd")
    assert [command.words[0].text for command in script.commands] == ["cat", "ls", "pwd"]
    assert [command.inputs for command in script.commands if command.inputs] == [("\trm x",)]
    assert script.doubts == ("it has a here-document",)

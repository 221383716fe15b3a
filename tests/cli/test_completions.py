"""Completion scripts are made from the tables and work in the shell."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pexpect
import pytest

from grokmini.cli.command_tree import command_lines
from grokmini.cli.options import OPTIONS, OUTPUT_FORMATS
from grokmini.cli.shells import SCRIPTS
from grokmini.cli.table import COMMANDS

STAND_IN = """#!/bin/sh
printf '%s\\n' "$*" >> "$LOG"
case "$4" in
fix*) printf 'fix the test\\nfix `it` $now\\n' ;;
one*) printf 'one title\\n' ;;
019a1*) printf '019a1111-a\\tfix the test\\n' ;;
*) printf '019a1111-a\\tfix the test\\n019a2222-b\\tcosts $5\\n' ;;
esac
"""
"""A `grokmini` of the PATH that keeps what it was asked."""


def complete(line: str, *, path: str = os.environ["PATH"], log: str = os.devnull) -> list[str]:
    """What bash offers for a line with the cursor at its end; words are cut where bash cuts them."""
    words = " ".join("'" + word.replace("'", "'\\''") + "'" for word in line.replace("=", " = ").split(" "))
    program = (
        f"{SCRIPTS['bash']()}\nCOMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_TYPE=9\n"
    )
    program += '_grokmini; printf "%s\\n" "${COMPREPLY[@]}"'
    env = {"PATH": path, "LOG": log}
    done = subprocess.run(
        ["bash", "--norc", "-c", program], capture_output=True, text=True, check=True, env=env
    )
    assert done.stderr == ""
    return done.stdout.splitlines() if done.stdout != "\n" else []


def test_bash_completes_commands_and_options() -> None:
    assert complete("grokmini do") == ["doctor"]
    assert complete("grokmini --out") == ["--output-format"]
    assert set(COMMANDS) <= set(complete("grokmini "))


def test_bash_completes_the_words_of_an_option() -> None:
    assert complete("grokmini --output-format ") == list(OUTPUT_FORMATS)
    assert complete("grokmini --output-format=js") == ["json"]
    assert complete("grokmini -p x --permission-mode acc") == ["accept-edits"]


def test_bash_completes_inside_a_command() -> None:
    assert complete("grokmini completions f") == ["fish"]
    assert "--model" in complete("grokmini doctor --")
    assert "--yolo" not in complete("grokmini doctor --")


def test_bash_completes_inside_a_command_of_a_command() -> None:
    assert complete("grokmini sessions de") == ["delete"]
    assert set(complete("grokmini sessions delete --")) == {"--yes", "--help"}
    assert "--before" in complete("grokmini sessions fork --")
    assert "--before" not in complete("grokmini sessions --")


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """A folder for the PATH with a `grokmini` that keeps its words in the file `log`."""
    (tmp_path / "grokmini").write_text(STAND_IN)
    (tmp_path / "grokmini").chmod(0o755)
    return tmp_path


def looked_up(line: str, folder: Path) -> list[str]:
    """What bash offers with that folder first in the PATH."""
    return complete(line, path=f"{folder}{os.pathsep}{os.environ['PATH']}", log=str(folder / "log"))


@pytest.mark.parametrize(
    "line", ["grokmini --resume 01", "grokmini --resume=01", "grokmini sessions delete 01", "grokmini log 01"]
)
def test_bash_looks_sessions_up_and_shows_their_titles(asked: Path, line: str) -> None:
    assert set(looked_up(line, asked)) >= {"019a1111-a  fix the test", "019a2222-b  costs $5"}
    assert (asked / "log").read_text() == "completions words sessions 01\n"


def test_a_single_session_is_its_id_alone(asked: Path) -> None:
    assert looked_up("grokmini --resume 019a1", asked) == ["019a1111-a"]


def test_bash_quotes_a_title_as_its_beginning_is_quoted(asked: Path) -> None:
    assert looked_up("grokmini --resume fix", asked) == ["fix\\ the\\ test", "fix\\ \\`it\\`\\ \\$now"]
    assert looked_up('grokmini --resume "fix', asked) == ["fix the test"]
    assert (asked / "log").read_text().splitlines()[-1] == "completions words sessions fix"


def test_following_offers_what_runs_and_a_model_option_the_models(asked: Path) -> None:
    looked_up("grokmini --follow x", asked)
    looked_up("grokmini --model x", asked)
    assert (asked / "log").read_text().splitlines() == [
        "completions words live-sessions x",
        "completions words models x",
    ]


def test_what_a_typed_path_points_to_is_never_run(asked: Path, tmp_path: Path) -> None:
    evil = tmp_path / "evil"
    evil.mkdir()
    (evil / "grokmini").write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\n")
    (evil / "grokmini").chmod(0o755)
    looked_up(f"{evil}/grokmini --resume 01", asked)
    assert not (tmp_path / "pwned").exists()
    assert (asked / "log").exists()


def test_an_interactive_bash_inserts_what_is_looked_up(asked: Path) -> None:
    """The real readline, with its own idea of words and quotes."""
    env = {
        "PATH": f"{asked}{os.pathsep}{os.environ['PATH']}",
        "LOG": str(asked / "log"),
        "PS1": "$ ",
        "TERM": "dumb",
    }
    script = asked / "script"
    script.write_text(SCRIPTS["bash"]() + 'bind "set enable-bracketed-paste off"\n')
    bash = pexpect.spawn("bash", ["--norc", "--noprofile", "-i"], env=env, encoding="utf-8", timeout=30)
    bash.sendline(f"source {script}; echo ready-$((1 + 1))")
    bash.expect_exact("ready-2")
    for typed, inserted in (
        ("--resume 019a1", "--resume 019a1111-a "),
        ("--resume=019a1", "--resume=019a1111-a "),
        ("--resume 'one", "--resume 'one title' "),
        ("--resume one", "--resume one\\ title "),
        ("sess", "sessions "),
    ):
        bash.send(f"grokmini {typed}\t")
        bash.expect_exact(f"grokmini {inserted}")
        bash.send("\x15\r")  # takes the line back; a signal in the midst of a completion may be lost
        bash.expect_exact("$ ")
    bash.close(force=True)


@pytest.mark.parametrize("shell", SCRIPTS)
def test_every_script_names_every_option_and_command(shell: str) -> None:
    text = SCRIPTS[shell]()
    options = [*OPTIONS, *(option for line in command_lines() for option in line.options)]
    for option in options:
        for name in option.names:
            dashes, spelled = ("-l", name[2:]) if name.startswith("--") else ("-s", name[1:])
            assert f"{dashes} {spelled} " in text if shell == "fish" else name in text
    assert all(word in text for line in command_lines() for word in line.path)


@pytest.mark.parametrize("shell", SCRIPTS)
def test_every_script_looks_up_what_the_tables_say(shell: str) -> None:
    text = SCRIPTS[shell]()
    kinds = {"sessions", "models", "live-sessions"}
    assert all(f"_grokmini_look_up {kind}" in text for kind in kinds)


def test_brackets_and_quotes_are_even_in_every_script() -> None:
    for script in SCRIPTS.values():
        lines = [
            line for line in script().splitlines() if not line.lstrip().startswith("#") and "\\'" not in line
        ]
        assert [line for line in lines if line.count("'") % 2] == []
    assert subprocess.run(["bash", "-n"], input=SCRIPTS["bash"](), text=True, check=False).returncode == 0


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_shell_reads_its_script(shell: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(SCRIPTS[shell]())
    done = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")

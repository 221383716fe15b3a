"""Completion scripts are made from the tables and work in the shell."""

from __future__ import annotations

import subprocess

import pytest

from grokmini.cli.options import OPTIONS, OUTPUT_FORMATS
from grokmini.cli.shells import SCRIPTS, bash
from grokmini.cli.table import COMMANDS


def complete(line: str) -> list[str]:
    """What bash offers for a line with the cursor at its end."""
    words = " ".join(f'"{word}"' for word in line.split(" "))
    count = line.count(" ")
    program = (
        f'{bash()}\nCOMP_WORDS=({words}); COMP_CWORD={count}\n_grokmini; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "--norc", "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bash_completes_commands_and_options() -> None:
    assert complete("grokmini do") == ["doctor"]
    assert complete("grokmini --out") == ["--output-format"]
    assert set(COMMANDS) <= set(complete("grokmini "))


def test_bash_completes_the_words_of_an_option() -> None:
    assert complete("grokmini --output-format ") == list(OUTPUT_FORMATS)
    assert complete("grokmini -p x --permission-mode acc") == ["accept-edits"]


def test_bash_completes_inside_a_command() -> None:
    assert complete("grokmini completions f") == ["fish"]
    assert "--model" in complete("grokmini doctor --")
    assert "--yolo" not in complete("grokmini doctor --")


@pytest.mark.parametrize("shell", SCRIPTS)
def test_every_script_names_every_option_and_command(shell: str) -> None:
    text = SCRIPTS[shell]()
    for option in OPTIONS:
        for name in option.names:
            dashes, spelled = ("-l", name[2:]) if name.startswith("--") else ("-s", name[1:])
            assert f"{dashes} {spelled} " in text if shell == "fish" else name in text
    assert all(name in text for name in COMMANDS)

"""The README's two commands: one line each, and the second is what `.ci/run` runs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from grokmini.cli.command_tree import command_lines
from grokmini.cli.options import OPTIONS
from grokmini.cli.table import COMMANDS
from grokmini.protocol.errors import ExitCode
from tests.house.sources import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_there_are_exactly_two_commands_of_one_line_each_at_the_top() -> None:
    assert len(BLOCKS) == 2
    assert all(block.count("\n") == 1 for block in BLOCKS)
    assert README.index(BLOCKS[1]) < README.index("\n## ")


def test_the_first_command_ends_in_the_demo() -> None:
    assert BLOCKS[0].strip().endswith("grokmini demo")


def test_ci_runs_exactly_the_second_command() -> None:
    commands = [
        line
        for line in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith(("#", "set ", "cd "))
    ]
    assert commands == [BLOCKS[1].strip()]


@pytest.mark.parametrize("script", [*BLOCKS, (ROOT / "tests" / "setup").read_text(encoding="utf-8")])
def test_the_commands_are_plain_posix_shell(script: str) -> None:
    done = subprocess.run(["sh", "-n"], input=script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_first_ten_lines_say_what_it_is() -> None:
    lines = README.partition("# grokmini\n")[2].partition("```")[0].splitlines()
    assert 9 <= len([line for line in lines if line]) <= 12


STAND_IN = """#!/bin/sh
echo "$(basename "$0") $*" >> "$LOG"
"""
STAND_INS = {
    "apt-get": STAND_IN,
    "sudo": STAND_IN + 'exec "$@"\n',
    "id": "#!/bin/sh\necho $USER_ID\n",
    "python3": STAND_IN
    + """case "$1" in
-c) exit $NO_VENV ;;
-m) mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; cp "$0" "$3/bin/grokmini" ;;
esac
""",
}
INSTALLED = ["python3 -m venv .venv", "python -m pip install -q .", "grokmini demo"]


@pytest.mark.parametrize(
    ("user", "lacks_venv", "packages"),
    [
        ("0", "0", []),
        ("0", "1", ["apt-get update -q", "apt-get install -q -y python3-venv"]),
        ("1000", "0", []),
        (
            "1000",
            "1",
            [
                "sudo apt-get update -q",
                "apt-get update -q",
                "sudo apt-get install -q -y python3-venv",
                "apt-get install -q -y python3-venv",
            ],
        ),
    ],
)
def test_the_first_command_sets_up_what_is_missing_and_no_more(
    tmp_path: Path, user: str, lacks_venv: str, packages: list[str]
) -> None:
    """Run as it stands, with stand-ins for what needs a network."""
    tools, log = tmp_path / "tools", tmp_path / "log"
    tools.mkdir()
    for name, text in STAND_INS.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    env = {"PATH": f"{tools}:/usr/bin:/bin", "LOG": str(log), "USER_ID": user, "NO_VENV": lacks_venv}
    done = subprocess.run(
        ["sh", "-c", BLOCKS[0]], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    probe, *steps = log.read_text().splitlines()
    assert probe == "python3 -c import ensurepip, venv"
    assert steps == [*packages, *INSTALLED]


def test_every_option_and_command_that_the_readme_names_exists() -> None:
    known = {name for option in OPTIONS for name in option.names} | {"--full", "--unit"}
    assert [name for name in COMMANDS if name not in README] == []
    known |= {spelling for line in command_lines() for option in line.options for spelling in option.names}
    prose = README.replace(BLOCKS[0], "").replace(BLOCKS[1], "")
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", prose)) - known == set()


def test_every_exit_code_of_a_run_is_told() -> None:
    told = README.partition("Its exit code says how it went:")[2].partition("When the reader")[0]
    codes = {int(number) for number in re.findall(r"\b\d+\b", told)}
    every = {code for name, code in vars(ExitCode).items() if name.isupper()}
    assert codes == every - {ExitCode.SCHEMA}, "no option asks for a schema yet"


def test_the_sandbox_is_told_with_its_commands_and_its_file() -> None:
    safety = README.partition("## Safety")[2].partition("\n## ")[0]
    (sandbox,) = (line for line in command_lines() if line.name == "sandbox")
    assert [row.name for row in sandbox.spec.commands if f"`grokmini sandbox {row.name}" not in safety] == []
    assert "grokmini-config(5)" in safety
    assert "sandbox.toml" in README.partition("## Files")[2].partition("\n## ")[0]


def test_every_path_of_the_repository_that_the_readme_names_exists() -> None:
    paths = re.findall(r"`((?:grokmini|tests)/[\w./]+)`", README)
    assert len(paths) >= 8
    missing = [path for path in paths if "NAME" not in path and not (ROOT / path).exists()]
    assert missing == []

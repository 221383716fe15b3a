"""The README's two commands: one line each, and the second is what `.ci/run` runs."""

from __future__ import annotations

import re
import subprocess
from importlib import import_module

import pytest

from grokmini.cli.options import OPTIONS
from grokmini.cli.table import COMMANDS
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


def test_every_option_and_command_that_the_readme_names_exists() -> None:
    known = {name for option in OPTIONS for name in option.names} | {"--full"}
    for name, (module, _) in COMMANDS.items():
        assert name in README
        known |= {spelling for option in import_module(module).SPEC.options for spelling in option.names}
    prose = README.replace(BLOCKS[0], "").replace(BLOCKS[1], "")
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", prose)) - known == set()


def test_every_path_of_the_repository_that_the_readme_names_exists() -> None:
    paths = re.findall(r"`((?:grokmini|tests)/[\w./]+)`", README)
    assert len(paths) >= 8
    missing = [path for path in paths if "NAME" not in path and not (ROOT / path).exists()]
    assert missing == []

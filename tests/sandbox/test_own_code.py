"""Our own code in a folder that commands can write: none of them changes what we run, outside, later in the session."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from grokmini.sandbox.outliving import python_words
from grokmini.sandbox.resolve import Around
from tests.sandbox.places import said
from tests.sandbox.resolved import around_of, resolved, working

PACKAGE = Path(__file__).resolve().parents[2] / "grokmini"


def installed(tmp_path: Path, where: str) -> Around:
    around = around_of(tmp_path)
    code = Path(around.cwd, where)
    shutil.copytree(PACKAGE / "sandbox", code / "sandbox", ignore=shutil.ignore_patterns("__pycache__"))
    return replace(around, code=str(code))


async def test_no_command_writes_our_own_code_in_the_project(tmp_path: Path) -> None:
    around = installed(tmp_path, ".venv/lib/grokmini")
    launcher = Path(around.code, "sandbox/launcher.py")
    before = launcher.read_bytes()
    async with working(around) as runner:
        await said(
            runner, f"echo x >>{launcher}; mv .venv moved; rm -rf .venv/lib/grokmini/sandbox", around.cwd
        )
        assert await said(runner, "touch .venv/lib/other && ls .venv/lib", around.cwd) == "grokmini\nother\n"
    assert launcher.read_bytes() == before


def test_the_person_is_told_where_commands_can_write_around_our_code(tmp_path: Path) -> None:
    around = installed(tmp_path, "lib/grokmini")
    (notice,) = (text for text in resolved(around).notices if "itself runs from" in text)
    assert f"{around.code}, in a folder that commands can write: it is kept from them" in notice
    inside = replace(around, cwd=f"{around.code}/sandbox")
    assert inside.code not in resolved(inside).protected, "else nobody could work in it"
    elsewhere = replace(around, code="/nowhere/grokmini")
    assert not [text for text in resolved(elsewhere).notices if "itself runs from" in text]


def test_what_outlives_us_is_run_by_no_link_that_can_be_replaced() -> None:
    program = python_words("grokmini.sandbox.keeper")[0]
    assert program == os.path.realpath(program)
    assert os.path.samefile(program, sys.executable)

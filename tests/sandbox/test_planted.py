"""A program that a command may have planted on the search path is not taken for bubblewrap, nor run to try it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.places import ENV
from tests.sandbox.test_git_protected import git

ROOT = Path(__file__).resolve().parents[2]
PROBE = "from grokmini.sandbox.probe import probe; found = probe(); print(found.bwrap, found.reasons.get('bubblewrap'))"
PLACES = {
    "a virtual environment": ("elsewhere/.venv/bin", "elsewhere/.venv/pyvenv.cfg"),
    "what npm fills": ("elsewhere/node_modules/.bin", "elsewhere/package.json"),
    "the project": ("project/tools", "project/README"),
    "the folder worked in": ("project/deep/bin", "project/README"),
}


def plant(base: Path, place: str, marker: str, *names: str) -> Path:
    folder = base / place
    folder.mkdir(parents=True)
    (base / marker).touch()
    for name in names:
        (folder / name).write_text(
            f'#!/bin/sh\necho {name} >>{base}/ran\nPATH={ENV["PATH"]}\nexec {name} "$@"\n'
        )
        (folder / name).chmod(0o755)
    return folder


def probed(base: Path, path: str) -> str:
    """What is found for bubblewrap, by somebody who starts below the project with that search path."""
    cwd = base / "project/deep"
    cwd.mkdir(parents=True, exist_ok=True)
    git(base / "project", "init", "-q")
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        cwd=cwd,
        env={**ENV, "PATH": path, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize(("place", "marker"), PLACES.values(), ids=PLACES.keys())
def test_what_lies_where_commands_put_programs_is_passed_over(tmp_path: Path, place: str, marker: str) -> None:
    folder = plant(tmp_path, place, marker, "bwrap", "true")
    assert probed(tmp_path, f"{folder}:{ENV['PATH']}") == probed(tmp_path, ENV["PATH"]) != "None None"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(("place", "marker"), PLACES.values(), ids=PLACES.keys())
def test_where_there_is_no_other_it_is_told(tmp_path: Path, place: str, marker: str) -> None:
    folder = plant(tmp_path, place, marker, "bwrap")
    found = probed(tmp_path, str(folder))
    assert found == f"None bwrap is not installed ({folder}/bwrap may be a command's)"
    assert not (tmp_path / "ran").exists()


def test_a_folder_of_the_persons_own_is_taken(tmp_path: Path) -> None:
    folder = plant(tmp_path, "home/bin", "home/.profile", "bwrap")
    assert probed(tmp_path, f"{folder}:{ENV['PATH']}") == f"{folder}/bwrap None"
    assert (tmp_path / "ran").read_text().startswith("bwrap\n")

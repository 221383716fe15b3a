"""What the program touches: its own places, and the model's endpoint."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.program import PROGRAM, Place, fixing
from tests.fakes.model_server import ModelServer

XDG = {"XDG_CONFIG_HOME": "c", "XDG_DATA_HOME": "d", "XDG_STATE_HOME": "s", "XDG_CACHE_HOME": "k"}


def test_with_the_xdg_variables_set_nothing_new_is_in_the_home_folder(place: Place, tmp_path: Path) -> None:
    """H61"""
    place.add_calc()
    xdg = {name: str(tmp_path / folder) for name, folder in XDG.items()}
    with ModelServer(fixing()) as server:
        old = os.umask(0o022)
        try:
            done = place.run("-p", "fix the failing test", "--yolo", server=server, env=xdg)
        finally:
            os.umask(old)
    assert done.returncode == 0
    assert list(place.home.iterdir()) == []
    state = tmp_path / "s" / "grokmini"
    files = [path for folder in XDG.values() for path in (tmp_path / folder).rglob("*") if path.is_file()]
    assert any(path.name == "chat_history.jsonl" and state in path.parents for path in files)
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert stat.S_IMODE(state.stat().st_mode) == 0o700


def test_grokmini_home_takes_everything(place: Place, tmp_path: Path) -> None:
    own = tmp_path / "own"
    with ModelServer(fixing()[-1:]) as server:
        done = place.run("-p", "hi", server=server, env={"GROKMINI_HOME": str(own)})
    assert done.returncode == 0
    assert list(place.home.iterdir()) == []
    assert (own / "state" / "sessions").is_dir()


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["completions", "bash"]], ids=lambda words: words[0]
)
def test_help_version_and_completions_are_quick_and_touch_nothing(place: Place, words: list[str]) -> None:
    """H62: warm under 150 ms of processor time each; no socket opened, no file written."""
    before = snapshot(place)
    place.run(*words)
    assert any(cpu_seconds(place, words) < 0.150 for _ in range(20)), "never, although others take turns"
    assert snapshot(place) == before
    assert sockets_and_writes(place, words) == []


def snapshot(place: Place) -> list[Path]:
    return sorted([*place.home.rglob("*"), *place.project.rglob("*")])


def cpu_seconds(place: Place, words: list[str]) -> float:
    """User and system time of one run, which a busy machine does not lengthen as it does wall time."""
    before = os.times()
    place.run(*words)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


AUDIT = """
import runpy, sys
seen = []
def hook(event, args):
    if event.startswith("socket."):
        seen.append(event)
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        seen.append(f"open {args[0]} {args[1]}")
sys.addaudithook(hook)
sys.dont_write_bytecode = True
sys.argv[0] = "grokmini"
try:
    runpy.run_module("grokmini", run_name="__main__")
except SystemExit:
    pass
print("\\n".join(seen), file=sys.stderr, end="")
"""


def sockets_and_writes(place: Place, words: list[str]) -> list[str]:
    """Sockets opened and files opened for writing, by Python's own audit of the run."""
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, *words],
        cwd=place.project,
        env=place.environment(),
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return done.stderr.splitlines()


def test_a_headless_start_leaves_out_what_only_a_person_needs(place: Place) -> None:
    """With click installed httpx would pull in its own command line, rich and pygments too."""
    __import__("click")
    with ModelServer(fixing()[-1:]) as server:
        done = subprocess.run(
            [sys.executable, "-X", "importtime", str(PROGRAM), "-p", "hi"],
            cwd=place.project,
            env=place.environment(server),
            capture_output=True,
            text=True,
            check=True,
            stdin=subprocess.DEVNULL,
        )
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "httpx" in imported
    assert imported & {"prompt_toolkit", "rich", "mistune", "pygments", "sqlite3", "click"} == set()


def test_the_key_is_in_no_file_and_no_output(place: Place) -> None:
    started = time.time()
    with ModelServer(fixing()[-1:]) as server:
        done = place.run("-p", "hi", "--debug", "--output-format", "stream-json", server=server)
        assert server.requests[-1].headers["authorization"] == "Bearer sk-test-0123"
    files = [path for path in place.home.rglob("*") if path.is_file()]
    assert files
    assert all(path.stat().st_mtime >= started - 60 for path in files)
    assert not [path for path in files if b"sk-test-0123" in path.read_bytes()]
    assert "sk-test-0123" not in done.stdout + done.stderr

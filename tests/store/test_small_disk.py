"""A disk that fills up or becomes read-only: nothing old is harmed, one notice, and all is written in the end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.store.ground import REPOSITORY

SECONDS = 300.0

WAYS = (["unshare", "-m"], ["unshare", "-Urm"])
"""Mounts of one's own: as root, and as anybody."""


def may_mount(way: list[str], point: Path) -> bool:
    """Whether a file system can be mounted in that way here."""
    mount = [*way, "mount", "-t", "tmpfs", "tmpfs", str(point)]
    return subprocess.run(mount, capture_output=True, check=False).returncode == 0


def test_a_small_file_system_fills_up_and_is_emptied_becomes_read_only_and_writable(tmp_path: Path) -> None:
    ways = [way for way in WAYS if may_mount(way, tmp_path)]
    if not ways:
        return  # nobody may mount here: test_trouble.py starves a process by a limit on file sizes instead
    done = subprocess.run(
        [*ways[0], sys.executable, "-m", "tests.store.small_disk", str(tmp_path / "small")],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "whole\n"

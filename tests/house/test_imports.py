"""What may be imported before it is needed: start-up is a feature."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {
    "asyncio",
    "httpx",
    "mistune",
    "msgspec",
    "pathspec",
    "platformdirs",
    "prompt_toolkit",
    "pygments",
    "regex",
    "rich",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "tomlkit",
}

PROBE = """
import sys
before = set(sys.modules)
from grokmini.cli.main import main
code = main(sys.argv[1:])
print("\\0".join(sorted(set(sys.modules) - before)), file=sys.stderr)
raise SystemExit(code)
"""


def imported_by(*words: str) -> set[str]:
    """The modules that a run of the program with these words loads beyond a bare interpreter's."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *words],
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return set(done.stderr.strip().split("\0"))


def test_version_imports_nothing_but_itself() -> None:
    assert imported_by("--version") == {"grokmini", "grokmini.cli", "grokmini.cli.main"}


def test_help_imports_nothing_heavy() -> None:
    """H62"""
    assert imported_by("--help") & HEAVY == set()


def test_completions_import_nothing_heavy() -> None:
    """H62"""
    assert imported_by("completions", "bash") & HEAVY == set()

"""The one test command: `python -m tests`. Format, lint, types, floors, tests; it stops where something is wrong.

Further words go to pytest: `--full` for the full counts, `--unit` without tests/e2e and tests/sandbox. The exit code is
that of the stage that failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def stages(pytest_words: Sequence[str]) -> tuple[tuple[str, list[str]], ...]:
    """What is run, in order: a name and a command line."""
    python = sys.executable
    lint_imports = str(Path(python).with_name("lint-imports"))
    return (
        ("format", [python, "-m", "ruff", "format", "--check"]),
        ("lint", [python, "-m", "ruff", "check"]),
        ("types", [python, "-m", "mypy"]),
        ("floors", [lint_imports]),
        (
            "tests",
            [
                python,
                "-m",
                "pytest",
                "-n",
                "2",
                "--dist",
                "loadgroup",
                "-p",
                "tests.nothing_skipped",
                *pytest_words,
            ],
        ),
    )


def environment() -> dict[str, str]:
    """Ours, but that byte code is kept: the tests start the program a thousand times, else it compiles each time."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def main(pytest_words: Sequence[str]) -> int:
    """Run the stages; 0 when all are green."""
    for name, command in stages(pytest_words):
        print(f"-- {name}", flush=True)
        begin = time.monotonic()
        code = subprocess.run(
            command, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, check=False
        ).returncode
        seconds = time.monotonic() - begin
        print(f"-- {name}: {'ok' if code == 0 else f'failed ({code})'}, {seconds:.1f} s", flush=True)
        if code:
            return code if code > 0 else 128 - code
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""Where an agent is attacked: a folder, a copy of the code that an ordinary user can read, and that user."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.sandbox.attacks.agent import MARKER

ROOT = Path(__file__).resolve().parents[3]
UID = 61_000 + os.getpid() % 4_000
"""An ordinary user, who needs no account, and is nobody's but ours: the kernel counts processes by user."""
SECONDS = 900


@functools.cache
def python_of(user: str) -> str:
    """An interpreter that the user can run."""
    mine = os.path.realpath(sys.executable)
    for path in (mine, "/usr/bin/python3"):
        words = [path, "-c", "import os; os.listdir(os.path.dirname(os.__file__))"]
        with contextlib.suppress(PermissionError):
            if subprocess.run(words, check=False, **identity(user)).returncode == 0:
                return os.path.realpath(path)
    raise AssertionError(f"no Python that {user} can run: install one in /usr")


def identity(user: str) -> dict[str, Any]:
    """What `subprocess` needs to start something as that user."""
    if user == "root" or os.getuid():
        return {}
    return {"user": UID, "group": UID, "extra_groups": []}


def users() -> tuple[str, ...]:
    """Whom this machine lets us be."""
    return ("root", "user") if os.getuid() == 0 else ("user",)


@contextmanager
def stage(user: str) -> Iterator[Path]:
    """The folder of one run, outside of everything that a policy lets be written."""
    base = Path(tempfile.mkdtemp(prefix="grokmini-attack-", dir="/var/tmp"))
    try:
        for part in (
            "grokmini/sandbox",
            "grokmini/protocol",
            "grokmini/files",
            "grokmini/text",
            "tests/sandbox",
        ):
            shutil.copytree(ROOT / part, base / "code" / part, ignore=shutil.ignore_patterns("__pycache__"))
        for part in ("grokmini", "tests"):
            shutil.copy(ROOT / part / "__init__.py", base / "code" / part)
        if os.getuid() == 0:
            shutil.copy("/usr/bin/id", base / "code/setuid-id")
            (base / "code/setuid-id").chmod(0o4755)
            if user != "root":
                os.chown(base, UID, UID)
        base.chmod(0o755)
        yield base
    finally:
        for path in base.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
        shutil.rmtree(base)


def attack(user: str, column: str, processes: int = 0) -> dict[str, Any]:
    """What an agent reports that was attacked in that column as that user."""
    return report(user, "tests.sandbox.attacks.agent", column, str(processes), env={"XAI_API_KEY": MARKER})


def report(user: str, module: str, *words: str, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The JSON object that a module of the tests prints at its end when that user runs it with a folder and words."""
    with stage(user) as base:
        done = subprocess.run(
            [python_of(user), "-m", module, str(base), *words],
            cwd=base / "code",
            env={
                "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                "PYTHONPATH": str(base / "code"),
                "PYTHONDONTWRITEBYTECODE": "1",
                **(env or {}),
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            start_new_session=True,
            **identity(user),
        )
        assert done.returncode == 0, done.stderr
        printed: dict[str, Any] = json.loads(done.stdout.strip().rpartition("\n")[2])
        return printed

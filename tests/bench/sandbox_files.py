"""The figures of the file tools in the sandbox: what the profile costs a read, a write, a listing and a search."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from grokmini.sandbox.file_guard import FileGuard
from grokmini.sandbox.policy import Policy
from grokmini.workspace.file_writes import write_bytes
from grokmini.workspace.files import read_bytes
from grokmini.workspace.gate import UNGATED, Gate
from grokmini.workspace.walk import walk_files

CALLS = 200
DENIED = (40, 400)
FOLDERS = 100
DEPTH = 6


class FileCosts(NamedTuple):
    """Seconds of one call without and with a profile that denies `denied` paths, folders among them: medians."""

    denied: int
    action: str
    plain: float
    guarded: float

    @property
    def more(self) -> float:
        """What the profile costs."""
        return self.guarded - self.plain


def file_costs() -> list[FileCosts]:
    """Measure each action under profiles with few and with many denied paths."""
    root = Path(tempfile.mkdtemp(prefix="grokmini-bench-"))
    try:
        return [row for count in DENIED for row in _rows(_grounds(root / str(count), count))]
    finally:
        shutil.rmtree(root)


class _Grounds(NamedTuple):
    deep: Path
    policy: Policy


def _grounds(root: Path, count: int) -> _Grounds:
    deep = root.joinpath(*(f"folder{level}" for level in range(DEPTH)))
    deep.mkdir(parents=True)
    (deep / "file").write_bytes(b"x" * 4_000)
    for number in range(FOLDERS):
        (deep / f"f{number}").mkdir()
        (deep / f"f{number}" / "file").touch()
    denied = [root / f"secret{number}" for number in range(count)]
    for number, path in enumerate(denied):
        path.mkdir() if number % 10 == 0 else path.touch()
    roots = (str(root), *(f"/usr/share/{number}" for number in range(20)))
    policy = Policy(
        "bench",
        read_all=False,
        read_roots=roots,
        write_roots=(str(root),),
        protected=tuple(f"{root}/.git/{name}" for name in ("hooks", "config")),
        denied=tuple(map(str, denied)),
        denied_globs=(f"{root}/**/.env", f"{root}/**/*.pem"),
    )
    return _Grounds(deep, policy)


def _rows(grounds: _Grounds) -> list[FileCosts]:
    file = grounds.deep / "file"

    def walk(gate: Gate) -> None:
        for _ in walk_files(grounds.deep, lambda: None, gate=gate):
            pass

    actions: dict[str, tuple[int, Callable[[Gate], object]]] = {
        "read": (CALLS, lambda gate: read_bytes(file, gate=gate)),
        "write": (CALLS, lambda gate: write_bytes(file, b"y" * 4_000, gate)),
        f"walk through {FOLDERS} folders, each": (10, walk),
    }
    guard = FileGuard(lambda: grounds.policy)
    rows = []
    for name, (calls, action) in actions.items():
        each = FOLDERS if action is walk else 1
        times = [
            (_timed(action, UNGATED), _timed(action, guard)) for _ in range(calls)
        ]  # in turns: load is shared
        plain, guarded = (statistics.median(column) / each for column in zip(*times, strict=True))
        rows.append(FileCosts(len(grounds.policy.denied), name, plain, guarded))
    return rows


def _timed(action: Callable[[Gate], object], gate: Gate) -> float:
    begin = time.perf_counter()
    action(gate)
    return time.perf_counter() - begin


if __name__ == "__main__":
    for row in file_costs():
        print(
            f"{row.action}, {row.denied} denied: {row.plain * 1e6:.0f} -> {row.guarded * 1e6:.0f} µs "
            f"(+{row.more * 1e6:.0f})"
        )

"""The figures of the sandbox: what a command costs more in it, and what the launcher costs, by the agent's size."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms, probe
from grokmini.sandbox.profile import built_in
from grokmini.sandbox.resolve import Around, resolve
from grokmini.sandbox.runner import CommandRunner, CommandSpec
from grokmini.sandbox.unconfined import UnconfinedRunner

COMMANDS = 40
WARM_UPS = 5
PAUSE = 0.02
"""Seconds between commands: an agent thinks meanwhile, and the launcher has its spares ready again."""
SIZES = (30_000_000, 430_000_000)
IMPORTS = 15
ROOT = Path(__file__).resolve().parent.parent.parent
LOADED = "import asyncio, dataclasses, pathlib, typing"
SEAM = "import grokmini.sandbox.runner, grokmini.sandbox.environment, grokmini.sandbox.profile"


class Commands(NamedTuple):
    """`/bin/true` from an agent of `resident` bytes: seconds, medians, of `subprocess`, without a sandbox, with all of
    it and without bubblewrap; the same of the slowest tenth; seconds to a launcher that is ready, with all and without
    bubblewrap; bytes (PSS) of the launcher with its spares.
    """

    resident: int
    plain: float
    off: float
    whole: float
    no_bwrap: float
    slow_off: float
    slow_whole: float
    start: float
    start_no_bwrap: float
    launcher: int


def commands(size: int) -> Commands:
    """Measure in a process that grows to `size` bytes first."""
    words = [sys.executable, "-m", "tests.bench.sandbox", str(size)]
    printed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return Commands(*json.loads(printed))


def imports() -> tuple[float, float]:
    """Seconds that the seam costs a start, and the runner that confines: more than what is loaded anyway."""
    bare, seam = _seconds(LOADED), _seconds(f"{LOADED}; {SEAM}")
    return seam - bare, _seconds(f"{LOADED}; import grokmini.sandbox.client") - bare


def _seconds(code: str) -> float:
    """The median of a process that runs the code."""
    found = []
    for _ in range(IMPORTS):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


async def measure(size: int, folder: Path) -> Commands:
    """The same in this process."""
    kept = _grow(size)
    around = Around(str(folder), str(Path.home()), os.environ)

    def now() -> Policy:
        return resolve(built_in("workspace"), around, explicit=False)

    policy = now()
    without = probe()._replace(bwrap=None, bwrap_network=False, reasons={"bubblewrap": "left out"})
    off = UnconfinedRunner()
    whole, no_bwrap = (SandboxedRunner(policy, mechanisms=one, rescan=now) for one in (probe(), without))
    spec = CommandSpec(("/bin/true",), folder, {"PATH": os.environ["PATH"]})
    starts = [await _started(policy, machine) for machine in (probe(), without) for _ in range(5)]
    kinds = (_plain(spec), *(_through(runner, spec) for runner in (off, whole, no_bwrap)))
    taken: list[list[float]] = [[] for _ in kinds]
    for _ in range(WARM_UPS + COMMANDS):
        for times, kind in zip(taken, kinds, strict=True):
            begin = time.perf_counter()
            await kind()
            times.append(time.perf_counter() - begin)
            await asyncio.sleep(PAUSE)
    resident, launcher = _memory(os.getpid(), "Rss"), _tree_memory(whole.launcher_pid or 0)
    for runner in (off, whole, no_bwrap):
        await runner.close()
    del kept
    plain, none, full, less = (statistics.median(times[WARM_UPS:]) for times in taken)
    slow = [statistics.quantiles(times[WARM_UPS:], n=10)[-1] for times in taken]
    first, second = statistics.median(starts[:5]), statistics.median(starts[5:])
    return Commands(resident, plain, none, full, less, slow[1], slow[2], first, second, launcher)


def _grow(size: int) -> list[bytearray]:
    """Memory that is really there, up to so many bytes in all."""
    wanted = size - _memory(os.getpid(), "Rss")
    return [bytearray(b"\1") * 1_000_000 for _ in range(max(0, wanted // 1_000_000))]


def _plain(spec: CommandSpec) -> Callable[[], Awaitable[None]]:
    async def run() -> None:
        subprocess.run(spec.argv, cwd=spec.cwd, env=spec.env, stdin=subprocess.DEVNULL, check=True)

    return run


def _through(runner: CommandRunner, spec: CommandSpec) -> Callable[[], Awaitable[None]]:
    async def run() -> None:
        handle = await runner.start(spec)
        async for _ in handle.output():
            pass
        await handle.wait()

    return run


async def _started(policy: Policy, mechanisms: Mechanisms) -> float:
    runner = SandboxedRunner(policy, mechanisms=mechanisms)
    begin = time.perf_counter()
    await runner.prepare()
    seconds = time.perf_counter() - begin
    await runner.close()
    return seconds


def _memory(pid: int, what: str) -> int:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    (line,) = [line for line in text.splitlines() if line.startswith(f"{what}:")]
    return int(line.split()[1]) * 1024


def _tree_memory(pid: int) -> int:
    """The proportional share of a process and all below it; of what only root may look into, nothing."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    own = 0
    with suppress(PermissionError):
        own = _memory(pid, "Pss")
    return own + sum(_tree_memory(int(child)) for child in children)


def main() -> None:
    """Print what is measured in this process."""
    with tempfile.TemporaryDirectory(prefix="grokmini-bench-") as folder:
        print(json.dumps(asyncio.run(measure(int(sys.argv[1]), Path(folder).resolve()))))


if __name__ == "__main__":
    main()

"""`python -m tests.bench`: prints the figures and never fails on them. Best on an otherwise idle machine."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench import figures
from tests.bench.measure import RUNS, WARM_UPS, calibration
from tests.e2e.program import Place

STREAMING_RUNS = 5


def rows(place: Place) -> Iterator[tuple[str, str, str]]:
    """Name, value and aim of every figure, as they are measured."""
    ratio, seconds = figures.version_ratio(place)
    yield "--version by `python -c pass`", f"{ratio:.2f} x ({seconds * 1000:.0f} ms)", "1.6 x"
    seconds, size, rss = figures.first_request(place)
    yield "exec to first request", f"{seconds * 1000:.0f} ms", "400 ms"
    yield "first request, body", f"{size:,} bytes", "12,000 bytes"
    yield "resident memory", f"{rss / 1e6:.1f} MB", "60 MB"
    yield "tool step, echo hi", f"{figures.shell_step(place) * 1000:.1f} ms", "25 ms"
    yield "tool step, the engine's own part", f"{figures.engine_step(place) * 1000:.1f} ms", "6 ms"
    cpu = figures.streaming_cpu(place, STREAMING_RUNS)
    yield f"{figures.TOKENS:,} tokens headless, CPU", f"{cpu:.2f} s", "1.2 s"


def main() -> int:
    """Measure and print."""
    print(f"medians of {RUNS} after {WARM_UPS} warm-ups (streaming: {STREAMING_RUNS} after 1), ", end="")
    print(f"CPython {platform.python_version()} on {platform.machine()}")
    with tempfile.TemporaryDirectory(prefix="grokmini-bench-") as folder:
        place = Place(Path(folder) / "home", Path(folder) / "project")
        place.home.mkdir()
        place.project.mkdir()
        for name, value, aim in rows(place):
            print(
                f"{name:<36} {value:>18}   aim {aim:<14} calibration {calibration() * 1000:.0f} ms", flush=True
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

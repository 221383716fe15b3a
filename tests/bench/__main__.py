"""`python -m tests.bench`: prints the figures and never fails on them. Best on an otherwise idle machine."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench import chat, cli, figures, inline, sandbox, sandbox_files, store
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

    yield from inline_rows(place)
    yield from chat_rows()
    yield from store_rows(place)
    yield from sandbox_rows()
    yield f"Tab among {cli.SESSIONS:,} sessions", f"{cli.completion(place).slowest * 1000:.0f} ms", "100 ms"
    yield "`log` of 500 MB, first screen", f"{cli.first_lines(place) * 1000:.0f} ms", ""


def chat_rows() -> Iterator[tuple[str, str, str]]:
    """The same of the chat state."""
    long = chat.long_history()
    name = f"{chat.TURNS:,} turns, {chat.OUTPUT_BYTES >> 20} MB of output"
    yield f"{name}, state", f"{long.resident / 1e6:.1f} MB", "60 MB"
    yield f"their next request ({long.items:,} items)", f"{long.build * 1000:.2f} ms", "50 ms"
    yield "their first request after loading", f"{long.rebuild * 1000:.1f} ms", "50 ms"


def inline_rows(place: Place) -> Iterator[tuple[str, str, str]]:
    """The same of the inline REPL."""
    start = inline.start(place)
    yield "prompt ready by bare imports", f"{start.ratio:.2f} x ({start.prompt * 1000:.0f} ms)", "1.3 x"
    yield "a key pressed then, echoed", f"{start.echo * 1000:.0f} ms", ""
    seconds, memory = inline.enter_to_request(place)
    yield "Enter to request", f"{seconds * 1000:.1f} ms", "20 ms"
    yield "memory at the prompt", f"{memory / 1e6:.1f} MB", "60 MB"
    streamed = inline.long_reply(place)
    yield f"{inline.TOKENS:,} tokens inline, CPU", f"{streamed.cpu:.2f} s", "2.5 s"
    whole = "whole" if streamed.whole else "NOT WHOLE"
    yield "bytes to the terminal a byte", f"{streamed.ratio:.2f}, {whole}", "1.5"
    slow = inline.long_reply(place, delay=0.01, tokens=1_000)
    yield "the same at 100 tokens/s", f"{slow.ratio:.2f}", "3"
    written, cpu = inline.idle(place)
    yield f"idle {inline.IDLE_SECONDS:.0f} s", f"{written} bytes, {cpu * 1000:.1f} ms", "0 bytes, 20 ms"
    echo, rate = inline.key_to_echo(place)
    yield f"key to echo, {rate:.0f} tokens/s", f"{echo * 1000:.1f} ms", "16 ms"


def store_rows(place: Place) -> Iterator[tuple[str, str, str]]:
    """Sessions on the disk."""
    seconds = store.append_and_acknowledge(place)
    yield "prompt on the disk", f"{seconds * 1000:.1f} ms", "10 ms"
    many = store.many(place)
    yield f"{store.SESSIONS:,} sessions, listed", f"{many.listing * 1000:.0f} ms", "200 ms"
    yield "`sessions --all`, `--version`", f"{many.command * 1000:.0f}, {many.process * 1000:.0f} ms", ""
    yield "searched, slowest of five", f"{many.search * 1000:.0f} ms", "100 ms"
    yield "index built, looked through", f"{many.build:.1f} s, {many.refresh * 1000:.0f} ms", ""
    resumed = store.resume(place)
    yield "resume 50 MB, more than empty", f"{resumed.resumed - resumed.empty:.2f} s", "1 s"
    yield "memory at that prompt, peak", f"{resumed.memory / 1e6:.0f} MB", "150 MB"


def sandbox_rows() -> Iterator[tuple[str, str, str]]:
    """Commands in the sandbox."""
    for size in sandbox.SIZES:
        found = sandbox.commands(size)
        name = f"agent of {found.resident / 1e6:.0f} MB"
        more, bare = found.whole - found.off, found.no_bwrap - found.off
        yield f"{name}, /bin/true in the sandbox", f"{found.whole * 1000:.1f} ms", ""
        yield "more than without, and without bwrap", f"{more * 1000:.1f}, {bare * 1000:.1f} ms", "5 ms"
        yield "more than a bare subprocess", f"{(found.whole - found.plain) * 1000:.1f} ms", ""
        start, other = found.start * 1000, found.start_no_bwrap * 1000
        yield "launcher ready, and without bwrap", f"{start:.0f}, {other:.0f} ms", "100 ms"
        yield "launcher and its spares, PSS", f"{found.launcher / 1e6:.1f} MB", ""
    for cost in sandbox_files.file_costs():
        yield f"{cost.action}, {cost.denied} denied, more", f"{cost.more * 1e6:.0f} µs", "1 ms"
    seam, runner = sandbox.imports()
    yield "imports: the seam, what confines", f"{seam * 1000:.0f}, {runner * 1000:.0f} ms", ""


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

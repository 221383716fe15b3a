"""The figures: each is a function that runs the installed program and gives a number."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.measure import RUNS, WARM_UPS, Ended, median_of, run_process
from tests.e2e.program import PROGRAM, Place
from tests.fakes.model_server import Call, ModelServer, Recorded, Reply, call, reply

TOKENS = 20_000
TOKEN_CHARACTERS = 4


def version_ratio(place: Place) -> tuple[float, float]:
    """`--version` as the pip of a fresh venv installs it, by the bare interpreter of that venv: ratio, seconds."""
    root = Path(__file__).resolve().parent.parent.parent
    dist, venv = place.project / "dist", place.project / "venv"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(dist)]
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True, capture_output=True)
    (wheel,) = dist.glob("*.whl")
    install = [str(venv / "bin/python"), "-m", "pip", "install", "-q", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    env = place.environment()
    bare = median_of(lambda: run_process([venv / "bin/python", "-c", "pass"], cwd=place.project, env=env).wall)
    version = median_of(
        lambda: run_process([venv / "bin/grokmini", "--version"], cwd=place.project, env=env).wall
    )
    return version / bare, version


def first_request(place: Place) -> tuple[float, int, int]:
    """Seconds from exec to the first request, the bytes of its body, and resident memory at the end."""
    times: list[float] = []

    def answer(request: Recorded) -> Reply:
        times.append(time.monotonic())
        return reply("hello")

    with ModelServer(answer) as server:
        runs = [_headless(place, server) for _ in range(WARM_UPS + RUNS)]
        size = len(server.requests[-1].raw)
    seconds = [at - run.started for at, run in zip(times, runs, strict=True)][WARM_UPS:]
    return statistics.median(seconds), size, int(statistics.median(run.rss for run in runs[WARM_UPS:]))


def tool_step(place: Place, made: Callable[[int], Call]) -> float:
    """Seconds from the end of a reply that makes a call to the next request; `made` gives the n-th call."""
    asked: list[float] = []
    answered: list[float] = []
    steps = WARM_UPS + RUNS

    def answer(request: Recorded) -> Reply:
        asked.append(time.monotonic())
        number = len(asked)
        made_reply = reply(calls=[made(number)]) if number <= steps else reply("done")
        answered.append(time.monotonic())
        return made_reply

    with ModelServer(answer) as server:
        _headless(place, server)
    return statistics.median(
        after - before for before, after in zip(answered[WARM_UPS:-1], asked[WARM_UPS + 1 :], strict=True)
    )


def shell_step(place: Place) -> float:
    """A step that runs `echo hi`; the number only keeps the calls apart."""
    return tool_step(place, lambda n: call("run_terminal_command", call_id=f"c{n}", command=f"echo hi {n}"))


def engine_step(place: Place) -> float:
    """A step whose tool costs next to nothing (one small file read): the engine's own part."""
    (place.project / "small.txt").write_text("line\n" * 100, encoding="utf-8")
    return tool_step(
        place, lambda n: call("read_file", call_id=f"c{n}", target_file="small.txt", offset=n, limit=1)
    )


def streaming_cpu(place: Place, runs: int) -> float:
    """Processor seconds of a headless run that streams 20,000 tokens."""
    words = random.Random(20_000)
    text = "".join(words.choice("abcdefghijklmnopqrstuvwxyz    \n") for _ in range(TOKENS * TOKEN_CHARACTERS))
    streamed = reply(text, piece=TOKEN_CHARACTERS)
    with ModelServer([streamed], repeat=True) as server:
        return median_of(lambda: _headless(place, server).cpu, runs, 1)


def _headless(place: Place, server: ModelServer) -> Ended:
    return run_process([PROGRAM, "-p", "hi", "--yolo"], cwd=place.project, env=place.environment(server))

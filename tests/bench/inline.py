"""The figures of the inline REPL: the installed program on a pty, a person who types, and a clock."""

from __future__ import annotations

import os
import random
import statistics
import sys
import time
from pathlib import Path
from typing import NamedTuple

from tests.bench.measure import RUNS, WARM_UPS, run_process
from tests.e2e.inline_pty import InlinePty, inline_pty
from tests.e2e.program import Place
from tests.fakes.emulator import Emulator
from tests.fakes.model_server import ModelServer, Recorded, Reply, reply

REFERENCE = "import prompt_toolkit, asyncio, msgspec"
TOKENS = 20_000
REPLY_BYTES = 91_000
IDLE_SECONDS = 60.0
STREAM_TOKENS = 8_000
TOKEN_SECONDS = 0.0007
KEYS = "ABCDEFGHIJKLMNOPQRSTUVWXYZΓΔΘΛΞΠΣΦΨΩБГДЖЗИЙЛПФЦЧШЩЪЫЭЮЯ"
_READY = "›".encode()
_FIRST_KEY = "Ж"


class Start(NamedTuple):
    """Medians in seconds: the prompt on the screen, the same by the reference's imports, the echo of a key that was
    pressed as soon as the prompt stood there.
    """

    prompt: float
    ratio: float
    echo: float


class Streamed(NamedTuple):
    """A reply of 20,000 tokens: processor seconds, bytes to the terminal a byte of text, whether all is there."""

    cpu: float
    ratio: float
    whole: bool


def start(place: Place) -> Start:
    """From exec to the prompt, interleaved with the reference."""
    prompts, references, echoes = [], [], []
    with ModelServer() as server:
        for _ in range(WARM_UPS + RUNS):
            began = time.monotonic()
            with inline_pty(place, server) as person:
                _read_until(person, _READY)
                prompts.append(time.monotonic() - began)
                person.type(_FIRST_KEY)
                _read_until(person, _FIRST_KEY.encode())
                echoes.append(time.monotonic() - began)
            env = place.environment(server)
            words = [sys.executable, "-c", REFERENCE]
            references.append(run_process(words, cwd=place.project, env=env).wall)
    prompt, reference, echo = (statistics.median(times[WARM_UPS:]) for times in (prompts, references, echoes))
    return Start(prompt, prompt / reference, echo)


def enter_to_request(place: Place) -> tuple[float, int]:
    """Seconds from Enter to the request at the server, the median of all but the first; bytes of memory before."""
    arrived: list[float] = []

    def answer(request: Recorded) -> Reply:
        arrived.append(time.monotonic())
        return reply("hello")

    pressed: list[float] = []
    with ModelServer(answer) as server, inline_pty(place, server) as person:
        _settled(person)
        memory = _resident(person.process.pid)
        for number in range(WARM_UPS + RUNS):
            person.type(f"prompt {number}")
            person.see(f"› prompt {number}")
            person.rest()
            pressed.append(time.monotonic())
            person.type("\r")
            person.wait_until(lambda: len(arrived) == len(pressed), "the request")
            _settled(person)
    times = [at - key for key, at in zip(pressed, arrived, strict=True)]
    return statistics.median(times[WARM_UPS:]), memory


def long_reply(place: Place, *, delay: float = 0.0, tokens: int = TOKENS) -> Streamed:
    """20,000 tokens in one reply, as fast as they come unless delayed."""
    text = _prose(REPLY_BYTES * tokens // TOKENS)
    streamed = reply(text + "\n\nzzz the end", piece=-(-REPLY_BYTES // TOKENS))
    with (
        ModelServer([Reply(chunks=streamed.chunks, delay=delay)]) as server,
        inline_pty(place, server) as person,
    ):
        _settled(person)
        before, used = len(person.raw), _cpu(person.process.pid)
        person.type("go\r")
        _read_until(person, b"zzz the end")
        _read_until(person, b" tokens")
        cpu, written = _cpu(person.process.pid) - used, person.raw[before:]
    emulator = Emulator(80, 24)
    emulator.feed(person.raw[:before] + written)
    words = " ".join(line.strip() for line in emulator.lines).split()
    return Streamed(cpu, len(written) / len(text), _holds(words, text.split()))


def idle(place: Place, seconds: float = IDLE_SECONDS) -> tuple[int, float]:
    """Bytes written and processor seconds used while nothing happens for so long."""
    with ModelServer([reply("hello")]) as server, inline_pty(place, server) as person:
        _settled(person)
        person.type("go\r")
        _settled(person)
        person.rest(2.0)
        before, used = len(person.raw), _cpu(person.process.pid)
        person.rest(seconds)
        return len(person.raw) - before, _cpu(person.process.pid) - used


def key_to_echo(place: Place) -> tuple[float, float]:
    """Seconds from a key to its echo at the 95th percentile while a reply streams; tokens a second it had."""
    streamed = reply(_prose(STREAM_TOKENS * 5), piece=5)
    chunks = streamed.chunks
    times: list[float] = []
    with (
        ModelServer([Reply(chunks=chunks, delay=TOKEN_SECONDS)]) as server,
        inline_pty(place, server) as person,
    ):
        _settled(person)
        began = time.monotonic()
        person.type("go\r")
        person.see("Ctrl-C stops")
        while True:
            for key in KEYS:
                data, before = key.encode(), len(person.raw)
                pressed = time.monotonic()
                person.type(data)
                _read_until(person, data, before)
                times.append(time.monotonic() - pressed)
                person.pause(0.02 + 0.001 * (len(times) % 17))
            if b" tokens" in person.raw:
                break
            person.type("\x15")
        took = time.monotonic() - began
    times = times[: -len(KEYS)]
    return statistics.quantiles(times, n=20)[-1], len(chunks) / took


def _prose(size: int) -> str:
    """Paragraphs of lower-case words."""
    words = random.Random(size)
    paragraphs: list[str] = []
    while sum(map(len, paragraphs)) < size:
        count = words.randrange(20, 120)
        paragraphs.append(
            " ".join(
                "".join(words.choices("abcdefghijklmnoprstuvw", k=words.randrange(2, 9))) for _ in range(count)
            )
            + "\n\n"
        )
    return "".join(paragraphs)[:size].rstrip()


def _settled(person: InlinePty) -> None:
    """Wait until the session has begun, nothing runs and nothing is drawn any more."""
    person.see("/ commands")
    person.wait_until(lambda: "›" in person.emulator.screen, "an idle prompt")
    person.rest()


def _read_until(person: InlinePty, data: bytes, start: int = 0) -> None:
    """Take bytes until these came, without looking at what they draw."""
    while person.raw.find(data, start) < 0:
        person.read()


def _holds(found: list[str], wanted: list[str]) -> bool:
    """Whether the words stand there in one piece, each once."""
    at = found.index(wanted[0])
    return found[at : at + len(wanted)] == wanted


def _cpu(pid: int) -> float:
    """Processor seconds of all threads, to the nanosecond."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def _resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")

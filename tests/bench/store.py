"""The figures of stored sessions: many of them listed and searched, a big one resumed, a prompt acknowledged."""

from __future__ import annotations

import asyncio
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from grokmini.config.paths import find_places
from grokmini.protocol.items import Stored, user_text
from grokmini.store.search_index import SearchIndex
from grokmini.store.sessions import SessionStore
from tests.bench.measure import WARM_UPS, median_of, run_process
from tests.bench.store_sessions import make_session
from tests.e2e.inline_pty import InlinePty, inline_pty
from tests.e2e.program import PROGRAM, Place
from tests.fakes.model_server import ModelServer

SESSIONS = 12_000
FOLDERS = 300
HISTORY_BYTES = 50_000_000
UPDATES_BYTES = 500_000_000
TURNS = 5_000
SHOWN = 50
QUERIES = ("question word7", "parser", "grep", "cannot understand", "nothing-of-the-kind")
RESUME_RUNS = 5
ACKNOWLEDGEMENTS = 200
PROMPT = "›".encode()
KEY = "Ж"


class Many(NamedTuple):
    """12,000 sessions. Seconds: the bare process, `grokmini sessions` whole, the listing alone, a search; the first
    build of the index and a refresh with nothing new.
    """

    process: float
    command: float
    listing: float
    search: float
    build: float
    refresh: float


class Resume(NamedTuple):
    """Seconds to the prompt of an empty start and of a resume of the big session; bytes resident at the prompt."""

    empty: float
    resumed: float
    memory: int


def many(place: Place) -> Many:
    """Make 12,000 sessions, list them and search them, with a warm page cache."""
    state = _state(place)
    for number in range(SESSIONS):
        folder = Path("/home/somebody", f"project{number % FOLDERS}")
        make_session(state, folder, turns=2, history=2_000, updates=3_000, seed=number)
    store = SessionStore(state)
    env = place.environment()
    bare = (PROGRAM, "--version")
    process = median_of(lambda: run_process(bare, cwd=place.project, env=env).wall)
    words = (PROGRAM, "sessions", "--all")
    command = median_of(lambda: run_process(words, cwd=place.project, env=env).wall)
    listing = median_of(lambda: _seconds(lambda: store.list(SHOWN)))
    index = SearchIndex(place.project / "index", state)
    build = _seconds(lambda: index.refresh())
    refresh = median_of(lambda: _seconds(lambda: index.refresh()))
    searches = [_search_seconds(index, words) for words in QUERIES]
    index.close()
    shutil.rmtree(state)
    return Many(process, command, listing, max(searches), build, refresh)


def _search_seconds(index: SearchIndex, words: str) -> float:
    return median_of(lambda: _seconds(lambda: index.search(words)))


def resume(place: Place) -> Resume:
    """From exec until a key that was pressed at the prompt is seen there, by an empty start and by a resume."""
    directory = make_session(
        _state(place), place.project, turns=TURNS, history=HISTORY_BYTES, updates=UPDATES_BYTES
    )
    with ModelServer() as server:
        runs = [(_start(place, server), _start(place, server, "--continue")) for _ in range(1 + RESUME_RUNS)][
            1:
        ]
    shutil.rmtree(directory)
    empty = statistics.median(run[0].seconds for run in runs)
    return Resume(empty, statistics.median(run[1].seconds for run in runs), max(run[1].memory for run in runs))


class _Started(NamedTuple):
    seconds: float
    memory: int


def _start(place: Place, server: ModelServer, *words: str) -> _Started:
    began = time.monotonic()
    with inline_pty(place, server, 80, 24, *words) as person:
        _read_until(person, PROMPT)
        person.type(KEY)
        _read_until(person, KEY.encode())
        seconds = time.monotonic() - began
        person.rest(0.5)
        return _Started(seconds, _resident(person.process.pid))


def _read_until(person: InlinePty, data: bytes) -> None:
    while data not in person.raw:
        person.read()


def _resident(pid: int) -> int:
    """The most bytes that the process had in memory so far."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name == "VmHWM":
            return int(value.split()[0]) * 1024
    raise RuntimeError(f"no peak of memory for process {pid}")


async def acknowledged(folder: Path) -> float:
    """Seconds from handing in a prompt until it is on the disk itself, beside a session of some size."""
    session = SessionStore(folder).create(cwd=folder, model="demo")
    times: list[float] = []
    for number in range(WARM_UPS + ACKNOWLEDGEMENTS):
        item = Stored(user_text(f"prompt {number} " + "x" * 200, prompt_index=number))
        began = time.perf_counter()
        session.files.prompt_started("prompt", number)
        session.files.append(item)
        if not await session.files.flush(durable=True):
            raise RuntimeError("the disk refuses")
        times.append(time.perf_counter() - began)
    await session.files.close()
    return statistics.median(times[WARM_UPS:])


def append_and_acknowledge(place: Place) -> float:
    """The same for whoever has no event loop."""
    return asyncio.run(acknowledged(place.project / "acknowledge"))


def _state(place: Place) -> Path:
    found = find_places(place.environment())
    assert found is not None
    return found.state


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began

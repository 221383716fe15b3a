"""Looking for `@paths` beside the event loop: walking the folder, matching what was typed.

Walking goes on in steps with searches between them, so that the first matches show while a large folder is
still being read. One step runs at a time; of several wishes the newest counts.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeAlias

from grokmini.repl.completion import entries_of
from grokmini.repl.path_match import MAX_MATCHES, PathList, letters_in_order

STEP = 5_000
"""Files walked between two searches."""
MAX_FILES = 500_000
"""Files of one folder that are known; a larger one is known in part."""
FRESH = 2.0
"""Seconds for which a finished walk is not repeated; or ten times as long as it took, if that is more."""
_OUTSIDE = ("/", "~", ".")
"""Beginnings of paths that no walk finds, and so are listed folder by folder."""


class Found(NamedTuple):
    """Paths that match what was typed in a folder, best first."""

    cwd: str
    typed: str
    paths: Sequence[str]


Walk: TypeAlias = Callable[[str], Iterator[str]]
"""The files below a folder, as paths relative to it, without those that git ignores."""
Beside: TypeAlias = Callable[[Callable[[], Found], Callable[[Found], None]], None]
"""Runs the first function beside the loop, and on the loop the second one with its result."""


def in_a_thread(loop: asyncio.AbstractEventLoop) -> Beside:
    """Work in threads that do not keep the program from ending (a network folder may hang)."""

    def beside(work: Callable[[], Found], done: Callable[[Found], None]) -> None:
        def run() -> None:
            found = work()
            try:
                loop.call_soon_threadsafe(done, found)
            except RuntimeError:  # the loop is closed: the program ends
                pass

        threading.Thread(target=run, name="paths", daemon=True).start()

    return beside


class PathSearch:
    """Finds paths. `clock` gives monotonic seconds."""

    def __init__(self, walk: Walk, beside: Beside, clock: Callable[[], float]) -> None:
        self._walk = walk
        self._beside = beside
        self._clock = clock
        self._cwd = ""
        self._known = PathList()
        self._growth: _Growth | None = None
        self._began = 0.0
        self._fresh_until = float("-inf")
        self._wish: tuple[str, Callable[[Found], None]] | None = None
        self._running = False

    def search(self, cwd: str, typed: str, on_found: Callable[[Found], None]) -> None:
        """Look for paths below the folder; `on_found` is called on the loop, perhaps several times, each time
        with a better result. A later search takes the place of this one.
        """
        if cwd != self._cwd:
            self._cwd, self._known, self._growth = cwd, PathList(), None
            self._fresh_until = float("-inf")
        self._wish = (typed, on_found)
        if self._growth is None and self._clock() >= self._fresh_until:
            self._growth = _Growth(self._walk(cwd))
            self._began = self._clock()
        self._go_on()

    def forget(self) -> None:
        """Nobody wants a result any more."""
        self._wish = None

    def _go_on(self) -> None:
        if self._running or self._wish is None:
            return
        self._running = True
        growth = self._growth
        cwd, typed, known = self._cwd, self._wish[0], self._known
        self._beside(lambda: _step(cwd, typed, known, growth), lambda found: self._done(growth, found))

    def _done(self, growth: _Growth | None, found: Found) -> None:
        self._running = False
        if growth is not None and growth is self._growth and growth.whole:
            self._fresh_until = self._clock() + max(FRESH, 10 * (self._clock() - self._began))
            self._known, self._growth = growth.paths, None
        if self._wish is None:
            return
        typed, on_found = self._wish
        if (found.cwd, found.typed) == (self._cwd, typed):
            if self._growth is None:
                self._wish = None
            on_found(found)
        self._go_on()


class _Growth:
    """A walk under way. Only the step that runs touches it."""

    def __init__(self, files: Iterator[str]) -> None:
        self.paths = PathList()
        self.whole = False
        self._files = files
        self._count = 0

    def advance(self) -> None:
        """Walk on for one step. A folder that cannot be read is known as far as it could."""
        fresh: list[str] = []
        try:
            fresh.extend(islice(self._files, STEP))
        except OSError:
            self.whole = True
        self._count += STEP
        self.whole = self.whole or not fresh or self._count >= MAX_FILES
        self.paths.add([path for path in fresh if path.isprintable()])


def _step(cwd: str, typed: str, known: PathList, growth: _Growth | None) -> Found:
    if growth is not None:
        growth.advance()
    if typed.startswith(_OUTSIDE):
        return Found(cwd, typed, _listed(typed, cwd))
    paths = growth.paths if growth is not None and (growth.whole or not len(known)) else known
    return Found(cwd, typed, paths.best(typed))


def _listed(typed: str, cwd: str) -> list[str]:
    """What a folder holds for a path that is being typed: names that begin so, else names with its letters."""
    folder, slash, start = typed.rpartition("/")
    wanted = start.casefold()
    names = sorted(entries_of(folder + slash, cwd, hidden=start.startswith(".")), key=str.casefold)
    found = [name for name in names if name.casefold().startswith(wanted)]
    if not found:
        matches = letters_in_order(wanted).match
        found = [name for name in names if matches(name.casefold())]
    return [folder + slash + name for name in found[:MAX_MATCHES]]

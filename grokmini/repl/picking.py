"""An open list of sessions and the work behind it: reading the rows in a thread, doing what was chosen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Protocol, assert_never

from grokmini.protocol.errors import GrokminiError
from grokmini.render.lines import Line, line_of
from grokmini.render.session_list import Row
from grokmini.repl.commands.result import Pick, Result
from grokmini.repl.picker import Chosen, Picker, SearchFor, Wish


class Host(Protocol):
    """The front end around it."""

    def start(self, work: Coroutine[object, object, None]) -> None:
        """Run work beside."""

    def changed(self) -> None:
        """Something looks different now."""

    def print_lines(self, lines: Sequence[Line]) -> None:
        """Print finished lines."""


class Picking:
    """One choice from the first row read to the session chosen."""

    def __init__(self, pick: Pick, host: Host, finish: Callable[[Awaitable[Result]], None]) -> None:
        self.picker = Picker(pick.title)
        self._pick = pick
        self._host = host
        self._finish = finish
        host.start(self._load())

    def do(self, asked: Chosen | SearchFor | Wish) -> None:
        """Do what the list asks for."""
        match asked:
            case Chosen(session_id):
                self._finish(self._pick.chosen(session_id))
            case SearchFor(words):
                self._host.start(self._search(words))
            case Wish.RELOAD:
                self._host.start(self._load())
            case Wish.CLOSE:
                pass
            case _:
                assert_never(asked)

    async def _load(self) -> None:
        everywhere = self.picker.everywhere
        rows = await self._rows(lambda: self._pick.load(everywhere))
        if everywhere == self.picker.everywhere:
            self.picker.loaded(rows)
        self._host.changed()

    async def _search(self, words: str) -> None:
        rows = await self._rows(lambda: self._pick.search(words))
        if words == self.picker.query:
            self.picker.found(rows)
        self._host.changed()

    async def _rows(self, read: Callable[[], Sequence[Row]]) -> Sequence[Row]:
        try:
            return await asyncio.to_thread(read)
        except GrokminiError as error:
            text = f"{error.message}: {error.hint}" if error.hint else error.message
            self._host.print_lines([line_of(f"! {text}")])
            return ()

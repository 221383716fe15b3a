"""Ctrl-R: looking for words in what was sent before, on a line of its own."""

from __future__ import annotations

from typing import NamedTuple

from grokmini.render.lines import Line, Span
from grokmini.render.look import DIM, WARNING, Look
from grokmini.repl.draft_view import fitted
from grokmini.repl.history import History
from grokmini.repl.painter import Cursor
from grokmini.text.width import cell_width, graphemes

LABEL = "search: "
NOT_FOUND = "  nothing that was sent has this"
HOW = "  Ctrl-R older · Enter takes it · Esc leaves"


class SearchLine(NamedTuple):
    """The line of the search and the cursor's cell in it."""

    line: Line
    cursor: Cursor


class HistorySearch:
    """One search. `place` is where the newest match stands in the history; None without one."""

    def __init__(self, history: History) -> None:
        self._history = history
        self.query = ""
        self.place: int | None = None

    @property
    def found(self) -> str | None:
        """The text that was found."""
        return None if self.place is None else self._history[self.place]

    def type(self, text: str) -> None:
        """More words: what was found stays if it has them, too."""
        self.query += " ".join(text.split("\n"))
        self.place = self._history.search(self.query, self.place or 0)

    def erase(self) -> None:
        """Take the last character back; the newest match counts again."""
        self.query = "".join(list(graphemes(self.query))[:-1])
        self._restart()

    def clear(self) -> None:
        """Take the words back."""
        self.query = ""
        self._restart()

    def older(self) -> bool:
        """Go to an older match; False when there is none."""
        return self._go(range((-1 if self.place is None else self.place) + 1, len(self._history)))

    def newer(self) -> bool:
        """Go to a newer match; False when there is none."""
        return self._go(range((self.place or 0) - 1, -1, -1))

    def view(self, width: int, look: Look) -> SearchLine:
        """The line, cut to the width; of long words the end is shown. Without words it says which keys do what."""
        label = LABEL if width > len(LABEL) + 4 else ""
        shown, room = self.query, max(1, width - len(label) - 1)
        while cell_width(shown) > room:
            shown = "".join(list(graphemes(shown))[1:])
        spans = [Span(label, DIM), Span(shown)]
        if self.query and self.place is None:
            spans.append(Span(NOT_FOUND, WARNING))
        elif not self.query and width >= len(label) + len(HOW):
            spans.append(Span(look.spelled(HOW), DIM))
        column = len(label) + cell_width(shown)
        return SearchLine(fitted(spans, width), Cursor(0, min(column, max(0, width - 1))))

    def _restart(self) -> None:
        self.place = self._history.search(self.query) if self.query else None

    def _go(self, places: range) -> bool:
        wanted = self.query.casefold()
        if not wanted:
            return False
        for place in places:
            if wanted in self._history[place].casefold():
                self.place = place
                return True
        return False

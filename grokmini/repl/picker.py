"""Choosing a stored session in the live region: a list that typing narrows.

Knows no terminal and reads nothing: rows are handed in, and what has to be loaded is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple, TypeAlias

from grokmini.render.lines import Line, Span, line_of
from grokmini.render.look import BOLD, DIM, PROMPT, WARNING, Look
from grokmini.render.session_list import Row, table
from grokmini.repl.doubt import fit
from grokmini.repl.keys import Burst, Chord, Key, Paste, Press, Text
from grokmini.repl.painter import Cursor
from grokmini.text.width import cell_width, cut_to_width, graphemes

PAGE = 8
MOST_ROWS = 10
_PAGE_UP, _PAGE_DOWN = Chord("\x1b[5~"), Chord("\x1b[6~")
_HINT = "Enter chooses{dot}Tab {scope}{dot}Esc leaves"


class Chosen(NamedTuple):
    """The person chose this session."""

    session_id: str


class SearchFor(NamedTuple):
    """No title has the words: look for them in what was said."""

    words: str


class Wish(Enum):
    """What else may be asked for."""

    RELOAD = auto()
    CLOSE = auto()


Asked: TypeAlias = Chosen | SearchFor | Wish | None


class Picker:
    """One list while it is open. `title` says what choosing does."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.everywhere = False
        self.query = ""
        self._rows: Sequence[Row] | None = None
        self._said = ""
        self._found: Sequence[Row] = ()
        self._place = 0

    def loaded(self, rows: Sequence[Row]) -> None:
        """The sessions there are."""
        self._rows = rows
        self._narrow()

    def found(self, rows: Sequence[Row]) -> None:
        """Sessions in which the words were said."""
        self._found, self._place = rows, 0
        self._said = "" if rows else "nobody said that"

    def press(self, press: Press) -> Asked:
        """What a key press asks for."""
        match press:
            case Key.ESCAPE | Key.END_OF_FILE:
                return Wish.CLOSE
            case Key.UP | Key.DOWN:
                self._move(-1 if press is Key.UP else 1)
            case Key.TAB | Key.SHIFT_TAB:
                self.everywhere = not self.everywhere
                self._rows = None
                return Wish.RELOAD
            case Key.ENTER:
                return self._enter()
            case Key.BACKSPACE:
                self._type("".join(list(graphemes(self.query))[:-1]))
            case Key.KILL_LINE | Key.KILL_WORD:
                self._type("")
            case Text(text) | Paste(text) | Burst(text):
                self._type(self.query + " ".join(text.split("\n")))
            case Chord():
                if press in (_PAGE_UP, _PAGE_DOWN):
                    self._move(-PAGE if press == _PAGE_UP else PAGE)
            case _:
                pass
        return None

    def view(self, width: int, room: int, look: Look) -> tuple[list[Line], Cursor]:
        """At most `room` rows, the words that narrow on the first one, and the cursor behind them."""
        label = f"{self.title} "
        shown = cut_to_width(self.query, max(1, width - cell_width(label) - 1), look.glyphs.ellipsis)
        head = fit(Line((Span(label, BOLD), Span(shown))), width)
        cursor = Cursor(0, min(cell_width(label) + cell_width(shown), max(0, width - 1)))
        scope = "this folder" if self.everywhere else "all folders"
        hint = line_of(
            cut_to_width(_HINT.format(dot=look.glyphs.dot, scope=scope), width, look.glyphs.ellipsis), DIM
        )
        return [head, *self._list(width, max(0, min(MOST_ROWS, room - 2)), look), hint][: max(1, room)], cursor

    def _list(self, width: int, room: int, look: Look) -> list[Line]:
        note = self._note()
        if note:
            return [line_of(cut_to_width(f"  {note}", width, look.glyphs.ellipsis), WARNING)][:room]
        top = max(0, min(self._place - room // 2, len(self._found) - room))
        part = self._found[top : top + room]
        lines = []
        for place, text in enumerate(table(part, width=max(1, width - 2), id_length=0) if part else (), top):
            chosen = place == self._place
            mark = look.glyphs.prompt if chosen else " "
            lines.append(fit(line_of(f"{mark} {text}", PROMPT if chosen else DIM), width))
        return lines

    def _note(self) -> str:
        """What stands in place of a list."""
        if self._rows is None:
            return "reading the sessions"
        if self._found:
            return ""
        if self._said:
            return self._said
        if not self._rows:
            return "there are none" if self.everywhere else "there are none of this folder"
        return "no title has that: Enter looks in what was said"

    def _enter(self) -> Asked:
        if self._found:
            return Chosen(self._found[self._place].session_id)
        return SearchFor(self.query) if self._rows and self.query.strip() and not self._said else None

    def _type(self, query: str) -> None:
        self.query = query
        self._narrow()

    def _narrow(self) -> None:
        words = self.query.casefold().split()
        self._found = [
            row
            for row in self._rows or ()
            if all(word in f"{row.title}\n{row.folder}\n{row.session_id}".casefold() for word in words)
        ]
        self._place, self._said = 0, ""

    def _move(self, rows: int) -> None:
        self._place = max(0, min(len(self._found) - 1, self._place + rows))

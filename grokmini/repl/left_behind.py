"""Rows that a resize pushed out of reach while their text was still under way.

They stay where they are for ever, above what is printed from then on. So when their text is finished, only what
follows it is printed. Where the finished text turns out to be another one, whole lines of it are printed: a stale
row is better than a missing or a torn line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grokmini.render.lines import Line, Span, plain
from grokmini.repl.painter import LiveView


class LeftBehind:
    """Remembers what such rows said until the lines come that say it again."""

    def __init__(self) -> None:
        self._rows: list[str] = []

    def add(self, rows: Iterable[Line]) -> None:
        """These rows are out of reach now; they stand below those that were before."""
        self._rows += ["".join(plain(row).split()) for row in rows]

    def take_back(self, count: int) -> None:
        """The last so many rows are within reach again."""
        del self._rows[max(0, len(self._rows) - count) :]

    def forget(self) -> None:
        """What was left behind is none of ours any more."""
        self._rows.clear()

    def shorten(self, lines: Sequence[Line]) -> list[Line]:
        """Finished lines without what stands there already."""
        if not any(self._rows) or not lines:
            return list(lines)
        rest = _Rest(lines)
        while self._rows and rest.skip(self._rows[0]):
            self._rows.pop(0)
        if self._rows and rest.over:
            self._rows[0] = rest.wanted
        else:
            if self._rows:
                rest.begin_line()
            self._rows.clear()
        return rest.lines()

    def trim(self, view: LiveView) -> LiveView:
        """Live rows without those above the cursor that stand there already."""
        if not any(self._rows) or view.cursor is None:
            return view
        above = view.rows[: view.cursor.row]
        rest = _Rest(above)
        if not all(rest.skip(row) for row in self._rows):
            return view
        kept = rest.lines()
        row = view.cursor.row - len(above) + len(kept)
        return LiveView((*kept, *view.rows[len(above) :]), view.cursor._replace(row=row))


class _Rest:
    """Lines with a place up to which they are skipped. Spaces and line ends do not count."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._texts = [plain(line) for line in lines]
        self._line = 0
        self._at = 0
        self.wanted = ""

    @property
    def over(self) -> bool:
        """Whether the lines ended before what was to be skipped."""
        return self._line == len(self._texts)

    def skip(self, letters: str) -> bool:
        """Skip these letters, or a blank line for none; whether they all came. Nothing is skipped where others do."""
        line, at, count = self._line, self._at, 0
        if not letters and at == 0 and line < len(self._texts) and not self._texts[line].strip():
            self._line += 1
        while count < len(letters) and line < len(self._texts):
            text = self._texts[line]
            if at == len(text):
                line, at = line + 1, 0
            elif text[at].isspace():
                at += 1
            elif text[at] == letters[count]:
                at, count = at + 1, count + 1
            else:
                return False
        if letters:
            self._line, self._at = line, at
        self.wanted = letters[count:]
        return not self.wanted

    def begin_line(self) -> None:
        """Skip no part of a line."""
        if self._texts[self._line][self._at :].strip():
            self._at = 0

    def lines(self) -> list[Line]:
        """What is left, from the beginning of a word."""
        if self.over:
            return []
        text, at = self._texts[self._line], self._at
        while 0 < at < len(text) and not text[at - 1].isspace() and not text[at].isspace():
            at -= 1
        first = _from(self._lines[self._line], at + len(text[at:]) - len(text[at:].lstrip()) if at else 0)
        return [*([first] if first.spans or not at else []), *self._lines[self._line + 1 :]]


def _from(line: Line, start: int) -> Line:
    """The line from a character on."""
    kept: list[Span] = []
    for span in line.spans:
        if start < len(span.text):
            kept.append(Span(span.text[start:], span.style))
        start = max(0, start - len(span.text))
    return Line(tuple(kept))

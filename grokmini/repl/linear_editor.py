"""The draft on a terminal that only ever moves forward.

Pure: presses in, text to write out. The cursor stays at the end of the draft; what is written are printable
characters, newlines and `\\b` over what was just typed, never an escape sequence. Where going back is not
possible that way (over a line's edge), the line is shown afresh on a line of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from grokmini.repl.keys import Key, Paste, Press, Text
from grokmini.repl.paste_chips import first_words, is_large, line_count
from grokmini.text.sanitise import sanitise
from grokmini.text.width import cell_width, graphemes

TAB_SHOWN = "    "
ENTER_SENDS = "pasted lines are in the draft: Enter to send"


class Unit(NamedTuple):
    """What one Backspace removes: a grapheme, a newline or a large paste. `shown` is what stands for it."""

    text: str
    shown: str


class Edit(NamedTuple):
    """What a press did: text to write at the cursor, and a draft that was sent, or a line to print before
    the draft is shown again.
    """

    echo: str = ""
    submitted: str | None = None
    hint: str = ""


NOTHING = Edit()


class LinearEditor:
    """A draft with a prompt in front. `width` is the terminal's; `older` gives history, newest first."""

    def __init__(self, prompt: str, *, width: int, older: Sequence[str] = ()) -> None:
        self._prompt = prompt
        self._indent = " " * cell_width(prompt)
        self.width = width
        self.older = older
        self._units: list[Unit] = []
        self._recalled: int | None = None
        self._stash = ""

    @property
    def text(self) -> str:
        """The draft, whole."""
        return "".join(unit.text for unit in self._units)

    @property
    def empty(self) -> bool:
        """Whether there is no draft."""
        return not self._units

    @property
    def recalled(self) -> int | None:
        """The place in the history of the entry that is the draft, as long as it is unchanged."""
        return self._recalled

    def shown(self) -> str:
        """Prompt and draft as they look on a fresh line."""
        return self._prompt + self._echo(self._units)

    def set(self, text: str) -> None:
        """Replace the draft. Nothing is echoed."""
        self._units = []
        self._recalled = None
        self._append(text)

    def insert(self, text: str) -> str:
        """Add typed or completed text at the end; what to write for it."""
        self._recalled = None
        self._append(text)
        return self._echo([_unit(character) for character in text])

    def press(self, press: Press) -> Edit:
        """Act on one press; keys that are no editing do nothing."""
        if isinstance(press, Text):
            return Edit(self.insert(press.text))
        if isinstance(press, Paste):
            return Edit(self._paste(press.text))
        if press is Key.UP or press is Key.DOWN:
            return Edit(self._step(1 if press is Key.UP else -1))
        if press is Key.ENTER:
            return self._enter()
        if press is Key.NEWLINE or press is Key.PASTED_NEWLINE:
            return Edit(self.insert("\n"))
        if press is Key.PASTE_ENDED:
            return Edit(self.insert("\n"), hint=ENTER_SENDS)
        if press is Key.BACKSPACE:
            return Edit(self._remove(1))
        if press is Key.KILL_WORD or press is Key.KILL_PART:
            return Edit(self._remove(self._word_length()))
        if press is Key.KILL_LINE:
            return Edit(self._remove(max(1, len(self._last_line()))))
        return NOTHING

    def recall(self, index: int) -> str:
        """Make an entry of the history the draft; what to write to show it."""
        if self._recalled is None:
            self._stash = self.text
        self._replace(self.older[index])
        self._recalled = index
        return self._afresh()

    def _enter(self) -> Edit:
        backslashes = 0
        for unit in reversed(self._units):
            if unit.text != "\\":
                break
            backslashes += 1
        if backslashes % 2:
            self._units.pop()
            return Edit(self.insert("\n"))
        text = self.text
        self.set("")
        return Edit("\n", submitted=text if text.strip() else "")

    def _step(self, by: int) -> str:
        place = (-1 if self._recalled is None else self._recalled) + by
        if place >= len(self.older) or place < -1:
            return ""
        if place >= 0:
            fresh = not self._units
            echo = self.recall(place)
            return self._echo(self._units) if fresh else echo
        self._replace(self._stash)
        self._recalled = None
        return self._afresh()

    def _paste(self, text: str) -> str:
        if not is_large(text):
            return self.insert(text)
        size = f"{line_count(text)} lines, {len(text)} characters"
        chip = Unit(text, f"[pasted, {size}: {first_words(text)}]")
        self._recalled = None
        self._units.append(chip)
        return chip.shown

    def _replace(self, text: str) -> None:
        self._units = []
        self._append(text)

    def _append(self, text: str) -> None:
        """Add text, joining what belongs to the last grapheme (an accent that comes later)."""
        if not text:
            return
        last = self._units[-1].text if self._units else ""
        if last and not text.isascii() and last == self._units[-1].shown and last != "\n":
            self._units.pop()
            text = last + text
        self._units += [_unit(cluster) for cluster in graphemes(text)]

    def _remove(self, count: int) -> str:
        """Take units off the end; what to write so that they are gone from the screen, too."""
        count = min(count, len(self._units))
        if not count:
            return ""
        self._recalled = None
        column = self._column()
        gone = self._units[-count:]
        del self._units[-count:]
        cells = sum(cell_width(unit.shown) for unit in gone)
        if any(unit.text == "\n" for unit in gone) or not 0 < cells <= column:
            return self._afresh()
        return "\b" * cells + " " * cells + "\b" * cells

    def _word_length(self) -> int:
        """Units of the last word and the blanks behind it; a newline ends it."""
        count = 0
        in_word = False
        for unit in reversed(self._units):
            if unit.text == "\n":
                break
            if not unit.text.isspace():
                in_word = True
            elif in_word:
                break
            count += 1
        return max(1, count)

    def _last_line(self) -> list[Unit]:
        for place in range(len(self._units) - 1, -1, -1):
            if self._units[place].text == "\n":
                return self._units[place + 1 :]
        return self._units

    def _column(self) -> int:
        """Cells written in the row of the cursor; 0 where that is uncertain, at the edge of the screen."""
        column = len(self._indent) % self.width
        for unit in self._last_line():
            for cluster in graphemes(unit.shown):
                cells = cell_width(cluster)
                column = column + cells if column + cells <= self.width else cells
        return column % self.width

    def _afresh(self) -> str:
        """Prompt and draft on a new line, for a change that cannot be shown in place."""
        return "\n" + self.shown()

    def _echo(self, units: Sequence[Unit]) -> str:
        return "".join("\n" + self._indent if unit.text == "\n" else unit.shown for unit in units)


def _unit(cluster: str) -> Unit:
    if cluster == "\n":
        return Unit("\n", "\n")
    if cluster == "\t":
        return Unit("\t", TAB_SHOWN)
    return Unit(cluster, sanitise(cluster, newlines=False))

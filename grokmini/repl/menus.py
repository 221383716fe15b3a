"""The menu under the draft: what could be meant, which of it is chosen, and how that looks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from grokmini.render.lines import PLAIN, Line, Span, Style
from grokmini.render.look import DIM, Look
from grokmini.repl.commands.table import CommandRow
from grokmini.repl.draft_view import fitted
from grokmini.repl.path_match import letters_in_order
from grokmini.text.width import cell_width, cut_to_width

MENU_ROWS = 8
CHOSEN = Style(bold=True)
QUOTED_END = '" '

_COMMAND = re.compile(r"/([A-Za-z?][\w:?-]*)?")
_ARGUMENT = re.compile(r"/([A-Za-z?][\w:?-]*) ")
_FIRST_ARGUMENT = re.compile(r"/([A-Za-z?][\w:?-]*) (\S*)")
_PATH = re.compile(r'(?:(?<=\s)|^)@(?:"([^"\n]*)|([^\s"]*))$')


class MenuItem(NamedTuple):
    """One thing to choose. `text` replaces what was typed of it; `complete` says that it can be sent then."""

    label: str
    detail: str
    text: str
    complete: bool


class Token(NamedTuple):
    """What is being typed that a menu is about: from `start` up to the cursor."""

    kind: Literal["command", "path", "word", "argument"]
    start: int
    typed: str


class Menu:
    """Items with one chosen. Never empty."""

    def __init__(self, token: Token, items: Sequence[MenuItem]) -> None:
        self.token = token
        self.items = items
        self.index = 0

    @property
    def chosen(self) -> MenuItem:
        """The item that Tab or Enter takes."""
        return self.items[self.index]

    def move(self, by: int) -> None:
        """Choose another item; behind the last comes the first."""
        self.index = (self.index + by) % len(self.items)

    def keep(self, former: Menu) -> None:
        """Go on with what was chosen in a former menu about the same words, if it is still there."""
        if former.token == self.token and former.index and former.chosen in self.items:
            self.index = self.items.index(former.chosen)

    def rows(self, look: Look, width: int, height: int = MENU_ROWS) -> tuple[Line, ...]:
        """At most `height` rows around the chosen item; which it is of how many, if there are more."""
        top = max(0, min(self.index - height // 2, len(self.items) - height))
        shown = range(top, min(top + height, len(self.items)))
        labels = max((cell_width(self.items[number].label) for number in shown), default=0)
        count = f"{self.index + 1}/{len(self.items)}" if len(self.items) > height else ""
        return tuple(
            self._row(
                number, min(labels, width // 2 if self.items[number].detail else width), look, width, count
            )
            for number in shown
        )

    def _row(self, number: int, column: int, look: Look, width: int, count: str) -> Line:
        item = self.items[number]
        chosen = number == self.index
        mark = look.glyphs.prompt if chosen else " " * cell_width(look.glyphs.prompt)
        style = CHOSEN if chosen else PLAIN
        room = column if item.detail else width - cell_width(mark) - 1
        label = cut_to_width(item.label, max(0, room), look.glyphs.ellipsis)
        spans = [Span(mark, CHOSEN), Span(" "), Span(label, style)]
        if item.detail:
            spans += [Span(" " * (column - cell_width(label) + 2)), Span(item.detail, style if chosen else DIM)]
        line = fitted(spans, width)
        if chosen and count and line.width + len(count) + 2 <= width:
            gap = " " * (width - line.width - len(count))
            line = Line((*line.spans, Span(gap), Span(count, DIM)))
        return line


def token_at(before: str, after: str) -> Token | None:
    """What a menu may open for by itself: a command's name at the beginning of the draft, or an `@path`."""
    if _COMMAND.fullmatch(before) and (not after or after[0].isspace()):
        return Token("command", 0, before)
    match = _PATH.search(before)
    return Token("path", match.start(), match[1] or match[2] or "") if match else None


def word_at(before: str) -> Token | None:
    """The path in a shell command or behind `/cd` that Tab completes."""
    if before.startswith("/cd "):
        return Token("word", 4, before[4:])
    if before.startswith("!") and "\n" not in before:
        start = max(before.rfind(" ") + 1, 1)
        return Token("word", start, before[start:])
    return None


def argument_at(before: str) -> tuple[str, Token] | None:
    """The command and the argument being typed of it, for one that has names to choose from."""
    match = _FIRST_ARGUMENT.fullmatch(before)
    return (match[1], Token("argument", match.start(2), match[2])) if match else None


def name_items(typed: str, names: Sequence[str]) -> list[MenuItem]:
    """The names that begin as what is typed."""
    return [MenuItem(name, "", name, complete=True) for name in names if name.startswith(typed)]


def command_items(typed: str, commands: Sequence[CommandRow]) -> list[MenuItem]:
    """The commands that `/typed` may mean: those that begin so, then aliases, then those with its letters."""
    wanted = typed[1:].casefold()
    has_letters = letters_in_order(wanted).match
    ranked: list[tuple[int, CommandRow]] = []
    for row in commands:
        if wanted in (row.name, *row.aliases):
            ranked.append((-1, row))
        elif row.name.startswith(wanted):
            ranked.append((0, row))
        elif any(alias.startswith(wanted) for alias in row.aliases):
            ranked.append((1, row))
        elif has_letters(row.name):
            ranked.append((2, row))
    ranked.sort(key=lambda one: one[0])
    return [_command_item(row) for _, row in ranked]


def argument_hint(draft: str, commands: Sequence[CommandRow]) -> str:
    """What a command that stands in the draft, with a space behind it and nothing else, takes as argument."""
    match = _ARGUMENT.fullmatch(draft)
    if not match:
        return ""
    return next((row.arguments for row in commands if match[1] in (row.name, *row.aliases)), "")


def path_item(path: str, *, mention: bool) -> MenuItem:
    """A file or folder (with a slash at its end). In a mention, one with blanks is put between quotes."""
    end = "" if path.endswith("/") else " "
    if not mention:
        return MenuItem(path, "", path, complete=False)
    if not any(character.isspace() for character in path):
        return MenuItem(path, "", f"@{path}{end}", complete=False)
    return MenuItem(path, "", f'@"{path}{end and QUOTED_END}', complete=False)


def _command_item(row: CommandRow) -> MenuItem:
    label = f"/{row.name} {row.arguments}".rstrip()
    needs = bool(row.arguments) and not row.arguments.startswith("[")
    text = f"/{row.name} " if row.arguments else f"/{row.name}"
    return MenuItem(label, row.summary, text, complete=not needs)

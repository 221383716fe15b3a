"""What a slash command gets and what it gives back. It never touches the screen and sends nothing itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from grokmini.protocol.commands import SessionCommand
from grokmini.render.lines import Line, line_of
from grokmini.render.look import Look
from grokmini.render.session_list import Row
from grokmini.repl.ports import OpenedSession, SessionFactory
from grokmini.repl.session_state import SessionState


class CommandContext(NamedTuple):
    """Where a command looks: the session, its state, and what only the wiring knows. `width` and `look` are the
    terminal's; `home` is shown as `~`.
    """

    opened: OpenedSession
    factory: SessionFactory
    state: SessionState
    width: int = 80
    look: Look = Look()
    home: str = ""


class Say(NamedTuple):
    """Print these lines. `prose` says that they are sentences, to be wrapped between words."""

    lines: tuple[Line, ...]
    prose: bool = False


class Page(NamedTuple):
    """Show these lines in the pager; where there is none, print them."""

    lines: tuple[Line, ...]


class Leave(NamedTuple):
    """Leave the program."""


class GoOn(NamedTuple):
    """Talk to this session from now on, after printing these lines; the former one ends."""

    opened: OpenedSession
    lines: tuple[Line, ...] = ()


class Pick(NamedTuple):
    """Let the person choose a stored session. `title` says what choosing does, `command` does the same by name.

    `load` gives the sessions of this folder or (True) of all, `search` those in which words were said; both may
    read files and are called in a thread. `chosen` says what to do with the id.
    """

    title: str
    command: str
    load: Callable[[bool], Sequence[Row]]
    search: Callable[[str], Sequence[Row]]
    chosen: Callable[[str], Awaitable[Result]]


class Copy(NamedTuple):
    """Put a text on the clipboard; `what` says what it is."""

    text: str
    what: str


Result: TypeAlias = "SessionCommand | Say | Page | Leave | GoOn | Pick | Copy"
Run: TypeAlias = Callable[[str, CommandContext], Awaitable[Result]]
"""A command's function `run`: the text behind its name, stripped, and the context. May raise `GrokminiError`."""


def say(*rows: str) -> Say:
    """Print these sentences, each in rows of its own."""
    return Say(tuple(line_of(row) for row in rows), prose=True)


def say_lines(lines: Iterable[Line]) -> Say:
    """Print these lines."""
    return Say(tuple(lines))

"""What a slash command gets and what it gives back. It never touches the screen and sends nothing itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple, TypeAlias

from grokmini.protocol.commands import SessionCommand
from grokmini.render.lines import Line, line_of
from grokmini.repl.ports import OpenedSession, SessionFactory
from grokmini.repl.session_state import SessionState


class CommandContext(NamedTuple):
    """Where a command looks: the session, its state, and what only the wiring knows. `width` is the terminal's."""

    opened: OpenedSession
    factory: SessionFactory
    state: SessionState
    width: int = 80


class Say(NamedTuple):
    """Print these lines."""

    lines: tuple[Line, ...]


class Page(NamedTuple):
    """Show these lines in the pager; where there is none, print them."""

    lines: tuple[Line, ...]


class Leave(NamedTuple):
    """Leave the program."""


class NewSession(NamedTuple):
    """Go on in a fresh session."""


Result: TypeAlias = SessionCommand | Say | Page | Leave | NewSession
Run: TypeAlias = Callable[[str, CommandContext], Awaitable[Result]]
"""A command's function `run`: the text behind its name, stripped, and the context. May raise `GrokminiError`."""


def say(*rows: str) -> Say:
    """Print these rows."""
    return Say(tuple(line_of(row) for row in rows))


def say_lines(lines: Iterable[Line]) -> Say:
    """Print these lines."""
    return Say(tuple(lines))

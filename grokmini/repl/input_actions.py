"""What editing the draft asks of the program around it."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple, TypeAlias


class Submit(NamedTuple):
    """A draft was sent, in full; the draft is empty now."""

    text: str


class OpenEditor(NamedTuple):
    """The person wants to edit this text in an editor of their own; `Input.edited` takes it back."""

    text: str


class Hint(NamedTuple):
    """A line to show for a moment."""

    text: str


class Signal(Enum):
    """Keys whose meaning depends on what else is open or runs."""

    CHANGED = auto()
    """Something looks different."""
    EMPTY_ENTER = auto()
    """Enter without a draft."""
    INTERRUPT = auto()
    ESCAPE = auto()
    """Esc, when nothing of the input's own was open."""
    END_OF_FILE = auto()
    """Ctrl-D without a draft."""
    NEXT_MODE = auto()
    SUSPEND = auto()
    REDRAW = auto()
    TRANSCRIPT = auto()
    BACKGROUND = auto()
    """Ctrl-B without a draft."""
    PASTE = auto()
    """Ctrl-V: the clipboard is wanted; `Input.insert` takes it."""


Action: TypeAlias = Submit | OpenEditor | Hint | Signal

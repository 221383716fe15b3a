"""What a key press or a paste becomes: the vocabulary between decoding bytes and acting on them."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple, TypeAlias


class Key(Enum):
    """Keys that mean something by themselves."""

    ENTER = auto()
    NEWLINE = auto()
    """Ctrl-J, Alt-Enter or Shift-Enter."""
    PASTED_NEWLINE = auto()
    """A line end inside a burst of lines."""
    PASTE_ENDED = auto()
    """The line end that closes a burst of several lines: a newline, and the person should hear that Enter sends."""
    BACKSPACE = auto()
    KILL_LINE = auto()
    KILL_WORD = auto()
    UP = auto()
    DOWN = auto()
    TAB = auto()
    SHIFT_TAB = auto()
    SEARCH = auto()
    REDRAW = auto()
    ESCAPE = auto()
    INTERRUPT = auto()
    END_OF_FILE = auto()
    SUSPEND = auto()


class Text(NamedTuple):
    """Typed characters, without control characters."""

    text: str


class Paste(NamedTuple):
    """A paste between marks, whole, its line ends made `\\n`, other control characters but tabs taken out."""

    text: str


Press: TypeAlias = Key | Text | Paste

CONTROL_KEYS: dict[int, Key] = {
    0x03: Key.INTERRUPT,
    0x04: Key.END_OF_FILE,
    0x08: Key.BACKSPACE,
    0x0A: Key.NEWLINE,
    0x0C: Key.REDRAW,
    0x0E: Key.DOWN,
    0x10: Key.UP,
    0x12: Key.SEARCH,
    0x15: Key.KILL_LINE,
    0x17: Key.KILL_WORD,
    0x1A: Key.SUSPEND,
    0x7F: Key.BACKSPACE,
}
"""Single bytes that are keys. CR, tab and ESC are not here: what they mean depends on what follows."""

_SHIFT, _ALT, _CONTROL = 1, 2, 4


def key_of_csi(parameters: str, final: str) -> Key | None:
    """The key that a control sequence stands for; None for those that are swallowed.

    Swallowed are keys without a meaning here and everything a terminal says by itself: device attributes,
    cursor reports, focus changes, mode reports. Shift-Enter comes as `13;2u` or as `27;2;13~`.
    """
    if final in "AB" and parameters in ("", "1"):
        return Key.UP if final == "A" else Key.DOWN
    if final == "Z":
        return Key.SHIFT_TAB
    fields = parameters.split(";")
    if final == "u":
        code, modifiers = fields[0], fields[1] if len(fields) > 1 else "1"
        return _modified(code.split(":")[0], modifiers.split(":")[0])
    if final == "~" and len(fields) == 3 and fields[0] == "27":
        return _modified(fields[2], fields[1])
    return None


def _modified(code: str, modifiers: str) -> Key | None:
    if not (code.isascii() and code.isdigit() and modifiers.isascii() and modifiers.isdigit()):
        return None
    number, held = int(code[:7]), int(modifiers[:4]) - 1
    if number == 0x0D:
        return Key.NEWLINE if held & (_SHIFT | _ALT) else Key.ENTER
    if number == 0x1B:
        return Key.ESCAPE
    if number == 0x09:
        return Key.SHIFT_TAB if held & _SHIFT else Key.TAB
    if held & _CONTROL and number < 0x80 and chr(number).isalpha():
        return CONTROL_KEYS.get(number & 0x1F)
    return CONTROL_KEYS.get(number) if held <= 0 else None

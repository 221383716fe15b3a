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
    KILL_PART = auto()
    """Alt-Backspace: like the former, but punctuation ends a word where the editor knows of it."""
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


class Burst(NamedTuple):
    """A paste without marks that is large. It was given in pieces just before; this is all of it."""

    text: str


class Chord(NamedTuple):
    """A key that only the full editor knows, as the terminal sends it: `ESC [ D`, `ESC b`, Ctrl-A."""

    raw: str


Press: TypeAlias = Key | Text | Paste | Burst | Chord

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
_ANSWER_STARTS = ("?", ">", "<", "=")
_ANSWER_ENDS = "cnRtIOM"


def press_of_csi(parameters: str, final: str) -> Press | None:
    """What a control sequence stands for; None for what a terminal says by itself, which is swallowed.

    That is: device attributes, cursor and window reports, focus changes, mode reports, the mouse. Shift-Enter
    comes as `13;2u` or as `27;2;13~`; other keys may come in these two forms as well.
    """
    if parameters.startswith(_ANSWER_STARTS) or final in _ANSWER_ENDS or "$" in parameters:
        return None
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
    return Chord(f"\x1b[{parameters}{final}")


def press_of_control(byte: int) -> Press:
    """What a single control character stands for."""
    return CONTROL_KEYS.get(byte) or Chord(chr(byte))


def _modified(code: str, modifiers: str) -> Press | None:
    if not (code.isascii() and code.isdigit() and modifiers.isascii() and modifiers.isdigit()):
        return None
    number, held = int(code[:7]), int(modifiers[:4]) - 1
    if number == 0x0D:
        return Key.NEWLINE if held & (_SHIFT | _ALT) else Key.ENTER
    if number == 0x1B:
        return Key.ESCAPE
    if number == 0x09:
        return Key.SHIFT_TAB if held & _SHIFT else Key.TAB
    if number == 0x7F:
        return Key.KILL_PART if held & _ALT else Key.BACKSPACE
    character = chr(number) if number <= 0x10FFFF else ""
    if not character.isprintable() or not character:
        return None
    if held & _CONTROL:
        return press_of_control(number & 0x1F) if "@" <= character < "\x7f" else None
    return Chord(f"\x1b{character}") if held & _ALT else Text(character)

"""The one guard between text from outside and the terminal.

What could drive a terminal or deceive a reader becomes a visible mark, character by character and without
state, so that text may be cut anywhere and still comes out the same.
"""

from __future__ import annotations

import re

_ALWAYS = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but for tab and newline, DEL, C1
    r"\u00ad\u061c\u180e\u200b\u200e\u200f"  # soft hyphen, marks of direction, invisible spaces
    r"\u2028-\u202e\u2060-\u206f"  # line separators, bidi controls, invisible operators
    r"\ufeff\ufff9-\ufffb"  # byte order mark, annotations
    r"\U000e0000-\U000e007f"  # tag characters: invisible text
    r"\ud800-\udfff"  # lone surrogates
)
_UNSAFE = re.compile(f"[{_ALWAYS}]")
_UNSAFE_OR_BREAK = re.compile(f"[{_ALWAYS}\t\n]")

_STRING_BODY = r"[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI
    rf"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f]){_STRING_BODY}"  # OSC, DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]?"  # the short ones
)


def sanitise(text: str, *, newlines: bool = True) -> str:
    """The text with every dangerous character as a visible mark (`␛` for ESC, `<U+202E>` for bidi controls).

    Newlines and tabs stay, unless `newlines` is False: then the result is safe inside one line. Zero-width
    joiners and variation selectors stay: scripts and emoji need them. Lone surrogates become U+FFFD.
    """
    if text.isprintable():
        return text
    return (_UNSAFE if newlines else _UNSAFE_OR_BREAK).sub(_mark, text)


def _mark(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"<U+{code:04X}>"


def strip_ansi(text: str) -> str:
    """The text without terminal sequences (colours of a command's output, say); unterminated ones go too.

    A string sequence (OSC, DCS, …) that does not end is taken to end with its line, so that it cannot hide
    what follows. The result still has to be sanitised before it is shown.
    """
    if "\x1b" not in text and not _SEQUENCE.search(text):
        return text
    return _SEQUENCE.sub("", text)

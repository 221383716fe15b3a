"""Characters that look like others: typographic quotes, dashes, spaces of all kinds, invisible ones."""

from __future__ import annotations

from typing import Final, NamedTuple

_LOOKS_LIKE: Final = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u02bc\uff07",
    '"': "\u201c\u201d\u201e\u201f\u2033\uff02",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\uff0d",
    " ": "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
    "": "\u200b\u200c\u200d\u2060\ufeff\u00ad",
    "...": "\u2026",
}
_TABLE: Final = {ord(char): plain for plain, chars in _LOOKS_LIKE.items() for char in chars}
MAX_FOUND: Final = 8


class Confusable(NamedTuple):
    """A line (numbered from 1) and a character on it that looks like `plain` (empty: like nothing)."""

    line: int
    char: str
    plain: str

    @property
    def name(self) -> str:
        """Such as `U+00A0 NO-BREAK SPACE`."""
        import unicodedata

        return f"U+{ord(self.char):04X} {unicodedata.name(self.char, 'UNNAMED')}"


def plain_form(text: str) -> str:
    """The text with look-alikes replaced by what they look like."""
    return text if text.isascii() else text.translate(_TABLE)


def find_confusables(text: str, wanted: str) -> tuple[Confusable, ...]:
    """If `wanted` is in `text` but for look-alikes: those that make the difference, `MAX_FOUND` at most."""
    if text.isascii() and wanted.isascii():
        return ()
    plain_wanted = plain_form(wanted)
    plain_lines = [plain_form(line) for line in text.split("\n")]
    at = "\n".join(plain_lines).find(plain_wanted) if plain_wanted else -1
    if at < 0:
        return ()
    first = "\n".join(plain_lines).count("\n", 0, at)
    last = first + plain_wanted.count("\n")
    in_file = _in_lines(text.split("\n")[first : last + 1], first + 1)
    return in_file or _in_lines(wanted.split("\n"), 0)


def _in_lines(lines: list[str], number: int) -> tuple[Confusable, ...]:
    found: list[Confusable] = []
    for offset, line in enumerate(lines):
        for char in dict.fromkeys(line):
            if ord(char) in _TABLE and len(found) < MAX_FOUND:
                found.append(Confusable(number + offset if number else 0, char, _TABLE[ord(char)]))
    return tuple(found)

"""JSON as models sometimes write it: read when only the form is wrong, refused when the meaning is in doubt.

Forgiven: a code fence around it, single quotes, trailing commas, Python's True/False/None, real newlines inside
strings, unknown escapes (`\\d`), backslash-n between tokens, brackets not closed at the end, closers too many.
A string or number that is cut off is never forgiven: half a command or half a file must not be used.
"""

from __future__ import annotations

import re
from typing import Any, Final

from grokmini.protocol.codec import clean_surrogates
from grokmini.text.parameter_tags import read_parameters
from grokmini.tools.unreadable import UnreadableError

MAX_DEPTH: Final = 64

_FENCE: Final = "```"
_LANGUAGE: Final = re.compile(r"[a-zA-Z]*\s*")
_SPACE: Final = re.compile(r"(?:\s|\\+[nrt])+")
_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_TRAILER: Final = re.compile(r"(?:\s|\\+[nrt]|[}\]`]|</[A-Za-z_=|]+>)*\Z")
_AROUND_TAGS: Final = re.compile(r"(?:\s|</?(?:tool_call|function(?:=[A-Za-z0-9_-]+)?)>)*\Z")

_CONSTANTS: Final = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_ESCAPES: Final = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "/": "/",
    "\\": "\\",
    '"': '"',
    "'": "'",
}


class Repaired:
    """A value read from broken JSON, and what was wrong with it, each thing once."""

    def __init__(self, value: Any, repairs: tuple[str, ...]) -> None:
        self.value = value
        self.repairs = repairs


def read_lenient(text: str) -> Repaired:
    """Read broken JSON, or parameters in tags. Raises `UnreadableError`."""
    tagged = _read_tags(text)
    if tagged is not None:
        return Repaired(tagged, ("parameters in tags",))
    reader = _Reader(text)
    value = reader.read_whole()
    return Repaired(clean_surrogates(value), tuple(dict.fromkeys(reader.repairs)))


def _read_tags(text: str) -> dict[str, str] | None:
    found, around = read_parameters(text)
    if not found or not _AROUND_TAGS.match(around):
        return None
    return found


def _without_fence(text: str) -> str | None:
    """What stands in the code fence that the whole text is; None when it is none."""
    text = text.strip()
    if len(text) < 2 * len(_FENCE) or not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return None
    inner = text[len(_FENCE) : -len(_FENCE)]
    language = _LANGUAGE.match(inner)
    return inner[language.end() if language else 0 :].rstrip()


class _Reader:
    def __init__(self, text: str) -> None:
        self.repairs: list[str] = []
        inner = _without_fence(text)
        if inner is not None:
            self.repairs.append("a code fence")
            text = inner
        self._text = text
        self._at = 0

    def read_whole(self) -> Any:
        self._skip()
        value = self._value(0)
        if not _TRAILER.match(self._text, self._at):
            self._skip()
            raise UnreadableError("text after the arguments", self._at)
        if self._text[self._at :].strip():
            self.repairs.append("surplus characters at the end")
        return value

    def _value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise UnreadableError("nested too deeply", self._at)
        char = self._peek()
        if char == "{":
            return self._object(depth)
        if char == "[":
            return self._array(depth)
        if char in ('"', "'"):
            return self._string()
        if number := _NUMBER.match(self._text, self._at):
            self._at = number.end()
            if depth and self._at == len(self._text):
                raise UnreadableError("a number may be cut off", number.start())
            return _number(number[0])
        if (word := _WORD.match(self._text, self._at)) and word[0] in _CONSTANTS:
            self._at = word.end()
            if word[0] not in ("true", "false", "null"):
                self.repairs.append(f"{word[0]} instead of JSON's word")
            return _CONSTANTS[word[0]]
        raise UnreadableError(
            "a value is missing" if char else "the text ends where a value should be", self._at
        )

    def _object(self, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        self._at += 1
        while not self._closed("}", result):
            key = self._key()
            self._skip()
            if self._peek() != ":":
                raise UnreadableError("a colon is missing", self._at)
            self._at += 1
            self._skip()
            value = self._value(depth + 1)
            if key in result and result[key] != value:
                raise UnreadableError(f"`{key}` is given twice", self._at)
            result[key] = value
            self._separator("}")
        return result

    def _array(self, depth: int) -> list[Any]:
        result: list[Any] = []
        self._at += 1
        while not self._closed("]", result):
            result.append(self._value(depth + 1))
            self._separator("]")
        return result

    def _closed(self, closer: str, so_far: dict[str, Any] | list[Any]) -> bool:
        self._skip()
        char = self._peek()
        if char == closer:
            self._at += 1
            return True
        if not char:
            if not so_far:
                raise UnreadableError("the text ends too early", self._at)
            self.repairs.append("brackets not closed")
            return True
        return False

    def _separator(self, closer: str) -> None:
        self._skip()
        char = self._peek()
        if char == ",":
            self._at += 1
            self._skip()
            if self._peek() == closer:
                self.repairs.append("a comma too many")
        elif char and char != closer:
            raise UnreadableError("a comma is missing", self._at)

    def _key(self) -> str:
        if self._peek() in ('"', "'"):
            return self._string()
        if word := _WORD.match(self._text, self._at):
            self._at = word.end()
            self.repairs.append("a key without quotes")
            return word[0]
        raise UnreadableError("a key is missing", self._at)

    def _string(self) -> str:
        start = self._at
        quote = self._text[start]
        if quote == "'":
            self.repairs.append("single quotes")
        parts: list[str] = []
        self._at += 1
        while self._at < len(self._text):
            char = self._text[self._at]
            if char == quote:
                self._at += 1
                return "".join(parts)
            if char == "\\":
                parts.append(self._escape())
                continue
            if char < " ":
                self.repairs.append("control characters inside a string")
            parts.append(char)
            self._at += 1
        raise UnreadableError("a string is cut off", start)

    def _escape(self) -> str:
        following = self._text[self._at + 1 : self._at + 2]
        if following == "u":
            digits = self._text[self._at + 2 : self._at + 6]
            if len(digits) == 4 and all(digit in "0123456789abcdefABCDEF" for digit in digits):
                self._at += 6
                return chr(int(digits, 16))
        elif following in _ESCAPES:
            self._at += 2
            return _ESCAPES[following]
        self.repairs.append("a backslash that should have been two")
        self._at += 1
        return "\\"

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self) -> None:
        if space := _SPACE.match(self._text, self._at):
            if "\\" in space[0]:
                self.repairs.append("escapes between tokens")
            self._at = space.end()


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)

"""Tool calls that a model writes into its text because its server does not take them out (quirks.md, row 42).

Read are `<tool_call>{…}</tool_call>` on a line of its own, a code fence with the call as JSON that ends the reply, and
a reply that is nothing but the call, as JSON or in Python's form. What names no tool that was offered is text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from grokmini.protocol.codec import decode_json
from grokmini.text.parameter_tags import read_parameters

if TYPE_CHECKING:
    import ast

LOOKED_AT: Final = 400
"""Characters of what may become a call by which that is told."""
MAX_HELD: Final = 500_000
"""Characters that are held back at most: a reply without end must come to whoever looks for repetition."""
_TAG: Final = "<tool_call>"
_FENCES: Final = ("```json\n", "```tool_call\n", "```tool_code\n", "```\n")
_MARK: Final = "[TOOL_CALLS]"
_CLOSERS: Final = {_TAG: "</tool_call>", **dict.fromkeys(_FENCES, "\n```")}
_OPENERS: Final = (_TAG, *_FENCES, _MARK)
_KEYS: Final = ("name", "function", "type", "arguments", "parameters")
_FUNCTION: Final = re.compile(r"\s*<function=([\w.-]+)>")
_FUNCTION_END: Final = "</function>"
_KEY: Final = re.compile(r'\{\s*"?(\w*)("?)')
_NAMED: Final = re.compile(
    r'\{\s*"name"\s*:\s*"([\w.-]+)"\s*,\s*"(?:arguments|parameters)"\s*:\s*(\{.*\})\s*\}', re.DOTALL
)


class WrittenCall(NamedTuple):
    """A call as it was written; `arguments` is a JSON text, as broken as the model left it."""

    name: str
    arguments: str


class TextCalls:
    """Takes calls out of a reply's text; what may be one is held back until that is known. `tools` are the names
    that count.
    """

    def __init__(self, tools: Set[str]) -> None:
        self._tools = tools
        self._held = ""
        self._from = 0
        """How much of what is held is decided."""
        self._new: list[str] = []
        self._wait = 0
        """Characters that have to come before it is worth looking again at a long call."""
        self._at_start = True
        self._said = False
        self._gave_up = False
        self._calls: list[WrittenCall] = []
        self._fence = ""
        self._fenced: list[WrittenCall] = []

    def feed(self, piece: str) -> str:
        """The text that is certain to be text by now."""
        if self._gave_up or (not (self._held or self._at_start) and "\n" not in piece and "<" not in piece):
            return piece
        self._new.append(piece)
        self._wait -= len(piece)
        if self._wait > 0:
            return ""
        self._gather()
        text = self._decided(whole=False)
        self._wait = len(self._held) // 20
        if len(self._held) > MAX_HELD:
            self._gave_up = True
            text += self.release()
        return text

    def finish(self) -> tuple[str, list[WrittenCall]]:
        """The rest of the text and the calls, at the end of the reply."""
        self._gather()
        text = self._decided(whole=True)
        return text, [*self._calls, *self._fenced]

    def release(self) -> str:
        """Everything held back, as text: the server did take the calls out."""
        self._gather()
        text, self._fence, self._held, self._fenced = self._fence + self._held, "", "", []
        return text

    def _gather(self) -> None:
        self._held += "".join(self._new)
        self._new.clear()

    def _decided(self, *, whole: bool) -> str:
        """Take all that is decided from what is held; `whole` when nothing more can come."""
        given: list[str] = []
        while self._from < len(self._held):
            end = self._block(whole) if self._at_start else self._from
            if end is None:
                break
            if end == self._from:
                text = self._line(whole)
                if not text:
                    break
                given.append(self._behind_fence(text))
                self._said = self._said or not text.isspace()
            else:
                self._from = end
        self._held, self._from = self._held[self._from :], 0
        return "".join(given)

    def _line(self, whole: bool) -> str:
        """Take the rest of a line, as far as no call begins in it."""
        held, begin = self._held, self._from
        end = held.find("\n", begin) + 1 or len(held)
        at = held.find(_TAG, begin + 1 if self._at_start else begin, end)
        if at >= 0:
            end = at
        elif not whole and held[end - 1] != "\n":
            end -= next((n for n in range(len(_TAG) - 1, 0, -1) if held.endswith(_TAG[:n], begin)), 0)
        text, self._from = held[begin:end], end
        self._at_start = at >= 0 or text.endswith("\n") or (self._at_start and not text)
        return text

    def _behind_fence(self, text: str) -> str:
        """A fence that words follow was no call but an example: text as they are."""
        if self._fence and text.isspace():
            self._fence += text
            return ""
        fence, self._fence, self._fenced = self._fence, "", []
        return fence + text

    def _block(self, whole: bool) -> int | None:
        """Take the calls that begin here; where they end, None when it cannot be known yet."""
        held, begin = self._held, self._from
        start = next((n for n in range(begin, len(held)) if held[n] not in " \t"), len(held))
        opener = next((mark for mark in _OPENERS if held.startswith(mark, start)), "")
        if not opener:
            if not whole and any(mark.startswith(held[start : start + len(mark)]) for mark in _OPENERS):
                return None
            if self._said or self._calls or held[start : start + 1] not in ("{", "["):
                return begin
        inner = start + len(opener)
        body_end, end = self._ends(opener, inner)
        if end < 0 and not whole:
            return None if self._plausible(held[inner : inner + LOOKED_AT].lstrip()) else begin
        if end < 0:
            body_end = end = len(held)
        calls = _read(held[inner:body_end].strip(), self._tools)
        if not calls:
            return begin
        if opener in _FENCES:
            self._fence, self._fenced = self._fence + held[begin:end], [*self._fenced, *calls]
        else:
            self._calls += calls
        return end

    def _ends(self, opener: str, inner: int) -> tuple[int, int]:
        """Where a block and what is inside of it end, -1 while that is not there; a tag ends where the next begins."""
        closer = _CLOSERS.get(opener, "")
        following = self._held.find(_TAG, inner) if opener == _TAG else -1
        closing = (
            self._held.find(closer, inner, following if following >= 0 else len(self._held)) if closer else -1
        )
        return (closing, closing + len(closer)) if closing >= 0 else (following, following)

    def _plausible(self, begun: str) -> bool:
        """Whether a text that begins like this can become a call."""
        begun = begun.removeprefix("[").lstrip()
        if key := _KEY.match(begun):
            return key[1] in _KEYS if key[2] else any(known.startswith(key[1]) for known in _KEYS)
        if "<function=".startswith(begun[:10]):
            return True
        name = begun.partition("(")[0]
        return name in self._tools if "(" in begun else any(tool.startswith(name) for tool in self._tools)


def _read(text: str, tools: Set[str]) -> list[WrittenCall]:
    """The calls that a text is; none when it is anything else."""
    readers: tuple[Callable[[str], Iterable[WrittenCall]], ...] = (
        _as_json,
        _as_tags,
        _as_broken_json,
        _as_python,
    )
    for read in readers:
        calls = list(read(text))
        if calls and all(call.name in tools for call in calls):
            return calls
    return []


def _as_json(text: str) -> Iterable[WrittenCall]:
    try:
        value = decode_json(text, object)
    except (msgspec.DecodeError, RecursionError):
        return ()
    entries = value if isinstance(value, list) else [value]
    calls = [_of_entry(entry) for entry in entries]
    return [call for call in calls if call is not None] if None not in calls else ()


def _of_entry(entry: Any) -> WrittenCall | None:
    """`{"name": …, "arguments": {…}}`, also below `function`."""
    if not isinstance(entry, dict):
        return None
    inner = entry.get("function")
    entry = inner if isinstance(inner, dict) else entry
    name, arguments = entry.get("name"), entry.get("arguments", entry.get("parameters"))
    if not isinstance(name, str) or not isinstance(arguments, dict | str):
        return None
    return WrittenCall(
        name, arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
    )


def _as_tags(text: str) -> Iterable[WrittenCall]:
    """`<function=NAME><parameter=KEY>VALUE</parameter></function>`, one or several."""
    calls: list[WrittenCall] = []
    at = 0
    while at < len(text):
        opening = _FUNCTION.match(text, at)
        end = text.find(_FUNCTION_END, opening.end()) if opening else -1
        if opening is None or end < 0:
            return ()
        parameters, _ = read_parameters(text[opening.end() : end])
        calls.append(WrittenCall(opening[1], msgspec.json.encode(parameters).decode()))
        at = end + len(_FUNCTION_END)
    return calls


def _as_broken_json(text: str) -> Iterable[WrittenCall]:
    """One call whose arguments are left to whoever mends them."""
    found = _NAMED.fullmatch(text)
    return [WrittenCall(found[1], found[2])] if found else ()


def _as_python(text: str) -> Iterable[WrittenCall]:
    """`[name(key="value"), …]` or one such call, the values plain data."""
    import ast

    try:
        node = ast.parse(text, mode="eval").body
        nodes = node.elts if isinstance(node, ast.List) else [node]
        return [_of_python(call) for call in nodes]
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return ()


def _of_python(node: ast.expr) -> WrittenCall:
    """Raises `ValueError` or `TypeError` for anything else."""
    import ast

    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)) or node.args:
        raise ValueError("no call by keywords")
    arguments = {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in node.keywords}
    return WrittenCall(node.func.id, msgspec.json.encode(arguments).decode())

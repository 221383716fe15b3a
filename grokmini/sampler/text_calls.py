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

if TYPE_CHECKING:
    import ast

MAX_HELD: Final = 500_000
"""Characters that are held back at most: a reply without end must come to whoever looks for repetition."""
_TAG: Final = "<tool_call>"
_FENCES: Final = ("```json\n", "```tool_call\n", "```tool_code\n", "```\n")
_MARK: Final = "[TOOL_CALLS]"
_CLOSERS: Final = {_TAG: "</tool_call>", **dict.fromkeys(_FENCES, "\n```")}
_OPENERS: Final = (_TAG, *_FENCES, _MARK)
_KEYS: Final = ("name", "function", "type", "arguments", "parameters")
_FUNCTION: Final = re.compile(r"<function=([\w.-]+)>(.*?)</function>", re.DOTALL)
_PARAMETER: Final = re.compile(r"<parameter=([\w-]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
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
        self._new: list[str] = []
        self._wait = 0
        """Characters that have to come before it is worth looking again at a long call."""
        self._at_start = True
        self._said = False
        self._calls: list[WrittenCall] = []
        self._fence = ""
        self._fenced: list[WrittenCall] = []

    def feed(self, piece: str) -> str:
        """The text that is certain to be text by now."""
        if not self._held and not self._at_start and "\n" not in piece and "<" not in piece:
            return piece
        self._new.append(piece)
        self._wait -= len(piece)
        if self._wait > 0:
            return ""
        self._gather()
        text = self._decided(whole=False)
        self._wait = len(self._held) // 20
        return text

    def finish(self) -> tuple[str, list[WrittenCall]]:
        """The rest of the text and the calls, at the end of the reply."""
        self._gather()
        text = self._decided(whole=True)
        return text, [*self._calls, *self._fenced]

    def release(self) -> str:
        """Everything held back, as text: the server did take the calls out."""
        self._gather()
        return self._fence + self._held

    def _gather(self) -> None:
        self._held += "".join(self._new)
        self._new.clear()

    def _decided(self, *, whole: bool) -> str:
        """Take all that is decided from what is held; `whole` when nothing more can come."""
        given: list[str] = []
        while self._held:
            taken = self._block(whole) if self._at_start else 0
            if taken is None:
                break
            if not taken:
                text = self._line(whole)
                if not text:
                    break
                given.append(self._behind_fence(text))
                self._said = self._said or not text.isspace()
        return "".join(given)

    def _line(self, whole: bool) -> str:
        """Take the rest of a line, as far as no call begins in it."""
        end = self._held.find("\n") + 1 or len(self._held)
        at = self._held.find(_TAG, 1 if self._at_start else 0, end)
        keep = 0
        if at >= 0:
            end = at
        elif not whole and self._held[end - 1] != "\n":
            keep = next((n for n in range(len(_TAG) - 1, 0, -1) if self._held.endswith(_TAG[:n])), 0)
        text, self._held = self._held[: end - keep], self._held[end - keep :]
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
        """Take the calls that the held text begins with; how much that was, None when it cannot be known yet."""
        start = self._held.lstrip(" \t")
        opener = next((mark for mark in _OPENERS if start.startswith(mark)), "")
        if not opener:
            if not whole and any(mark.startswith(start) for mark in _OPENERS):
                return None
            if self._said or self._calls or start[:1] not in ("{", "["):
                return 0
        closer = _CLOSERS.get(opener, "")
        end = start.find(closer, len(opener)) if closer else -1
        if end < 0 and not whole:
            begun = start[len(opener) :].lstrip()
            return None if len(begun) < MAX_HELD and self._plausible(begun) else 0
        calls = _read(start[len(opener) : end if end >= 0 else None].strip(), self._tools)
        if not calls:
            return 0
        size = len(self._held) - (len(start) - end - len(closer) if end >= 0 else 0)
        taken, self._held = self._held[:size], self._held[size:]
        if opener in _FENCES:
            self._fence, self._fenced = self._fence + taken, [*self._fenced, *calls]
        else:
            self._calls += calls
        return size

    def _plausible(self, begun: str) -> bool:
        """Whether a text that begins like this can become a call."""
        begun = begun.removeprefix("[").lstrip()
        if begun.startswith("{"):
            key = re.match(r'\{\s*"?(\w*)("?)', begun)
            assert key is not None
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
    """`<function=NAME><parameter=KEY>VALUE</parameter></function>`."""
    if _FUNCTION.sub("", text).strip():
        return ()
    found = _FUNCTION.findall(text)
    return [
        WrittenCall(name, msgspec.json.encode(dict(_PARAMETER.findall(inner))).decode())
        for name, inner in found
    ]


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

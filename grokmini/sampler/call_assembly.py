"""Tool calls put together from fragments, matched by place and state rather than by trust in ids.

Servers send no index, an index that starts at 1 or is 0 for every call, an id once, never, empty or in every
fragment, a name once or empty again, whole calls or single characters (reference/quirks.md, "Tool calls").
"""

from __future__ import annotations

from collections.abc import Callable, Set

import msgspec

from grokmini.protocol.codec import decode_json
from grokmini.protocol.items import ToolCall
from grokmini.protocol.samples import SampleEvent, ToolCallComplete, ToolCallDelta, ToolCallStarted
from grokmini.sampler.surrogates import SurrogateJoiner


class Fragment(msgspec.Struct, frozen=True):
    """A piece of a call as it came."""

    index: int | None
    id: str
    name: str
    arguments: str
    extra: msgspec.Raw | None = None


class _OpenCall:
    """A call whose fragments still come."""

    def __init__(self, wire_index: int | None, wire_id: str, own_id: str, name: str) -> None:
        self.wire_index = wire_index
        self.wire_id = wire_id
        self.id = own_id
        self.name = name
        self.pieces: list[str] = []
        self.extra: msgspec.Raw | None = None
        self.joiner = SurrogateJoiner()

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    @property
    def is_whole(self) -> bool:
        """Whether the arguments are one complete JSON value already."""
        last = self.pieces[-1].rstrip() if self.pieces else ""
        return last.endswith(("}", "]")) and is_json(self.arguments)


class CallAssembly:
    """The calls of one reply. `taken` are ids used earlier in the conversation; `new_id` invents one."""

    def __init__(self, taken: Set[str], new_id: Callable[[], str]) -> None:
        self._taken = set(taken)
        self._new_id = new_id
        self._calls: list[_OpenCall] = []

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, fragments: list[Fragment]) -> list[SampleEvent]:
        """Take the fragments of one chunk; events for what they began and added."""
        events: list[SampleEvent] = []
        before = len(self._calls)
        for fragment in fragments:
            call = self._find(fragment, before)
            if call is None:
                if not fragment.name:
                    continue
                call = self._begin(fragment)
                events.append(ToolCallStarted(len(self._calls) - 1, call.id, call.name))
            call.wire_id = call.wire_id or fragment.id
            call.extra = call.extra or fragment.extra
            if piece := call.joiner.feed(fragment.arguments):
                call.pieces.append(piece)
                events.append(ToolCallDelta(self._calls.index(call), piece))
        return events

    def complete(self, *, cut_short: bool, confirmed: bool = False) -> list[SampleEvent] | None:
        """The calls of the reply; None when one of them ends in the middle because the stream did.

        With `cut_short` (the reply hit its length limit) unfinished calls are left out instead. With `confirmed`
        (the server said twice that the reply is whole) it is the model that did not finish: the call is given as
        it is, and whoever decodes its arguments mends or refuses them.
        """
        events: list[SampleEvent] = []
        for index, call in enumerate(self._calls):
            call.pieces.append(call.joiner.finish())
            arguments = call.arguments.strip()
            if not is_json(arguments) and (cut_short or is_unfinished(arguments)):
                if cut_short:
                    continue
                if not confirmed:
                    return None
            made = ToolCall(call.id, call.name, _clean(arguments) or "{}", call.extra)
            events.append(ToolCallComplete(index, made))
        return events

    def _find(self, fragment: Fragment, before: int) -> _OpenCall | None:
        """The call that a fragment goes on with; None: it begins one."""
        if fragment.index is not None:
            same_place = (call for call in reversed(self._calls) if call.wire_index == fragment.index)
            call = next(same_place, None)
        elif fragment.id:
            call = next((call for call in self._calls if call.wire_id == fragment.id), None)
            if call is None and self._calls and not fragment.name:
                call = self._calls[-1]
        else:
            call = self._calls[-1] if self._calls else None
            if call is not None and fragment.name and len(self._calls) > before:
                return None
        if call is None or not fragment.name:
            return call
        if fragment.id and call.wire_id:
            return call if fragment.id == call.wire_id else None
        if fragment.name != call.name and call.pieces:
            return None
        return None if call.is_whole and fragment.arguments.strip() else call

    def _begin(self, fragment: Fragment) -> _OpenCall:
        own = fragment.id
        if not own or own in self._taken:
            own = f"{own}-{self._new_id()}" if own else f"call_{self._new_id()}"
        self._taken.add(own)
        call = _OpenCall(fragment.index, fragment.id, own, fragment.name)
        self._calls.append(call)
        return call


def is_json(text: str) -> bool:
    """Whether the text is one complete JSON value (escapes of lone surrogates included)."""
    try:
        decode_json(text, object)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def is_unfinished(text: str) -> bool:
    """Whether the text ends inside a string, an object or a list: the stream was cut there."""
    depth = 0
    inside = escaped = False
    for character in text:
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
    return inside or depth > 0


def _clean(arguments: str) -> str:
    """The arguments, re-encoded only when they hold an escape that no JSON parser must accept."""
    if "\\u" not in arguments.lower():
        return arguments
    try:
        msgspec.json.decode(arguments)
    except msgspec.ValidationError:
        return arguments
    except msgspec.DecodeError:
        try:
            return msgspec.json.encode(decode_json(arguments, object)).decode()
        except msgspec.DecodeError:
            return arguments
    return arguments

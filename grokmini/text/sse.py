"""Server-sent events, read as they arrive and with tolerance (spec: models.md, "Sampler").

Line ends may be LF, CRLF or lone CR, also mixed and cut anywhere; a BOM at the start is skipped; comments and
unknown fields are ignored; the space after the colon may be missing; a last event needs no blank line. Broken
UTF-8 becomes U+FFFD.
"""

from __future__ import annotations

from typing import NamedTuple

BOM = b"\xef\xbb\xbf"
MAX_EVENT_BYTES = 32_000_000


class SseEvent(NamedTuple):
    """One event; `event` is empty where the stream names none."""

    event: str
    data: str


class SseOverflowError(ValueError):
    """One event grew beyond `MAX_EVENT_BYTES`: this is no event stream."""


class SseParser:
    """Bytes in, events out. Each byte is looked at once, however the stream is cut."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._limit = max_event_bytes
        self._partial: list[bytes] = []
        self._held = 0
        self._lines_held = 0
        self._data: list[bytes] = []
        self._name = b""
        self._at_start = True
        self._after_cr = False

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that these bytes complete. Raises `SseOverflowError`."""
        if self._after_cr and data:
            self._after_cr = False
            if data[:1] == b"\n":
                data = data[1:]
        if b"\n" not in data and b"\r" not in data:
            self._hold(data)
            return []
        if self._partial:
            data = b"".join((*self._partial, data))
            self._partial.clear()
            self._held = 0
        lines = data.splitlines()
        if data[-1:] == b"\r":
            self._after_cr = True
        elif data[-1:] != b"\n":
            self._hold(lines.pop())
        if self._at_start:
            self._at_start = False
            lines[0] = lines[0].removeprefix(BOM)
        return self._take(lines)

    def finish(self) -> list[SseEvent]:
        """The last event, if the stream ended without the blank line after it."""
        rest = b"".join(self._partial)
        self._partial.clear()
        if self._at_start:
            rest = rest.removeprefix(BOM)
        return self._take([rest, b""])

    def _hold(self, piece: bytes) -> None:
        self._partial.append(piece)
        self._held += len(piece)
        if self._held > self._limit:
            raise SseOverflowError(f"an event of more than {self._limit} bytes")

    def _hold_line(self, line: bytes) -> None:
        self._lines_held += len(line)
        if self._lines_held > self._limit:
            raise SseOverflowError(f"an event of more than {self._limit} bytes")

    def _take(self, lines: list[bytes]) -> list[SseEvent]:
        events: list[SseEvent] = []
        for line in lines:
            if not line:
                if self._data:
                    events.append(self._event())
                self._name = b""
            elif line.startswith(b"data:"):
                if self._data:
                    self._hold_line(line)
                self._data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif line.startswith(b"event:"):
                self._name = line[6:].strip()
        return events

    def _event(self) -> SseEvent:
        if len(self._data) == 1:
            data = self._data[0]
        else:
            data = b"\n".join(self._data)
            self._lines_held = 0
        self._data.clear()
        name = self._name.decode("utf-8", "replace") if self._name else ""
        return SseEvent(name, data.decode("utf-8", "replace"))

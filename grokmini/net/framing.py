"""The framing of HTTP/1.1 bodies, without I/O."""

from __future__ import annotations

import re
from typing import NamedTuple, Protocol

MAX_HEAD_BYTES = 100_000
_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) (\d{3})(?: ([^\r\n]*))?")
_SIZE = re.compile(rb"\s*([0-9A-Fa-f]{1,15})\s*(?:;[^\r\n]*)?")


class FramingError(ValueError):
    """The bytes are no HTTP/1.1 answer."""


class Head(NamedTuple):
    """The head of an answer; names as they came."""

    status: int
    minor_version: int
    headers: list[tuple[bytes, bytes]]

    def value(self, name: bytes) -> bytes:
        """The values of a header, joined by commas, in lower case; empty without one."""
        return b",".join(value for key, value in self.headers if key.lower() == name).lower()

    @property
    def keeps_alive(self) -> bool:
        """Whether the connection may serve another request."""
        connection = self.value(b"connection")
        return b"close" not in connection and (self.minor_version == 1 or b"keep-alive" in connection)


def parse_head(data: bytes) -> Head:
    """The head without its blank line. Raises `FramingError`."""
    lines = data.replace(b"\r\n", b"\n").split(b"\n")
    status = _STATUS_LINE.fullmatch(lines[0])
    if status is None:
        raise FramingError("no HTTP/1.1 status line")
    headers: list[tuple[bytes, bytes]] = []
    for line in lines[1:]:
        name, colon, value = line.partition(b":")
        if not colon or name != name.strip() or not name:
            raise FramingError("a header line without a name")
        headers.append((name, value.strip(b" \t")))
    return Head(int(status[2]), int(status[1]), headers)


class Framing(Protocol):
    """Cuts a body out of the stream of the connection."""

    @property
    def done(self) -> bool:
        """Whether the body is complete."""

    def feed(self, data: bytes) -> bytes:
        """The body bytes among these bytes. Raises `FramingError`."""

    def end_of_stream(self) -> bool:
        """The connection ended; whether the body is complete with that."""


def framing_of(head: Head) -> Framing:
    """How the body of this answer is framed. Raises `FramingError`."""
    if head.status in (204, 304):
        return Sized(0)
    if b"chunked" in head.value(b"transfer-encoding"):
        return Chunked()
    length = head.value(b"content-length").split(b",")[0]
    if length:
        if not length.isdigit():
            raise FramingError("a content length that is no number")
        return Sized(int(length))
    return UntilEnd()


class Sized:
    """A body of a known length."""

    def __init__(self, length: int) -> None:
        self._left = length

    @property
    def done(self) -> bool:
        """Whether all bytes have come."""
        return self._left == 0

    def feed(self, data: bytes) -> bytes:
        """What belongs to the body; more is dropped."""
        body = data[: self._left]
        self._left -= len(body)
        return body

    def end_of_stream(self) -> bool:
        """Complete only if nothing is missing."""
        return self.done


class UntilEnd:
    """A body that lasts as long as the connection."""

    done = False

    def feed(self, data: bytes) -> bytes:
        """All of it."""
        return data

    def end_of_stream(self) -> bool:
        """The end of the connection is the end of the body."""
        return True


class Chunked:
    """Chunked transfer encoding; many chunks in one go cost little."""

    def __init__(self) -> None:
        self._rest = b""
        self._left = 0
        self._trailer = False
        self.done = False

    def feed(self, data: bytes) -> bytes:
        """The contents of the chunks, joined. Raises `FramingError`."""
        if self._rest:
            data, self._rest = self._rest + data, b""
        pieces: list[bytes] = []
        at = 0
        while at < len(data) and not self.done:
            if self._left > 2:
                piece = data[at : at + self._left - 2]
                pieces.append(piece)
                at += len(piece)
                self._left -= len(piece)
            elif self._left:
                at, self._left = at + 1, self._left - 1
            else:
                end = data.find(b"\n", at)
                if end < 0:
                    self._keep(data[at:])
                    break
                self._line(data[at:end].rstrip(b"\r"))
                at = end + 1
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def end_of_stream(self) -> bool:
        """Complete only if the last chunk has come."""
        return self.done

    def _keep(self, rest: bytes) -> None:
        if len(rest) > MAX_HEAD_BYTES:
            raise FramingError("an endless chunk header")
        self._rest = rest

    def _line(self, line: bytes) -> None:
        """A line between chunks: a size, or a trailer, whose end is a blank line."""
        if self._trailer:
            self.done = not line
            return
        size = _SIZE.fullmatch(line)
        if size is None:
            raise FramingError("a chunk without a size")
        length = int(size[1], 16)
        if length:
            self._left = length + 2  # the line end after the chunk counts with it
        else:
            self._trailer = True

"""An httpx transport for direct connections: HTTP/1.1 on asyncio's own sockets.

httpx's default transport costs 50 ms to import and 15 µs for every chunk of a stream, which for a model that
sends each token as a chunk is most of the work. This one hands over whatever has arrived in one piece. It knows
no proxies; where one applies, `net.http` takes httpx's own transport.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator

from grokmini.net.bare_httpx import httpx
from grokmini.net.framing import MAX_HEAD_BYTES, Framing, FramingError, Head, framing_of, parse_head

EAGER_READS = 32
"""This many reads of a body are given out at once. Beyond, a busy stream (something every `BUSY_SECONDS`) is read
at most every `BREATH_SECONDS`: what arrives meanwhile comes in one piece."""
BUSY_SECONDS = 0.006
BREATH_SECONDS = 0.004
MAX_PIECE_BYTES = 65_536
"""What is given out at once, so that whoever works on it does not hold up the event loop."""
MAX_BUFFERED = 64
"""Pieces (of at most 256 kB each) that wait for a slow reader before the sender has to."""
KEEPALIVE_SECONDS = 90.0
HAPPY_EYEBALLS_SECONDS = 0.25

_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(rb"[^\x00-\x08\x0a-\x1f\x7f]*")
_Origin = tuple[str, str, int]


class Connection(asyncio.Protocol):
    """One socket: what has arrived waits in a buffer of bounded length until it is asked for."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._buffer: list[bytes] = []
        self._waiter: asyncio.Future[None] | None = None
        self._lost: Exception | None = None
        self._ended = False
        self._held_back = False
        self._reads = 0
        self._last_read = 0.0
        self._gap = 0.0
        self.idle_since = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio: the socket is open."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """asyncio: bytes came."""
        self._buffer.append(data)
        if len(self._buffer) > MAX_BUFFERED:
            self._listen(False)
        self._wake()

    def eof_received(self) -> bool:
        """asyncio: the other side will send no more."""
        self._ended = True
        self._wake()
        return False

    def connection_lost(self, error: Exception | None) -> None:
        """asyncio: the socket is closed."""
        self._ended = True
        self._lost = error
        self._wake()

    @property
    def usable(self) -> bool:
        """Whether a request may be sent: open, and no byte that nobody asked for."""
        return not self._ended and not self._buffer

    def write(self, data: bytes) -> None:
        """Send, and count reads from here."""
        assert self._transport is not None
        self._reads = 0
        self._transport.write(data)

    async def read(self) -> bytes:
        """What has arrived, at least one byte; empty at the end of the stream. Raises `httpx.ReadError`."""
        if not self._buffer and not self._ended:
            loop = asyncio.get_running_loop()
            self._reads += 1
            if self._reads > EAGER_READS and self._gap < BUSY_SECONDS:
                await self._breathe(self._last_read + BREATH_SECONDS - loop.time())
            if not self._buffer and not self._ended:
                self._waiter = loop.create_future()
                try:
                    await self._waiter
                finally:
                    self._waiter = None
            now = loop.time()
            self._gap = now - self._last_read
            self._last_read = now
        if not self._buffer and self._lost is not None:
            raise httpx.ReadError(str(self._lost))
        data = self._buffer[0] if len(self._buffer) == 1 else b"".join(self._buffer)
        self._buffer.clear()
        if self._held_back:
            self._listen(True)
        return data

    async def _breathe(self, seconds: float) -> None:
        """Leave what comes in to the kernel for a moment."""
        if seconds <= 0:
            return
        self._listen(False)
        try:
            await asyncio.sleep(seconds)
        finally:
            self._listen(True)

    def _listen(self, on: bool) -> None:
        assert self._transport is not None
        self._held_back = not on
        if self._transport.is_closing():
            return
        if on:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def close(self) -> None:
        """Close at once, whatever is under way."""
        if self._transport is not None:
            self._transport.abort()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class DirectTransport(httpx.AsyncBaseTransport):
    """Connects, sends, reads the head; keeps finished connections for the next request."""

    def __init__(self) -> None:
        self._idle: dict[_Origin, list[Connection]] = {}
        self._tls: ssl.SSLContext | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """httpx: one exchange. Raises `httpx.TransportError`."""
        head_bytes = encode_head(request)
        body = await request.aread()
        origin = (request.url.scheme, request.url.host, request.url.port or _default_port(request.url.scheme))
        connection = self._reuse(origin) or await self._connect(origin, request)
        try:
            connection.write(head_bytes + body)
            head, rest = await _read_head(connection)
            stream = Body(self, origin, connection, head, rest)
        except FramingError as error:
            connection.close()
            raise httpx.RemoteProtocolError(str(error)) from error
        except BaseException:
            connection.close()
            raise
        return httpx.Response(head.status, headers=head.headers, stream=stream, request=request)

    async def aclose(self) -> None:
        """httpx: close the idle connections; those in use are closed by their bodies."""
        for connections in self._idle.values():
            for connection in connections:
                connection.close()
        self._idle.clear()

    def give_back(self, origin: _Origin, connection: Connection) -> None:
        """Keep a connection whose exchange is complete."""
        connection.idle_since = asyncio.get_running_loop().time()
        self._idle.setdefault(origin, []).append(connection)

    def _reuse(self, origin: _Origin) -> Connection | None:
        oldest = asyncio.get_running_loop().time() - KEEPALIVE_SECONDS
        waiting = self._idle.get(origin, [])
        while waiting:
            connection = waiting.pop()
            if connection.usable and connection.idle_since > oldest:
                return connection
            connection.close()
        return None

    async def _connect(self, origin: _Origin, request: httpx.Request) -> Connection:
        scheme, host, port = origin
        if scheme not in ("http", "https"):
            raise httpx.UnsupportedProtocol(f"{scheme!r} is not supported")
        if not 0 < port < 65_536:
            raise httpx.InvalidURL(f"{port} is no port")
        context = self._context() if scheme == "https" else None
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(request.extensions["timeout"]["connect"]):
                _, connection = await loop.create_connection(
                    Connection,
                    host,
                    port,
                    ssl=context,
                    server_hostname=host if context else None,
                    happy_eyeballs_delay=None if _is_address(host) else HAPPY_EYEBALLS_SECONDS,
                )
        except TimeoutError as error:
            raise httpx.ConnectTimeout("timed out") from error
        except (OSError, UnicodeError) as error:
            raise httpx.ConnectError(_reason(error)) from error
        return connection

    def _context(self) -> ssl.SSLContext:
        """Loading the roots takes a while, so it is done for the first https connection only."""
        if self._tls is None:
            self._tls = httpx.create_ssl_context()
            self._tls.set_alpn_protocols(["http/1.1"])
        return self._tls


class Body(httpx.AsyncByteStream):
    """The body of an answer as it arrives."""

    def __init__(
        self, owner: DirectTransport, origin: _Origin, connection: Connection, head: Head, rest: bytes
    ) -> None:
        self._owner = owner
        self._origin = origin
        self._connection = connection
        self._keeps_alive = head.keeps_alive
        self._framing: Framing = framing_of(head)
        self._rest = rest
        self._closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """httpx: the pieces. Raises `httpx.TransportError` when the body is not complete."""
        try:
            if self._rest and (piece := self._framing.feed(self._rest)):
                yield piece
            while not self._framing.done:
                data = await self._connection.read()
                if not data:
                    if self._framing.end_of_stream():
                        return
                    raise httpx.RemoteProtocolError("the connection was closed in the middle of the body")
                piece = self._framing.feed(data)
                for start in range(0, len(piece), MAX_PIECE_BYTES):
                    yield piece[start : start + MAX_PIECE_BYTES]
        except FramingError as error:
            raise httpx.RemoteProtocolError(str(error)) from error

    async def aclose(self) -> None:
        """httpx: keep the connection if the body was complete, else close it at once."""
        if self._closed:
            return
        self._closed = True
        if self._framing.done and self._keeps_alive and self._connection.usable:
            self._owner.give_back(self._origin, self._connection)
        else:
            self._connection.close()


def encode_head(request: httpx.Request) -> bytes:
    """Request line and headers. Raises `httpx.LocalProtocolError` for what would break out of its line."""
    lines = [b"%s %s HTTP/1.1" % (request.method.encode("ascii"), request.url.raw_path)]
    for name, value in request.headers.raw:
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise httpx.LocalProtocolError(f"the header {name!r} cannot be sent")
        lines.append(b"%s: %s" % (name, value))
    return b"\r\n".join(lines) + b"\r\n\r\n"


async def _read_head(connection: Connection) -> tuple[Head, bytes]:
    """The head of the answer, passing over interim ones, and what came after it."""
    data = b""
    while True:
        head, blank, rest = data.partition(b"\r\n\r\n")
        if blank:
            parsed = parse_head(head)
            if parsed.status >= 200:
                return parsed, rest
            data = rest
            continue
        if len(data) > MAX_HEAD_BYTES:
            raise FramingError("an endless head")
        more = await connection.read()
        if not more:
            raise httpx.RemoteProtocolError("the connection was closed without an answer")
        data += more


def _default_port(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def _is_address(host: str) -> bool:
    """Whether there is only this one place to connect to: no race then, whose winner a cancel would leave open."""
    return ":" in host or host.replace(".", "").isdigit()


def _reason(error: OSError | UnicodeError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate: {error.verify_message}"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    return getattr(error, "strerror", None) or str(error)

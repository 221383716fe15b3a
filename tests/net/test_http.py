"""HTTP as the sampler uses it: limits, cancelling, keep-alive, nothing followed, nothing leaked."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import subprocess
import sys
import threading
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager

import pytest

from grokmini.net.http import Deadlines, HttpClient, HttpReply
from grokmini.protocol.errors import SampleError, SampleErrorKind
from tests.fakes.model_server import ModelServer, Reply, raw
from tests.waiting import SECONDS

PATIENT = Deadlines(connect=SECONDS, first_byte=SECONDS, between_chunks=SECONDS)


@asynccontextmanager
async def opened(
    url: str,
    deadlines: Deadlines = PATIENT,
    *,
    client: HttpClient | None = None,
    headers: dict[str, str] | None = None,
) -> AsyncIterator[HttpReply]:
    http = client or HttpClient()
    reply = await http.post(url, headers=headers or {}, body=b"{}", deadlines=deadlines)
    try:
        yield reply
    finally:
        await reply.close()
        if client is None:
            await http.close()


async def failing(url: str, deadlines: Deadlines = PATIENT, **headers: str) -> SampleError:
    with pytest.raises(SampleError) as caught:
        async with opened(url, deadlines, headers=headers) as reply:
            await reply.read()
    return caught.value


@contextmanager
def deaf_port() -> Iterator[int]:
    """A port on which nobody listens, and nobody else can: it is taken."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


async def test_a_body_is_read_whole_and_the_connection_used_again() -> None:
    http = HttpClient()
    with ModelServer([raw(b"abc", b"def")] * 3) as server:
        for _ in range(3):
            async with opened(server.url, client=http) as reply:
                assert (reply.status, await reply.read()) == (200, b"abcdef")
        assert server.connections == 1
    await http.close()


async def test_a_connection_that_the_server_closed_meanwhile_is_not_used_again() -> None:
    http = HttpClient()
    closing = {"connection": "close"}
    with ModelServer([raw(b"abc", headers=closing), raw(b"def")]) as server:
        for expected in (b"abc", b"def"):
            async with opened(server.url, client=http) as reply:
                assert await reply.read() == expected
        assert server.connections == 2
    await http.close()


async def test_a_connection_that_was_closed_while_idle_is_not_used_again() -> None:
    noticed = asyncio.Event()

    async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{}")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        writer.write_eof()
        assert await reader.read() == b"", "the client closes its end too"
        writer.close()
        noticed.set()

    http = HttpClient()
    async with await asyncio.start_server(answer_once, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        for _ in range(2):
            async with opened(url, client=http) as reply:
                assert await reply.read() == b"ok"
            await noticed.wait()
            noticed.clear()
    await http.close()


async def test_a_busy_stream_arrives_whole_in_fewer_pieces() -> None:
    pieces = [b"%05d;" % number for number in range(400)]
    with ModelServer([Reply(chunks=tuple(pieces), delay=0.0003)]) as server:
        async with opened(server.url) as reply:
            got = [piece async for piece in reply.chunks()]
    assert b"".join(got) == b"".join(pieces)
    assert len(got) < len(pieces)


async def test_a_slow_reader_holds_the_sender_back_and_loses_nothing() -> None:
    piece = bytes(range(256)) * 512
    with ModelServer([Reply(chunks=(piece,) * 200)]) as server:
        async with opened(server.url) as reply:
            total = 0
            async for got in reply.chunks():
                total += len(got)
                for _ in range(5):
                    await asyncio.sleep(0)
    assert total == 200 * len(piece)


async def test_redirects_are_not_followed() -> None:
    with ModelServer() as target:
        away = Reply(status=307, body=b"", headers={"location": f"{target.url}/chat/completions"})
        with ModelServer([away]) as server:
            async with opened(server.url, headers={"authorization": "Bearer secret"}) as reply:
                assert reply.status == 307
        assert target.requests == []


async def test_closing_the_reply_closes_the_socket_at_once() -> None:
    gate = threading.Event()
    with ModelServer([Reply(chunks=(b"abc", b"never"), gates={1: gate})]) as server:
        async with opened(server.url) as reply, aclosing(reply.chunks()) as chunks:
            assert await anext(chunks) == b"abc"
        assert await asyncio.to_thread(server.requests[0].gone.wait, SECONDS)


async def test_cancelling_while_waiting_for_the_head_closes_the_socket() -> None:
    with ModelServer([Reply(chunks=(b"never",), gate=threading.Event())]) as server:
        http = HttpClient()
        task = asyncio.create_task(http.post(server.url, headers={}, body=b"", deadlines=PATIENT))
        await asyncio.to_thread(server.wait_for_requests, 1, SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.requests[0].gone.wait, SECONDS)


async def test_a_cancel_at_any_step_of_connecting_leaves_no_socket_open() -> None:
    http = HttpClient()
    gc.collect()  # what others left is not ours to be told of
    with ModelServer([raw(b"abc")] * 30) as server, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for steps in range(30):
            asking = asyncio.create_task(http.post(server.url, headers={}, body=b"{}", deadlines=PATIENT))
            for _ in range(steps):
                await asyncio.sleep(0)
            asking.cancel()
            await asyncio.wait([asking])
            if not asking.cancelled():
                await asking.result().close()
            del asking
        gc.collect()
        await http.close()
    assert [str(warning.message) for warning in told] == []


async def test_a_head_that_does_not_come_is_a_timeout() -> None:
    with ModelServer([Reply(chunks=(b"never",), gate=threading.Event())]) as server:
        error = await failing(server.url, Deadlines(0.05, 0.05, SECONDS))
    assert (error.kind, error.retryable) == (SampleErrorKind.TIMEOUT, True)


async def test_a_first_byte_that_does_not_come_after_the_head_is_a_timeout() -> None:
    with ModelServer([Reply(chunks=(b"never",), gates={0: threading.Event()})]) as server:
        error = await failing(server.url, Deadlines(SECONDS, 0.1, SECONDS))
    assert (error.kind, "0.1 s" in error.message) == (SampleErrorKind.TIMEOUT, True)


async def test_silence_between_chunks_is_a_timeout() -> None:
    with ModelServer([Reply(chunks=(b"a", b"never"), gates={1: threading.Event()})]) as server:
        error = await failing(server.url, Deadlines(SECONDS, SECONDS, 0.05))
    assert (error.kind, "0.05 s" in error.message) == (SampleErrorKind.TIMEOUT, True)


@pytest.mark.parametrize("cut", [1, 4, 6])
async def test_a_body_that_breaks_off_is_a_cut_stream(cut: int) -> None:
    with ModelServer([raw(b"abc", b"def", cut=cut)]) as server:
        error = await failing(server.url)
    assert (error.kind, error.retryable) == (SampleErrorKind.STREAM_CUT, True)


async def test_a_server_that_is_not_there_is_a_network_error_with_advice() -> None:
    with deaf_port() as port:
        error = await failing(f"http://127.0.0.1:{port}/v1")
    assert (error.kind, error.retryable) == (SampleErrorKind.NETWORK, True)
    assert "connection refused" in error.message
    assert "running" in error.hint


async def test_a_name_that_does_not_exist_is_a_network_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)  # whatever network there is
    error = await failing("http://no-such-host.invalid/v1")
    assert error.kind is SampleErrorKind.NETWORK
    assert "no-such-host.invalid" in error.message


@pytest.mark.parametrize("url", ["ftp://host/v1", "host/v1", "http://", "http://[::1/v1"])
async def test_an_address_that_is_none_is_a_bad_request(url: str) -> None:
    assert (await failing(url)).kind is SampleErrorKind.BAD_REQUEST


async def test_a_server_that_speaks_no_http_is_an_error_soon() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert (await failing(f"http://127.0.0.1:{port}/")).kind is SampleErrorKind.STREAM_CUT


async def test_a_certificate_that_nobody_vouches_for_is_refused_and_not_tried_again(
    self_signed: ssl.SSLContext,
) -> None:
    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(never, "127.0.0.1", 0, ssl=self_signed) as server:
        port = server.sockets[0].getsockname()[1]
        error = await failing(f"https://127.0.0.1:{port}/", authorization="Bearer secret")
    assert (error.kind, error.retryable) == (SampleErrorKind.NETWORK, False)
    assert "SSL_CERT_FILE" in error.hint


@pytest.mark.parametrize("value", ["a\r\nx-evil: 1", "a\nb", "a\0b"])
async def test_a_header_cannot_break_out_of_its_line(value: str) -> None:
    with ModelServer([raw(b"abc")]) as server:
        error = await failing(server.url, x=value)
        assert server.requests == []
    assert error.kind is SampleErrorKind.BAD_REQUEST


async def test_a_proxy_of_the_environment_is_used_and_no_proxy_is_heeded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ModelServer([raw(b"through the proxy")]) as proxy, ModelServer([raw(b"direct")]) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.origin)
        monkeypatch.setenv("NO_PROXY", "")
        async with opened("http://model.invalid/v1") as reply:
            assert await reply.read() == b"through the proxy"
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        async with opened(server.url) as reply:
            assert await reply.read() == b"direct"


@pytest.mark.parametrize(
    ("proxy", "said", "again"),
    [
        ("socks5://127.0.0.1:9", "SOCKS", False),
        ("foo:bar:baz", "no address", False),
        ("http://127.0.0.1:1", "through the proxy", True),
    ],
)
async def test_a_proxy_that_is_none_is_told_as_that(
    monkeypatch: pytest.MonkeyPatch, proxy: str, said: str, again: bool
) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)
    monkeypatch.delenv("NO_PROXY", raising=False)
    client = HttpClient()
    with pytest.raises(SampleError) as caught:
        await client.post("http://example.test/v1", headers={}, body=b"{}", deadlines=Deadlines())
    await client.close()
    assert said in caught.value.message and "example.test" in caught.value.message
    assert "NO_PROXY" in caught.value.hint
    assert (caught.value.kind, caught.value.retryable) == (SampleErrorKind.NETWORK, again)


async def test_a_proxy_keeps_the_limits_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer([Reply(chunks=(b"a", b"never"), gates={1: threading.Event()})]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.origin)
        error = await failing("http://model.invalid/v1", Deadlines(SECONDS, SECONDS, 0.05))
    assert error.kind is SampleErrorKind.TIMEOUT


async def test_a_body_is_read_to_the_limit_only() -> None:
    with ModelServer([raw(b"x" * 1000, b"y" * 1000)]) as server:
        async with opened(server.url) as reply:
            assert len(await reply.read(limit=500)) == 500


async def test_broken_compression_is_an_error() -> None:
    with ModelServer([raw(b"not gzip", headers={"content-encoding": "gzip"})]) as server:
        assert (await failing(server.url)).kind is SampleErrorKind.PROTOCOL


def test_importing_it_loads_no_command_line_and_no_second_http_stack() -> None:
    names = "click rich pygments anyio httpcore h11 trio certifi"
    code = f"import sys, grokmini.net.http; print([m for m in {names.split()} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_httpx_is_whole_after_the_bare_import() -> None:
    code = "import grokmini.net.http, importlib; importlib.import_module('httpx._main')"
    subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


async def test_a_port_that_cannot_be_is_no_address() -> None:
    client = HttpClient()
    with pytest.raises(SampleError) as caught:
        await client.get("http://127.0.0.1:99999/v1/models", headers={}, deadlines=Deadlines())
    assert caught.value.kind is SampleErrorKind.BAD_REQUEST
    assert "base_url" in caught.value.hint

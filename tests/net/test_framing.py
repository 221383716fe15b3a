"""Bodies are cut out of the connection right, however the bytes arrive."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.net.framing import Chunked, FramingError, Head, Sized, UntilEnd, framing_of, parse_head


def head(*lines: bytes, status: bytes = b"HTTP/1.1 200 OK") -> Head:
    return parse_head(b"\r\n".join((status, *lines)))


def test_a_head_is_status_and_headers() -> None:
    parsed = head(b"Content-Type: text/event-stream", b"X-Empty:")
    assert (parsed.status, parsed.value(b"content-type"), parsed.value(b"x-empty")) == (
        200,
        b"text/event-stream",
        b"",
    )


def test_a_status_line_without_a_reason_is_taken() -> None:
    assert head(status=b"HTTP/1.1 204").status == 204


@pytest.mark.parametrize("line", [b"HTTP/2 200", b"SSH-2.0-OpenSSH", b"", b"HTTP/1.1 2000 OK"])
def test_something_else_than_http_is_refused(line: bytes) -> None:
    with pytest.raises(FramingError):
        head(status=line)


@pytest.mark.parametrize("line", [b"no colon", b" folded: value", b": nameless"])
def test_header_lines_without_a_name_are_refused(line: bytes) -> None:
    with pytest.raises(FramingError):
        head(line)


@pytest.mark.parametrize(
    ("line", "status", "kept"),
    [
        (b"X: y", b"HTTP/1.1 200 OK", True),
        (b"Connection: Close", b"HTTP/1.1 200 OK", False),
        (b"X: y", b"HTTP/1.0 200 OK", False),
        (b"Connection: keep-alive", b"HTTP/1.0 200 OK", True),
    ],
)
def test_connections_are_kept_as_the_server_says(line: bytes, status: bytes, kept: bool) -> None:
    assert head(line, status=status).keeps_alive is kept


def test_the_framing_follows_the_headers() -> None:
    assert isinstance(framing_of(head(b"Transfer-Encoding: chunked", b"Content-Length: 5")), Chunked)
    assert isinstance(framing_of(head(b"Content-Length: 5")), Sized)
    assert isinstance(framing_of(head()), UntilEnd)
    assert framing_of(head(status=b"HTTP/1.1 204 No Content")).done
    with pytest.raises(FramingError):
        framing_of(head(b"Content-Length: five"))


def test_a_sized_body_ends_at_its_length() -> None:
    body = Sized(5)
    assert body.feed(b"abc") == b"abc"
    assert not body.end_of_stream()
    assert body.feed(b"defg") == b"de"
    assert body.done


def test_a_body_until_the_end_is_complete_at_the_end() -> None:
    body = UntilEnd()
    assert body.feed(b"abc") == b"abc"
    assert body.end_of_stream()


CHUNKED = b"5\r\nhello\r\n1;name=value\r\n \r\n0006\r\nworld!\r\n0\r\nTrailer: x\r\n\r\n"


def test_chunks_are_joined_and_the_end_is_seen() -> None:
    body = Chunked()
    assert body.feed(CHUNKED) == b"hello world!"
    assert body.done


def test_chunks_may_be_cut_anywhere() -> None:
    for cut in range(len(CHUNKED)):
        body = Chunked()
        assert body.feed(CHUNKED[:cut]) + body.feed(CHUNKED[cut:]) == b"hello world!"
        assert body.done


def test_chunks_without_the_last_one_are_cut_off() -> None:
    body = Chunked()
    body.feed(CHUNKED[:-2])
    assert not body.end_of_stream()


@pytest.mark.parametrize("data", [b"zz\r\n", b"-5\r\n", b"\r\n\r\n", b"f" * 20 + b"\r\n", b"1" * 200_000])
def test_a_chunk_without_a_size_is_refused(data: bytes) -> None:
    with pytest.raises(FramingError):
        Chunked().feed(data)


@settings(max_examples=50)
@given(st.lists(st.binary(min_size=1, max_size=30), max_size=8), st.integers(1, 7))
def test_any_chunks_in_any_pieces_give_the_body(chunks: list[bytes], step: int) -> None:
    wire = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    body = Chunked()
    out = b"".join(body.feed(wire[at : at + step]) for at in range(0, len(wire), step))
    assert (out, body.done) == (b"".join(chunks), True)

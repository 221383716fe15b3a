"""The event-stream parser takes what real servers send, however it is cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.text.sse import SseEvent, SseOverflowError, SseParser


def parse(*pieces: bytes) -> list[SseEvent]:
    parser = SseParser()
    events = [event for piece in pieces for event in parser.feed(piece)]
    return events + parser.finish()


def data(*texts: str) -> list[SseEvent]:
    return [SseEvent("", text) for text in texts]


def test_events_are_parted_by_blank_lines() -> None:
    assert parse(b"data: a\n\ndata: b\n\n") == data("a", "b")


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_all_three_line_ends_are_taken(end: bytes) -> None:
    stream = end.join([b"event: x", b"data: a", b"data: b", b"", b"data: c", b"", b""])
    assert parse(stream) == [SseEvent("x", "a\nb"), SseEvent("", "c")]


def test_a_lone_carriage_return_gives_its_event_at_once() -> None:
    parser = SseParser()
    assert parser.feed(b"data: a\r\r") == data("a")


def test_comments_and_unknown_fields_are_ignored() -> None:
    stream = b": OPENROUTER PROCESSING\n\n: \n\nid: 7\nretry: 100\nnonsense\ndata: a\n: ping - 12:00\n\n"
    assert parse(stream) == data("a")


def test_the_space_after_the_colon_may_be_missing_and_only_one_is_taken() -> None:
    assert parse(b"data:a\n\ndata:  b\n\n") == data("a", " b")


def test_a_byte_order_mark_at_the_start_is_skipped_even_when_cut() -> None:
    assert parse(b"\xef\xbb\xbfdata: a\n\n") == data("a")
    assert parse(b"\xef", b"\xbb", b"\xbfdata: a\n\n") == data("a")
    assert parse(b"\xef\xbb\xbfdata: a") == data("a")


def test_the_last_event_needs_no_blank_line_and_no_line_end() -> None:
    assert parse(b"data: a\n") == data("a")
    assert parse(b"data: a") == data("a")


def test_an_event_without_data_is_none() -> None:
    assert parse(b"event: ping\n\ndata: a\n\n") == data("a")


def test_the_name_of_an_event_holds_for_that_event_only() -> None:
    assert parse(b"event: error\ndata: a\n\ndata: b\n\n") == [SseEvent("error", "a"), SseEvent("", "b")]


def test_broken_utf8_becomes_replacement_characters() -> None:
    assert parse(b"data: a\xffb\n\n") == data("a\ufffdb")


def test_a_character_cut_between_two_reads_is_whole() -> None:
    whole = "data: grüße 👍\n\n".encode()
    for cut in range(len(whole)):
        assert parse(whole[:cut], whole[cut:]) == data("grüße 👍")


def test_an_endless_line_is_refused() -> None:
    parser = SseParser(max_event_bytes=100)
    with pytest.raises(SseOverflowError):
        for _ in range(20):
            parser.feed(b"x" * 10)


def test_an_endless_event_of_many_lines_is_refused() -> None:
    parser = SseParser(max_event_bytes=100)
    with pytest.raises(SseOverflowError):
        for _ in range(20):
            parser.feed(b"data: xxxxxxxx\n")


def test_the_limit_counts_one_event_not_the_stream() -> None:
    parser = SseParser(max_event_bytes=100)
    for _ in range(50):
        assert parser.feed(b"data: xxx") == []
        assert parser.feed(b"xx\n\n") == data("xxxxx")


_LINES = st.sampled_from([b"data: a", b"data:b", b"", b": c", b"event: e", b"\xef\xbb\xbf", "data: ü".encode()])
_ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@settings(max_examples=50)
@given(st.lists(st.tuples(_LINES, _ENDS), max_size=12), st.data())
def test_any_cut_gives_the_same_events(lines: list[tuple[bytes, bytes]], draw: st.DataObject) -> None:
    stream = b"".join(line + end for line, end in lines)
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert parse(*pieces) == parse(stream)

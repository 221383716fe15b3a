"""Fewer, longer lines in `updates.jsonl`: pieces of one text that follow one another become one event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from grokmini.protocol.events import EventRecord, ReasoningDelta, TextDelta, ToolProgress

LINE_LIMIT = 65_536
"""Characters of text after which a new line begins, so that no line grows without bound."""


def coalesce(records: Iterable[EventRecord]) -> Iterator[EventRecord]:
    """The same stream with neighbouring pieces joined.

    A joined event has the time of its first piece and the sequence number of its last: every number up to it
    is then on the disk, and none is given out twice after a restart.
    """
    first: EventRecord | None = None
    last: EventRecord | None = None
    texts: list[str] = []
    size = 0
    for record in records:
        text = _piece(record)
        if last is not None and first is not None:
            if text is not None and size < LINE_LIMIT and _continues(last, record):
                texts.append(text)
                size += len(text)
                last = record
                continue
            yield _join(first, last, texts)
            first = last = None
        if text is None:
            yield record
        else:
            first = last = record
            texts = [text]
            size = len(text)
    if first is not None and last is not None:
        yield _join(first, last, texts)


def _piece(record: EventRecord) -> str | None:
    event = record.event
    if isinstance(event, TextDelta | ReasoningDelta | ToolProgress):
        return event.text
    return None


def _continues(last: EventRecord, record: EventRecord) -> bool:
    before, after = last.event, record.event
    if type(before) is not type(after) or last.trace_id != record.trace_id:
        return False
    if isinstance(before, ToolProgress) and isinstance(after, ToolProgress):
        return before.call_id == after.call_id
    return True


def _join(first: EventRecord, last: EventRecord, texts: list[str]) -> EventRecord:
    if len(texts) == 1:
        return first
    text = "".join(texts)
    event: TextDelta | ReasoningDelta | ToolProgress
    if isinstance(first.event, ToolProgress):
        event = ToolProgress(first.event.call_id, text)
    elif isinstance(first.event, ReasoningDelta):
        event = ReasoningDelta(text)
    else:
        event = TextDelta(text)
    return EventRecord(last.seq, first.time, first.session_id, event, first.trace_id)

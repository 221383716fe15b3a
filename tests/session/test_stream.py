"""The stream of events and its readers."""

from __future__ import annotations

from grokmini.protocol.events import EventRecord, Notice, SessionEvent, ToolCallWriting, ToolProgress
from grokmini.session.stream import KEPT_UPDATES, EventStream


class Kept:
    """A log that keeps what it is given."""

    def __init__(self) -> None:
        self.records: list[EventRecord] = []

    def record(self, record: EventRecord) -> None:
        self.records.append(record)


def stream(log: Kept) -> EventStream:
    return EventStream("s", log, next_seq=7, clock=lambda: 1.0)


def test_events_are_numbered_on_from_the_last_one_and_logged() -> None:
    log = Kept()
    out = stream(log)
    out.emit(Notice("info", "a"), "trace")
    out.emit(Notice("info", "b"))
    assert [(record.seq, record.trace_id) for record in log.records] == [(7, "trace"), (8, "")]


async def test_what_only_passes_is_heard_and_kept_in_no_log_and_takes_no_number() -> None:
    log = Kept()
    out = stream(log)
    reader = out.subscribe()
    for event in (Notice("info", "a"), ToolCallWriting("write"), Notice("info", "b")):
        out.emit(event)
    out.close()
    assert [record.seq for record in log.records] == [7, 8]
    heard = [record async for record in reader]
    assert [record.seq for record in heard] == [7, 0, 8]


async def test_every_reader_gets_every_fact_and_the_iteration_ends_with_the_stream() -> None:
    out = stream(Kept())
    first, second = out.subscribe(), out.subscribe()
    for number in range(200):
        out.emit(Notice("info", str(number)))
    out.close()
    texts = [[record.event async for record in reader] for reader in (first, second)]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 200


async def test_a_reader_that_lags_loses_old_updates_and_no_fact() -> None:
    out = stream(Kept())
    reader = out.subscribe()
    for number in range(1_000):
        out.emit(ToolProgress("c", str(number)))
        if number % 100 == 0:
            out.emit(Notice("info", str(number)))
    out.close()
    events: list[SessionEvent] = [record.event async for record in reader]
    progress = [event for event in events if isinstance(event, ToolProgress)]
    assert [event.text for event in progress] == [str(n) for n in range(1_000 - KEPT_UPDATES, 1_000)]
    assert sum(isinstance(event, Notice) for event in events) == 10

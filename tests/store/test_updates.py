"""Reading back what a session said."""

from __future__ import annotations

from pathlib import Path

from grokmini.protocol.codec import encode_event
from grokmini.protocol.events import EventRecord, Notice
from grokmini.store.updates import read_updates


def test_events_come_back_in_order_and_damaged_lines_are_passed_over(tmp_path: Path) -> None:
    records = [EventRecord(number, 1.5, "s", Notice("info", str(number)), "trace") for number in (1, 2, 3)]
    lines = [encode_event(record) for record in records]
    damaged = b"\n".join(
        (lines[0], b"{torn", lines[1], b'{"v":1,"seq":9,"time":1,"session_id":"s","type":"newer"}', lines[2])
    )
    (tmp_path / "updates.jsonl").write_bytes(damaged + b"\n")
    assert list(read_updates(tmp_path)) == records


def test_a_session_that_kept_nothing_said_nothing(tmp_path: Path) -> None:
    assert list(read_updates(tmp_path)) == []

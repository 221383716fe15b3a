"""The index entry of a session."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from grokmini.protocol.model import Usage
from grokmini.store.layout import SUMMARY
from grokmini.store.summary import FORMAT_VERSION, Summary, change_summary, read_summary
from grokmini.text.title import TITLE_LIMIT, title_of

START = Summary(session_id="s", cwd="/w", model="demo", created_at=1.0)


def test_a_summary_comes_into_being_with_its_first_change(tmp_path: Path) -> None:
    assert read_summary(tmp_path) is None
    change_summary(tmp_path, {"turns": 3, "usage": {"demo": Usage(calls=2, input=7)}}, START)
    summary = read_summary(tmp_path)
    assert summary is not None
    assert (summary.session_id, summary.model, summary.turns) == ("s", "demo", 3)
    assert summary.usage == {"demo": Usage(calls=2, input=7)}


def test_fields_of_a_newer_version_survive_byte_for_byte(tmp_path: Path) -> None:
    change_summary(tmp_path, {}, START)
    fields = json.loads((tmp_path / SUMMARY).read_text())
    fields["starred"] = {"by": "a newer version", "n": 1.50}
    (tmp_path / SUMMARY).write_text(json.dumps(fields))
    change_summary(tmp_path, {"title": "t"}, START)
    text = (tmp_path / SUMMARY).read_text()
    assert '"by": "a newer version"' in text
    assert '"n": 1.5' in text
    assert json.loads(text) == fields | {"title": "t"}


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"session_id": 1}', b"\xff", b'{"title":"\\ud800"}'])
def test_a_damaged_summary_is_written_anew(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / SUMMARY).write_bytes(damage)
    assert read_summary(tmp_path) is None
    change_summary(tmp_path, {"turns": 1}, START)
    summary = read_summary(tmp_path)
    assert summary is not None
    assert (summary.session_id, summary.turns) == ("s", 1)


@pytest.mark.parametrize(
    ("name", "value", "taken"),
    [
        ("turns", 3.5, 0),
        ("models", None, ()),
        ("usage", {"demo": {"calls": "many"}}, {}),
        ("format_version", "2b", FORMAT_VERSION),
        ("pinned", {"by": "me"}, True),
        ("title_source", "imported", "manual"),
    ],
)
def test_a_field_of_another_shape_costs_no_other_and_is_kept_as_it_is(
    tmp_path: Path, name: str, value: object, taken: object
) -> None:
    """What could mean that something has to stay, is taken to mean it."""
    change_summary(tmp_path, {"title": "mine"}, START)
    fields = json.loads((tmp_path / SUMMARY).read_text()) | {name: value}
    (tmp_path / SUMMARY).write_text(json.dumps(fields))
    summary = read_summary(tmp_path)
    assert summary is not None
    assert (summary.title, getattr(summary, name)) == ("mine", taken)
    change_summary(tmp_path, {"tokens": 7}, START)
    assert json.loads((tmp_path / SUMMARY).read_text()) == fields | {"tokens": 7}
    assert not list(tmp_path.glob("*.corrupt"))


@pytest.mark.parametrize("put", [Path.mkdir, os.mkfifo], ids=["a folder", "a pipe"])
def test_what_is_no_file_is_moved_aside_and_keeps_nobody_waiting(
    tmp_path: Path, put: Callable[[Path], None]
) -> None:
    put(tmp_path / SUMMARY)
    assert read_summary(tmp_path) is None
    change_summary(tmp_path, {"turns": 1}, START)
    summary = read_summary(tmp_path)
    assert summary is not None
    assert summary.turns == 1
    assert (tmp_path / f"{SUMMARY}.unusable").exists()


def test_changes_made_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    change_summary(tmp_path, {}, START)

    def change(name: str) -> None:
        for value in range(10):
            change_summary(tmp_path, {name: value}, START)

    threads = [threading.Thread(target=change, args=(name,)) for name in ("turns", "tokens", "messages")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    summary = read_summary(tmp_path)
    assert summary is not None
    assert (summary.turns, summary.tokens, summary.messages) == (9, 9, 9)
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".tmp")]


def test_text_with_a_lone_surrogate_is_stored_as_valid_json(tmp_path: Path) -> None:
    change_summary(tmp_path, {"title": "a\ud83d"}, START)
    summary = read_summary(tmp_path)
    assert summary is not None
    assert summary.title == "a\ufffd"


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("fix the test", "fix the test"),
        ("\n\n  fix\tthe   test \nplease", "fix the test"),
        (" \n ", ""),
        ("x" * 200, "x" * (TITLE_LIMIT - 1) + "…"),
    ],
)
def test_a_title_is_the_first_line_that_says_something(prompt: str, title: str) -> None:
    assert title_of(prompt) == title

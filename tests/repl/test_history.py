"""What was sent is recalled: this folder's first, each once, whatever state the file is in."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from grokmini.repl.history import MAX_ENTRIES, TRIM_BYTES, History, HistoryEntry, shorten


def history(path: Path, cwd: str) -> History:
    made = History(path, lambda: 1.5)
    made.cwd = cwd
    return made


def test_texts_come_newest_first_this_folder_before_others_each_once(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    for cwd, text in (("/a", "one"), ("/b", "two"), ("/a", "three"), ("/b", "one"), ("/a", "four")):
        history(path, cwd).add(text, "s")
    assert list(history(path, "/a")) == ["four", "three", "one", "two"]
    assert list(history(path, "/b")) == ["one", "two", "four", "three"]


def test_an_entry_holds_time_session_folder_and_text_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    history(path, "/a").add("two\nlines", "session")
    assert msgspec.json.decode(path.read_bytes()) == {
        "time": 1.5,
        "session_id": "session",
        "cwd": "/a",
        "text": "two\nlines",
    }
    assert path.stat().st_mode & 0o777 == 0o600


def test_lines_that_cannot_be_read_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    history(path, "/a").add("good", "s")
    with path.open("ab") as file:
        file.write(b'{"time": 1, "session_id\n\xff\xfe\n[]\n')
    history(path, "/a").add("better", "s")
    assert list(history(path, "/a")) == ["better", "good"]


def test_a_draft_that_was_cleared_is_recalled_in_this_run_only(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    made = history(path, "/a")
    made.remember("cleared")
    assert list(made) == ["cleared"]
    assert not path.exists()


def test_a_file_that_cannot_be_written_says_so_and_the_text_is_recalled(tmp_path: Path) -> None:
    made = history(tmp_path / "missing" / "history.jsonl", "/a")
    with pytest.raises(OSError):
        made.add("text", "s")
    assert list(made) == ["text"]


def test_only_the_newest_ten_thousand_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    padding = "x" * (TRIM_BYTES // MAX_ENTRIES)
    entries = [HistoryEntry(1.0, "s", "/a", f"{number} {padding}") for number in range(MAX_ENTRIES + 500)]
    path.write_bytes(b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries))
    history(path, "/a").add("newest", "s")
    kept = history(path, "/a")
    assert len(kept) == MAX_ENTRIES
    assert kept[0] == "newest" and kept[-1].startswith("501 ")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["history.jsonl"]


def test_a_short_history_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    history(path, "/a").add("text", "s")
    before = path.stat().st_ino
    shorten(path)
    assert path.stat().st_ino == before


def test_the_search_ignores_case_and_goes_on_from_a_place(tmp_path: Path) -> None:
    made = history(tmp_path / "history.jsonl", "/a")
    for text in ("Fix one", "docs", "fix two"):
        made.add(text, "s")
    assert made.search("fix") == 0
    assert made.search("FIX", 1) == 2
    assert made.search("nothing") is None

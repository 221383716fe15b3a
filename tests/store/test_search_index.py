"""Full text search over sessions: what is found, what is kept up to date, what no input can break."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grokmini.protocol.codec import encode_event
from grokmini.store.layout import SUMMARY, UPDATES, encode_cwd
from grokmini.store.manage import delete, rename
from grokmini.store.said import PIECE
from grokmini.store.search_index import Hit, SearchIndex, terms_of
from grokmini.store.sessions import OpenSession, SessionStore
from grokmini.store.sqlite_file import JOURNAL_VARIABLE, remove_database
from tests.store.ground import CWD, REPOSITORY, delta, tell, told_session, turn_events
from tests.waiting import SECONDS

ELSEWHERE = Path("/home/someone/elsewhere")

HOSTILE = (
    '"needle"',
    "needle AND NOT",
    "NEAR(needle, haystack)",
    "needle OR",
    "(needle",
    "needle*",
    "^needle",
    "text:needle",
    "- needle",
    "needle' OR 1=1 --",
    '" OR needle',
    "needle\x00",
    "needle; DROP TABLE words",
    "{needle}",
    "ne%dle",
    "needle\ud800",
)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SearchIndex]:
    """An index of the sessions in `tmp_path`."""
    made = SearchIndex(tmp_path / "cache", tmp_path)
    yield made
    made.close()


def ids(hits: list[Hit]) -> list[str]:
    """Which sessions were found."""
    return [hit.session_id for hit in hits]


def fresh(index: SearchIndex, words: str, cwd: Path | None = None) -> list[Hit]:
    """What is found after a refresh."""
    assert index.refresh() == 0
    return index.search(words, cwd=cwd)


async def grow(root: Path, session: OpenSession, number: int, *, ask: str = "", answer: str = "") -> None:
    """One more turn of a stored session."""
    again = SessionStore(root).open(session.session_id)
    tell(again, number, ask=ask, answer=answer)
    await again.files.close()


async def test_prompts_replies_tools_and_titles_are_found_with_their_place(
    tmp_path: Path, index: SearchIndex
) -> None:
    other = await told_session(tmp_path, 1, ask="something else", answer="another thing")
    session = await told_session(tmp_path, 2, ask="where is the needle", answer="In the Häystack, of course.")
    rename(session.directory, "Barn search")
    found = {words: fresh(index, words) for words in ("needle", "haystack", "grep", "barn")}
    assert {words: ids(hits) for words, hits in found.items() if words != "grep"} == {
        "needle": [session.session_id],
        "haystack": [session.session_id],
        "barn": [session.session_id],
    }
    assert set(ids(found["grep"])) == {session.session_id, other.session_id}
    assert {words: hits[0].kind for words, hits in found.items()} == {
        "needle": "prompt",
        "haystack": "reply",
        "grep": "tool",
        "barn": "title",
    }
    hit = found["haystack"][0]
    assert (hit.directory, hit.title, hit.snippet) == (
        session.directory,
        "Barn search",
        "In the Häystack, of course.",
    )
    assert hit.updated == SessionStore(tmp_path).list(1)[0].summary.updated_at


async def test_a_hit_names_the_prompt_it_belongs_to(tmp_path: Path, index: SearchIndex) -> None:
    session = await told_session(tmp_path, 2)
    await grow(tmp_path, session, 2, ask="the third", answer="a needle")
    index.refresh()
    await grow(tmp_path, session, 3, answer="a pin")
    assert [(hit.prompt_index, hit.kind) for hit in fresh(index, "needle")] == [(2, "reply")]
    assert [hit.prompt_index for hit in fresh(index, "pin")] == [3]
    assert [hit.prompt_index for hit in fresh(index, "third")] == [2]


async def test_all_words_are_needed_and_the_last_may_be_a_beginning(tmp_path: Path, index: SearchIndex) -> None:
    session = await told_session(tmp_path, 1, ask="refactor the parser", answer="the tokenizer is done")
    assert ids(fresh(index, "parser refac")) == [session.session_id]
    assert ids(fresh(index, "REFACTOR PARS")) == [session.session_id]
    assert fresh(index, "refac parser") == [], "only the last word may be a beginning"
    assert fresh(index, "refactor lexer") == []
    scattered = fresh(index, "refactor tokeni")
    assert ids(scattered) == [session.session_id], "words in different places of one session"
    assert fresh(index, "tokenizer.done") == [], "a word with a mark in it is its parts in a row"
    assert fresh(index, "  ") == fresh(index, "-- !") == []


async def test_words_in_one_place_come_before_words_here_and_there(tmp_path: Path, index: SearchIndex) -> None:
    apart = await told_session(tmp_path, 1, ask="alpha", answer="beta")
    together = await told_session(tmp_path, 1, ask="alpha beta", answer="gamma")
    await told_session(tmp_path, 1, ask="alpha", answer="gamma")
    assert ids(fresh(index, "alpha beta")) == [together.session_id, apart.session_id]
    assert ids(index.search("alpha beta", limit=1)) == [together.session_id]


async def test_a_title_comes_first_and_each_session_once(tmp_path: Path, index: SearchIndex) -> None:
    named = await told_session(tmp_path, 1, ask="x", answer="y")
    rename(named.directory, "needle")
    full = await told_session(tmp_path, 4, ask="needle needle needle", answer="needle needle needle")
    rename(full.directory, "other")
    assert ids(fresh(index, "needle")) == [named.session_id, full.session_id]


async def test_only_sessions_of_a_folder(tmp_path: Path, index: SearchIndex) -> None:
    here = await told_session(tmp_path, 1, ask="needle", answer="pin")
    there = await told_session(tmp_path, 1, ELSEWHERE, ask="needle", answer="pin")
    assert ids(fresh(index, "needle", CWD)) == [here.session_id]
    assert ids(fresh(index, "needle pin", ELSEWHERE)) == [there.session_id]
    assert fresh(index, "needle", Path("/nowhere")) == []


async def test_a_new_name_is_found_and_the_old_one_is_not(tmp_path: Path, index: SearchIndex) -> None:
    session = await told_session(tmp_path, 1, ask="x", answer="y")
    rename(session.directory, "Before")
    os.utime(session.directory, (1, 1))  # two changes within one tick of the clock of files look like one
    assert ids(fresh(index, "before")) == [session.session_id]
    rename(session.directory, "After")
    assert fresh(index, "before") == []
    assert [(hit.title, hit.kind) for hit in fresh(index, "after")] == [("After", "title")]


async def test_what_was_deleted_is_not_found(tmp_path: Path, index: SearchIndex) -> None:
    session, other = [await told_session(tmp_path, 1, ask="needle") for _ in range(2)]
    assert len(fresh(index, "needle")) == 2
    delete(session.directory)
    assert ids(fresh(index, "needle")) == [other.session_id]
    shutil.rmtree(tmp_path / "sessions")
    assert fresh(index, "needle") == []
    index.close()
    held = sqlite3.connect(tmp_path / "cache" / "search.db")
    rows = [held.execute(f"SELECT count(*) FROM {table}").fetchone() for table in ("session", "piece", "words")]
    held.close()
    assert rows == [(0,)] * 3, "nothing of a deleted session is kept"


async def test_what_grew_is_read_from_where_it_was(tmp_path: Path, index: SearchIndex) -> None:
    around = "so on " * 2_000
    session = await told_session(tmp_path, 1, ask="first", answer=f"{around} middle {around}")
    index.refresh()
    path = session.directory / UPDATES
    path.write_bytes(path.read_bytes().replace(b"middle", b"forged"))
    with path.open("ab") as file:
        file.write(b"".join(encode_event(event) + b"\n" for event in turn_events(1, ask="second")))
    assert ids(fresh(index, "first")) == ids(fresh(index, "second")) == [session.session_id]
    assert fresh(index, "forged") == [], "what was read is not looked at again"


async def test_nothing_is_taken_in_twice(tmp_path: Path, index: SearchIndex) -> None:
    session = await told_session(tmp_path, 1, ask="needle")
    index.refresh()
    await grow(tmp_path, session, 1, ask="needle")
    index.refresh()
    held = sqlite3.connect(tmp_path / "cache" / "search.db")
    assert held.execute("SELECT kind, count(*) FROM piece GROUP BY kind ORDER BY kind").fetchall() == [
        ("prompt", 2),
        ("reply", 2),
        ("title", 1),
        ("tool", 2),
    ]
    last = held.execute("SELECT max(id) FROM piece").fetchone()
    for _ in range(3):
        index.refresh()
    assert held.execute("SELECT max(id) FROM piece").fetchone() == last
    held.close()


async def test_a_reply_that_goes_on_after_a_look_belongs_to_its_prompt(
    tmp_path: Path, index: SearchIndex
) -> None:
    session = await told_session(tmp_path, 2)
    index.refresh()
    with (session.directory / UPDATES).open("ab") as file:
        file.write(encode_event(delta(90, "afterwards")) + b"\n")
    assert [(hit.prompt_index, hit.kind) for hit in fresh(index, "afterwards")] == [(1, "reply")]


async def test_what_was_replaced_is_read_anew(tmp_path: Path, index: SearchIndex) -> None:
    session = await told_session(tmp_path, 3, ask="before")
    rename(session.directory, "x")
    index.refresh()
    lines = [encode_event(event) + b"\n" for event in turn_events(0, ask="after")]
    (session.directory / UPDATES).write_bytes(b"".join(lines))
    rename(session.directory, "y")
    assert fresh(index, "before") == []
    assert ids(fresh(index, "after")) == [session.session_id]


async def test_a_session_without_a_summary_is_found_by_what_was_said(
    tmp_path: Path, index: SearchIndex
) -> None:
    session = await told_session(tmp_path, 1, ask="needle")
    (session.directory / SUMMARY).unlink()
    assert [(hit.session_id, hit.title) for hit in fresh(index, "needle")] == [(session.session_id, "")]


def test_an_empty_place_holds_nothing(index: SearchIndex) -> None:
    assert fresh(index, "needle") == []


@pytest.mark.parametrize("gap", [0, 5, 7])
async def test_a_word_of_a_long_text_is_whole_wherever_it_is(
    tmp_path: Path, index: SearchIndex, gap: int
) -> None:
    filler = "ab " * (PIECE // 3)
    session = await told_session(tmp_path, 1, ask=filler[: PIECE - gap] + " needleword " + filler)
    assert ids(fresh(index, "needleword")) == [session.session_id]


async def test_a_word_that_came_in_pieces_is_whole(tmp_path: Path, index: SearchIndex) -> None:
    session = await told_session(tmp_path, 1)
    path = session.directory / UPDATES
    for seq, text in ((90, "a need"), (91, "lework of many"), (92, " colours")):
        with path.open("ab") as file:
            file.write(encode_event(delta(seq, text)) + b"\n")
        if seq != 90:
            index.refresh()
    assert ids(fresh(index, "needlework")) == [session.session_id]


async def test_a_word_that_streams_on_after_a_look_is_whole_and_there_once(
    tmp_path: Path, index: SearchIndex
) -> None:
    session = await told_session(tmp_path, 1, answer="before")
    path = session.directory / UPDATES
    filler = "so it goes on " * (PIECE // 10)
    for seq, text in ((90, f"{filler} a need"), (91, "lewo"), (92, "rk of many")):
        with path.open("ab") as file:
            file.write(encode_event(delta(seq, text)) + b"\n")
        assert index.refresh() == 0
    assert ids(index.search("needlework")) == [session.session_id]
    assert index.search("lewo") == [], "half a word is none"
    with path.open("ab") as file:
        file.writelines(encode_event(event) + b"\n" for event in turn_events(5, first=93, answer="afterwards"))
    assert ids(fresh(index, "needlework")) == [session.session_id]
    held = sqlite3.connect(tmp_path / "cache" / "search.db")
    rows = held.execute("SELECT text FROM words JOIN piece ON piece.id = words.rowid WHERE kind = 'reply'")
    texts = [row[0] for row in rows]
    held.close()
    assert "".join(texts) == f"before{filler} a needlework of manyafterwards"


async def test_what_was_replaced_by_a_longer_file_is_read_anew(tmp_path: Path, index: SearchIndex) -> None:
    session = await told_session(tmp_path, 1, ask="before")
    path = session.directory / UPDATES
    for seen, number in enumerate((1, 2, 3)):
        rename(session.directory, f"x{seen}")
        index.refresh()
        events = [event for turn in range(3 * number) for event in turn_events(turn, ask=f"after{number}")]
        data = b"".join(encode_event(event) + b"\n" for event in events)
        assert len(data) > path.stat().st_size
        if number == 2:
            path.unlink()
        path.write_bytes(data)
        assert fresh(index, "before") == fresh(index, f"after{number - 1}") == []
        assert ids(fresh(index, f"after{number}")) == [session.session_id]


async def test_the_deadline_leaves_the_rest_for_next_time(tmp_path: Path, index: SearchIndex) -> None:
    sessions = [await told_session(tmp_path, 1, ask="needle") for _ in range(5)]
    clock = count()
    assert index.refresh(3, lambda: float(next(clock))) == 2
    newest = [session.session_id for session in sessions[2:]]
    assert sorted(ids(index.search("needle"))) == sorted(newest), "the newest come first"
    assert index.refresh(0, lambda: 1.0) == 2
    assert index.refresh() == 0
    assert len(index.search("needle")) == 5


async def test_another_version_of_the_index_is_made_anew(tmp_path: Path, index: SearchIndex) -> None:
    session = await told_session(tmp_path, 1, ask="needle")
    for damage in (b"not a database" * 1_000, b""):
        index.refresh()
        index.close()
        path = tmp_path / "cache" / "search.db"
        path.write_bytes(damage)
        assert ids(fresh(index, "needle")) == [session.session_id]
    index.close()
    other = sqlite3.connect(path)
    other.executescript("DROP TABLE piece; PRAGMA user_version = 77")
    other.close()
    assert ids(fresh(index, "needle")) == [session.session_id]


async def test_an_index_that_forbids_writing_is_made_anew(tmp_path: Path, index: SearchIndex) -> None:
    session = await told_session(tmp_path, 1, ask="needle")
    index.refresh()
    index.close()
    path = tmp_path / "cache" / "search.db"
    damaged = bytearray(path.read_bytes())
    damaged[18] = 9
    path.write_bytes(damaged)
    await grow(tmp_path, session, 1, ask="pin")
    assert ids(fresh(index, "needle")) == ids(fresh(index, "pin")) == [session.session_id]


@pytest.mark.parametrize("journal", ["wal", "truncate"])
async def test_who_has_an_index_open_that_another_process_removed_finds_everything(
    tmp_path: Path, index: SearchIndex, monkeypatch: pytest.MonkeyPatch, journal: str
) -> None:
    monkeypatch.setenv(JOURNAL_VARIABLE, journal)
    session = await told_session(tmp_path, 1, ask="needle")
    index.refresh()
    remove_database(tmp_path / "cache" / "search.db")
    other = SearchIndex(tmp_path / "cache", tmp_path)
    for number in (1, 2):
        await grow(tmp_path, session, number, ask=f"pin{number}")
        for each in (other, index, other):
            assert ids(fresh(each, f"needle pin{number}")) == [session.session_id]
    other.close()


@pytest.mark.parametrize("words", HOSTILE)
async def test_hostile_words_are_plain_words(tmp_path: Path, index: SearchIndex, words: str) -> None:
    session = await told_session(
        tmp_path, 1, ask="needle and or near not", answer="haystack text 1 drop table words"
    )
    index.refresh()
    hits = index.search(words)
    assert ids(hits) in ([session.session_id], [])
    assert ids(index.search("needle")) == [session.session_id], "and the index is whole"


@settings(
    max_examples=120,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(words=st.text(max_size=20))
def test_no_words_are_an_error(index: SearchIndex, words: str) -> None:
    index.search(words)
    index.search(f'"{words} "')


def test_terms_are_quoted_and_marks_alone_are_none() -> None:
    assert terms_of('say "hi" -- AND (it)') == ['"say"', '"""hi"""', '"AND"', '"(it)"*']
    assert terms_of(" \t--") == []


async def test_two_processes_fill_one_index_while_sessions_are_written(tmp_path: Path) -> None:
    for number in range(8):
        await told_session(tmp_path, 1, ask=f"needle{number}")
    program = (
        "import sys; from pathlib import Path; from grokmini.store.search_index import SearchIndex\n"
        "index = SearchIndex(Path(sys.argv[1], 'cache'), Path(sys.argv[1]))\n"
        "while sys.stdin.readline():\n"
        "    index.refresh(); print(len(index.search('needle', limit=99)), flush=True)\n"
    )
    words = [sys.executable, "-c", program, str(tmp_path)]
    readers = [
        subprocess.Popen(words, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for number in range(8, 12):
        await told_session(tmp_path, 1, ask=f"needle{number}")
        for reader in readers:
            assert reader.stdin is not None
            reader.stdin.write("\n")
            reader.stdin.flush()
        for reader in readers:
            assert reader.stdout is not None
            assert reader.stdout.readline() == f"{number + 1}\n"
    for reader in readers:
        reader.communicate(timeout=SECONDS)
    assert encode_cwd(CWD) in {path.name for path in (tmp_path / "sessions").iterdir()}
    held = sqlite3.connect(tmp_path / "cache" / "search.db")
    assert held.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert held.execute("SELECT count(*) FROM session").fetchone() == (12,)
    held.close()

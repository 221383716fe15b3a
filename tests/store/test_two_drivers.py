"""Two processes that want one session: each waits for the other, loses nothing of it and writes nothing between."""

from __future__ import annotations

import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest

from grokmini.protocol.events import EventRecord, Notice, TextDelta
from grokmini.protocol.items import AssistantItem, UserItem
from grokmini.store.driver_lock import SessionBusyError
from grokmini.store.follow import UpdatesTail
from grokmini.store.layout import DRIVER_LOCK, HISTORY
from grokmini.store.sessions import SessionStore
from grokmini.store.updates import read_updates
from tests.store.ground import REPOSITORY, prompt, stored_session, tell
from tests.waiting import SECONDS

ROUNDS, ALL_ROUNDS = 4, 50
TURNS = 5
START = 2
"""Turns that the session has before; each of four items."""


async def test_rivals_never_interleave_and_each_finds_all_that_the_other_wrote(
    tmp_path: Path, full: bool
) -> None:
    session = await stored_session(tmp_path, START)
    rounds = ALL_ROUNDS if full else ROUNDS
    rivals = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.store.rivals"),
                *(str(tmp_path), session.session_id, name, str(rounds), str(TURNS)),
            ],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("first", "second")
    ]
    tail = UpdatesTail(session.directory)
    followed: list[EventRecord] = []
    while any(rival.poll() is None for rival in rivals):
        followed += tail.read()
    followed += tail.read()
    found = sorted(
        tuple(map(int, line.split())) for rival in rivals for line in rival.communicate()[0].splitlines()
    )
    assert [rival.returncode for rival in rivals] == [0, 0]

    assert [items for items, _ in found] == [START * 4 + number * TURNS * 2 for number in range(2 * rounds)]
    again = SessionStore(tmp_path).open(session.session_id)
    await again.files.close()
    items = [stored.item for stored in again.items][START * 4 :]
    prompts = [item for item in items if isinstance(item, UserItem)]
    answers = [item for item in items if isinstance(item, AssistantItem)]
    assert [item.prompt_index for item in prompts] == list(range(START, START + 2 * rounds * TURNS))
    assert [item.text for item in answers] == [f"answer to {item.text}" for item in prompts]
    in_one_piece = [list(turns) for _, turns in groupby(prompts, lambda item: item.text.rsplit(" ", 1)[0])]
    assert [len(turns) for turns in in_one_piece] == [TURNS] * (2 * rounds)

    stored = list(read_updates(session.directory))
    assert followed == stored, "who follows meanwhile sees each event once, in order"
    assert [record.seq for record in stored] == sorted({record.seq for record in stored})
    texts = [record.event.text for record in stored if isinstance(record.event, TextDelta)]
    assert texts[-2 * rounds * TURNS :] == [item.text for item in prompts]


@pytest.mark.parametrize("is_over", [False, True], ids=["the other drives", "the other has left"])
async def test_whose_lock_was_removed_writes_nothing_over_what_another_wrote(
    tmp_path: Path, is_over: bool
) -> None:
    session = await stored_session(tmp_path, START)
    first = SessionStore(tmp_path).open(session.session_id)
    notices: list[Notice] = []
    first.files.on_trouble = notices.append
    (session.directory / DRIVER_LOCK).unlink()
    other = SessionStore(tmp_path).open(session.session_id)
    tell(other, START)
    assert await other.files.flush(durable=True)
    if is_over:
        await other.files.close()
    history = (session.directory / HISTORY).read_bytes()
    first.files.replace([prompt(9)])
    assert not await first.files.flush()
    first.files.append(prompt(10))
    assert not await first.files.flush()
    await other.files.close()
    assert not await first.files.flush()
    await first.files.close()
    assert (session.directory / HISTORY).read_bytes() == history
    assert [notice.code for notice in notices] == ["not_saving"]
    assert "in another grokmini" in notices[0].text


async def test_a_lock_that_was_removed_is_taken_again(tmp_path: Path) -> None:
    session = await stored_session(tmp_path, START)
    first = SessionStore(tmp_path).open(session.session_id)
    (session.directory / DRIVER_LOCK).unlink()
    first.files.append(prompt(START))
    assert await first.files.flush(durable=True)
    with pytest.raises(SessionBusyError):
        SessionStore(tmp_path).open(session.session_id)
    await first.files.close()


async def test_who_waits_for_a_session_gets_all_that_its_driver_had_not_written_yet(tmp_path: Path) -> None:
    session = await stored_session(tmp_path, START)
    first = SessionStore(tmp_path).open(session.session_id)
    waiting = subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.store.rivals"),
            *(str(tmp_path), session.session_id, "next", "1", "1"),
        ],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
    )
    for number in range(START, 300):
        first.files.append(prompt(number))
    await first.files.close()
    said = waiting.communicate(timeout=SECONDS)[0]
    assert said.split()[0] == str(START * 4 + 300 - START)
    again = SessionStore(tmp_path).open(session.session_id)
    await again.files.close()
    assert [stored.item for stored in again.items][START * 4 : -2] == [
        prompt(n).item for n in range(START, 300)
    ]
    assert again.notices == ()

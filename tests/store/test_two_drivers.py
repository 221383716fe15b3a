"""Two processes that want one session: each waits for the other, loses nothing of it and writes nothing between."""

from __future__ import annotations

import subprocess
import sys
from itertools import groupby
from pathlib import Path

from grokmini.protocol.events import EventRecord, TextDelta
from grokmini.protocol.items import AssistantItem, UserItem
from grokmini.store.follow import UpdatesTail
from grokmini.store.sessions import SessionStore
from grokmini.store.updates import read_updates
from tests.store.ground import REPOSITORY, prompt, stored_session
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

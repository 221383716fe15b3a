"""A kill at any moment: the session opens, nothing acknowledged is missing, and a strict server takes what follows."""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path

from grokmini.protocol.items import Stored, UserItem
from grokmini.store.sessions import SessionStore
from tests.store.accepted import go_on, refusal_of
from tests.store.ground import child, exchange, line_from

SEED = 20_260_101
KILLS, ALL_KILLS = 10, 500


def prompts_of(items: tuple[Stored, ...]) -> list[int]:
    """Indexes of the real prompts."""
    indexes = [stored.item.prompt_index for stored in items if isinstance(stored.item, UserItem)]
    return [index for index in indexes if index is not None]


async def assert_a_kill_loses_nothing(root: Path, chance: random.Random) -> None:
    """The kill comes after a random number of acknowledged prompts and a random moment more."""
    with child("write", str(root)) as writer:
        session_id = line_from(writer)
        acknowledged = [int(line_from(writer)) for _ in range(chance.randrange(1, 12))]
        time.sleep(chance.random() * 0.004)  # the moment of the kill is what the test varies
        writer.kill()
        assert writer.stdout is not None
        acknowledged += [int(line) for line in writer.stdout.read().splitlines()]
    again = SessionStore(root).open(session_id)
    prompts = prompts_of(again.items)
    assert set(acknowledged) <= set(prompts)
    assert prompts == list(range(len(prompts)))
    whole = [stored.item for number in range(len(prompts)) for stored in exchange(number)]
    assert [stored.item for stored in again.items] == whole[: len(again.items)]
    refusal = refusal_of(await go_on(again))
    assert not refusal, refusal
    third = SessionStore(root).open(session_id)
    await third.files.close()
    assert set(acknowledged) <= set(prompts_of(third.items))


async def test_a_writer_killed_at_random_loses_no_acknowledged_prompt(tmp_path: Path, full: bool) -> None:
    print(f"seed {SEED}")
    chance = random.Random(SEED)
    for number in range(ALL_KILLS if full else KILLS):
        await assert_a_kill_loses_nothing(tmp_path / str(number), chance)
        shutil.rmtree(tmp_path / str(number))

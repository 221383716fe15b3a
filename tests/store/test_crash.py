"""A kill at any moment and a tear at any byte: the session opens, and nothing acknowledged is missing."""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path

from grokmini.chat.repair import repair
from grokmini.protocol.items import Stored, UserItem
from grokmini.store.layout import HISTORY, SUMMARY, UPDATES
from grokmini.store.sessions import SessionStore
from tests.store.ground import child, exchange, line_from, prompt, stored_session

SEED = 20_260_101
KILLS, ALL_KILLS = 10, 500


def prompts_of(items: tuple[Stored, ...]) -> list[int]:
    """Indexes of the real prompts."""
    indexes = [stored.item.prompt_index for stored in items if isinstance(stored.item, UserItem)]
    return [index for index in indexes if index is not None]


async def killed_once(root: Path, chance: random.Random) -> None:
    """Kill a writer after a random number of acknowledged prompts and a random moment more."""
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
    repaired = repair(again.items)
    assert not repair(repaired.items).report.changed
    again.files.append(prompt(1_000))
    assert await again.files.flush(durable=True)
    await again.files.close()


async def test_a_writer_killed_at_random_loses_no_acknowledged_prompt(tmp_path: Path, full: bool) -> None:
    print(f"seed {SEED}")
    chance = random.Random(SEED)
    for number in range(ALL_KILLS if full else KILLS):
        await killed_once(tmp_path / str(number), chance)
        shutil.rmtree(tmp_path / str(number))


async def reopened(root: Path, directory: Path, path: Path, size: int) -> tuple[Stored, ...]:
    """Cut a file of the session, open it, say something, open it again; the items of the first opening."""
    data = path.read_bytes()
    path.write_bytes(data[:size])
    store = SessionStore(root)
    first = store.open(directory.name)
    first.files.append(prompt(99))
    await first.files.close()
    second = store.open(directory.name)
    assert second.items == (*first.items, prompt(99))
    assert second.last_seq == first.last_seq
    await second.files.close()
    return first.items


async def test_a_session_opens_with_any_file_cut_at_any_byte(tmp_path: Path, full: bool) -> None:
    root = tmp_path / "state"
    before = await stored_session(root, 2)
    sample = tmp_path / "sample"
    shutil.copytree(before.directory, sample)
    items = [stored.item for number in range(2) for stored in exchange(number)]
    step = 1 if full else 7
    for name in (HISTORY, UPDATES, SUMMARY):
        length = (sample / name).stat().st_size
        for size in {*range(0, length, step), length - 1, length}:
            shutil.rmtree(before.directory)
            shutil.copytree(sample, before.directory)
            found = await reopened(root, before.directory, before.directory / name, size)
            whole = (sample / name).read_bytes()[: size + 1]
            expected = items[: whole.count(b"\n")] if name == HISTORY else items
            assert [stored.item for stored in found] == expected, (name, size)

"""A sample session cut at any byte, or with any byte flipped: it opens, loses no other line, and goes on."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from grokmini.protocol.items import Stored, UserItem
from grokmini.protocol.model import ModelRequest
from grokmini.store.layout import DRIVER_LOCK, HISTORY, SUMMARY, TOKEN_FACTORS, UPDATES
from grokmini.store.lines import read_item
from grokmini.store.sessions import SessionStore
from grokmini.store.token_factors import read_factors, write_factors
from grokmini.store.updates import read_updates
from tests.store.accepted import go_on, refusal_of, sample_session

FEW = 12
"""Places tried in each file unless all are."""

every_file = pytest.mark.parametrize("name", [HISTORY, UPDATES, SUMMARY, DRIVER_LOCK])

Damage = Callable[[bytes, int], bytes]


def cut(data: bytes, place: int) -> bytes:
    """The file as a crash leaves it."""
    return data[:place]


def flip(data: bytes, place: int) -> bytes:
    """The file with one bit of a byte turned; which one depends on the place."""
    return data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :]


def zeroed(data: bytes, place: int) -> bytes:
    """The file as a power cut leaves it on some file systems: its end is there, and empty."""
    return data[:place] + bytes(len(data) - place)


def whole_lines(before: bytes, after: bytes) -> list[int]:
    """Which lines are in both."""
    kept = set(after.split(b"\n"))
    return [number for number, line in enumerate(before.splitlines()) if line in kept]


def count_of_lines(data: bytes) -> int:
    """How many lines hold something."""
    return sum(map(bool, data.split(b"\n")))


def readable(data: bytes) -> int:
    """How many of them are items."""
    count = 0
    for line in filter(None, data.split(b"\n")):
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            read_item(line)
            count += 1
    return count


def prompts_missing(request: ModelRequest, items: Iterable[Stored]) -> list[int]:
    """Which prompts the request holds neither in their words nor, with one letter of them another, under their
    number.
    """
    sent = [item for item in request.items if isinstance(item, UserItem) and item.is_real_prompt]
    numbers = [stored.item.prompt_index for stored in items if isinstance(stored.item, UserItem)]
    return [
        number
        for number in numbers
        if number is not None
        and not any(f"prompt {number}" in item.text for item in sent)
        and not any(item.prompt_index == number and is_like(item.text, f"prompt {number}") for item in sent)
    ]


def is_like(text: str, words: str) -> bool:
    """Whether a text begins with the words, but for one letter."""
    return sum(a != b for a, b in zip(text, words, strict=False)) <= 1 and len(text) >= len(words)


def places(size: int, full: bool) -> Iterable[int]:
    """Every byte, or a few with the last ones among them."""
    return range(size) if full else sorted({*range(0, size, max(1, size // FEW)), size - 2, size - 1})


async def assert_goes_on(root: Path, name: str, damage: Damage, *, full: bool) -> None:
    """With that file of the sample damaged at each place nothing else is lost, and a server takes what follows."""
    session, items = await sample_session(root / "state")
    kept = root / "kept"
    shutil.copytree(session.directory, kept)
    events = list(read_updates(kept))
    before = (kept / name).read_bytes()
    for place in places(len(before), full):
        shutil.rmtree(session.directory)
        shutil.copytree(kept, session.directory)
        after = damage(before, place)
        (session.directory / name).write_bytes(after)
        told = list(read_updates(session.directory))
        again = SessionStore(root / "state").open(session.session_id)
        lines = whole_lines(before, after)
        if name == HISTORY:
            assert_kept(again.items, [items[number] for number in lines], place)
            there = readable(after)
            assert bool(again.notices) == (there < count_of_lines(after) or there < len(again.items)), place
        else:
            assert list(again.items) == items, (name, place)
        if name == UPDATES:
            rest = iter(told)
            assert all(events[number] in rest for number in lines), place
        request = await go_on(again)
        refusal = refusal_of(request)
        assert not refusal, (damage.__name__, name, place, refusal)
        assert not prompts_missing(request, items), (damage.__name__, name, place)
        third = SessionStore(root / "state").open(session.session_id)
        assert_kept(third.items, list(again.items)[:1], place)
        await third.files.close()


def assert_kept(found: Iterable[Stored], wanted: list[Stored], place: int) -> None:
    """All that is wanted was found, in order."""
    rest = iter(found)
    assert all(any(stored == other for other in rest) for stored in wanted), place


@every_file
async def test_cut_at_any_byte(tmp_path: Path, name: str, full: bool) -> None:
    await assert_goes_on(tmp_path, name, cut, full=full)


@every_file
async def test_with_any_byte_flipped(tmp_path: Path, name: str, full: bool) -> None:
    await assert_goes_on(tmp_path, name, flip, full=full)


@every_file
async def test_with_an_end_of_zeros(tmp_path: Path, name: str) -> None:
    await assert_goes_on(tmp_path, name, zeroed, full=False)


async def test_what_was_learnt_of_models_may_be_cut_at_any_byte(tmp_path: Path) -> None:
    """It is a cache: it is whole or learnt again."""
    session, items = await sample_session(tmp_path, 1)
    learnt = {"demo": 1.5, "demo-2": 0.75}
    write_factors(tmp_path, learnt)
    whole = (tmp_path / TOKEN_FACTORS).read_bytes()
    for place in range(len(whole)):
        (tmp_path / TOKEN_FACTORS).write_bytes(whole[:place])
        again = SessionStore(tmp_path).open(session.session_id)
        assert (list(again.items), again.notices, again.token_factors) == (items, (), {}), place
        again.files.factor_learnt("demo", 1.5)
        again.files.title_changed("another", "manual")
        await again.files.close()
        assert read_factors(tmp_path) == {"demo": 1.5}, place

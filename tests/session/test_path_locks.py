"""Writers of one path take turns."""

from __future__ import annotations

import asyncio
from pathlib import Path

from grokmini.session.path_locks import PathLocks


async def test_two_writers_of_one_path_never_overlap_and_others_do() -> None:
    locks, inside, most = PathLocks(), 0, {"same": 0, "other": 0}
    running: dict[str, int] = {"same": 0, "other": 0}

    async def write(kind: str, path: str) -> None:
        nonlocal inside
        async with locks.hold([Path(path)]):
            running[kind] += 1
            most[kind] = max(most[kind], running[kind])
            await asyncio.sleep(0)
            running[kind] -= 1

    await asyncio.gather(
        *(write("same", "/a") for _ in range(10)), *(write("other", f"/{n}") for n in range(5))
    )
    assert most["same"] == 1
    assert most["other"] == 5


async def test_two_calls_that_need_the_same_two_paths_in_other_orders_do_not_block_each_other() -> None:
    locks, rounds = PathLocks(), 20
    written: list[str] = []

    async def write(*paths: str) -> None:
        for _ in range(rounds):
            async with locks.hold([Path(path) for path in paths]):
                await asyncio.sleep(0)
                written.append(paths[0])

    await asyncio.gather(write("/a", "/b"), write("/b", "/a"))
    assert sorted(written) == ["/a"] * rounds + ["/b"] * rounds


async def test_a_lock_nobody_uses_is_forgotten_also_after_a_cancel() -> None:
    locks = PathLocks()
    async with locks.hold([Path("/a")]):
        waiting = asyncio.create_task(_hold_forever(locks))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
    assert not locks._locks


async def _hold_forever(locks: PathLocks) -> None:
    async with locks.hold([Path("/a")]):
        await asyncio.Event().wait()

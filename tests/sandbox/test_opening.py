"""A sandbox is set up beside the event loop: looking at the disk, and making what has to be there, holds nothing up."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import threading
from pathlib import Path

import pytest

from grokmini.sandbox.in_thread import made_in_thread
from tests.sandbox.places import said
from tests.sandbox.resolved import around_of, working
from tests.sandbox.test_git_protected import repository


async def test_folders_and_mounts_are_made_in_another_thread(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    work = repository(Path(around.cwd))
    shutil.rmtree(work / ".git/hooks")
    looked: dict[str, set[int]] = {"os.mkdir": set(), "os.scandir": set()}
    watching = True

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event in looked and arguments[0] in ("hooks", str(work)):
            looked[event].add(threading.get_ident())

    sys.addaudithook(hook)
    try:
        async with working(around) as runner:
            await said(runner, "echo secret >key; ln key other", work)
            await said(runner, "true", work)
    finally:
        watching = False
    assert looked["os.mkdir"], "the folder of hooks was made"
    assert threading.get_ident() not in looked["os.mkdir"] | looked["os.scandir"]


async def test_what_is_made_for_nobody_any_more_is_undone() -> None:
    begun, go_on, undone = threading.Event(), threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    reading, writing = os.pipe()

    def make() -> int:
        begun.set()
        go_on.wait()
        return reading

    def undo(fd: int) -> None:
        os.close(fd)
        loop.call_soon(undone.set)

    task = asyncio.create_task(made_in_thread(make, undo))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    await undone.wait()
    os.close(writing)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(reading)


async def test_what_cannot_be_made_is_an_error_and_nothing_is_undone() -> None:
    undone: list[object] = []

    def make() -> int:
        raise FileNotFoundError("gone")

    with pytest.raises(FileNotFoundError, match="gone"):
        await made_in_thread(make, undone.append)
    assert undone == []

"""What of stdin joins the prompt, and what stays where it is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from grokmini.headless.stdin import GRACE_SECONDS, Source, StdinReader, source_of
from grokmini.protocol.errors import UsageError
from tests.waiting import shut


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """The reading and the writing end of a pipe; a test may shut the writing end."""
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)
    os.close(writing)


def reader(fd: int, said: list[str] | None = None, waited: float = 0.0) -> StdinReader:
    """A reader whose process began `waited` seconds ago."""
    heard: list[str] = [] if said is None else said
    return StdinReader(fd, started=0.0, clock=lambda: waited, say=heard.append)


async def test_a_pipe_without_a_prompt_is_read_to_its_end(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    composing = asyncio.create_task(reader(reading, waited=99).compose(None, wanted=False))
    os.write(writing, b"fix ")
    await asyncio.sleep(0)
    os.write(writing, b"it\n")
    shut(writing)
    assert await composing == "fix it"


async def test_data_that_is_there_in_time_joins_the_prompt(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.write(writing, "a diff: ä\n".encode())
    shut(writing)
    assert await reader(reading).compose("review this", wanted=False) == "review this\n\na diff: ä"


async def test_an_open_pipe_that_gives_nothing_is_left_alone_and_told_of(pipe: tuple[int, int]) -> None:
    """H12"""
    reading, writing = pipe
    said: list[str] = []
    text = await reader(reading, said, waited=GRACE_SECONDS).compose("say hi", wanted=False)
    assert text == "say hi"
    assert "use -" in said[0]
    os.write(writing, b"later")
    assert os.read(reading, 99) == b"later", "no byte was consumed"


async def test_the_dash_waits_for_the_end_however_long_it_takes(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    composing = asyncio.create_task(reader(reading, waited=99).compose("review this", wanted=True))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not composing.done()
    os.write(writing, b"late")
    shut(writing)
    assert await composing == "review this\n\nlate"


async def test_a_pipe_at_its_end_adds_nothing_and_says_nothing(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    shut(writing)
    said: list[str] = []
    assert await reader(reading, said).compose("hi", wanted=False) == "hi"
    assert said == []


async def test_a_regular_file_is_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"\xef\xbb\xbfline \xff\n")
    with path.open("rb") as file:
        assert await reader(file.fileno(), waited=99).compose("p", wanted=False) == "p\n\nline �"


async def test_the_null_device_and_a_closed_stdin_give_nothing() -> None:
    with Path(os.devnull).open("rb") as null:
        assert source_of(null.fileno()) is Source.NOTHING
        assert await reader(null.fileno()).compose("p", wanted=True) == "p"
        closed = os.dup(null.fileno())
    os.close(closed)
    assert source_of(closed) is Source.NOTHING
    assert await reader(closed).compose("p", wanted=False) == "p"


async def test_a_terminal_is_never_read_unasked() -> None:
    controller, terminal = os.openpty()
    try:
        os.write(controller, b"typed ahead\n")
        assert await reader(terminal).compose("p", wanted=False) == "p"
        with pytest.raises(UsageError):
            await reader(terminal).compose(None, wanted=False)
    finally:
        os.close(controller)
        os.close(terminal)


async def test_no_prompt_anywhere_is_a_usage_error(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.write(writing, b"\n \n")
    shut(writing)
    with pytest.raises(UsageError, match="no prompt"):
        await reader(reading).compose(None, wanted=False)

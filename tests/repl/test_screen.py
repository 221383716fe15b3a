"""The screen on a pty: paces, never blocks, loses nothing on a slow terminal, and leaves it as it should be."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grokmini.render.lines import line_of
from grokmini.repl.painter import SYNC_ON, Cursor, LiveView, Size
from grokmini.repl.reflow import Reflow
from grokmini.repl.screen import LAST_WORDS_SECONDS, LEAVE_SECONDS, Screen
from tests.fakes.emulator import Emulator
from tests.waiting import SECONDS, shut, standing_clock

SIZE = Size(40, 10)
SETTLING = 0.3
SANE = b"\x1b[0m\x1b[?25h\x1b[?2004l"


class Pty:
    """A pty with an emulated terminal at its other end, and a screen on it. Reads only while `reading`."""

    def __init__(
        self,
        master: int,
        slave: int,
        stray: int | None = None,
        *,
        settling: float = SETTLING,
        leave_seconds: float = LEAVE_SECONDS,
    ) -> None:
        self.master, self.slave = master, slave
        self.size = SIZE
        self.terminal = Emulator(*SIZE)
        self.received = b""
        self.gone: list[OSError] = []
        self.loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self.screen = Screen(
            slave,
            colour_level=16,
            links=False,
            reflow=Reflow.ALL,
            settling=settling,
            size=lambda: self.size,
            loop=self.loop,
            on_gone=self._lose,
            stray=stray,
            leave_seconds=leave_seconds,
        )

    def read(self) -> None:
        """Take up what was written, from now on."""
        self.loop.add_reader(self.master, self._take)

    def pause(self) -> None:
        """Read no more."""
        self.loop.remove_reader(self.master)

    def _take(self) -> None:
        data = os.read(self.master, 4096)
        self.received += data
        self.terminal.feed(data)
        self._changed.set()

    def _lose(self, error: OSError) -> None:
        self.gone.append(error)
        self._changed.set()

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until it is true of what was received."""
        async with asyncio.timeout(SECONDS):
            while not true():
                self._changed.clear()
                await self._changed.wait()

    async def shows(self, *rows: str) -> None:
        """Wait until scrollback and screen hold these lines and nothing else."""
        await self.until(lambda: self.terminal.lines == list(rows) and self.terminal.at_rest)

    @property
    def frames(self) -> int:
        """Frames received, but for those that changed one row only."""
        return self.received.count(SYNC_ON.encode())


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    """Both ends of a pty."""
    master, slave = os.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


def view(*rows: str) -> LiveView:
    return LiveView(tuple(line_of(row) for row in rows), Cursor(len(rows) - 1, 2))


async def test_lines_and_live_rows_appear_and_only_the_live_rows_go_when_left(ends: tuple[int, int]) -> None:
    pty = Pty(*ends)
    pty.read()
    pty.screen.enter()
    pty.screen.show(view("tail", "> "))
    pty.screen.commit([line_of("one"), line_of("two")])
    await pty.shows("one", "two", "tail", ">")
    assert "2004" in pty.terminal.modes
    pty.screen.leave()
    pty.screen.leave()
    await pty.shows("one", "two")
    assert pty.received.endswith(SANE)
    assert pty.terminal.column == 0


async def test_live_rows_can_be_kept_when_left(ends: tuple[int, int]) -> None:
    pty = Pty(*ends)
    pty.read()
    pty.screen.enter()
    pty.screen.show(view("tail", "> "))
    await pty.shows("tail", ">")
    pty.screen.commit([line_of("last")])
    pty.screen.leave(keep_live=True)
    await pty.shows("last", "tail", ">")
    assert pty.terminal.cursor == (3, 0)


async def test_what_is_wished_within_one_turn_of_the_loop_is_one_frame(ends: tuple[int, int]) -> None:
    pty = Pty(*ends)
    pty.read()
    pty.screen.enter()
    for number in range(50):
        pty.screen.commit([line_of(str(number))])
        pty.screen.show(view(f"> {number}"))
    await pty.shows(*map(str, range(50)), "> 49")
    assert pty.frames == 1


async def test_a_trickle_is_at_most_ten_frames_a_second_and_keys_are_drawn_at_once(
    ends: tuple[int, int],
) -> None:
    pty = Pty(*ends)
    pty.read()
    pty.screen.enter()
    start = pty.loop.time()
    for number in range(30):
        pty.screen.show(view(f"tail {number}", f"> {number}"))
        await asyncio.sleep(0.01)
    await pty.shows("tail 29", "> 29")
    allowed = 2 + (pty.loop.time() - start) / 0.1
    assert 2 <= pty.frames <= allowed
    with standing_clock():  # the time for another frame does not come
        pty.screen.show(view("> key"))
        pty.screen.urgent()
        await pty.shows("> key")
    pty.screen.leave()


async def test_nothing_is_scheduled_or_written_while_nothing_changes(ends: tuple[int, int]) -> None:
    """H05, H07"""
    pty = Pty(*ends)
    pty.read()
    pty.screen.enter()
    same = view("\u26a0\ufe0f warn", "> ")
    pty.screen.show(same)
    await pty.shows("\u26a0\ufe0f warn", ">")
    received = pty.received
    pty.screen.show(same)
    pty.screen.urgent()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    scheduled = [handle for handle in vars(pty.loop)["_scheduled"] if "Screen" in repr(handle)]
    assert scheduled == []
    pty.screen.leave()
    await pty.until(lambda: pty.received.endswith(SANE))
    assert pty.received.startswith(received)
    assert pty.received.count(SYNC_ON.encode()) == received.count(SYNC_ON.encode()) + 1


async def test_a_slow_terminal_sees_fewer_frames_and_every_line(ends: tuple[int, int]) -> None:
    pty = Pty(*ends)
    pty.screen.enter()
    shown: list[int] = []

    def compose(size: Size) -> LiveView:
        shown.append(len(lines))
        return view(f"> {len(lines)}")

    lines: list[str] = []
    while len(lines) < 3_000:
        lines.append(f"line {len(lines)} {'x' * 20}")
        pty.screen.commit([line_of(lines[-1])])
        pty.screen.show(compose)
        pty.screen.urgent()
        await asyncio.sleep(0)
    stuck = len(shown)
    assert stuck < 2_000
    pty.read()
    await pty.shows(*lines, "> 3000")
    assert len(shown) - stuck < 20
    pty.screen.leave()


async def test_too_much_that_waits_asks_for_a_pause(ends: tuple[int, int]) -> None:
    pty = Pty(*ends)
    pty.screen.enter()
    block = [line_of("y" * 1_000)] * 100
    count = 0
    while not pty.screen.full:
        pty.screen.commit(block)
        count += 1
        await asyncio.sleep(0)
    assert 78 <= count <= 84
    waiting = asyncio.ensure_future(pty.screen.drained())
    await asyncio.sleep(0)
    assert not waiting.done()
    reader = threading.Thread(target=drain, args=(pty.master,), daemon=True)
    reader.start()
    async with asyncio.timeout(SECONDS):
        await waiting
    pty.screen.leave()
    shut(pty.slave)
    await asyncio.to_thread(reader.join)  # else it reads what is next to get that descriptor's number


def drain(master: int) -> None:
    """Read until the other end is closed."""
    try:
        while os.read(master, 65_536):
            pass
    except OSError:
        pass


async def test_a_terminal_that_takes_nothing_holds_up_leaving_for_its_time_and_no_longer(
    ends: tuple[int, int],
) -> None:
    assert LEAVE_SECONDS == 2.0
    assert LAST_WORDS_SECONDS <= 0.25
    pty = Pty(*ends, leave_seconds=0.2)
    pty.screen.enter()
    pty.screen.commit([line_of("z" * 100)] * 2_000)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    before = pty.loop.time()
    pty.screen.leave(rest="rest: elsewhere")
    assert 0.2 <= pty.loop.time() - before < SECONDS
    pty.read()
    await pty.until(lambda: pty.received.endswith(SANE + b"rest: elsewhere\r\r\n"))


async def test_another_program_gets_an_orderly_terminal_and_what_it_wrote_stays(ends: tuple[int, int]) -> None:
    pty = Pty(*ends)
    pty.read()
    pty.screen.enter()
    pty.screen.show(view("> draft"))
    await pty.shows("> draft")
    with pty.screen.hand_over():
        await pty.until(lambda: pty.received.endswith(SANE))
        pty.screen.commit([line_of("meanwhile")])
        pty.screen.urgent()
        os.write(pty.slave, b"output of the other\nunfinished")
        await pty.shows("output of the other", "unfinished")
    rows = ["output of the other", "unfinished", "meanwhile", "> draft"]
    await pty.until(lambda: pty.terminal.screen[:4] == rows)
    assert "2004" in pty.terminal.modes
    pty.screen.leave()
    await pty.until(lambda: pty.terminal.screen[:4] == [*rows[:3], ""])


async def test_leaving_while_handed_over_writes_nothing_more(ends: tuple[int, int]) -> None:
    pty = Pty(*ends)
    pty.read()
    pty.screen.enter()
    with pty.screen.hand_over():
        await pty.until(lambda: pty.received.endswith(SANE))
        before = pty.received
        pty.screen.leave()
    pty.screen.leave()
    for _ in range(5):  # the loop's turns in which bytes that were written would be read
        await asyncio.sleep(0)
    assert pty.received == before


async def test_libraries_that_write_to_standard_error_do_not_reach_the_terminal(
    ends: tuple[int, int], tmp_path: Path
) -> None:
    log = os.open(tmp_path / "log", os.O_RDWR | os.O_CREAT)
    found = os.dup(2)
    os.dup2(ends[1], 2)
    try:
        pty = Pty(*ends, stray=log)
        pty.read()
        pty.screen.enter()
        pty.screen.show(view("> "))
        os.write(2, b"stray\n")
        await pty.shows(">")
        with pty.screen.hand_over():
            os.write(2, b"from the editor\n")
            await pty.shows("from the editor")
        pty.screen.leave()
        os.write(2, b"after\n")
        await pty.shows("from the editor", "after")
    finally:
        os.dup2(found, 2)
        os.close(found)
        os.close(log)
    assert (tmp_path / "log").read_bytes() == b"stray\n"


async def test_a_terminal_that_is_gone_is_reported_once_and_waits_for_nothing(ends: tuple[int, int]) -> None:
    """H08"""
    pty = Pty(*ends)
    pty.screen.enter()
    pty.screen.show(view("> "))
    shut(pty.master)
    await pty.until(lambda: bool(pty.gone))
    pty.screen.commit([line_of("x" * 1_000)] * 20_000)
    assert not pty.screen.full
    pty.screen.urgent()
    pty.screen.leave()
    assert len(pty.gone) == 1


async def test_a_drag_of_the_window_is_drawn_once_for_the_last_size(ends: tuple[int, int]) -> None:
    """H03"""
    pty = Pty(*ends)
    pty.read()
    pty.screen.enter()
    finished = [str(number) for number in range(20)]
    pty.screen.commit([line_of(number) for number in finished])
    pty.screen.show(lambda size: view("tail " + "t" * (size.columns - 5), "> "))
    await pty.until(lambda: pty.frames == 1)
    with standing_clock() as clock:
        for columns in (30, 20, 12, 25):
            pty.size = Size(columns, 10)
            pty.terminal.resize(columns, 10)
            pty.screen.resized()
            clock.forward(SETTLING / 2)
            for _ in range(5):  # turns of the loop in which it could draw
                await asyncio.sleep(0)
    await pty.shows(*finished, "tail " + "t" * 20, ">")
    assert pty.frames == 2
    pty.screen.leave()


async def test_what_is_typed_while_a_size_settles_is_echoed_at_once(ends: tuple[int, int]) -> None:
    pty = Pty(*ends, settling=3600.0)
    pty.read()
    pty.screen.enter()
    draft = "> "
    pty.screen.show(lambda size: LiveView((line_of("t" * size.columns), line_of(draft)), Cursor(1, len(draft))))
    await pty.shows("t" * SIZE.columns, ">")
    pty.screen.resized()
    for letter in "ab c":
        draft += letter
        pty.screen.urgent()
    await pty.shows("t" * SIZE.columns, "> ab c")
    assert pty.terminal.column == 6
    pty.screen.leave()


async def test_a_size_that_came_back_is_drawn_anew_because_the_terminal_may_have_cut_rows(
    ends: tuple[int, int],
) -> None:
    pty = Pty(*ends)
    pty.read()
    pty.screen.enter()
    pty.screen.show(view("tail", "> "))
    await pty.shows("tail", ">")
    pty.screen.resized()
    await pty.until(lambda: pty.frames == 2)
    await pty.shows("tail", ">")
    last = pty.received.rpartition(SYNC_ON.encode())[2]
    assert b"tail" in last and b">" in last
    pty.screen.leave()


async def test_control_strings_that_draw_nothing_go_out_with_the_next_frame(ends: tuple[int, int]) -> None:
    pty = Pty(*ends)
    pty.read()
    pty.screen.enter()
    pty.screen.show(view("> "))
    await pty.shows(">")
    pty.screen.emit(b"\x1b]0;title\x07")
    await pty.until(lambda: pty.received.endswith(b"\x1b]0;title\x07"))
    await pty.shows(">")
    assert pty.received.count(b"\x1b]0;title\x07") == 1
    pty.screen.leave()

"""One prompt through a session that plays a script of events."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator

import pytest

from grokmini.headless.formats import PlainFormat, StreamJsonFormat
from grokmini.headless.output import Output
from grokmini.headless.run import HeadlessRun
from grokmini.headless.signals import StopSignals
from grokmini.protocol.commands import CancelTurn, Prompt, SessionCommand, Shutdown
from grokmini.protocol.errors import SessionError
from grokmini.protocol.events import EventRecord, SessionEvent, TextDelta, TurnEnded, TurnStarted
from grokmini.protocol.model import Usage
from grokmini.session.handle import SessionHandle
from grokmini.session.stream import EventStream

DONE = TurnEnded(1, "completed", 0, "hello", Usage())
CANCELLED = {"sigint": 130, "sigterm": 143, "sighup": 129, "output closed": 0}
DENIED = TurnEnded(1, "completed", 4, "I could not", Usage(), denied=("rm x",))


class NoLog:
    def record(self, record: EventRecord) -> None:
        """Kept nowhere."""


class Silent:
    def apply(self, event: SessionEvent) -> None:
        """Nobody looks on."""


class Script:
    """A session that answers the prompt with `events` and a cancel with `cancelled`; keeps every command."""

    def __init__(self, *events: SessionEvent) -> None:
        self.commands: list[SessionCommand] = []
        self.started = asyncio.Event()
        self._events = events
        self._stream = EventStream("s-1", NoLog(), next_seq=1, clock=lambda: 0.0)
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._until_ended())
        self.handle = SessionHandle("s-1", self._stream, self._send, self._ended, task)

    async def _until_ended(self) -> None:
        await asyncio.shield(self._ended)

    def _send(self, command: SessionCommand) -> None:
        self.commands.append(command)
        match command:
            case Prompt(prompt_id=prompt_id, text=text):
                self._stream.emit(TurnStarted(prompt_id, 1, text))
                for event in self._events:
                    self._stream.emit(event)
                self.started.set()
            case CancelTurn(reason=reason):
                self._stream.emit(TurnEnded(1, "cancelled", CANCELLED[reason], "", Usage(), reason=reason))
            case Shutdown():
                self.break_down()

    def break_down(self) -> None:
        self._stream.close()
        if not self._ended.done():
            self._ended.set_result(None)


@pytest.fixture
def pipe() -> Iterator[tuple[int, Callable[[], bytes]]]:
    """A descriptor to write to, and what was written."""
    reading, writing = os.pipe()
    closed = False

    def read() -> bytes:
        nonlocal closed
        os.close(writing)
        closed = True
        with os.fdopen(reading, "rb", closefd=False) as file:
            return file.read()

    yield writing, read
    os.close(reading)
    if not closed:
        os.close(writing)


async def test_the_answer_is_written_and_the_session_ended(pipe: tuple[int, Callable[[], bytes]]) -> None:
    script, output, stop = Script(TextDelta("hello"), DONE), Output(pipe[0]), StopSignals()
    run = HeadlessRun(
        script.handle,
        script.handle.subscribe(),
        format_=PlainFormat(),
        output=output,
        stop=stop,
        onlooker=Silent(),
    )
    assert await run.answer("say hello") == 0
    await output.close()
    stop.release()
    assert pipe[1]() == b"hello\n"
    assert [type(command) for command in script.commands] == [Prompt, Shutdown]


async def test_the_exit_code_is_the_one_of_the_turn(pipe: tuple[int, Callable[[], bytes]]) -> None:
    script, output, stop = Script(DENIED), Output(pipe[0]), StopSignals()
    run = HeadlessRun(
        script.handle,
        script.handle.subscribe(),
        format_=PlainFormat(),
        output=output,
        stop=stop,
        onlooker=Silent(),
    )
    assert await run.answer("rm x") == 4
    stop.release()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
async def test_a_signal_cancels_the_turn_and_names_the_exit_code(
    pipe: tuple[int, Callable[[], bytes]], number: signal.Signals, code: int
) -> None:
    script, output, stop = Script(TextDelta("hel")), Output(pipe[0]), StopSignals()
    run = HeadlessRun(
        script.handle,
        script.handle.subscribe(),
        format_=StreamJsonFormat(),
        output=output,
        stop=stop,
        onlooker=Silent(),
    )
    answering = asyncio.create_task(run.answer("say hello"))
    await script.started.wait()
    os.kill(os.getpid(), number)
    assert await answering == code
    await output.close()
    stop.release()
    last = pipe[1]().splitlines()[-1]
    assert b'"turn_ended"' in last
    assert b'"exit_code":%d' % code in last
    assert script.commands[1:] == [CancelTurn(number.name.lower()), Shutdown("done")]


async def test_a_turn_that_ended_before_the_signal_was_heard_says_the_same_everywhere(
    pipe: tuple[int, Callable[[], bytes]],
) -> None:
    """The log has its end already: the exit code must not tell another story."""
    script, output, stop = Script(DONE), Output(pipe[0]), StopSignals()
    os.kill(os.getpid(), signal.SIGTERM)
    await stop.requested.wait()
    run = HeadlessRun(
        script.handle,
        script.handle.subscribe(),
        format_=StreamJsonFormat(),
        output=output,
        stop=stop,
        onlooker=Silent(),
    )
    assert await run.answer("say hello") == 0
    await output.close()
    stop.release()
    assert b'"exit_code":0' in pipe[1]().splitlines()[-1]


async def test_a_signal_that_comes_before_the_turn_began_still_cancels_it(
    pipe: tuple[int, Callable[[], bytes]],
) -> None:
    script, output, stop = Script(TextDelta("hel")), Output(pipe[0]), StopSignals()
    os.kill(os.getpid(), signal.SIGINT)
    await stop.requested.wait()
    run = HeadlessRun(
        script.handle,
        script.handle.subscribe(),
        format_=PlainFormat(),
        output=output,
        stop=stop,
        onlooker=Silent(),
    )
    assert await run.answer("say hello") == 130
    stop.release()


async def test_a_reader_that_leaves_stops_the_turn_quietly() -> None:
    reading, writing = os.pipe()
    script, output, stop = Script(TextDelta("hel")), Output(writing), StopSignals()
    os.close(reading)
    run = HeadlessRun(
        script.handle,
        script.handle.subscribe(),
        format_=StreamJsonFormat(),
        output=output,
        stop=stop,
        onlooker=Silent(),
    )
    assert await run.answer("say hello") == 0
    await output.close()
    stop.release()
    os.close(writing)
    assert script.commands[1:] == [CancelTurn("output closed"), Shutdown("done")]


async def test_a_session_that_ends_without_an_answer_is_an_error(
    pipe: tuple[int, Callable[[], bytes]],
) -> None:
    script, output, stop = Script(), Output(pipe[0]), StopSignals()
    run = HeadlessRun(
        script.handle,
        script.handle.subscribe(),
        format_=PlainFormat(),
        output=output,
        stop=stop,
        onlooker=Silent(),
    )
    answering = asyncio.create_task(run.answer("say hello"))
    await script.started.wait()
    script.break_down()
    with pytest.raises(SessionError, match="before the answer"):
        await answering
    stop.release()

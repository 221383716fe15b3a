"""The REPL for terminals without cursor control and for screen readers: complete lines, written forward only.

It stays when there is a live region: `TERM=dumb`, `--plain`, an accessible terminal, or standard output that
is no terminal (then the prompt is written to standard error).
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import time
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import NamedTuple

from grokmini.protocol.commands import SessionCommand
from grokmini.protocol.errors import ExitCode
from grokmini.protocol.events import (
    DirectoryChanged,
    PromptQueued,
    PromptUnqueued,
    SessionEvent,
    SessionStarted,
    TurnStarted,
)
from grokmini.render.blocks import queue_text
from grokmini.render.blockview import notice_lines
from grokmini.render.linear import LinearView
from grokmini.render.lines import Line, line_of
from grokmini.render.look import DIM, Look
from grokmini.render.spans import fact_lines
from grokmini.render.toolview import Preview
from grokmini.repl.commands.expand import HINT
from grokmini.repl.commands.result import Copy, Pick
from grokmini.repl.commands.stored import list_lines
from grokmini.repl.copying import copied_text, copy_text
from grokmini.repl.history import History
from grokmini.repl.keyboard import Keyboard
from grokmini.repl.keys import Key, Press
from grokmini.repl.life import FORCED, NOT_CLOSED, SESSION_ENDED, WELCOME, Life, goes_on, last_words
from grokmini.repl.linear_desk import LinearDesk, Outlets
from grokmini.repl.linear_screen import LinearScreen
from grokmini.repl.ports import OpenedSession, SessionFactory
from grokmini.repl.progress import Progress
from grokmini.repl.session_state import SessionState
from grokmini.repl.signals import handled
from grokmini.repl.submissions import Submissions
from grokmini.repl.writer import TerminalWriter

QUEUE_HINT = "Enter on an empty line sends it now, Up takes it back"
TYPING_PAUSE = 0.6
"""Seconds after a key during which output waits, so that it does not cut the line that is being typed."""
LONGEST_HOLD = 5.0
PROMPT_PAUSE = 0.02
"""Seconds without an event before the prompt is shown, so that lines which belong together stay together."""
WRITE_SECONDS = 2.0
GONE_WRITE_SECONDS = 0.2
EVENTS_AT_ONCE = 20


class LinearTerminal(NamedTuple):
    """Descriptors of the keyboard (a terminal), of the lines, and of prompt and echo; and what it can do.

    `width` in cells; `colour_level` 0 means that no escape sequence is ever written.
    """

    keyboard: int
    output: int
    prompt: int
    width: int
    unicode: bool
    colour_level: int


class LinearOptions(NamedTuple):
    """`history` None keeps history in memory. `resumable` says that the session is kept on disk."""

    history: Path | None = None
    first_prompt: str = ""
    show_reasoning: bool = True
    resumable: bool = True


async def run(
    opened: OpenedSession, factory: SessionFactory, terminal: LinearTerminal, options: LinearOptions
) -> int:
    """Talk with a person until they leave; the exit code. The session is shut down and closed by then.

    Raises `OSError` when the keyboard is no terminal.
    """
    return await LinearApp(opened, factory, terminal, options).run()


class LinearApp:
    """Connects keyboard, session and screen on one event loop."""

    def __init__(
        self, opened: OpenedSession, factory: SessionFactory, terminal: LinearTerminal, options: LinearOptions
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.opened = opened
        self._life = Life()
        self._terminal = terminal
        self._options = options
        self._width = terminal.width
        self._look = Look(unicode=terminal.unicode)
        self._writer = TerminalWriter(self._writer_gone)
        self._screen = LinearScreen(
            self._writer.write,
            output=terminal.output,
            prompt=terminal.prompt,
            colour_level=terminal.colour_level,
            look=self._look,
        )
        self._keyboard = Keyboard(
            terminal.keyboard, self._on_presses, lambda: self._life.finish(ExitCode.SIGHUP)
        )
        self._state = SessionState()
        self._view = self._fresh_view()
        history = self._history = History(options.history, time.time)
        self._submissions = Submissions(self, factory, self._state, history, self._loop.time)
        outlets = Outlets(self._send, self._submit, self.leave, self._suspend)
        self._desk = LinearDesk(
            self._screen,
            self._state,
            history,
            outlets,
            look=self._look,
            width=terminal.width,
            arguments=factory.arguments,
        )
        self._progress = Progress()
        self._consumer: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._held_since = self._quiet_at = self._resumed_at = 0.0
        self._welcomed = self._told_of_queue = False

    async def run(self) -> int:
        """Everything from the first line to the last."""
        handlers = {
            signal.SIGINT: self._on_interrupt,
            signal.SIGTERM: lambda: self._life.signalled(ExitCode.SIGTERM),
            signal.SIGHUP: lambda: self._life.signalled(ExitCode.SIGHUP),
            signal.SIGTSTP: self._suspend,
            signal.SIGCONT: self._continued,
            signal.SIGWINCH: self._resized,
        }
        write_seconds = GONE_WRITE_SECONDS
        with handled(handlers):
            try:
                self._keyboard.quieten()
                self._consumer = self._life.start(self._consume(self.opened))
                code = await self._life.end()
                self._keyboard.close()
                await self._close(code)
                write_seconds = GONE_WRITE_SECONDS if code in FORCED else WRITE_SECONDS
            finally:
                self._keyboard.close()
                self._stop()
                rest = f"\n{last_words(self.opened.handle)}\n"
                self._writer.close(write_seconds, self._terminal.output, rest)
        return code

    @property
    def width(self) -> int:
        """Cells across the terminal."""
        return self._width

    @property
    def look(self) -> Look:
        """What the terminal can show."""
        return self._look

    @property
    def home(self) -> str:
        """The person's home folder."""
        return os.environ.get("HOME", "")

    def pick(self, pick: Pick) -> None:
        """Print the list; the id goes behind the command."""
        self.start(self._print_list(pick))

    async def _print_list(self, pick: Pick) -> None:
        rows = await asyncio.to_thread(pick.load, True)
        if not rows:
            self._screen.say("there is no such session")
            return
        self.print_lines(list_lines(rows, self._width))
        self._screen.say(f"{pick.command} ID {pick.title}")

    async def copy(self, copy: Copy) -> None:
        """By the desktop's programs and a file; no escape sequence is written here."""
        copied = await asyncio.to_thread(copy_text, copy.text, os.environ)
        self.print_lines([line_of(copied_text(copied._replace(sequence=""), copy.what))])

    def print_lines(self, lines: Sequence[Line], typed: str = "") -> None:
        """Print finished lines now; what was typed stands on the screen."""
        self._screen.print(lines)
        self._progress.heard(self._loop.time())

    def page(self, lines: Sequence[Line]) -> None:
        """There is no pager in linear mode: print them."""
        self.print_lines(lines)

    def start(self, work: Coroutine[object, object, None]) -> None:
        """Run work beside; what it fails with ends the program, seen."""
        self._life.start(work).add_done_callback(lambda _: self._settle_soon())

    def leave(self) -> None:
        """The person wants to leave."""
        self._life.finish(ExitCode.OK)

    async def go_on_in(self, opened: OpenedSession) -> None:
        """Talk to a fresh session; the former one ends behind it."""
        former, self.opened = self.opened, opened
        if self._consumer:
            self._consumer.cancel()
        self._state.reset()
        self._view = self._fresh_view()
        self._consumer = self._life.start(self._consume(opened))
        if not await self._life.close_former(former.handle):
            self._screen.say(NOT_CLOSED)

    def _stop(self) -> None:
        self._life.stop()
        if self._timer:
            self._timer.cancel()

    async def _close(self, code: int) -> None:
        """Shut the session down and print what it still says, within limits."""
        self._screen.flush()
        self._screen.end_line()
        await self._life.close(self.opened.handle, code)
        self._screen.print(self._view.settle())
        if self._options.resumable and self._state.turns:
            again = goes_on(self.opened.handle)
            self._screen.print([line_of(again, DIM)])

    def _fresh_view(self) -> LinearView:
        terminal = self._terminal
        return LinearView(
            width=self._width,
            unicode=terminal.unicode,
            show_reasoning=self._options.show_reasoning,
            tool_preview=Preview(expand=HINT),
            home=os.environ.get("HOME", ""),
            queue=False,
        )

    async def _consume(self, opened: OpenedSession) -> None:
        """Follow the session. Keys get their turn between events; a slow terminal makes us wait, not the engine."""
        count = 0
        async for record in opened.events:
            self._on_event(record.event)
            count += 1
            if count % EVENTS_AT_ONCE == 0:
                await asyncio.sleep(0)
            if self._writer.full:
                await asyncio.to_thread(self._writer.wait_for_room)
        if not self._life.over:
            self._screen.say(SESSION_ENDED)
        self._life.finish(ExitCode.ERROR)

    def _on_event(self, event: SessionEvent) -> None:
        now = self._loop.time()
        self._state.apply(event, now)
        lines = self._view.apply(event)
        if isinstance(event, TurnStarted):
            on_screen = self._submissions.is_on_screen(event.prompt_id) and self._screen.echoes_on_output
            lines = [] if on_screen else lines
        if isinstance(event, SessionStarted | DirectoryChanged):
            self._history.cwd = event.cwd
        if isinstance(event, PromptQueued | PromptUnqueued):
            lines = [*lines, *self._queue_lines(event)]
        if lines and not self._screen.holding:
            self._held_since = now
        self._screen.hold(lines)
        if isinstance(event, SessionStarted) and not self._welcomed:
            self._welcome()
        self._settle_soon()

    def _queue_lines(self, event: PromptQueued | PromptUnqueued) -> list[Line]:
        """What is said of the queue at once, also in the middle of a reply; the first time with what a key does."""
        text = queue_text(event, "")
        lines = notice_lines("info", text, self._width, self._look) if text else []
        if isinstance(event, PromptQueued) and not self._told_of_queue:
            self._told_of_queue = True
            lines.append(line_of(QUEUE_HINT, DIM))
        return lines

    def _welcome(self) -> None:
        """The first lines are there: from now on there is somebody to talk to."""
        self._welcomed = True
        self._screen.print(fact_lines(WELCOME, self._look.glyphs.dot, DIM, self._width))
        if self._options.first_prompt:
            self._submissions.prompt(self._options.first_prompt)
        self._keyboard.listen()

    def _on_presses(self, presses: Sequence[Press]) -> None:
        now = self._loop.time()
        for press in presses:
            self._desk.press(press, now)
        self._wake(now)

    def _on_interrupt(self) -> None:
        """SIGINT, from wherever it came; once we are leaving it stops waiting for the session."""
        self._life.hurry() if self._life.over else self._on_presses((Key.INTERRUPT,))

    def _settle_soon(self) -> None:
        """Something happened: look now, and show the prompt when nothing more follows."""
        now = self._loop.time()
        self._quiet_at = now + PROMPT_PAUSE
        self._wake(now)

    def _wake(self, when: float) -> None:
        """Look at everything at that time, if nothing makes us look earlier."""
        if self._timer:
            if self._timer.when() <= when:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self._tick)

    def _tick(self) -> None:
        """Do what is due, and compute from the state when to look again."""
        self._timer = None
        if self._life.over:
            return
        now = self._loop.time()
        self._desk.follow(now)
        due = [self._print_held(now), self._show_line(now), self._report_progress(now)]
        due.append(self._desk.questions.guard_until)
        times = [at for at in due if at is not None]
        if times:
            self._wake(max(min(times), now))

    def _print_held(self, now: float) -> float | None:
        """Print what waits, unless a person is typing just now; when to try again."""
        if not self._screen.holding:
            return None
        until = min(self._desk.typing_until(TYPING_PAUSE), self._held_since + LONGEST_HOLD)
        if self._state.busy and now < until:
            return until
        self.print_lines(())
        return None

    def _show_line(self, now: float) -> float | None:
        if self._screen.line_open or self._submissions.busy or not self._welcomed:
            return None
        if now < self._quiet_at:
            return self._quiet_at
        self._desk.show_line()
        return None

    def _report_progress(self, now: float) -> float | None:
        due = self._progress.due(self._state)
        if due is None:
            return None
        due = max(due, self._desk.typing_until(TYPING_PAUSE))
        if now >= due:
            self._screen.print([line_of(self._look.spelled(self._progress.line(self._state, now)), DIM)])
            due = self._progress.due(self._state)
        return due

    def _send(self, command: SessionCommand) -> None:
        self.opened.handle.send(command)
        self._progress.heard(self._loop.time())

    def _submit(self, text: str) -> None:
        self._submissions.submit(text)
        self._progress.heard(self._loop.time())
        self._settle_soon()

    def _suspend(self) -> None:
        self._screen.end_line()
        self._writer.flush(WRITE_SECONDS)
        self._keyboard.suspend()
        self._resumed_at = self._loop.time()
        self._wake(self._resumed_at)

    def _continued(self) -> None:
        """Someone continued us. After our own suspending everything is in order already."""
        now = self._loop.time()
        if now - self._resumed_at > PROMPT_PAUSE and not self._life.over:
            self._keyboard.resume()
            self._screen.end_line()
            self._wake(now)

    def _resized(self) -> None:
        try:
            columns = os.get_terminal_size(self._terminal.prompt).columns
        except OSError:  # the prompt goes into a pipe: it has no width
            return
        width = columns or self._terminal.width
        self._width = width
        self._desk.resize(width)
        self._view.resize(width)

    def _writer_gone(self, error: OSError) -> None:
        """From the writer's thread: whoever read our lines has left, or the terminal is gone."""
        code = ExitCode.OK if error.errno == errno.EPIPE else ExitCode.SIGHUP
        self._loop.call_soon_threadsafe(self._life.finish, code)

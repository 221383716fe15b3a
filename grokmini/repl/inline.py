"""The inline REPL: finished blocks in native scrollback, a small live region under them.

Session events fold into a transcript, whose final lines are committed and whose tail is shown; keys go to the
desk; both change one state, from which the live region is composed when a frame is drawn. Nothing ticks while
nothing runs: the next wake-up is computed from the state.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from grokmini.protocol.errors import ExitCode
from grokmini.protocol.events import (
    DirectoryChanged,
    SessionEvent,
    SessionStarted,
    TodoChanged,
    TurnStarted,
)
from grokmini.protocol.model import Usage
from grokmini.render.blockview import prompt_lines
from grokmini.render.lines import Line, Span, ansi, line_of
from grokmini.render.look import DIM, Look
from grokmini.render.spans import fact_lines
from grokmini.render.toolview import Preview
from grokmini.render.transcript import Shown, Transcript
from grokmini.repl.clipboard import NoClipboardError, read_clipboard
from grokmini.repl.commands.diff import diff_lines
from grokmini.repl.commands.expand import HINT
from grokmini.repl.commands.result import Copy, Pick
from grokmini.repl.commands.table import COMMANDS
from grokmini.repl.copying import copied_text, copy_text
from grokmini.repl.handover import Handover, HandoverError
from grokmini.repl.history import History
from grokmini.repl.images import Album
from grokmini.repl.inline_desk import InlineDesk, Outlets
from grokmini.repl.input import Input
from grokmini.repl.keys import Key, Press
from grokmini.repl.life import NOT_CLOSED, SESSION_ENDED, WELCOME, Life, goes_on, last_words
from grokmini.repl.mode_notice import ModeNotice
from grokmini.repl.painter import LiveView
from grokmini.repl.path_search import PathSearch, Walk, in_a_thread
from grokmini.repl.picking import Picking
from grokmini.repl.ports import OpenedSession, SessionFactory
from grokmini.repl.region import LiveRegion
from grokmini.repl.session_state import SessionState
from grokmini.repl.signals import handled
from grokmini.repl.stage import Stage
from grokmini.repl.submissions import Submissions

EVENTS_AT_ONCE = 20
PROMPT_ROWS = 40
SIGNAL_TURNS = 4
"""Turns of the loop after which every signal that had come before is handled."""


class InlineOptions(NamedTuple):
    """`history` None keeps history in memory. `resumable` says that the session is kept on disk. `walk` lists the
    files of a folder for `@`, `sees` says whether the model of that name takes images.
    """

    walk: Walk
    history: Path | None = None
    first_prompt: str = ""
    show_reasoning: bool = True
    resumable: bool = True
    vi: bool = False
    sees: Callable[[str], bool] = lambda model: True


async def run(opened: OpenedSession, factory: SessionFactory, stage: Stage, options: InlineOptions) -> int:
    """Talk with a person until they leave; the exit code. The session is shut down and closed by then.

    The stage's terminal is taken already; it is given back before this returns.
    """
    return await InlineApp(opened, factory, stage, options).run()


class InlineApp:
    """Connects keyboard, session and screen on one event loop."""

    def __init__(
        self, opened: OpenedSession, factory: SessionFactory, stage: Stage, options: InlineOptions
    ) -> None:
        loop = self._loop = asyncio.get_running_loop()
        self.opened = opened
        self._life = Life()
        terminal = self._terminal = stage.terminal
        self._stage = stage
        self._options = options
        self._look = stage.look
        self._screen, self._keyboard = stage.screen, stage.keyboard
        private = options.history.parent if options.history is not None else None
        self._handover = Handover(self._screen, self._keyboard, terminal.env, self._returned, private)
        self._state = SessionState()
        history = self._history = History(options.history, time.time)
        album = Album(self._blind)
        self._submissions = Submissions(self, factory, self._state, history, loop.time, album.named_in)
        paths = PathSearch(options.walk, in_a_thread(loop), loop.time)
        self._input = Input(
            self._look,
            history,
            COMMANDS,
            paths,
            album=album,
            cwd=lambda: self._state.cwd,
            on_change=self._changed,
            vi=options.vi,
            arguments=factory.arguments,
        )
        self._desk = InlineDesk(self._state, self._input, self._outlets())
        self._region = self._fresh_region()
        self._consumer: asyncio.Task[None] | None = None
        self._stock: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._modes = ModeNotice()
        self._aside = ExitStack()
        self._welcomed = False
        self._picking: Picking | None = None

    async def run(self) -> int:
        """Everything from the first frame to the last."""
        handlers = {
            signal.SIGINT: self._on_interrupt,
            signal.SIGTERM: lambda: self._life.signalled(ExitCode.SIGTERM),
            signal.SIGHUP: lambda: self._life.signalled(ExitCode.SIGHUP),
            signal.SIGTSTP: self._suspend,
            signal.SIGCONT: self._continued,
            signal.SIGWINCH: self._resized,
        }
        self._stage.attend(self._on_presses, lambda: self._life.finish(ExitCode.SIGHUP))
        with handled(handlers):
            try:
                self._screen.show(self._region.compose)
                self._input.load()
                self._keyboard.reopen()
                self._consumer = self._life.start(self._consume(self.opened))
                code = await self._life.end()
                await self._close(code)
            finally:
                await self._handover.end()
                self._stop()
                rest = last_words(self.opened.handle)
                self._screen.leave(rest=rest)
                self._keyboard.close()
        return code

    @property
    def width(self) -> int:
        """Cells across the terminal."""
        return self._screen.size.columns

    @property
    def look(self) -> Look:
        """What the terminal can show."""
        return self._look

    @property
    def home(self) -> str:
        """The person's home folder."""
        return self._terminal.env.get("HOME", "")

    def print_lines(self, lines: Sequence[Line], typed: str = "") -> None:
        """Print finished lines now, set off from the others, behind what was typed."""
        asked = prompt_lines(typed, self.width, self._look) if typed else []
        self._screen.commit(self._region.transcript.beside([*asked, *lines]))
        self._changed()

    def pick(self, pick: Pick) -> None:
        """Open a list of sessions in the live region."""
        self._picking = Picking(pick, self, self._submissions.finish)
        self._desk.picker = self._picking.picker
        self._changed()

    def changed(self) -> None:
        """Something on the screen looks different."""
        self._changed()

    async def copy(self, copy: Copy) -> None:
        """By the terminal, the desktop and a file."""
        copied = await asyncio.to_thread(copy_text, copy.text, self._terminal.env)
        if copied.sequence:
            self._screen.emit(copied.sequence.encode())
        self.print_lines([line_of(copied_text(copied, copy.what))])

    def page(self, lines: Sequence[Line]) -> None:
        """Show lines in the pager."""
        level = self._terminal.colour_level
        self.start(self._page("".join(f"{ansi(line, level)}\n" for line in lines)))

    def start(self, work: Coroutine[object, object, None]) -> None:
        """Run work beside; what it fails with ends the program, seen."""
        self._life.start(work).add_done_callback(lambda _: self._changed())

    def leave(self) -> None:
        """The person wants to leave."""
        self._life.finish(ExitCode.OK)

    async def go_on_in(self, opened: OpenedSession) -> None:
        """Talk to a fresh session; the former one ends behind it."""
        former, self.opened = self.opened, opened
        for follower in filter(None, (self._consumer, self._stock)):
            follower.cancel()
        self._screen.commit(self._region.transcript.close())
        self._state.reset()
        self._region = self._fresh_region()
        self._consumer = self._life.start(self._consume(opened))
        if not await self._life.close_former(former.handle):
            self._screen.commit([line_of(NOT_CLOSED)])

    async def _consume(self, opened: OpenedSession) -> None:
        """Follow the session. Keys get their turn between events; a slow terminal makes us wait, not the engine."""
        count = 0
        async for record in opened.events:
            self._on_event(record.event)
            count += 1
            if count % EVENTS_AT_ONCE == 0:
                await asyncio.sleep(0)
            if self._screen.full:
                await self._screen.drained()
        if not self._life.over:
            self._screen.commit([line_of(SESSION_ENDED)])
        self._life.finish(ExitCode.ERROR)

    def _on_event(self, event: SessionEvent) -> None:
        was_busy = self._state.busy
        self._state.apply(event, self._loop.time())
        if isinstance(event, TodoChanged):
            self._region.todos = event.todos
        if isinstance(event, SessionStarted | DirectoryChanged):
            self._history.cwd = event.cwd
        if isinstance(event, TurnStarted) or not was_busy:
            self._region.work_began = self._loop.time()
        for due in self._modes.due(event):
            self._screen.commit(self._region.transcript.apply(due))
        if isinstance(event, SessionStarted):
            if not self._welcomed:
                self._welcome()
            if event.resumed and not self.opened.watched:
                self._stock = self._life.start(self._take_stock(self.opened))
        self._changed()

    async def _take_stock(self, opened: OpenedSession) -> None:
        """Learn how full the window of a resumed session is before anything is asked."""
        report, figures = await opened.context(), await opened.usage()
        if opened is self.opened:
            self._state.went_before(report.tokens, sum(figures.session.values(), Usage()))
            self._changed()

    def _welcome(self) -> None:
        self._welcomed = True
        self._screen.commit(fact_lines(WELCOME, self._look.glyphs.dot, DIM, self.width))
        if self._options.first_prompt:
            self._submissions.prompt(self._options.first_prompt)

    def _outlets(self) -> Outlets:
        return Outlets(
            send=lambda command: self.opened.handle.send(command),
            submit=self._submit,
            leave=self.leave,
            suspend=self._suspend,
            redraw=self._screen.repaint,
            edit=lambda text: self.start(self._edit(text)),
            page=lambda text: self.page(diff_lines(text)),
            command=lambda name: self._submissions.command(name),
            paste=lambda: self.start(self._paste()),
            picked=lambda asked: self._picking.do(asked) if self._picking else None,
        )

    def _on_presses(self, presses: Sequence[Press]) -> None:
        self._desk.press(presses, self._loop.time())
        self._changed()
        self._screen.urgent()

    def _submit(self, text: str) -> None:
        if not self._state.busy:
            self._region.work_began = self._loop.time()
        self._submissions.submit(text)

    def _on_interrupt(self) -> None:
        """SIGINT, from wherever it came; once we are leaving it stops waiting for the session.

        A key that was meant for the editor or pager comes here, too.
        """
        if self._life.over:
            self._life.hurry()
        elif not self._handover.away:
            self._on_presses((Key.INTERRUPT,))

    async def _edit(self, text: str) -> None:
        try:
            await self._handover.edit(text, self._input.edited)
        except HandoverError as error:
            self._desk.say(str(error), self._loop.time())

    async def _page(self, text: str) -> None:
        try:
            await self._handover.page(text)
        except HandoverError as error:
            self._desk.say(str(error), self._loop.time())

    async def _paste(self) -> None:
        now = self._loop.time
        try:
            found = await asyncio.to_thread(read_clipboard, self._terminal.env)
        except NoClipboardError as error:
            self._desk.say(str(error), now())
            return
        if isinstance(found, bytes):
            self._desk.act(self._input.insert_image("clipboard", found), now())
        else:
            self._desk.act(self._input.insert(found), now())

    def _blind(self) -> str:
        """Why the model in force cannot be shown images; "" when it can."""
        model = self._state.model
        return "" if self._options.sees(model) else f"{model} cannot see images: /model chooses another"

    def _suspend(self) -> None:
        self._aside.enter_context(self._screen.hand_over())
        self._keyboard.stop()
        self._continued()

    def _continued(self) -> None:
        """Someone continued us. What has the terminal then draws itself."""
        if not self._handover.away:
            self.start(self._come_back())

    async def _come_back(self) -> None:
        """Take the terminal again, unless what came together with being continued ends us.

        Another job may have the terminal: then taking it stops us once more, and nothing else would be heard.
        """
        for _ in range(SIGNAL_TURNS):
            await asyncio.sleep(0)
        if not (self._life.over or self._handover.away):
            self._returned()
            self._keyboard.resume()
            self._aside.close()
            self._screen.repaint()

    def _returned(self) -> None:
        """The terminal is ours again: what was typed meanwhile was typed without seeing what is asked now."""
        self._desk.returned(self._loop.time())

    def _resized(self) -> None:
        """What is finished from now on is finished at the new width."""
        self._region.transcript.resize(self._screen.size.columns)
        self._screen.resized()

    def _changed(self) -> None:
        """Something looks different: draw it with the next frame, and come back when time alone changes it."""
        if self._life.over:
            return
        self._screen.show(self._region.compose)
        self._wake()

    def _wake(self) -> None:
        if self._timer:
            self._timer.cancel()
        at = self._region.next_change()
        self._timer = None if at is None else self._loop.call_at(at, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._desk.follow(self._loop.time())
        self._changed()

    def _fresh_region(self) -> LiveRegion:
        shown = Shown(
            look=self._look,
            preview=Preview(expand=HINT),
            reasoning=self._options.show_reasoning,
            home=self._terminal.env.get("HOME", ""),
            queue=False,
            prompt_rows=PROMPT_ROWS,
        )
        transcript = Transcript(self._terminal.size().columns or 80, shown)
        return LiveRegion(
            self._look,
            self._desk,
            transcript,
            self._loop.time,
            home=self._terminal.env.get("HOME", ""),
            watching=self.opened.watched,
        )

    async def _close(self, code: int) -> None:
        """Shut the session down and print what it still says, within limits."""
        self._screen.show(LiveView())
        await asyncio.gather(self._handover.end(), self._life.close(self.opened.handle, code))
        self._screen.commit(self._region.transcript.close())
        if self._options.resumable and self._state.turns:
            again = goes_on(self.opened.handle)
            self._screen.commit([Line((Span(again, DIM),))])

    def _stop(self) -> None:
        self._life.stop()
        if self._timer:
            self._timer.cancel()

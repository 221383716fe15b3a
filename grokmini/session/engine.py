"""The engine: one task a session. It digests before it eats, and nothing else starts a turn.

Each round serves, in this order, what stops work, what came back from inside, and what the world asks
(`ORDER`). A branch decides and hands long work to a task, so none can starve those below it.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from collections import deque
from collections.abc import Coroutine
from pathlib import Path
from typing import Literal, TypeAlias, assert_never

import msgspec

from grokmini.protocol import commands, events
from grokmini.protocol.codec import join_surrogates
from grokmini.protocol.errors import GrokminiError, UsageError
from grokmini.protocol.items import SyntheticReason, user_text
from grokmini.protocol.model import Usage
from grokmini.session.call_runner import CallRunner
from grokmini.session.handle import SessionHandle
from grokmini.session.parts import Live, Parts
from grokmini.session.path_locks import PathLocks
from grokmini.session.queue import PromptQueue
from grokmini.session.sandboxing import SandboxDone, Sandboxing
from grokmini.session.shell import ShellRun, run_shell
from grokmini.session.stream import EventStream
from grokmini.session.titles import TitleDone, Titles
from grokmini.session.turn import Turn
from grokmini.text.paths import visible_path

_log = logging.getLogger(__name__)

STEP_SECONDS = 5.0
"""What each step of closing may take, and `CLOSE_SECONDS` all of them (spec: session-loop.md)."""
CLOSE_SECONDS = 20.0


class TurnDone(msgspec.Struct, frozen=True):
    """The running turn is over."""

    ended: events.TurnEnded


class ShellDone(msgspec.Struct, frozen=True):
    """The user's own command is over."""

    run: ShellRun


Work: TypeAlias = commands.SessionCommand | TurnDone | ShellDone | TitleDone | SandboxDone
Lane = Literal["stop", "inside", "outside"]

ORDER: tuple[Lane, ...] = ("stop", "inside", "outside")
"""Order of service in every round."""

_STOPPING = (commands.CancelTurn, commands.Shutdown)


class SessionEngine:
    """Owns the turn, the queue, mode and model of one session."""

    def __init__(self, parts: Parts, live: Live, stream: EventStream) -> None:
        self._parts = parts
        self._live = live
        self._stream = stream
        self._lanes: dict[Lane, deque[Work]] = {lane: deque() for lane in ORDER}
        self._wake = asyncio.Event()
        self._queue = PromptQueue()
        self._turn: Turn | None = None
        self._turn_task: asyncio.Task[None] | None = None
        self._shell_task: asyncio.Task[None] | None = None
        self._titles = Titles(parts, live, emit=stream.emit, done=lambda done: self._put("inside", done))
        self._sandboxing = Sandboxing(parts, emit=stream.emit, done=lambda done: self._put("inside", done))
        self._locks = PathLocks()
        self._shutdown: commands.Shutdown | None = None
        self._over = False

    def send(self, command: commands.SessionCommand) -> None:
        """Accept a command. After the end nothing happens.

        A cancel overtakes everything but the prompt that it is meant for.
        """
        stops = isinstance(command, _STOPPING) and not (
            isinstance(command, commands.CancelTurn) and self._turn is None and self._prompt_waits()
        )
        self._put("stop" if stops else "outside", command)

    def _prompt_waits(self) -> bool:
        return any(isinstance(work, commands.Prompt) for work in self._lanes["outside"])

    def _put(self, lane: Lane, work: Work) -> None:
        if not self._over:
            self._lanes[lane].append(work)
            self._wake.set()

    async def run(self) -> None:
        """Serve until shutdown, then close everything. Cancelling it is a shutdown too."""
        self._parts.chat.set_model(self._live.model)
        self._sandboxing.start()
        try:
            while self._shutdown is None:
                work = self._next()
                if work is None:
                    self._wake.clear()
                    await self._wake.wait()
                else:
                    await self._serve_safely(work)
        finally:
            await self._close()

    def _next(self) -> Work | None:
        for lane in ORDER:
            if self._lanes[lane]:
                return self._lanes[lane].popleft()
        return None

    async def _serve_safely(self, work: Work) -> None:
        try:
            await self._serve(work)
        except Exception as error:  # noqa: BLE001 - the outermost frame of the session's task
            _log.exception("a command failed", extra={"session": self._parts.session_id})
            info = _inside(error)
            self._stream.emit(events.Notice("error", f"{info.message}. {info.hint}", info.kind))

    async def _serve(self, work: Work) -> None:
        match work:
            case commands.CancelTurn():
                self._cancel(work.reason)
            case commands.Shutdown():
                self._shutdown = work
            case TurnDone():
                await self._turn_done(work.ended)
            case ShellDone():
                await self._shell_done(work.run)
            case TitleDone():
                await self._titles.finished(work)
            case SandboxDone():
                await self._sandbox_changed(work)
            case commands.Prompt():
                await self._prompt(work)
            case commands.Interject():
                await self._interject(work)
            case commands.AnswerPermission():
                self._answer(work)
            case commands.EditQueue():
                self._edit_queue(work)
            case commands.SetMode():
                self._live.mode = work.mode
                self._settings_changed()
                self._stream.emit(events.ModeChanged(work.mode))
            case commands.SetModel():
                self._set_model(work.name)
            case commands.SetSandbox():
                await self._sandboxing.wish(work.name)
            case commands.SetTitle():
                await self._titles.rename(work.title)
            case commands.RunShell():
                self._start_shell(work.command)
            case commands.ChangeDirectory():
                await self._change_directory(work.path)
            case _:
                assert_never(work)

    async def _prompt(self, prompt: commands.Prompt) -> None:
        if self._turn is None:
            await self._start(prompt)
        else:
            self._queue.add(prompt)
            self._stream.emit(events.PromptQueued(prompt.prompt_id, prompt.text), prompt.prompt_id)

    async def _start(self, prompt: commands.Prompt) -> None:
        def emit(event: events.SessionEvent) -> None:
            self._stream.emit(event, prompt.prompt_id)

        runner = CallRunner(emit=emit, locks=self._locks, monotonic=self._parts.monotonic)
        self._parts.record.runs_with(self._live.model.name, self._live.mode)
        index = await self._parts.chat.next_prompt_index()
        turn = self._turn = Turn(self._parts, self._live, prompt, index, emit=emit, runner=runner)

        async def run() -> None:
            try:
                ended = await turn.run()
            except Exception as error:  # noqa: BLE001 - the outermost frame of the turn's task
                _log.exception("a turn could not be ended", extra={"prompt": prompt.prompt_id})
                ended = events.TurnEnded(index, "error", 1, "", Usage(), error=_inside(error))
            self._put("inside", TurnDone(ended))

        self._turn_task = asyncio.create_task(run(), name=f"turn-{index}")

    async def _turn_done(self, ended: events.TurnEnded) -> None:
        await self._record_end(ended)
        following = self._queue.take()
        if following is not None:
            self._stream.emit(events.PromptUnqueued(following.prompt_id, "started"), following.prompt_id)
            await self._start(following)
        await self._titles.turn_ended(ended)

    async def _record_end(self, ended: events.TurnEnded) -> None:
        """The turn is over: tell the index and the world, and have it written."""
        assert self._turn is not None
        trace_id = self._turn.prompt.prompt_id
        self._turn = self._turn_task = None
        chat = self._parts.chat
        self._parts.record.turn_ended(
            model=self._live.model.name,
            tokens=await chat.tokens(),
            messages=len(await chat.items()),
        )
        bill = await chat.usage()
        self._parts.record.spent(bill.session, bill.rows)
        self._stream.emit(ended, trace_id)
        await chat.flush()

    def _cancel(self, reason: str) -> None:
        if self._turn is not None:
            self._turn.stop(reason)
        if self._shell_task is not None:
            self._shell_task.cancel()
        self._sandboxing.dismiss()

    async def _interject(self, command: commands.Interject) -> None:
        prompt = self._queue.take(command.prompt_id)
        if prompt is None:
            return
        if self._turn is None:
            self._stream.emit(events.PromptUnqueued(prompt.prompt_id, "started"), prompt.prompt_id)
            await self._start(prompt)
        else:
            self._stream.emit(events.PromptUnqueued(prompt.prompt_id, "interjected"), prompt.prompt_id)
            self._turn.interject(prompt)

    def _edit_queue(self, edit: commands.EditQueue) -> None:
        if edit.action == "replace":
            if self._queue.replace(edit.prompt_id, edit.text):
                self._stream.emit(events.PromptQueued(edit.prompt_id, edit.text), edit.prompt_id)
            return
        ids = [prompt.prompt_id for prompt in self._queue] if edit.action == "clear" else [edit.prompt_id]
        for prompt_id in ids:
            if self._queue.take(prompt_id) is not None:
                self._stream.emit(events.PromptUnqueued(prompt_id, "removed"), prompt_id)

    def _set_model(self, name: str) -> None:
        try:
            self._live.model = self._parts.models.find(name)
        except UsageError as error:
            self._stream.emit(events.Notice("error", f"{error.message} {error.hint}".strip(), "model"))
            return
        self._settings_changed()
        self._stream.emit(events.ModelChanged(self._live.model.name, self._live.model.context_window))

    def _settings_changed(self) -> None:
        """What counts with the model does so from now on, and a resumed session goes on like this."""
        self._parts.chat.set_model(self._live.model)
        self._parts.record.runs_with(self._live.model.name, self._live.mode)

    async def _sandbox_changed(self, done: SandboxDone) -> None:
        self._parts.record.runs_under(done.profile, done.digest)
        await self._add(
            f"The user set the sandbox profile to {done.profile}. {done.told}", SyntheticReason.SYSTEM_REMINDER
        )

    def _answer(self, work: commands.AnswerPermission) -> None:
        self._sandboxing.answer(work.request_id, work.answer)
        if self._turn is not None:
            self._turn.approvals.answer(work.request_id, work.answer)

    def _start_shell(self, command: str) -> None:
        if self._shell_task is not None:
            self._stream.emit(
                events.Notice("warning", "A command of yours still runs; Ctrl-C stops it.", "shell")
            )
            return

        async def run() -> None:
            try:
                done = await run_shell(self._parts, command, self._stream.emit)
            except Exception as error:  # noqa: BLE001 - the outermost frame of the command's task
                _log.exception("the person's own command failed", extra={"session": self._parts.session_id})
                info = _inside(error)
                done = ShellRun(join_surrogates(command), f"{info.message}. {info.hint}", None, 0.0)
            self._put("inside", ShellDone(done))

        self._shell_task = asyncio.create_task(run(), name="shell")

    async def _shell_done(self, run: ShellRun) -> None:
        self._shell_task = None
        self._stream.emit(events.ShellFinished(run.command, run.output, run.exit_code, run.seconds))
        if stopped := run.stopped.brief:
            text = f"The sandbox stopped {stopped}: run it in another terminal, or /sandbox chooses another profile."
            self._stream.emit(events.Notice("warning", text, "sandbox_stopped"))
        await self._add(run.for_model(), SyntheticReason.SHELL_ESCAPE)

    async def _change_directory(self, path: str) -> None:
        try:
            target = _find_folder(path, self._parts.workspace.root)
            arrival = await self._parts.move_to(target)
        except (OSError, GrokminiError) as error:
            reason = error.strerror if isinstance(error, OSError) else f"{error.message}. {error.hint}"
            text = f"Still in {visible_path(str(self._parts.workspace.root))}: cannot go to {path} ({reason})."
            self._stream.emit(events.Notice("error", text, "directory"))
            return
        self._parts.record.directory_changed(str(target))
        self._stream.emit(events.DirectoryChanged(str(target), self._parts.branch_of(target)))
        for notice in arrival.notices:
            self._stream.emit(notice)
        text = f"The working directory is now {visible_path(str(target))}. {arrival.note}".rstrip()
        await self._add(text, SyntheticReason.SYSTEM_REMINDER)

    async def _add(self, text: str, reason: SyntheticReason) -> None:
        """Put an item into the history: now when idle (behind the prefix), else at the turn's next gap."""
        item = user_text(text, reason=reason)
        if self._turn is not None:
            self._turn.add_at_gap(item)
            return
        for before in await self._parts.prefix.before_prompt(await self._parts.chat.items()):
            self._parts.chat.push(before)
        self._parts.chat.push(item)

    async def _close(self) -> None:
        """Stop the turn, flush, end. Each step has its limit, all together too; what was left undone is said."""
        deadline = asyncio.get_running_loop().time() + CLOSE_SECONDS
        reason = self._shutdown.reason if self._shutdown else "cancelled"
        undone = await self._stop_tasks(reason)
        for prompt in self._queue:
            self._stream.emit(events.PromptUnqueued(prompt.prompt_id, "removed"), prompt.prompt_id)
        self._over = True
        parts = self._parts
        for what, step in (
            ("the commands were not stopped", parts.runner.close()),
            ("the connections were not closed", parts.sampler.close()),
            ("the history was not flushed", parts.chat.close()),
        ):
            if not await _within(deadline, step):
                undone.append(what)
        self._stream.emit(events.SessionEnded(reason, tuple(undone)))
        if not await _within(deadline, parts.record.close()):
            _log.error("the session files were not closed in time", extra={"session": parts.session_id})
        self._stream.close()

    async def _stop_tasks(self, reason: str) -> list[str]:
        """Stop turn and command; a task that does not end by itself is cancelled. What did not end even so."""
        self._cancel(reason)
        running = [task for task in (self._turn_task, self._shell_task) if task is not None]
        late: set[asyncio.Task[None]] = set()
        if running:
            _, late = await asyncio.wait(running, timeout=STEP_SECONDS)
            for task in late:
                task.cancel()
        await self._titles.give_up()
        await self._sandboxing.give_up()
        for work in tuple(self._lanes["inside"]):
            if isinstance(work, TurnDone):
                await self._record_end(work.ended)
            elif isinstance(work, TitleDone):
                await self._titles.finished(work)
            elif isinstance(work, SandboxDone):
                self._parts.record.runs_under(work.profile, work.digest)
        return [f"{task.get_name()} did not stop in {STEP_SECONDS:g} s" for task in late]


def _inside(error: Exception) -> events.ErrorInfo:
    """What a person is told of a fault of ours."""
    return events.ErrorInfo(
        "internal",
        f"grokmini failed inside ({type(error).__name__}: {error})",
        "What was said is kept; try again. `--debug` shows where the log is.",
    )


def _find_folder(path: str, base: Path) -> Path:
    """The real path of a folder named by a person. Raises `OSError` when it is none."""
    target = Path(os.path.realpath(base / os.path.expanduser(path), strict=True))  # noqa: PTH111 - never raises
    if not target.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "it is not a folder")
    return target


async def _within(deadline: float, step: Coroutine[object, object, None]) -> bool:
    """Await a step for `STEP_SECONDS` at most, and not beyond the deadline; whether it ended."""
    limit = min(asyncio.get_running_loop().time() + STEP_SECONDS, deadline)
    try:
        async with asyncio.timeout_at(limit):
            await step
    except TimeoutError:
        return False
    return True


def start_engine(parts: Parts, live: Live, stream: EventStream) -> SessionHandle:
    """Start a session's engine in a task of its own and return the handle to it."""
    engine = SessionEngine(parts, live, stream)
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run() -> None:
        try:
            await engine.run()
        finally:
            if not ended.done():
                ended.set_result(None)

    task = asyncio.create_task(run(), name="session")
    return SessionHandle(parts.session_id, stream, engine.send, ended, task)

"""A session that does what a test says: the real handle and stream, with no engine behind them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal, NamedTuple

from grokmini.protocol import commands, events
from grokmini.protocol.errors import Outcome
from grokmini.protocol.ids import uuid7
from grokmini.protocol.model import Usage
from grokmini.protocol.permission import PermissionAnswer, PermissionMode, PermissionOption
from grokmini.protocol.tools import ToolEnvelope, ToolKind, ToolNamespace
from grokmini.repl.ports import OpenedSession
from grokmini.session.handle import SessionHandle
from grokmini.session.stream import EventStream

OPTIONS = (
    PermissionOption("1", "yes", "allow"),
    PermissionOption("2", "always `rm -rf build`", "allow", "repository", "Bash(rm -rf build)"),
    PermissionOption("3", "no", "deny"),
    PermissionOption("4", "no, because…", "deny", wants_text=True),
)


class NoLog:
    """Keeps nothing."""

    def record(self, record: events.EventRecord) -> None:
        """Forget it."""


class Figures(NamedTuple):
    """Usage as a session reports it."""

    prompt: dict[str, Usage]
    session: dict[str, Usage]


class ScriptedSession:
    """Answers commands as the engine does, but a turn runs until the test ends it."""

    def __init__(self, *, cwd: str = "/work", ends: bool = True) -> None:
        self.sent: list[commands.SessionCommand] = []
        self.queue: list[commands.Prompt] = []
        self.running: commands.Prompt | None = None
        self.questions: list[events.PermissionAsked] = []
        self.diff = ""
        self.past: list[events.SessionEvent] = []
        self.usage = Figures({}, {})
        self._ends = ends
        self._turns = 0
        self._arrived = asyncio.Event()
        self._stream = EventStream(uuid7(), NoLog(), next_seq=1, clock=lambda: 0.0)
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.ensure_future(self._wait())
        self.handle = SessionHandle(uuid7(), self._stream, self._take, self._ended, task)
        self.opened = OpenedSession(
            self.handle, self._stream.subscribe(), self._usage, lambda: self.diff, lambda: self.past
        )
        self.emit(
            events.SessionStarted("0.1.0", cwd, "test-model", PermissionMode.ASK, "none", context_window=1000)
        )

    def emit(self, *several: events.SessionEvent) -> None:
        """Tell the front end."""
        for event in several:
            self._stream.emit(event)

    async def got(self, *kinds: type[object]) -> commands.SessionCommand:
        """The first command of these kinds that is not yet taken."""
        while True:
            for command in self.sent:
                if isinstance(command, kinds):
                    self.sent.remove(command)
                    return command
            self._arrived.clear()
            await self._arrived.wait()

    def end_turn(self, text: str = "done", outcome: Outcome = "completed") -> None:
        """The running turn is over; the next prompt begins."""
        self.running = None
        self.emit(events.TextDelta(text), events.TurnEnded(self._turns, outcome, 0, text, Usage(), seconds=1.0))
        if self.queue:
            prompt = self.queue.pop(0)
            self.emit(events.PromptUnqueued(prompt.prompt_id, "started"))
            self._start(prompt)

    def ask(self, request_id: str, *, title: str = "Run this?", diff: str = "") -> None:
        """Ask for permission."""
        asked = events.PermissionAsked(
            request_id, f"call-{request_id}", title, "rm -rf build", OPTIONS, ("in ~/shop",), diff
        )
        self.questions.append(asked)
        self.emit(asked)

    def run_tool(self, call_id: str, label: str) -> None:
        """A call begins."""
        tool = ToolEnvelope("run_terminal_command", ToolKind.EXECUTE, ToolNamespace.GROK_BUILD, label, False)
        self.emit(events.ToolCallReady(call_id, tool, "{}"), events.ToolStarted(call_id))

    async def _wait(self) -> None:
        await self._ended

    async def _usage(self) -> Figures:
        return self.usage

    def _start(self, prompt: commands.Prompt) -> None:
        self.running = prompt
        self._turns += 1
        self.emit(events.TurnStarted(prompt.prompt_id, self._turns, prompt.text))

    def _take(self, command: commands.SessionCommand) -> None:
        self.sent.append(command)
        self._arrived.set()
        match command:
            case commands.Prompt():
                if self.running is None:
                    self._start(command)
                else:
                    self.queue.append(command)
                    self.emit(events.PromptQueued(command.prompt_id, command.text))
            case commands.CancelTurn():
                self._cancel()
            case commands.AnswerPermission():
                self._answer(command.request_id, command.answer, by_cancel=False)
            case commands.EditQueue():
                self._unqueue(command.prompt_id, "removed")
            case commands.Interject():
                self._unqueue(command.prompt_id, "interjected")
            case commands.SetMode():
                self.emit(events.ModeChanged(command.mode))
            case commands.SetModel():
                self.emit(events.ModelChanged(command.name, 1000))
            case commands.ChangeDirectory():
                self.emit(events.DirectoryChanged(command.path))
            case commands.Shutdown():
                self._shut_down(command.reason)
            case commands.RunShell():
                pass

    def _cancel(self) -> None:
        for asked in tuple(self.questions):
            self._answer(asked.request_id, PermissionAnswer("deny"), by_cancel=True)
        if self.running:
            self.end_turn("", "cancelled")

    def _answer(self, request_id: str, answer: PermissionAnswer, *, by_cancel: bool) -> None:
        for asked in tuple(self.questions):
            if asked.request_id == request_id:
                self.questions.remove(asked)
                by: Literal["cancel", "user"] = "cancel" if by_cancel else "user"
                self.emit(events.PermissionAnswered(request_id, asked.call_id, answer, by))

    def _unqueue(self, prompt_id: str, reason: Literal["removed", "interjected"]) -> None:
        for prompt in tuple(self.queue):
            if prompt.prompt_id == prompt_id:
                self.queue.remove(prompt)
                self.emit(events.PromptUnqueued(prompt_id, reason))

    def _shut_down(self, reason: str) -> None:
        if self._ends and not self._ended.done():
            self.emit(events.SessionEnded(reason))
            self._stream.close()
            self._ended.set_result(None)


class ScriptedFactory:
    """Opens further scripted sessions and remembers them."""

    def __init__(self, models: Sequence[str] = ("test-model", "other-model")) -> None:
        self.made: list[ScriptedSession] = []
        self._models = models

    async def new(self) -> OpenedSession:
        """Another one."""
        self.made.append(ScriptedSession())
        return self.made[-1].opened

    def models(self) -> Sequence[str]:
        """Names to choose from."""
        return self._models

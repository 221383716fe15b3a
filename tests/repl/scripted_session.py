"""A session that does what a test says: the real handle and stream, with no engine behind them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from grokmini.chat.context import ContextPart, ContextReport
from grokmini.protocol import commands, events
from grokmini.protocol.errors import Outcome, SessionError
from grokmini.protocol.ids import uuid7
from grokmini.protocol.model import Price, Usage
from grokmini.protocol.permission import PermissionAnswer, PermissionMode, PermissionOption
from grokmini.protocol.tools import ToolEnvelope, ToolKind, ToolNamespace
from grokmini.render.session_list import Row
from grokmini.repl.ports import FoundSession, OpenedSession
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
    rows: Mapping[str, Mapping[str, Usage]] = MappingProxyType({})
    outstanding: int = 0


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
        self.sandbox = [("profile", "workspace"), ("write", "/work"), ("", "/tmp")]
        self.facts = [("title", "a title"), ("id", self.handle.session_id)]
        self.opened = OpenedSession(
            handle=self.handle,
            events=self._stream.subscribe(),
            usage=self._usage,
            diff=lambda: self.diff,
            records=self._records,
            last_turns=self._last_turns,
            context=self._context,
            facts=lambda: self.facts,
            sandbox=self._sandbox,
        )
        self.emit(
            events.SessionStarted("0.1.0", cwd, "test-model", PermissionMode.ASK, "none", context_window=1000)
        )

    def _records(self) -> Sequence[events.EventRecord]:
        session_id = self.handle.session_id
        return [
            events.EventRecord(seq, 1_000.0 + seq, session_id, event, f"t{seq}")
            for seq, event in enumerate(self.past, 1)
        ]

    def _last_turns(self, turns: int) -> Sequence[events.SessionEvent]:
        starts = [n for n, event in enumerate(self.past) if isinstance(event, events.TurnStarted)]
        return self.past[starts[-turns] if len(starts) >= turns else 0 :]

    async def _sandbox(self) -> Sequence[tuple[str, str]]:
        return self.sandbox

    async def _context(self) -> ContextReport:
        parts = (ContextPart("system", 100), ContextPart("prompts", 300), ContextPart("images", 0))
        return ContextReport("test-model", 1000, 400, parts, 3)

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
            case commands.SetSandbox():
                self.emit(events.SandboxChanged(command.name, command.name, confined=True))
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


def row(number: int, title: str, *, live: bool = False, pinned: bool = False, folder: str = "") -> Row:
    """A stored session."""
    return Row(
        f"0000000{number}-0000-7000-8000-000000000000", title, 60.0 * number, number, live, pinned, folder
    )


class ScriptedFactory:
    """Opens further scripted sessions and remembers them; `rows` are the stored ones."""

    def __init__(self, models: Sequence[str] = ("test-model", "other-model"), rows: Sequence[Row] = ()) -> None:
        self.made: list[ScriptedSession] = []
        self.rows = list(rows)
        self.said: list[FoundSession] = []
        self.did: list[tuple[object, ...]] = []
        self._models = models

    async def new(self) -> OpenedSession:
        """Another one."""
        self.made.append(ScriptedSession())
        return self.made[-1].opened

    async def resume(self, session_id: str) -> OpenedSession:
        """One that was stored."""
        self.did.append(("resume", session_id))
        return await self.new()

    async def fork(self, session_id: str, before_prompt: int | None) -> OpenedSession:
        """A copy, which is then stored too."""
        self.did.append(("fork", session_id, before_prompt))
        opened = await self.new()
        self.rows.append(Row(opened.handle.session_id, "a copy", 0.0, 1, True, False))
        return opened

    async def follow(self, session_id: str) -> OpenedSession:
        """One that is only watched."""
        self.did.append(("follow", session_id))
        return (await self.new())._replace(watched=True)

    async def models(self) -> Sequence[str]:
        """Names to choose from."""
        return self._models

    async def model_meant(self, name: str) -> tuple[str, str]:
        """Only one is doubted."""
        return name, "the server does not list odd-model; near: old-model" if name == "odd-model" else ""

    def arguments(self, command: str) -> Sequence[str]:
        """Only one command takes names."""
        return ("off", "workspace", "strict", "devbox") if command == "sandbox" else ()

    def price(self, model: str) -> Price | None:
        """Only one has a price."""
        return Price(input=1000.0, output=2000.0) if model == "other-model" else None

    def stored(self, *, everywhere: bool) -> Sequence[Row]:
        """Those without a folder are of this one."""
        return [row for row in self.rows if everywhere or not row.folder]

    def find(self, text: str) -> Row:
        """By id or title."""
        for row in self.rows:
            if row.session_id.startswith(text) or row.title == text:
                return row
        raise SessionError(f"no session {text}")

    def search(self, words: str) -> Sequence[FoundSession]:
        """What the test put there."""
        self.did.append(("search", words))
        return self.said

    def pin(self, session_id: str, pinned: bool) -> None:
        """Remember it."""
        self.did.append(("pin", session_id, pinned))

    def delete(self, session_id: str) -> None:
        """Remember it."""
        self.did.append(("delete", session_id))

"""What a front end must know of the session at any moment: a fold over its events."""

from __future__ import annotations

from typing import NamedTuple

from grokmini.protocol.events import (
    DirectoryChanged,
    ModeChanged,
    ModelChanged,
    PermissionAnswered,
    PermissionAsked,
    PromptQueued,
    PromptUnqueued,
    ReasoningDelta,
    RetryScheduled,
    SandboxChanged,
    SessionEnded,
    SessionEvent,
    SessionStarted,
    ShellFinished,
    TextDelta,
    ToolCallReady,
    ToolCallWriting,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from grokmini.protocol.model import Usage
from grokmini.protocol.permission import PermissionMode
from grokmini.protocol.tools import ToolEnvelope

SHELL = "!"
"""Stands among the running calls for the person's own command."""
_END_WRITING = (ToolCallReady, TextDelta, ReasoningDelta, RetryScheduled, TurnEnded, SessionEnded)


class Queued(NamedTuple):
    """A prompt that waits for the turn to end."""

    prompt_id: str
    text: str


class SessionState:
    """Mode, model, folder, queue, open questions and what runs. `now` values are one monotonic clock's."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Know nothing: another session begins."""
        self.model = ""
        self.mode = PermissionMode.ASK
        self.cwd = ""
        self.sandbox = ""
        self.branch = ""
        self.context_tokens = 0
        self.context_window = 0
        self.spent = Usage()
        self.turn_running = False
        self.turns = 0
        self.ended = False
        self.queue: list[Queued] = []
        self.questions: list[PermissionAsked] = []
        self.running_calls: dict[str, float] = {}
        self.turn_since = 0.0
        self.writing: ToolCallWriting | None = None
        self.writing_since = 0.0
        self.shell_running = False
        self._labels: dict[str, str] = {}
        self._sent: set[str] = set()

    @property
    def busy(self) -> bool:
        """Whether a turn or the person's own command runs, or a prompt was sent and nothing heard of it yet."""
        return self.turn_running or self.shell_running or bool(self._sent)

    def sent(self, prompt_id: str, now: float) -> None:
        """A prompt is on its way."""
        if not self.busy:
            self.turn_since = now
        self._sent.add(prompt_id)

    def shell_sent(self, command: str, now: float) -> None:
        """The person's own command is on its way. One runs at a time; the session refuses a second."""
        if not self.shell_running:
            self.shell_running = True
            self._labels[SHELL] = command
            self.running_calls[SHELL] = now

    def label_of(self, call_id: str) -> str:
        """What a running call is, for people."""
        return self._labels.get(call_id, "a tool")

    def apply(self, event: SessionEvent, now: float) -> None:
        """Take an event in."""
        if isinstance(event, ToolCallWriting):
            if self.writing is None or self.writing.name != event.name:
                self.writing_since = now
            self.writing, self.turn_since = event, now
            return
        if isinstance(event, _END_WRITING):
            self.writing = None
        match event:
            case TurnStarted():
                self._sent.discard(event.prompt_id)
                self.turn_running, self.turn_since = True, now
                self.turns += 1
            case TurnEnded() | SessionEnded():
                self._end_turn()
                if isinstance(event, SessionEnded):
                    self.ended, self.questions = True, []
            case PromptQueued():
                self._queued(Queued(event.prompt_id, event.text))
            case PromptUnqueued():
                self.queue = [queued for queued in self.queue if queued.prompt_id != event.prompt_id]
            case PermissionAsked():
                self.questions.append(event)
            case PermissionAnswered():
                self.close_question(event.request_id)
            case ToolCallReady():
                self._labels[event.call_id] = _label(event.tool)
            case ToolStarted():
                self.running_calls[event.call_id] = now
            case ToolFinished():
                self.running_calls.pop(event.call_id, None)
                self.turn_since = now
            case ShellFinished():
                self.shell_running = False
                self.running_calls.pop(SHELL, None)
            case TextDelta() | ReasoningDelta():
                self.turn_since = now
            case _:
                self._apply_setting(event)

    def went_before(self, context_tokens: int, spent: Usage) -> None:
        """What a session that is resumed holds and has used so far."""
        self.context_tokens = self.context_tokens or context_tokens
        self.spent = spent

    def close_question(self, request_id: str) -> None:
        """A question is answered."""
        self.questions = [asked for asked in self.questions if asked.request_id != request_id]

    def _queued(self, queued: Queued) -> None:
        """A prompt waits, or one that waits has another text."""
        self._sent.discard(queued.prompt_id)
        for place, known in enumerate(self.queue):
            if known.prompt_id == queued.prompt_id:
                self.queue[place] = queued
                return
        self.queue.append(queued)

    def _apply_setting(self, event: SessionEvent) -> None:
        match event:
            case SessionStarted():
                self.model, self.mode, self.cwd = event.model, event.mode, event.cwd
                self.context_window = event.context_window
                self.sandbox, self.branch = event.sandbox, event.branch
            case ModelChanged():
                self.model, self.context_window = event.model, event.context_window
            case ModeChanged():
                self.mode = event.mode
            case SandboxChanged():
                self.sandbox = event.label
            case DirectoryChanged():
                self.cwd, self.branch = event.cwd, event.branch
            case UsageReported():
                self.spent += event.usage
                self.context_tokens = event.context_tokens or self.context_tokens
                self.context_window = event.context_window or self.context_window
            case _:
                pass

    def _end_turn(self) -> None:
        """What is still marked as running is closed, so that nothing waits for an ending that got lost.

        Questions that are about no call are not the turn's.
        """
        self.turn_running = False
        self._sent.clear()
        self.questions = [asked for asked in self.questions if not asked.call_id]
        kept = SHELL if self.shell_running else None
        self.running_calls = {call: since for call, since in self.running_calls.items() if call == kept}
        self._labels = {call: label for call, label in self._labels.items() if call == kept}


def words_of(writing: ToolCallWriting) -> str:
    """A call that is being written, in one line."""
    what = f"{writing.name[:80]} {writing.subject}".strip()
    return f"{what}, {writing.lines:,} lines so far" if writing.lines else what


def _label(tool: ToolEnvelope) -> str:
    """The command, or what kind of call it is and on what."""
    given = tool.input
    if "command" in given:
        return str(given["command"])
    about = next((str(value) for value in given.values() if isinstance(value, str)), "")
    return f"{tool.label} {about}".strip()

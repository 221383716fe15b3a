"""The stream of session events, folded into blocks: what a person sees as one thing.

Blocks commit in the order in which they open, each when it can no longer change. Ids count up and are never
used again. The same fold serves the live screen, linear output, replay and `log`.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, assert_never

import msgspec

from grokmini.protocol import events as ev
from grokmini.protocol.tools import TodoEntry, ToolEnvelope

PROGRESS_KEPT = 4_000
"""Characters of a running call's output that are kept to show; its end result holds all."""


class SessionBlock(msgspec.Struct, frozen=True):
    """A process opened the session."""

    id: int
    event: ev.SessionStarted


class PromptBlock(msgspec.Struct, frozen=True):
    """What the person asked. `index` is None for words that were sent into a running turn."""

    id: int
    index: int | None
    text: str


class TextBlock(msgspec.Struct, frozen=True):
    """A stretch of the model's answer; its text comes in `Grew` changes."""

    id: int


class ReasoningBlock(msgspec.Struct, frozen=True):
    """A stretch of the model's reasoning; its text comes in `Grew` changes."""

    id: int


class ToolBlock(msgspec.Struct, frozen=True):
    """A tool call, from its arrival to its result. Closed without a result, it was interrupted."""

    id: int
    call_id: str
    tool: ToolEnvelope
    arguments: str
    state: Literal["waiting", "asking", "running", "finished", "interrupted"] = "waiting"
    progress: str = ""
    result: ev.ToolFinished | None = None


class ShellBlock(msgspec.Struct, frozen=True):
    """The user's own command, finished."""

    id: int
    event: ev.ShellFinished


class TodoBlock(msgspec.Struct, frozen=True):
    """The todo list after it changed."""

    id: int
    todos: tuple[TodoEntry, ...]


class NoticeBlock(msgspec.Struct, frozen=True):
    """One thing to know."""

    id: int
    level: Literal["info", "warning", "error"]
    text: str


class TurnBlock(msgspec.Struct, frozen=True):
    """The end of a turn."""

    id: int
    event: ev.TurnEnded


Block: TypeAlias = (
    SessionBlock
    | PromptBlock
    | TextBlock
    | ReasoningBlock
    | ToolBlock
    | ShellBlock
    | TodoBlock
    | NoticeBlock
    | TurnBlock
)


class Opened(msgspec.Struct, frozen=True):
    """A block began."""

    block: Block


class Grew(msgspec.Struct, frozen=True, gc=False):
    """A text or reasoning block got more text."""

    block_id: int
    text: str


class Changed(msgspec.Struct, frozen=True):
    """A tool block is in another state."""

    block: ToolBlock


class Closed(msgspec.Struct, frozen=True):
    """A block can no longer change."""

    block: Block


Change: TypeAlias = Opened | Grew | Changed | Closed


class Fold:
    """Turns events into changes of blocks. Pure: no clock, no terminal.

    What is noted while a text is being written comes behind that text, so that it stays one. `tells_queue` False
    leaves out what is said of waiting prompts: something else shows them.
    """

    def __init__(self, *, tells_queue: bool = True) -> None:
        self._tells_queue = tells_queue
        self._queued: dict[str, str] = {}
        self._held: list[Block] = []
        self._last_id = 0
        self._writing: TextBlock | ReasoningBlock | None = None
        self._calls: dict[str, ToolBlock] = {}

    def apply(self, event: ev.SessionEvent) -> list[Change]:
        """What the event changes, in order."""
        match event:
            case ev.TextDelta(text):
                return self._grow(TextBlock, text)
            case ev.ReasoningDelta(text):
                return self._grow(ReasoningBlock, text)
            case ev.ToolCallReady() | ev.ToolStarted() | ev.ToolProgress() | ev.ToolFinished():
                return self._apply_to_call(event)
            case ev.PermissionAsked() | ev.PermissionAnswered():
                return self._apply_permission(event)
            case ev.ToolCallWriting():
                return []
            case ev.SessionStarted():
                return self._whole(SessionBlock(self._new_id(), event))
            case ev.TurnStarted():
                return [
                    *self.close(),
                    *self._whole(PromptBlock(self._new_id(), event.prompt_index, event.text)),
                ]
            case ev.TurnEnded():
                return [*self.close(), *self._whole(TurnBlock(self._new_id(), event))]
            case ev.RetryScheduled():
                return [*self._close_text(), *self._note("warning", retry_text(event))]
            case ev.TodoChanged(todos):
                return self._whole(TodoBlock(self._new_id(), todos)) if todos else []
            case ev.ShellFinished():
                return self._whole(ShellBlock(self._new_id(), event))
            case ev.Notice(level, text):
                return self._note(level, text)
            case ev.PromptQueued() | ev.PromptUnqueued():
                return self._apply_queue(event)
            case (
                ev.ModeChanged()
                | ev.ModelChanged()
                | ev.DirectoryChanged()
                | ev.SandboxChanged()
                | ev.TitleChanged()
                | ev.SessionEnded()
                | ev.UsageReported()
            ):
                text = _remark(event)
                return self._note("info", text) if text else []
            case _:
                assert_never(event)

    def close(self) -> list[Change]:
        """Close all that is still open: nothing waits for an ending that was lost."""
        changes: list[Change] = self._close_text()
        for block in self._calls.values():
            changes += [Closed(msgspec.structs.replace(block, state="interrupted"))]
        self._calls.clear()
        return changes

    def _new_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def _whole(self, block: Block) -> list[Change]:
        """A block that is complete as it opens; it ends the text before it."""
        return [*self._close_text(), Opened(block), Closed(block)]

    def _note(self, level: Literal["info", "warning", "error"], text: str) -> list[Change]:
        return self._beside(NoticeBlock(self._new_id(), level, text))

    def _beside(self, block: Block) -> list[Change]:
        """A block that has nothing to do with the text that is being written: it waits for its end."""
        if self._writing is None:
            return self._whole(block)
        self._held.append(block)
        return []

    def _apply_queue(self, event: ev.PromptQueued | ev.PromptUnqueued) -> list[Change]:
        text = queue_text(event, self._queued.get(event.prompt_id, ""))
        if isinstance(event, ev.PromptQueued):
            self._queued[event.prompt_id] = event.text
        else:
            words = self._queued.pop(event.prompt_id, "")
            if event.reason == "interjected":
                return self._beside(PromptBlock(self._new_id(), None, words))
        return self._note("info", text) if text and self._tells_queue else []

    def _grow(self, kind: type[TextBlock] | type[ReasoningBlock], text: str) -> list[Change]:
        if not text:
            return []
        if isinstance(self._writing, kind):
            return [Grew(self._writing.id, text)]
        changes = self._close_text()
        self._writing = kind(self._new_id())
        return [*changes, Opened(self._writing), Grew(self._writing.id, text)]

    def _close_text(self) -> list[Change]:
        block, self._writing = self._writing, None
        held, self._held = self._held, []
        changes: list[Change] = [Closed(block)] if block else []
        for beside in held:
            changes += [Opened(beside), Closed(beside)]
        return changes

    def _apply_to_call(
        self, event: ev.ToolCallReady | ev.ToolStarted | ev.ToolProgress | ev.ToolFinished
    ) -> list[Change]:
        if isinstance(event, ev.ToolCallReady):
            changes = self._close_text()
            block = ToolBlock(self._new_id(), event.call_id, event.tool, event.arguments)
            self._calls[event.call_id] = block
            return [*changes, Opened(block)]
        known = self._calls.get(event.call_id)
        if known is None:
            return []
        if isinstance(event, ev.ToolFinished):
            del self._calls[event.call_id]
            return [Closed(msgspec.structs.replace(known, state="finished", result=event))]
        if isinstance(event, ev.ToolProgress):
            progress = (known.progress + event.text)[-PROGRESS_KEPT:]
            return self._change(msgspec.structs.replace(known, progress=progress))
        return self._change(msgspec.structs.replace(known, state="running"))

    def _change(self, block: ToolBlock) -> list[Change]:
        self._calls[block.call_id] = block
        return [Changed(block)]

    def _apply_permission(self, event: ev.PermissionAsked | ev.PermissionAnswered) -> list[Change]:
        changes: list[Change] = []
        if known := self._calls.get(event.call_id):
            state: Literal["asking", "waiting"] = (
                "asking" if isinstance(event, ev.PermissionAsked) else "waiting"
            )
            changes = self._change(msgspec.structs.replace(known, state=state))
        if isinstance(event, ev.PermissionAnswered) and event.answer.rule and event.answer.scope != "once":
            scope = "in this repository" if event.answer.scope == "repository" else "in this session"
            verb = "allowed" if event.answer.decision == "allow" else "refused"
            changes += self._note("info", f"always {verb} {scope}: {event.answer.rule}")
        return changes


def queue_text(event: ev.PromptQueued | ev.PromptUnqueued, words: str) -> str:
    """What is said of a prompt that waits, or that left the queue; `words` are its own. Empty for nothing."""
    if isinstance(event, ev.PromptQueued):
        return f"queued: {_quoted(event.text)}"
    if event.reason != "removed":
        return ""
    return f"no longer queued: {_quoted(words)}" if words else "no longer queued"


def _quoted(text: str) -> str:
    """The first words of a prompt between quotation marks."""
    first = text.strip().split("\n", 1)[0]
    return f'"{first[:60]}{"…" if len(first) > 60 or first != text.strip() else ""}"'


def retry_text(event: ev.RetryScheduled) -> str:
    """A repeated request in one line."""
    what = event.message.strip().rstrip(".") or event.kind.replace("_", " ")
    when = f" in {round(event.delay)} s" if event.delay >= 1 else ""
    cut = "reply cut off: " if event.discarded else ""
    return f"{cut}{what}: asking again{when} ({event.attempt} of {event.of})"


def _remark(
    event: ev.ModeChanged
    | ev.ModelChanged
    | ev.DirectoryChanged
    | ev.SandboxChanged
    | ev.TitleChanged
    | ev.SessionEnded
    | ev.UsageReported,
) -> str:
    """What is said of an event that is no block of its own; empty for nothing."""
    match event:
        case ev.ModeChanged(mode):
            return f"permission mode: {mode.value}"
        case ev.ModelChanged(model):
            return f"model: {model}"
        case ev.DirectoryChanged(cwd, branch):
            return f"folder: {cwd}{f' on {branch}' if branch else ''}"
        case ev.SandboxChanged():
            return f"sandbox: {event.label}" if event.cause == "chosen" else ""
        case ev.SessionEnded(_, undone):
            return f"left undone: {', '.join(undone)}" if undone else ""
        case ev.UsageReported() | ev.TitleChanged():
            return ""
        case _:
            assert_never(event)

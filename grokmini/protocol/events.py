"""What a session tells the world: one stream of frozen facts, on screen, on disk and in `stream-json` alike.

An event line is `{"v":1,"seq":n,"time":s,"session_id":…,"type":…,…}` (decisions.md, "Events, commands,
formats"). `render/blocks` folds events into blocks; it fails to type-check until a new event is handled.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from grokmini.protocol.errors import Outcome
from grokmini.protocol.items import ToolStatus
from grokmini.protocol.model import Usage
from grokmini.protocol.permission import PermissionAnswer, PermissionMode, PermissionOption
from grokmini.protocol.tools import Display, TodoEntry, ToolEnvelope

EVENT_VERSION = 1


class SessionStarted(msgspec.Struct, frozen=True, tag="session_started", omit_defaults=True):
    """A process opened the session. First line of every stream."""

    version: str
    cwd: str
    model: str
    mode: PermissionMode
    sandbox: str
    resumed: bool = False
    branch: str = ""
    context_window: int = 0


class PromptQueued(msgspec.Struct, frozen=True, tag="prompt_queued"):
    """A prompt waits for the running turn to end."""

    prompt_id: str
    text: str


class PromptUnqueued(msgspec.Struct, frozen=True, tag="prompt_unqueued"):
    """A waiting prompt left the queue: `started`, `interjected` into the running turn, or `removed`."""

    prompt_id: str
    reason: Literal["started", "interjected", "removed"]


class TurnStarted(msgspec.Struct, frozen=True, tag="turn_started"):
    """A prompt is saved and its turn begins. `text` is the whole prompt."""

    prompt_id: str
    prompt_index: int
    text: str


class TextDelta(msgspec.Struct, frozen=True, tag="text_delta", gc=False):
    """A piece of the model's answer."""

    text: str


class ReasoningDelta(msgspec.Struct, frozen=True, tag="reasoning_delta", gc=False):
    """A piece of the model's reasoning."""

    text: str


class ToolCallReady(msgspec.Struct, frozen=True, tag="tool_call_ready"):
    """A call arrived whole. `arguments` is the raw JSON string as the model sent it.

    `call_id` is ours and unique in the session (`{prompt}-{n}`); ids of servers may repeat.
    """

    call_id: str
    tool: ToolEnvelope
    arguments: str


class PermissionAsked(msgspec.Struct, frozen=True, tag="permission_asked", omit_defaults=True):
    """A call waits for a person. `title` is the question, `subject` what it is about (command, path),
    `details` lines such as the folder and the sandbox's state, `diff` a unified diff for edits.
    """

    request_id: str
    call_id: str
    title: str
    subject: str
    options: tuple[PermissionOption, ...]
    details: tuple[str, ...] = ()
    diff: str = ""


class PermissionAnswered(msgspec.Struct, frozen=True, tag="permission_answered", omit_defaults=True):
    """The question is closed. `by` says who answered."""

    request_id: str
    call_id: str
    answer: PermissionAnswer
    by: Literal["user", "cancel", "headless"] = "user"


class ToolStarted(msgspec.Struct, frozen=True, tag="tool_started"):
    """A call runs now."""

    call_id: str


class ToolProgress(msgspec.Struct, frozen=True, tag="tool_progress"):
    """Output of a running call. Repaintable: pieces may be dropped, the end result holds all."""

    call_id: str
    text: str


class ToolFinished(msgspec.Struct, frozen=True, tag="tool_finished", omit_defaults=True):
    """A call has its result. `output` is the original, unpruned text; `error_kind` is a `ToolErrorKind`."""

    call_id: str
    status: ToolStatus
    output: str
    seconds: float
    display: Display | None = None
    error_kind: str = ""
    spill: str = ""


class ToolCallWriting(msgspec.Struct, frozen=True, tag="tool_call_writing", omit_defaults=True):
    """The model writes the arguments of a call to the tool `name`, for `subject` where that is known (a path, a
    command); `lines` of text in them so far, 0 for no more than one. Made good by the next of its kind and by what
    follows: it is kept in no log and has no number.
    """

    name: str
    subject: str = ""
    lines: int = 0


class RetryScheduled(msgspec.Struct, frozen=True, tag="retry_scheduled", omit_defaults=True):
    """The request is made again in `delay` seconds as attempt `attempt` of `of`.

    `discarded` means that text already shown was cut off: it stays where it is and comes again, whole.
    """

    attempt: int
    of: int
    delay: float
    kind: str
    message: str
    discarded: bool = False


class UsageReported(msgspec.Struct, frozen=True, tag="usage_reported", omit_defaults=True):
    """Tokens of one request, and how full the window is now (`context_tokens`, an estimate)."""

    model: str
    usage: Usage
    context_tokens: int = 0
    context_window: int = 0


class TodoChanged(msgspec.Struct, frozen=True, tag="todo_changed"):
    """The agent's todo list, whole."""

    todos: tuple[TodoEntry, ...]


class ModeChanged(msgspec.Struct, frozen=True, tag="mode_changed"):
    """The permission mode in force from now on."""

    mode: PermissionMode


class ModelChanged(msgspec.Struct, frozen=True, tag="model_changed"):
    """The model in force from the next request on. `context_window` in tokens."""

    model: str
    context_window: int


class DirectoryChanged(msgspec.Struct, frozen=True, tag="directory_changed", omit_defaults=True):
    """The working directory of the session from now on."""

    cwd: str
    branch: str = ""


class SandboxChanged(msgspec.Struct, frozen=True, tag="sandbox_changed", omit_defaults=True):
    """What commands and file tools run under from now on: the profile, and what of it is really enforced.

    `label` is for the status line, `lost` names what this machine does not keep, `hint` what would bring it back.
    `cause` says why now: the person chose it, the start-up proof showed it, or the folder is another.
    """

    profile: str
    label: str
    confined: bool = False
    network_blocked: bool = False
    lost: tuple[str, ...] = ()
    hint: str = ""
    cause: Literal["chosen", "proved", "folder"] = "chosen"


TitleSource = Literal["prompt", "generated", "manual"]
"""Where a session's title is from: its first prompt, a model, or the person."""


class TitleChanged(msgspec.Struct, frozen=True, tag="title_changed"):
    """What the session is called from now on."""

    title: str
    source: TitleSource


class ShellFinished(msgspec.Struct, frozen=True, tag="shell_finished"):
    """The user's own `!command` ended; its output is in the context."""

    command: str
    output: str
    exit_code: int | None
    seconds: float


class Notice(msgspec.Struct, frozen=True, tag="notice", omit_defaults=True):
    """Something the user should know, in one line that says what to do. `code` is stable, for programs."""

    level: Literal["info", "warning", "error"]
    text: str
    code: str = ""


class ErrorInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a turn ended in an error."""

    kind: str
    message: str
    hint: str = ""


class TurnEnded(msgspec.Struct, frozen=True, tag="turn_ended", omit_defaults=True):
    """A turn is over. `text` is the last reply's text; `denied` names calls refused for want of permission,
    as rules that would allow them; `ways` says of those that no rule allows what would.

    `usage` is of the prompt; `model_usage` the same by model.
    """

    prompt_index: int
    outcome: Outcome
    exit_code: int
    text: str
    usage: Usage
    model_usage: dict[str, Usage] = {}
    rounds: int = 0
    seconds: float = 0.0
    refusal: bool = False
    reason: str = ""
    error: ErrorInfo | None = None
    denied: tuple[str, ...] = ()
    ways: dict[str, str] = {}
    cost_usd: float | None = None
    cost_source: str = ""
    files_changed: int = 0


class SessionEnded(msgspec.Struct, frozen=True, tag="session_ended", omit_defaults=True):
    """The session is flushed and closed. `undone` lists what a time limit left undone."""

    reason: str
    undone: tuple[str, ...] = ()


SessionEvent: TypeAlias = (
    SessionStarted
    | PromptQueued
    | PromptUnqueued
    | TurnStarted
    | TextDelta
    | ReasoningDelta
    | ToolCallWriting
    | ToolCallReady
    | PermissionAsked
    | PermissionAnswered
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | RetryScheduled
    | UsageReported
    | TodoChanged
    | ModeChanged
    | ModelChanged
    | DirectoryChanged
    | SandboxChanged
    | TitleChanged
    | ShellFinished
    | Notice
    | TurnEnded
    | SessionEnded
)


class EventRecord(msgspec.Struct, frozen=True):
    """An event with its place in the stream: session id plus `seq` identify it for ever.

    `time` is seconds since the epoch; `trace_id` is one per prompt, across everything it causes.
    """

    seq: int
    time: float
    session_id: str
    event: SessionEvent
    trace_id: str = ""

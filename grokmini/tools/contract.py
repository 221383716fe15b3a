"""What a tool is: typed arguments in, progress and one output out (spec: tools.md, "Contract").

A tool is a subclass of `Tool` in a file of its own under `builtin/`, with its text for the model beside it
(`<tool>.md`), and one line in `tools/table.py`.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import msgspec

from grokmini.protocol.errors import ToolError, ToolErrorKind
from grokmini.protocol.tools import Display, ToolKind, ToolNamespace

A = TypeVar("A", bound=msgspec.Struct)
T = TypeVar("T")


class Stopped(NamedTuple):
    """What the sandbox stopped of a command. `sentence` names rule and path, for people, `brief` what was stopped in a
    few words; `notes` say the same to the model and what to do; `said` is the line of the output that tells of it. All
    are empty when it stopped nothing. `went_on`: the command did what it was for all the same.
    """

    sentence: str = ""
    notes: tuple[str, ...] = ()
    brief: str = ""
    went_on: bool = False
    said: str = ""


NOTHING_STOPPED = Stopped()


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a call gave. `output` is clean text for people, audit and replay; `prompt_text` is what the model
    reads (the output itself when left empty). `spill` is the file that holds the whole output if it was cut.
    `stopped` says what the sandbox stopped of the call.
    """

    output: str
    prompt_text: str = ""
    display: Display | None = None
    spill: str | None = None
    stopped: Stopped = NOTHING_STOPPED

    @property
    def for_model(self) -> str:
        """Never empty."""
        return self.prompt_text or self.output or "(no output)"


@dataclass(frozen=True, slots=True)
class Progress:
    """Output of a call that still runs, as text to show."""

    text: str


@dataclass(frozen=True, slots=True)
class Final:
    """The end of a call. Exactly one, last."""

    output: ToolOutput


ToolStep: TypeAlias = Progress | Final


async def final_only(output: Callable[[], Awaitable[ToolOutput]]) -> AsyncIterator[ToolStep]:
    """A right stream without progress."""
    yield Final(await output())


async def progress_then_final(
    progress: AsyncGenerator[str, None], output: Callable[[], Awaitable[ToolOutput]]
) -> AsyncIterator[ToolStep]:
    """A right stream with progress as text: `output` is asked for when the progress has ended."""
    async with aclosing(progress):
        async for text in progress:
            yield Progress(text)
    yield Final(await output())


class Cancellation:
    """Tells a running call, also in a worker thread, that it should stop."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the call to stop."""
        self._event.set()

    @property
    def requested(self) -> bool:
        """Whether the call should stop."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise `ToolError` (cancelled) if the call should stop. Long loops call this."""
        if self._event.is_set():
            raise ToolError(ToolErrorKind.CANCELLED, "The call was cancelled before it ended.")


class SpillFiles(Protocol):
    """Files of the session for output too big for the conversation."""

    def write(self, name: str, data: bytes) -> str | None:
        """Keep the data; the path, or None when it could not be written. Safe in any thread."""

    def open_path(self, name: str) -> Path | None:
        """A fresh path to stream to, or None when nothing can be written."""


class Resources:
    """The session's parts that tools use, indexed by type."""

    def __init__(self) -> None:
        self._by_type: dict[type, object] = {}

    def add(self, type_: type[T], value: T) -> None:
        """Make a part available under its type."""
        self._by_type[type_] = value

    def get(self, type_: type[T]) -> T:
        """The part of that type. Raises `ToolError` (internal) when this session has none."""
        value = self._by_type.get(type_)
        if value is None:
            raise ToolError(
                ToolErrorKind.INTERNAL,
                f"This session has no {type_.__name__}, which the tool needs. Use another tool.",
            )
        assert isinstance(value, type_)
        return value


class ToolNames(Protocol):
    """The names that the model can really call."""

    def of(self, kind: ToolKind) -> str:
        """The wire name of the first tool of that kind; the kind's own name when there is none."""


@dataclass(frozen=True, slots=True)
class ToolCallContext:
    """What one call knows. `call_name` is our own name for its files (`{prompt}-{n}`), never the server's id.

    `outside`: the person let this one call out of the sandbox; a call that writes files may then write the real
    paths in `approved` and no others outside of it.
    """

    call_id: str
    call_name: str
    prompt_index: int
    cwd: Path
    resources: Resources
    names: ToolNames
    spill: SpillFiles
    cancellation: Cancellation = field(default_factory=Cancellation)
    outside: bool = False
    approved: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """What a call does, for permission rules and questions.

    `rule_name` is the tool's name in rules (Bash, Read, Edit, Write, Grep, WebFetch, MCPTool); `value` is what
    a rule's pattern is matched with (the command, the path); `title` is the question asked of a person.
    """

    rule_name: str
    value: str
    title: str


class Tool(Generic[A]):
    """Base of all tools. Implement `run`, or `execute` to stream.

    `id` names the tool in code, config and `--tools`; `wire_name` is what the model calls. `exclusive` calls
    run alone. `default_timeout` is in seconds; None means no limit of its own.
    """

    id: ClassVar[str]
    wire_name: ClassVar[str]
    kind: ClassVar[ToolKind]
    namespace: ClassVar[ToolNamespace] = ToolNamespace.GROK_BUILD
    read_only: ClassVar[bool] = False
    exclusive: ClassVar[bool] = False
    default_timeout: ClassVar[float | None] = 120.0
    args_type: ClassVar[type[msgspec.Struct]]

    def subject(self, args: A, ctx: ToolCallContext) -> Subject:
        """What the call is about. Pure; runs before permission is asked."""
        raise NotImplementedError(f"{self.id} does not say what its calls are about")

    def projection(self, args: A) -> dict[str, str | int]:
        """The keys all dialects share (path, offset, limit, command, pattern, directory), for the envelope."""
        return {}

    def writes(self, args: A, ctx: ToolCallContext) -> tuple[Path, ...]:
        """Real paths the call will write: calls that write the same one run one after another."""
        return ()

    async def preview(self, args: A, ctx: ToolCallContext) -> str:
        """A unified diff of what the call would change, for the permission question; empty for none.

        Raises `ToolError` when the call cannot work at all: the model then hears of it without a question.
        """
        return ""

    async def run(self, args: A, ctx: ToolCallContext) -> ToolOutput:
        """Do it. Raises `ToolError`."""
        raise NotImplementedError(f"{self.id} implements neither run nor execute")

    def execute(self, args: A, ctx: ToolCallContext) -> AsyncIterator[ToolStep]:
        """Do it, telling progress; the last step, and only the last, is `Final`. Raises `ToolError`.

        `final_only` and `progress_then_final` make streams that are right.
        """
        return final_only(lambda: self.run(args, ctx))

"""What the REPL needs from the place that wires the program."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from grokmini.chat.context import ContextReport
from grokmini.protocol.commands import SessionCommand
from grokmini.protocol.events import EventRecord, SessionEvent
from grokmini.protocol.model import Price, Usage
from grokmini.render.session_list import Row
from grokmini.session.stream import Subscription


class UsageFigures(Protocol):
    """Tokens by model name: of the prompt that runs or ran last, and of the whole session."""

    @property
    def prompt(self) -> Mapping[str, Usage]:
        """Usage since the last prompt began."""

    @property
    def session(self) -> Mapping[str, Usage]:
        """Usage since the session began."""

    @property
    def rows(self) -> Mapping[str, Mapping[str, Usage]]:
        """The same by kind of work: the main loop, subagents, titles."""

    @property
    def outstanding(self) -> int:
        """How many figures are still to come."""


class Handle(Protocol):
    """A session to talk to: one that runs here, or one that is watched."""

    @property
    def session_id(self) -> str:
        """Its id."""

    def send(self, command: SessionCommand) -> None:
        """Ask for something. Never blocks."""

    async def closed(self) -> None:
        """Return when it has ended and everything is flushed."""


class OpenedSession(NamedTuple):
    """A session and the questions that it alone can answer.

    `events` is a subscription made before the first event, so that `session_started` is seen. `diff` gives the
    unified diff of everything the agent changed in this session, `records` every event that is kept, oldest first
    (it raises `SessionError` when they cannot be read), `last_turns` those of so many last turns, without their
    headers; all may read files and are called in a thread. `context` is what the
    next request is made of, `facts` what there is to know of the session, as label and value. `sandbox` tells the
    same way what confines its commands, after making sure. `watched` says that another process drives it.
    """

    handle: Handle
    events: Subscription
    usage: Callable[[], Awaitable[UsageFigures]]
    diff: Callable[[], str]
    records: Callable[[], Iterable[EventRecord]]
    last_turns: Callable[[int], Iterable[SessionEvent]]
    context: Callable[[], Awaitable[ContextReport]]
    facts: Callable[[], Sequence[tuple[str, str]]]
    sandbox: Callable[[], Awaitable[Sequence[tuple[str, str]]]]
    watched: bool = False

    def past(self) -> Iterable[SessionEvent]:
        """Every event that is kept, oldest first, without its header. Reads files; raises `SessionError`."""
        return (record.event for record in self.records())


class FoundSession(NamedTuple):
    """A session in which words were found: `where` says in which prompt, `snippet` what is around them."""

    row: Row
    where: str
    snippet: str


class SessionFactory(Protocol):
    """Opens further sessions, knows those that are stored, and the models. What is not async may read files and
    is called in a thread. All of it raises `GrokminiError`.
    """

    async def new(self) -> OpenedSession:
        """A fresh session in the folder where the current one works.

        The REPL shuts the former session down afterwards; both exist for a moment.
        """

    async def resume(self, session_id: str) -> OpenedSession:
        """Go on with a stored session. Raises `SessionBusyError` when another process drives it."""

    async def fork(self, session_id: str, before_prompt: int | None) -> OpenedSession:
        """Go on in a copy of a session, whole or up to where a prompt begins."""

    async def follow(self, session_id: str) -> OpenedSession:
        """Watch what another process does."""

    async def models(self) -> Sequence[str]:
        """Names that `/model` accepts, the one in use among them; the servers that are there are asked."""

    async def model_meant(self, name: str) -> tuple[str, str]:
        """The whole name of the model that is meant, and what speaks against it: "" for nothing. Its server may be
        asked. Raises `UsageError` for a name that nobody knows.
        """

    def arguments(self, command: str) -> Sequence[str]:
        """Names that a slash command takes, for completing; none for most. Never raises; may read small files."""

    def price(self, model: str) -> Price | None:
        """What a model costs, where the settings say so. Blocks for nothing."""

    def stored(self, *, everywhere: bool) -> Sequence[Row]:
        """The stored sessions of this folder or of all, newest first."""

    def find(self, text: str) -> Row:
        """The one stored session that an id, the beginning of one, or a title means."""

    def search(self, words: str) -> Sequence[FoundSession]:
        """Where words were said, best first."""

    def pin(self, session_id: str, pinned: bool) -> None:
        """Keep a session from every clean-up, or no longer."""

    def delete(self, session_id: str) -> None:
        """Remove a stored session for good."""

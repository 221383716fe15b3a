"""What the REPL needs from the place that wires the program."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from grokmini.protocol.events import SessionEvent
from grokmini.protocol.model import Usage
from grokmini.session.handle import SessionHandle
from grokmini.session.stream import Subscription


class UsageFigures(Protocol):
    """Tokens by model name: of the prompt that runs or ran last, and of the whole session."""

    @property
    def prompt(self) -> Mapping[str, Usage]:
        """Usage since the last prompt began."""

    @property
    def session(self) -> Mapping[str, Usage]:
        """Usage since the session began."""


class OpenedSession(NamedTuple):
    """A running session and the questions that it alone can answer.

    `events` is a subscription made before the first event, so that `session_started` is seen. `diff` gives the
    unified diff of everything the agent changed in this session, `past` every event that is kept, oldest first;
    both may read files and are called in a thread.
    """

    handle: SessionHandle
    events: Subscription
    usage: Callable[[], Awaitable[UsageFigures]]
    diff: Callable[[], str]
    past: Callable[[], Iterable[SessionEvent]]


class SessionFactory(Protocol):
    """Opens further sessions and knows the models."""

    async def new(self) -> OpenedSession:
        """A fresh session in the folder where the current one works. Raises `GrokminiError`.

        The REPL shuts the former session down afterwards; both exist for a moment.
        """

    def models(self) -> Sequence[str]:
        """Names that `/model` accepts, for showing."""

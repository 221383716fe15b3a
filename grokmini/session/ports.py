"""What the engine needs from outside."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import NamedTuple, Protocol

from grokmini.protocol.events import EventRecord, Notice, TitleSource
from grokmini.protocol.items import ConversationItem
from grokmini.protocol.model import ModelRequest, ModelSpec, Usage
from grokmini.protocol.permission import PermissionMode
from grokmini.protocol.samples import SampleEvent
from grokmini.sandbox.profile import Profile


class Sampler(Protocol):
    """A way to ask models. Retries are inside; what comes out is one good reply or an error."""

    def sample(self, request: ModelRequest) -> AsyncGenerator[SampleEvent, None]:
        """Stream one reply; the last event is `Finished`.

        Closing or cancelling the generator closes the connection. Raises `SampleError`.
        """

    async def close(self) -> None:
        """Close all connections."""


class Models(Protocol):
    """The models that can be chosen."""

    def find(self, name: str) -> ModelSpec:
        """The model of that name. Raises `UsageError` naming the nearest known ones."""


class EventLog(Protocol):
    """Where the stream of events is kept."""

    def record(self, record: EventRecord) -> None:
        """Accept an event; written soon, at turn ends at once. Never blocks, never fails."""


class SessionRecord(Protocol):
    """The index entry of the session (`summary.json`)."""

    def prompt_started(self, text: str, prompt_index: int) -> None:
        """A prompt was accepted."""

    def turn_ended(self, *, model: str, tokens: int, messages: int) -> None:
        """A turn is over; figures are totals of the session."""

    def spent(self, usage: Mapping[str, Usage], rows: Mapping[str, Mapping[str, Usage]]) -> None:
        """The session's bill by model, and by kind of work and model."""

    def title_changed(self, title: str, source: TitleSource) -> None:
        """What the session is called. A generated title takes the place of no manual one."""

    def runs_with(self, model: str, mode: PermissionMode) -> None:
        """The model and the permission mode in force: with these it goes on when it is resumed."""

    def runs_under(self, profile: str, digest: str) -> None:
        """The sandbox profile in force: with this it goes on when it is resumed. `digest` is that of a project's."""

    def directory_changed(self, cwd: str) -> None:
        """The session works elsewhere from now on."""

    async def close(self) -> None:
        """Write what is pending, release the lock, end."""


class PromptPrefix(Protocol):
    """What the model is told besides the person's words."""

    async def before_prompt(self, items: Sequence[ConversationItem]) -> Sequence[ConversationItem]:
        """What has to go into the history ahead of the next prompt: for a new session the system prompt, the
        environment and the project's instructions; later only what has changed. Raises `GrokminiError`.
        """


class Arrival(NamedTuple):
    """What changed with the folder that is worked in: `notices` tell the person, `note` the model (empty: nothing)."""

    notices: tuple[Notice, ...] = ()
    note: str = ""


class SandboxOffer(NamedTuple):
    """A profile that could come into force.

    `grants` is what it allows that the one in force does not, each as the end of "they may …". `untrusted`: it is
    the project's, grants more than `workspace`, and the person has not agreed to it as it is now. `in_words` tells
    the model what it comes to.
    """

    profile: Profile
    grants: tuple[str, ...]
    untrusted: bool
    in_words: str


class Sandbox(Protocol):
    """What confines the session's commands and file tools. Tells by itself what is really enforced."""

    @property
    def profile(self) -> str:
        """The name of the profile in force."""

    def offer(self, name: str) -> SandboxOffer:
        """What it would mean to use another profile. Blocks. Raises `SandboxError` when there is no such one, or it
        cannot be kept as it is written.
        """

    async def switch(self, offer: SandboxOffer) -> None:
        """Use it from the next command on, and remember the agreement to one that was untrusted.

        Raises `SandboxError` when this machine cannot keep it, `ConfigError` when the agreement cannot be written:
        the former one then goes on.
        """

    def look_again(self) -> None:
        """Have the file tools judge by what is on the disk when they next ask: something may have come to be that
        nobody may read.
        """

    async def prove(self) -> None:
        """Find out now what is really enforced, if that is not known yet. Raises `SandboxError`."""

"""What a conversation is made of.

The history is one flat list of items. A turn is no object: it is the run of items from one real user item
up to the next. On disk an item is one JSON line, tagged by `type` (spec: chat-state.md).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    OptionalRaw: TypeAlias = msgspec.Raw | None
else:
    OptionalRaw = msgspec.Raw
"""JSON kept as it is, None where the key is missing. msgspec reads `Raw | None` as nothing but null: said so to
it, every line with such JSON in it would be damaged.
"""


class SyntheticReason(StrEnum):
    """Why the runtime, not the person, put a user item into the history.

    Open on read: a value of a newer version decodes to `UNKNOWN`, and its raw line is kept and written back.
    """

    COMPACTION_SUMMARY = "compaction_summary"
    SYSTEM_REMINDER = "system_reminder"
    PROJECT_INSTRUCTIONS = "project_instructions"
    ENVIRONMENT = "environment"
    INTERRUPTION = "interruption"
    INTERJECTION = "interjection"
    SUBAGENT_DONE = "subagent_done"
    BACKGROUND_TASK_DONE = "background_task_done"
    GOAL_CONTINUATION = "goal_continuation"
    SCHEDULED_PROMPT = "scheduled_prompt"
    STOP_HOOK_FEEDBACK = "stop_hook_feedback"
    AUTO_RECOVERY = "auto_recovery"
    TODO_NUDGE = "todo_nudge"
    PLAN_MODE = "plan_mode"
    MEMORY = "memory"
    SKILL = "skill"
    SHELL_ESCAPE = "shell_escape"
    IMAGE_NOTICE = "image_notice"
    STRUCTURED_OUTPUT = "structured_output"
    UNKNOWN = "unknown"

    @classmethod
    def _missing_(cls, value: object) -> SyntheticReason:
        return cls.UNKNOWN


class TextPart(msgspec.Struct, frozen=True, tag="text"):
    """A piece of text in a user item."""

    text: str


class ImagePart(msgspec.Struct, frozen=True, tag="image"):
    """An image in a user item; `data` is base64 without a prefix, `media_type` such as `image/png`."""

    media_type: str
    data: str


ContentPart: TypeAlias = TextPart | ImagePart


class SystemItem(msgspec.Struct, frozen=True, tag="system"):
    """The system prompt. At most one, always first."""

    text: str


class UserItem(msgspec.Struct, frozen=True, tag="user", omit_defaults=True):
    """What the person wrote, or what the runtime injected (then `synthetic_reason` says why).

    `prompt_index` is set on every item that starts a turn and is never counted afresh.
    """

    content: tuple[ContentPart, ...]
    synthetic_reason: SyntheticReason | None = None
    prompt_index: int | None = None

    @property
    def is_real_prompt(self) -> bool:
        """True for what a person asked; decided by the reason field alone, never by the text."""
        return self.synthetic_reason is None

    @property
    def text(self) -> str:
        """All text parts, joined by blank lines."""
        return "\n\n".join(part.text for part in self.content if isinstance(part, TextPart))


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call as the model made it. `arguments` is the raw JSON string, unparsed.

    `extra` is opaque provider data that has to go back with the call (a thought signature, say).
    """

    id: str
    name: str
    arguments: str
    extra: OptionalRaw = None


class AssistantItem(msgspec.Struct, frozen=True, tag="assistant", omit_defaults=True):
    """One reply of the model."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    model: str = ""
    refusal: bool = False
    interrupted: bool = False


ToolStatus = Literal["ok", "error", "denied", "cancelled"]


class ToolResultItem(msgspec.Struct, frozen=True, tag="tool_result", omit_defaults=True):
    """The result of one call.

    `output` is the clean text for people, audit and replay; `prompt_text` is what the model reads.
    `spill` is the path of the session file that holds the whole output when it was cut.
    """

    call_id: str
    output: str
    prompt_text: str
    status: ToolStatus = "ok"
    spill: str | None = None


class BackendToolCallItem(msgspec.Struct, frozen=True, tag="backend_tool_call", omit_defaults=True):
    """A tool that the provider ran itself, kept verbatim for the same model's continuation."""

    model: str
    payload: msgspec.Raw


class ReasoningItem(msgspec.Struct, frozen=True, tag="reasoning", omit_defaults=True):
    """Reasoning in its interleaved place. `opaque` is the provider's signed or encrypted form.

    Replayed only to the model that made it.
    """

    text: str = ""
    model: str = ""
    opaque: OptionalRaw = None


class UnknownItem(msgspec.Struct, frozen=True):
    """An item of a kind that this version does not know; its stored line is written back unchanged."""

    kind: str


KnownItem: TypeAlias = (
    SystemItem | UserItem | AssistantItem | ToolResultItem | BackendToolCallItem | ReasoningItem
)
ConversationItem: TypeAlias = KnownItem | UnknownItem


class Stored(msgspec.Struct, frozen=True):
    """An item and, where encoding the item would not give it back, the line it was read from.

    A changed item is a new `Stored`: `codec.with_fields` makes it and keeps what a newer version wrote beside.
    """

    item: ConversationItem
    raw: bytes | None = None


def user_text(text: str, *, reason: SyntheticReason | None = None, prompt_index: int | None = None) -> UserItem:
    """A user item holding one text part."""
    return UserItem(content=(TextPart(text),), synthetic_reason=reason, prompt_index=prompt_index)

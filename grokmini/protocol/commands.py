"""What the world may ask of a session: wishes in the imperative, handled in order by the engine."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from grokmini.protocol.items import ContentPart
from grokmini.protocol.permission import PermissionAnswer, PermissionMode


class Prompt(msgspec.Struct, frozen=True, tag="prompt", omit_defaults=True):
    """Start a turn, or queue for one. `attachments` go behind the text."""

    prompt_id: str
    text: str
    attachments: tuple[ContentPart, ...] = ()


class Interject(msgspec.Struct, frozen=True, tag="interject"):
    """Send a queued prompt into the running turn at the next gap between tool batches.

    `prompt_id` "" means the top of the queue. With no turn running it starts as a prompt.
    """

    prompt_id: str = ""


class CancelTurn(msgspec.Struct, frozen=True, tag="cancel_turn"):
    """Stop the running turn now. Nothing happens when none runs."""

    reason: str = "user"


class AnswerPermission(msgspec.Struct, frozen=True, tag="answer_permission"):
    """Answer a `PermissionAsked`."""

    request_id: str
    answer: PermissionAnswer


class EditQueue(msgspec.Struct, frozen=True, tag="edit_queue", omit_defaults=True):
    """Change the waiting prompts: remove one, replace its text, or clear them all."""

    action: Literal["remove", "replace", "clear"]
    prompt_id: str = ""
    text: str = ""


class SetMode(msgspec.Struct, frozen=True, tag="set_mode"):
    """Change the permission mode from the next call on."""

    mode: PermissionMode


class SetModel(msgspec.Struct, frozen=True, tag="set_model"):
    """Change the model from the next request on; `name` is a key of the catalogue or the configuration."""

    name: str


class SetSandbox(msgspec.Struct, frozen=True, tag="set_sandbox"):
    """Run commands under another sandbox profile from the next one on. What grants more is asked about."""

    name: str


class SetTitle(msgspec.Struct, frozen=True, tag="set_title"):
    """Call the session so from now on; "" goes back to a title that is made for it."""

    title: str


class RunShell(msgspec.Struct, frozen=True, tag="run_shell"):
    """Run the user's own command and put its output into the context."""

    command: str


class ChangeDirectory(msgspec.Struct, frozen=True, tag="change_directory"):
    """Work in another folder from now on. The session stays stored where it is."""

    path: str


class Shutdown(msgspec.Struct, frozen=True, tag="shutdown"):
    """Finish or cancel the turn, flush and end."""

    reason: str = "quit"


SessionCommand: TypeAlias = (
    Prompt
    | Interject
    | CancelTurn
    | AnswerPermission
    | EditQueue
    | SetMode
    | SetModel
    | SetSandbox
    | SetTitle
    | RunShell
    | ChangeDirectory
    | Shutdown
)

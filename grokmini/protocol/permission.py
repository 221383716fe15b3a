"""Permission modes, questions and answers."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec


class PermissionMode(StrEnum):
    """How much runs without asking (decisions.md, "Names")."""

    ASK = "ask"
    ACCEPT_EDITS = "accept-edits"
    PLAN = "plan"
    AUTO = "auto"
    ALWAYS_APPROVE = "always-approve"


Decision = Literal["allow", "deny"]
Scope = Literal["once", "session", "repository"]


class PermissionOption(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer a person may give. `rule` is the exact rule that choosing it stores, such as
    `Bash(git status)`; empty for answers that store nothing. `wants_text` asks for a reason to tell the model.
    """

    key: str
    label: str
    decision: Decision
    scope: Scope = "once"
    rule: str = ""
    wants_text: bool = False


class PermissionAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was answered. `text` is a reason for the model; with it a denial lets the turn go on."""

    decision: Decision
    scope: Scope = "once"
    rule: str = ""
    text: str = ""

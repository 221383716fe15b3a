"""The names by which permission modes may be called."""

from __future__ import annotations

from typing import NamedTuple

from grokmini.protocol.errors import UsageError
from grokmini.protocol.permission import PermissionMode


class ModeChoice(NamedTuple):
    """A mode, and whether every question in it is answered with No (`dontAsk`)."""

    mode: PermissionMode
    never_ask: bool = False


_SPELLINGS: dict[str, ModeChoice] = {
    "ask": ModeChoice(PermissionMode.ASK),
    "default": ModeChoice(PermissionMode.ASK),
    "acceptedits": ModeChoice(PermissionMode.ACCEPT_EDITS),
    "plan": ModeChoice(PermissionMode.PLAN),
    "auto": ModeChoice(PermissionMode.AUTO),
    "dontask": ModeChoice(PermissionMode.ASK, never_ask=True),
    "alwaysapprove": ModeChoice(PermissionMode.ALWAYS_APPROVE),
    "bypasspermissions": ModeChoice(PermissionMode.ALWAYS_APPROVE),
    "yolo": ModeChoice(PermissionMode.ALWAYS_APPROVE),
}


def parse_mode(text: str) -> ModeChoice:
    """The mode of that name, in our spelling or the reference's; case, `-` and `_` do not matter.

    Raises `UsageError`, which lists the modes and does not repeat the text.
    """
    choice = _SPELLINGS.get(text.strip().casefold().replace("-", "").replace("_", ""))
    if choice is None:
        raise UsageError(
            "there is no permission mode of that name",
            f"the modes are {', '.join(PermissionMode)}, and dontAsk",
        )
    return choice

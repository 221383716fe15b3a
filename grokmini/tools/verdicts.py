"""What is decided about a call before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, TypeAlias

from grokmini.protocol.errors import ToolErrorKind
from grokmini.protocol.permission import PermissionOption


class Allow(NamedTuple):
    """Run it. `outside` are real paths beyond the sandbox that it may write, since the person let it before."""

    outside: tuple[Path, ...] = ()


class Deny(NamedTuple):
    """Do not run it; `message` tells the model why and what to do instead."""

    message: str
    kind: ToolErrorKind = ToolErrorKind.PERMISSION_DENIED


class Ask(NamedTuple):
    """Ask a person. All texts are safe to print. `rule` is the rule that would allow exactly this call; where none
    can, `way` says in whole sentences what else would. `outside` are the real paths beyond the sandbox that a yes lets
    it write.
    """

    title: str
    subject: str
    details: tuple[str, ...]
    options: tuple[PermissionOption, ...]
    rule: str = ""
    way: str = ""
    outside: tuple[Path, ...] = ()


Verdict: TypeAlias = Allow | Deny | Ask

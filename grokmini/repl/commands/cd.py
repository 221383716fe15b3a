"""/cd: work in another folder."""

from __future__ import annotations

import asyncio
from pathlib import Path

from grokmini.protocol.commands import ChangeDirectory
from grokmini.protocol.errors import UsageError
from grokmini.repl.commands.result import CommandContext, Say, say


async def run(argument: str, context: CommandContext) -> ChangeDirectory | Say:
    """With a path (`~` and relative to the session's folder), go there. Raises `UsageError` if it is none."""
    if not argument:
        return say(f"folder: {context.state.cwd}")
    target = await asyncio.to_thread(_folder, argument, context.state.cwd)
    if target is None:
        raise UsageError(f"{argument} is no folder", "/cd PATH takes one that exists")
    return ChangeDirectory(str(target))


def _folder(named: str, base: str) -> Path | None:
    """The folder that is meant, if it is there."""
    try:
        target = Path(base, Path(named).expanduser())
        return target if target.is_dir() else None
    except (RuntimeError, ValueError, OSError):  # no such user, a NUL, a folder that may not be looked at
        return None

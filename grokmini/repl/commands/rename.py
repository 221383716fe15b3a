"""/rename: what the session is called."""

from __future__ import annotations

from grokmini.protocol.commands import SetTitle
from grokmini.protocol.errors import UsageError
from grokmini.repl.commands.result import CommandContext

AUTOMATIC = "--auto"


async def run(argument: str, context: CommandContext) -> SetTitle:
    """A title of the person's own stays; `--auto` gives it back to those that are made. Raises `UsageError`."""
    if not argument:
        raise UsageError("/rename needs a title", "/rename TITLE, or /rename --auto for one that is made")
    return SetTitle("" if argument == AUTOMATIC else argument)

"""/mode: how much runs without asking."""

from __future__ import annotations

from grokmini.config.modes import parse_mode
from grokmini.protocol.commands import SetMode
from grokmini.protocol.errors import UsageError
from grokmini.protocol.permission import PermissionMode
from grokmini.repl.commands.result import CommandContext, Say, say

_MEANING = {
    PermissionMode.ASK: "reading runs, everything else asks",
    PermissionMode.ACCEPT_EDITS: "edits of files run, too",
    PermissionMode.PLAN: "nothing may change; the agent plans",
    PermissionMode.AUTO: "what is read-only or confined runs",
    PermissionMode.ALWAYS_APPROVE: "everything runs",
}


async def run(argument: str, context: CommandContext) -> SetMode | Say:
    """With a name, set that mode; else show all and mark the one in force. Raises `UsageError`."""
    if argument:
        choice = parse_mode(argument)
        if choice.never_ask:
            raise UsageError("dontAsk is for runs without a person", "choose another mode: /mode lists them")
        return SetMode(choice.mode)
    rows = (
        f"{'*' if mode is context.state.mode else ' '} {mode.value}: {_MEANING[mode]}"
        for mode in PermissionMode
    )
    return say(*rows, "/mode NAME sets one; Shift-Tab goes to the next")

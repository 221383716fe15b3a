"""/queue: prompts that wait for the running turn to end."""

from __future__ import annotations

from grokmini.protocol.commands import EditQueue
from grokmini.protocol.errors import UsageError
from grokmini.repl.commands.result import CommandContext, Say, say
from grokmini.text.width import cut_to_width

_CELLS = 72


async def run(argument: str, context: CommandContext) -> EditQueue | Say:
    """Show what waits, the next one first; `clear` drops all of it. Raises `UsageError`."""
    if argument == "clear":
        return EditQueue("clear")
    if argument:
        raise UsageError(f"/queue knows no {argument}", "/queue shows what waits, /queue clear drops it")
    queue = context.state.queue
    if not queue:
        return say("nothing is queued")
    rows = (f"{n} {cut_to_width(' '.join(queued.text.split()), _CELLS)}" for n, queued in enumerate(queue, 1))
    return say(*rows, "Enter on an empty line sends the first one now; Up takes the last one back")

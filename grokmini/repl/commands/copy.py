"""/copy: a reply to the clipboard, as the Markdown that the model wrote."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

from grokmini.protocol.errors import UsageError
from grokmini.protocol.events import SessionEvent, TurnEnded
from grokmini.repl.commands.result import CommandContext, Copy, Say, say


async def run(argument: str, context: CommandContext) -> Copy | Say:
    """The last reply, or with a number an earlier one (2: the one before). Raises `UsageError`."""
    if argument and not (argument.isascii() and argument.isdigit() and 0 < int(argument) < 10_000):
        raise UsageError(f"/copy knows no {argument!r}", "/copy the last reply, /copy 2 the one before it")
    wanted = int(argument or 1)
    replies = await asyncio.to_thread(lambda: last_replies(context.opened.past(), wanted))
    if len(replies) < wanted:
        return say("there is no such reply" if replies else "there is no reply to copy yet")
    return Copy(replies[0], "the last reply" if wanted == 1 else f"reply {wanted} from the end")


def last_replies(events: Iterable[SessionEvent], count: int) -> list[str]:
    """The texts of the last so many replies, oldest first."""
    replies: deque[str] = deque(maxlen=count)
    for event in events:
        if isinstance(event, TurnEnded) and event.text.strip():
            replies.append(event.text)
    return list(replies)

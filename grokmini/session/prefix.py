"""What a session's model is told besides the person's words, and told again when it has changed.

The system prompt stays what it is for the life of a session, so that the provider's cached prefix holds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from grokmini.prompt.context import PromptContext
from grokmini.prompt.environment import render_environment, render_instructions
from grokmini.prompt.instructions import Skipped
from grokmini.prompt.system import render_system
from grokmini.protocol.codec import join_surrogates
from grokmini.protocol.events import Notice
from grokmini.protocol.items import (
    ConversationItem,
    SyntheticReason,
    SystemItem,
    UserItem,
    user_text,
)
from grokmini.tools.contract import ToolNames


class SessionPrefix:
    """Implements `session.ports.PromptPrefix`. `gather` looks at the folder as it is now; it may block.

    `tell` passes on what the person should know of instruction files that were left out.
    """

    def __init__(
        self, gather: Callable[[], PromptContext], names: ToolNames, tell: Callable[[Notice], None]
    ) -> None:
        self._gather = gather
        self._names = names
        self._tell = tell
        self._told: set[str] = set()

    async def before_prompt(self, items: Sequence[ConversationItem]) -> Sequence[ConversationItem]:
        """System prompt, environment and instructions for a new session; for a running one, what changed."""
        context = await asyncio.to_thread(self._gather)
        self._tell_of_odd(context.skipped)
        told: list[ConversationItem] = []
        if not any(isinstance(item, SystemItem) for item in items):
            told.append(SystemItem(render_system(context, self._names)))
        for reason, text in (
            (SyntheticReason.ENVIRONMENT, render_environment(context)),
            (SyntheticReason.PROJECT_INSTRUCTIONS, render_instructions(context)),
        ):
            if text != _newest(items, reason):
                told.append(
                    user_text(text or "The instruction files are gone; they no longer count.", reason=reason)
                )
        return told

    def _tell_of_odd(self, skipped: Sequence[Skipped]) -> None:
        for file in skipped:
            if file.odd and file.path not in self._told:
                self._told.add(file.path)
                text = f"{file.path} {file.reason}; the model is not told what it says. Remove it, or copy the file."
                self._tell(Notice("warning", join_surrogates(text), "instructions"))


def _newest(items: Sequence[ConversationItem], reason: SyntheticReason) -> str:
    """The text of the newest item of that kind, "" when there is none."""
    for item in reversed(items):
        if isinstance(item, UserItem) and item.synthetic_reason is reason:
            return item.text
    return ""

"""What a session's model is told besides the person's words, and told again when it has changed.

The system prompt stays what it is for the life of a session, so that the provider's cached prefix holds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from grokmini.prompt.context import PromptContext
from grokmini.prompt.environment import render_environment, render_instructions
from grokmini.prompt.system import render_system
from grokmini.protocol.items import (
    ConversationItem,
    SyntheticReason,
    SystemItem,
    UserItem,
    user_text,
)
from grokmini.tools.contract import ToolNames


class SessionPrefix:
    """Implements `session.ports.PromptPrefix`. `gather` looks at the folder as it is now; it may block."""

    def __init__(self, gather: Callable[[], PromptContext], names: ToolNames) -> None:
        self._gather = gather
        self._names = names

    async def before_prompt(self, items: Sequence[ConversationItem]) -> Sequence[ConversationItem]:
        """System prompt, environment and instructions for a new session; for a running one, what changed."""
        context = await asyncio.to_thread(self._gather)
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


def _newest(items: Sequence[ConversationItem], reason: SyntheticReason) -> str:
    """The text of the newest item of that kind, "" when there is none."""
    for item in reversed(items):
        if isinstance(item, UserItem) and item.synthetic_reason is reason:
            return item.text
    return ""

"""Prompts that wait for the running turn: a pure first-in first-out queue that can be edited."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from grokmini.protocol.commands import Prompt


class PromptQueue:
    """Waiting prompts in order, each found by its id."""

    def __init__(self) -> None:
        self._prompts: dict[str, Prompt] = {}

    def __len__(self) -> int:
        return len(self._prompts)

    def __iter__(self) -> Iterator[Prompt]:
        return iter(tuple(self._prompts.values()))

    def __contains__(self, prompt_id: object) -> bool:
        return prompt_id in self._prompts

    def add(self, prompt: Prompt) -> None:
        """Put a prompt at the end."""
        self._prompts[prompt.prompt_id] = prompt

    def take(self, prompt_id: str = "") -> Prompt | None:
        """Remove and return the prompt of that id, the oldest for ""; None when it is not there."""
        if not prompt_id:
            prompt_id = next(iter(self._prompts), "")
        return self._prompts.pop(prompt_id, None)

    def replace(self, prompt_id: str, text: str) -> bool:
        """Give a waiting prompt another text, in its place. False when it is not there."""
        prompt = self._prompts.get(prompt_id)
        if prompt is None:
            return False
        self._prompts[prompt_id] = msgspec.structs.replace(prompt, text=text)
        return True

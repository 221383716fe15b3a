"""Who was asked, for messages that say so."""

from __future__ import annotations

from typing import NamedTuple

from grokmini.protocol.model import ModelSpec

MAX_MESSAGE = 600


class Asked(NamedTuple):
    """Who was asked with what: for messages and hints, and to keep the key out of both."""

    spec: ModelSpec
    host: str
    key_source: str
    key: str

    @property
    def entry(self) -> str:
        """The table of config.toml that holds, or would hold, what the person says of the model."""
        from grokmini.sampler.entry_name import entry_name  # only for the hint of an error

        return entry_name(self.spec.name)

    def clean(self, text: str) -> str:
        """A server's text made fit to show: one line, bounded, without the key."""
        if len(self.key) >= 4:
            text = text.replace(self.key, "[key]")
        text = "".join(character if character.isprintable() else " " for character in text).strip()
        return text if len(text) <= MAX_MESSAGE else text[:MAX_MESSAGE] + "…"

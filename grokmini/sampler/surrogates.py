"""Text whose escaped surrogate pairs a server may have cut in two, made whole again (case H23)."""

from __future__ import annotations

from grokmini.protocol.codec import join_surrogates


class SurrogateJoiner:
    """Holds a trailing high surrogate back until its other half, or proof that there is none, has come."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """The text that is certain by now; never holds a surrogate."""
        if not self._held and text.isascii():
            return text
        text = self._held + text
        self._held = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._held = text[-1]
            text = text[:-1]
        return join_surrogates(text)

    def finish(self) -> str:
        """What is left: U+FFFD if a half was waiting, else nothing."""
        held, self._held = self._held, ""
        return join_surrogates(held)

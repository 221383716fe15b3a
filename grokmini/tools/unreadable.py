"""The failure of reading arguments, apart from the reader that is only loaded for broken ones."""

from __future__ import annotations


class UnreadableError(ValueError):
    """The text cannot be read with certainty. `reason` says why, `offset` where."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(f"{reason} at character {offset}")
        self.reason = reason
        self.offset = offset

"""What is told of a call while the model still writes its arguments: a long one takes a slow model minutes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

from grokmini.protocol.events import ToolCallWriting

STEP: Final = 200
"""Characters of arguments between two tellings."""
HEAD: Final = 2_000
"""Characters of arguments in which the subject is looked for."""
_SUBJECT: Final = re.compile(r'"(?:file_path|target_file|command)"\s*:\s*"((?:[^"\\]|\\.)*)"')


class CallWriting:
    """Follows the arguments of the newest call of a reply."""

    def __init__(self, emit: Callable[[ToolCallWriting], None]) -> None:
        self._emit = emit
        self._name = self._subject = self._head = self._last = ""
        self._size = self._told = self._breaks = 0

    def begin(self, name: str) -> None:
        """Another call begins."""
        self._name, self._subject, self._head, self._last = name, "", "", ""
        self._size = self._told = self._breaks = 0
        self._tell()

    def more(self, piece: str) -> None:
        """More of its arguments came."""
        self._size += len(piece)
        self._breaks += f"{self._last}{piece}".count("\\n")
        self._last = piece[-1:]
        found = not self._subject and len(self._head) < HEAD and self._look_into(piece)
        if found or self._size - self._told >= STEP:
            self._tell()

    def _look_into(self, piece: str) -> bool:
        self._head += piece[:HEAD]
        found = _SUBJECT.search(self._head)
        if found is None:
            return False
        try:
            self._subject = str(json.loads(f'"{found[1]}"')).partition("\n")[0]
        except ValueError:
            return False
        return bool(self._subject)

    def _tell(self) -> None:
        self._told = self._size
        lines = self._breaks + 1 if self._breaks else 0
        self._emit(ToolCallWriting(self._name, self._subject, lines))

"""Files of a session for output too big for the conversation."""

from __future__ import annotations

import os
import re
from pathlib import Path

from grokmini.store.atomic import replace_file
from grokmini.store.layout import PROMPTS, TOOL_OUTPUT, make_private_directory, open_private

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
_PROMPT = "prompt-"


class SessionSpill:
    """Implements `tools.contract.SpillFiles` under `tool_output/`, for names that begin with `prompt-` under
    `prompts/`. Safe in any thread.

    A name that is taken gets a number: nothing is ever written over. `directory` None: nothing can be kept.
    """

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory

    def write(self, name: str, data: bytes) -> str | None:
        """Keep the data; the path, or None when it could not be written. What a person asked is whole or not there."""
        path = self.open_path(name)
        if path is None:
            return None
        try:
            if name.startswith(_PROMPT):
                replace_file(path, data)
            else:
                path.write_bytes(data)
        except OSError:
            path.unlink(missing_ok=True)
            return None
        return str(path)

    def open_path(self, name: str) -> Path | None:
        """A fresh, empty file to stream to, or None when nothing can be written.

        Raises `ValueError` for a name that is no plain file name: names are ours, never a server's.
        """
        if _NAME.fullmatch(name) is None:
            raise ValueError(f"not a name for a spill file: {name!r}")
        if self._directory is None:
            return None
        folder = self._directory / (PROMPTS if name.startswith(_PROMPT) else TOOL_OUTPUT)
        stem, dot, suffix = name.partition(".")
        number = 1
        try:
            make_private_directory(folder)
            while True:
                path = folder / (name if number == 1 else f"{stem}-{number}{dot}{suffix}")
                try:
                    os.close(open_private(path, os.O_WRONLY | os.O_EXCL))
                except FileExistsError:
                    number += 1
                else:
                    return path
        except OSError:
            return None

"""The log: `{state}/logs/grokmini-YYYYMMDD.log`, one JSON object a line, redacted, five files of 5 MB at most.

Warnings and worse; with `--debug` everything. Nothing is created before there is something to write.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from grokmini.files.private import make_private_folder
from grokmini.protocol.codec import clean_surrogates

MOST_BYTES = 5_000_000
MOST_FILES = 5
_OWN_FIELDS = frozenset({"session", "turn", "request", "call", "tool", "prompt"})


class DayLog(logging.Handler):
    """Appends records to the day's file; a full file is set aside under a number."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self.folder = folder
        self._clock = clock

    @property
    def path(self) -> Path:
        """Today's file."""
        return self.folder / f"grokmini-{time.strftime('%Y%m%d', time.localtime(self._clock()))}.log"

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record. A log that cannot be written is given up silently: it must not hurt the work."""
        try:
            self._write(self._line(record))
        except OSError:
            logging.getLogger().removeHandler(self)

    def _line(self, record: logging.LogRecord) -> bytes:
        from grokmini.text.redact import redact  # its patterns take a while to build, and most runs log nothing

        fields: dict[str, object] = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redact(record.getMessage()),
        }
        fields.update({name: str(value) for name, value in vars(record).items() if name in _OWN_FIELDS})
        if record.exc_info:
            fields["traceback"] = redact(logging.Formatter().formatException(record.exc_info))
        return msgspec.json.encode(clean_surrogates(fields)) + b"\n"

    def _write(self, line: bytes) -> None:
        make_private_folder(self.folder)
        path = self.path
        if path.exists() and path.stat().st_size + len(line) > MOST_BYTES:
            path.rename(path.with_suffix(f".{time.time_ns()}.log"))
            self._prune()
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)

    def _prune(self) -> None:
        files = sorted(self.folder.glob("grokmini-*.log"), key=lambda file: file.stat().st_mtime)
        for old in files[: len(files) - MOST_FILES + 1]:
            old.unlink()


def start_logging(state: Path | None, *, debug: bool) -> Path | None:
    """Send the program's log records to the file; the file's path, None with no place for it."""
    root = logging.getLogger()
    if state is None:
        root.addHandler(logging.NullHandler())
        return None
    handler = DayLog(state / "logs")
    root.addHandler(handler)
    root.setLevel(logging.DEBUG if debug else logging.WARNING)
    return handler.path

"""What a person is told of a fault of ours; everything that helps to find it goes to the log."""

from __future__ import annotations

import logging
import os

from grokmini.protocol.errors import GrokminiError


def fault(error: Exception) -> GrokminiError:
    """Log an unexpected exception with its traceback; the error to show in its place (exit code 1)."""
    path = _log_path()
    logging.getLogger(__name__).error("a fault", exc_info=error)
    where = f"; the log tells more: {path}" if path else ""
    said = " ".join(str(error).split())[:300]
    return GrokminiError(
        f"a fault inside the program ({type(error).__name__}: {said})",
        f"what was saved is kept: grokmini --continue goes on from it{where}",
    )


def _log_path() -> str:
    """Where the log is, opened if the fault came before it; "" with no place for one."""
    from grokmini.cli.logs import DayLog, start_logging
    from grokmini.config.paths import find_places

    for handler in logging.getLogger().handlers:
        if isinstance(handler, DayLog):
            return str(handler.path)
    try:
        places = find_places(os.environ)
    except (GrokminiError, ImportError):
        return ""
    return str(start_logging(places.state if places else None, debug=False) or "")

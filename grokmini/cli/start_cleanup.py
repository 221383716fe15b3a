"""Clean-up of stored sessions and caches, once a day at most, beside a session and in nobody's way."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from grokmini.config.paths import Places
from grokmini.store.layout import open_private

STAMP = "last-clean-up"
EVERY_SECONDS = 86_400.0
DELAY_SECONDS = 20.0


def start_cleanup(places: Places, ttl_days: int, *, delay: float = DELAY_SECONDS) -> threading.Timer | None:
    """Begin a clean-up in a while if none began today; the timer, which the end of the process ends too.

    A clean-up that is cut short leaves nothing half done, and the next one goes on.
    """
    stamp = places.state / STAMP
    try:
        if time.time() - stamp.stat().st_mtime < EVERY_SECONDS:
            return None
    except OSError:
        pass  # there was none yet
    timer = threading.Timer(delay, _clean, (places, stamp, ttl_days))
    timer.daemon = True
    timer.start()
    return timer


def _clean(places: Places, stamp: Path, ttl_days: int) -> None:
    import logging
    import os

    from grokmini.store.cleanup import clean

    try:
        os.close(open_private(stamp, os.O_WRONLY))
        os.utime(stamp)
        cleaned = clean(places.state, places.cache, ttl_days=ttl_days, now=time.time())
    except OSError as error:
        logging.getLogger(__name__).warning("clean-up failed: %s", error)
        return
    if cleaned.sessions or cleaned.bytes:
        logging.getLogger(__name__).warning(
            "clean-up: %d old sessions and %d bytes of caches and spilled output went",
            cleaned.sessions,
            cleaned.bytes,
        )

"""Clean-up beside a session: once a day, and never in the way."""

from __future__ import annotations

import os
import time
from pathlib import Path

from grokmini.cli.start_cleanup import EVERY_SECONDS, STAMP, start_cleanup
from grokmini.config.paths import Places
from grokmini.store.sessions import SessionStore
from tests.store.ground import stored_session


def places(root: Path) -> Places:
    return Places(*(root / name for name in ("config", "state", "cache", "data")))


async def test_an_old_session_goes_when_the_person_asked_for_it_and_only_once_a_day(tmp_path: Path) -> None:
    at = places(tmp_path)
    old = (await stored_session(at.state, 1)).directory
    long_ago = time.time() - 40 * 86_400
    for path in (*old.iterdir(), old):
        os.utime(path, (long_ago, long_ago))
    for ttl_days, left in ((0, 1), (30, 0)):
        timer = start_cleanup(at, ttl_days, delay=0.0)
        assert timer is not None
        timer.join(30)
        assert len(SessionStore(at.state).list(9)) == left
        assert start_cleanup(at, ttl_days) is None, "not again today"
        yesterday = time.time() - EVERY_SECONDS - 1
        os.utime(at.state / STAMP, (yesterday, yesterday))

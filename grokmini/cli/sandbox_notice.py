"""Telling the person of a session what its sandbox really enforces: each thing once, when it becomes known."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Literal

from grokmini.protocol.codec import join_surrogates
from grokmini.protocol.events import Notice, SandboxChanged, SessionEvent
from grokmini.sandbox.profile import OFF, Profile
from grokmini.sandbox.runner import Enforcement

_WIDTH = 76
"""Of a notice's lines, which have a mark in front of them."""


class SandboxNotices:
    """Remembers what was told. Nobody hears of anything before `begin`."""

    def __init__(self) -> None:
        self._emit: Callable[[SessionEvent], None] | None = None
        self._told: Enforcement | None = None
        self._told_lost: tuple[str, ...] = ()
        self._told_notices: set[str] = set()

    def begin(self, emit: Callable[[SessionEvent], None], profile: Profile, now: Enforcement) -> None:
        """From now on this hears of changes; it was told what is known now, but not what is lost."""
        self._emit = emit
        self._told = now
        self._tell_losses(emit, profile, now)

    def tell(self, profile: Profile, now: Enforcement, cause: Literal["chosen", "proved"]) -> None:
        """Say what is in force, unless it is known and nobody asked for a change."""
        if self._emit is None or (cause == "proved" and now == self._told):
            return
        self._told = now
        self._emit(
            SandboxChanged(
                profile.name, now.label, now.confined, now.network_blocked, now.lost, now.hint, cause
            )
        )
        self._tell_losses(self._emit, profile, now)

    def _tell_losses(self, emit: Callable[[SessionEvent], None], profile: Profile, now: Enforcement) -> None:
        """One notice of what this machine does not keep, one of each further thing, and no second one of the same."""
        if profile.base == OFF:
            return
        for text in now.notices:
            if text not in self._told_notices:
                emit(Notice("warning", join_surrogates(text), "sandbox"))
        self._told_notices.update(now.notices)
        if now.lost == self._told_lost:
            return
        self._told_lost = now.lost
        if now.lost:
            level: Literal["info", "warning"] = "warning" if now.hint or not now.confined else "info"
            emit(Notice(level, join_surrogates(losses_text(profile.name, now)), "sandbox"))


def losses_text(profile: str, now: Enforcement) -> str:
    """What is not enforced of a profile, what commands do without, and how to get it: a list in lines that fit 80
    columns, or one line where it is a single thing.
    """
    from grokmini.sandbox.degraded import parted

    lost, without = parted(now.lost)
    head = f"Not enforced by the sandbox here{'' if now.confined else f' of {profile}'}:"
    begin = () if now.confined else ("Nothing confines commands here, so each command and each edit asks.",)
    further = (
        f"Commands have {' and '.join(without)}." if without else "",
        now.hint,
        "" if now.confined else "`--sandbox off` goes on without.",
    )
    if len(lost) < 2:
        told = f"{head} {lost[0]}." if lost else ""
        return " ".join(filter(None, (*begin, told, *further)))
    items = (line for text in lost for line in _wrapped(f"- {text}", "  "))
    ends = (line for text in further for line in _wrapped(text))
    return "\n".join((*(line for text in begin for line in _wrapped(text)), head, *items, *ends))


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)

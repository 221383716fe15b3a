"""The sandbox of a running session: the profile in force, changed by the person, proved when that is needed."""

from __future__ import annotations

import asyncio
import textwrap
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grokmini.cli.root import Root
from grokmini.cli.sandboxed import (
    Choice,
    agree,
    around_of,
    is_agreed,
    profiles_of,
    runner_for,
)
from grokmini.protocol.codec import join_surrogates
from grokmini.protocol.errors import SandboxError
from grokmini.protocol.events import Notice, SandboxChanged, SessionEvent
from grokmini.sandbox.deferred import DeferredRunner
from grokmini.sandbox.environment import profile_environment
from grokmini.sandbox.profile import OFF
from grokmini.sandbox.runner import UNCONFINED, Enforcement, unproved
from grokmini.sandbox.switch import ConfiningRunner, SwitchRunner
from grokmini.session.ports import SandboxOffer

if TYPE_CHECKING:  # what confines is loaded when something is to be confined
    from grokmini.sandbox.policy import Policy
    from grokmini.sandbox.probe import Mechanisms
    from grokmini.sandbox.resolve import Around

_WIDTH = 76
"""Of a notice's lines, which have a mark in front of them."""


class SessionSandbox:
    """Implements `session.ports.Sandbox`. `runner` is what the session's commands go through.

    Nobody hears of changes before `begin`. `mechanisms` are found by trying when not given.
    """

    def __init__(
        self, root: Root, choice: Choice, directory: Path | None, mechanisms: Mechanisms | None = None
    ) -> None:
        self._root = root
        self._choice = choice
        self._directory = directory
        self._mechanisms = mechanisms
        self._cwd = root.cwd
        self._held: Around | None = None
        """What is around the session, its links followed once, before its first command."""
        self._told: Enforcement | None = None
        self._told_lost: tuple[str, ...] = ()
        self._told_notices: set[str] = set()
        self._emit: Callable[[SessionEvent], None] | None = None
        self._give: Callable[[dict[str, str]], None] = lambda env: None
        self.runner = SwitchRunner(self._runner_for(choice))

    @property
    def profile(self) -> str:
        """See `Sandbox`."""
        return self._choice.profile.name

    @property
    def explicit(self) -> bool:
        """Whether a person named the profile."""
        return self._choice.explicit

    def provides(self, give: Callable[[dict[str, str]], None]) -> None:
        """Have this take the variables that commands get besides, now and whenever the profile is another."""
        self._give = give
        places = self._root.places
        give(profile_environment(self._choice.profile, str(places.cache) if places else ""))

    def begin(self, emit: Callable[[SessionEvent], None]) -> None:
        """From now on this hears of changes; it was told what is known now, but not what is lost."""
        now = self._told = self.runner.enforcement
        self._emit = emit
        self._tell_losses(now)

    def offer(self, name: str) -> SandboxOffer:
        """See `Sandbox`."""
        from grokmini.sandbox.compare import grants_more
        from grokmini.sandbox.words import in_words

        profile = profiles_of(self._root._replace(cwd=self._cwd)).find(name)
        now = self.runner.policy
        new = self._resolve(Choice(profile, explicit=True)) if profile.base != OFF else None
        return SandboxOffer(profile, grants_more(new, now), not is_agreed(self._root, profile), in_words(new))

    async def switch(self, offer: SandboxOffer) -> None:
        """See `Sandbox`."""
        choice = Choice(offer.profile, explicit=True)
        if offer.untrusted:
            agree(self._root, offer.profile)
        self._leave(await asyncio.to_thread(lambda: self.runner.policy))
        await self.runner.change_to(self._runner_for(choice))
        self._choice = choice
        self.provides(self._give)
        self._tell("chosen")

    def move_to(self, cwd: Path) -> tuple[str, ...]:
        """See `Sandbox`."""
        current = self.runner.current
        if self._choice.profile.base == OFF:
            self._cwd = cwd
            return ()
        from grokmini.sandbox.compare import grants_more

        before = current.policy
        self._leave(before)
        former, self._cwd = self._cwd, cwd
        try:
            after = self._resolve(self._choice)
        except SandboxError:
            self._cwd = former
            raise
        from grokmini.sandbox.resolve import make_folders

        with suppress(OSError):  # told as missing when it is to be used
            make_folders(after)
        current.expect(after)
        more, less = grants_more(after, before), grants_more(before, after)
        return tuple(
            f"Commands and file tools can {word} {'; '.join(changes)}."
            for word, changes in (("now", more), ("no longer", less))
            if changes
        )

    def look_again(self) -> None:
        """See `Sandbox`."""
        self.runner.current.look_again()

    async def prove(self) -> None:
        """See `Sandbox`. Of `off` nothing is claimed, so nothing is started to prove it."""
        if self._choice.profile.base != OFF:
            await self.runner.prepare()

    async def report(self) -> Sequence[tuple[str, str]]:
        """What `/sandbox` shows, as label and value; makes the proof for it."""
        from grokmini.cli.sandbox_report import failed, report
        from grokmini.sandbox.layers import layers
        from grokmini.sandbox.probe import probe

        try:
            enforcement = await self.runner.prepare()
        except SandboxError as error:
            return failed(self.profile, error)
        policy = await asyncio.to_thread(lambda: self.runner.policy)
        found = self._mechanisms if self._mechanisms is not None else await asyncio.to_thread(probe)
        return report(self.profile, policy, enforcement, layers(found))

    def _runner_for(self, choice: Choice) -> DeferredRunner:
        free = choice.profile.base == OFF
        return DeferredRunner(
            UNCONFINED if free else unproved(choice.profile.name),
            lambda: None if free else self._resolve(choice),
            lambda: self._confining_runner(choice),
        )

    def _confining_runner(self, choice: Choice) -> ConfiningRunner:
        return runner_for(
            self._root,
            choice,
            self._around,
            mechanisms=self._mechanisms,
            on_proof=lambda: self._tell("proved"),
        )

    def _resolve(self, choice: Choice) -> Policy:
        from grokmini.sandbox.resolve import resolve

        return resolve(choice.profile, self._around(), explicit=choice.explicit)

    def _around(self) -> Around:
        if self._held is None:
            self._held = around_of(self._root, self._directory)
        return replace(self._held, cwd=str(self._cwd))

    def _leave(self, policy: Policy | None) -> None:
        """Remember what commands could write under a policy that is about to be another."""
        if policy is not None:
            from grokmini.sandbox.landlock import writable_roots

            around = self._around()
            former = dict.fromkeys((*around.former, *writable_roots(policy)))
            self._held = replace(around, former=tuple(former))

    def _tell(self, cause: Literal["chosen", "proved"]) -> None:
        """Say what is in force, unless it is known and nobody asked for a change."""
        now = self.runner.enforcement
        if self._emit is None or (cause == "proved" and now == self._told):
            return
        self._told = now
        self._emit(
            SandboxChanged(
                self.profile, now.label, now.confined, now.network_blocked, now.lost, now.hint, cause
            )
        )
        self._tell_losses(now)

    def _tell_losses(self, now: Enforcement) -> None:
        """One notice of what this machine does not keep, one of each further thing, and no second one of the same."""
        if self._emit is None or self._choice.profile.base == OFF:
            return
        for text in now.notices:
            if text not in self._told_notices:
                self._emit(Notice("warning", join_surrogates("\n".join(_wrapped(text))), "sandbox"))
        self._told_notices.update(now.notices)
        if now.lost == self._told_lost:
            return
        self._told_lost = now.lost
        if now.lost:
            level: Literal["info", "warning"] = "warning" if now.hint or not now.confined else "info"
            self._emit(Notice(level, join_surrogates(losses_text(self.profile, now)), "sandbox"))


def losses_text(profile: str, now: Enforcement) -> str:
    """What is not enforced of a profile, what commands do without, and how to get it; in lines that fit 80 columns."""
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
        return "\n".join(_wrapped(" ".join(filter(None, (*begin, told, *further)))))
    items = (line for text in lost for line in _wrapped(f"- {text}", "  "))
    ends = (line for text in further for line in _wrapped(text))
    return "\n".join((*(line for text in begin for line in _wrapped(text)), head, *items, *ends))


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)

"""The sandbox of a running session: the profile in force, changed by the person, proved when that is needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grokmini.cli.root import Root
from grokmini.cli.sandbox_notice import SandboxNotices
from grokmini.cli.sandboxed import (
    Choice,
    agree,
    around_of,
    is_agreed,
    profiles_of,
    runner_for,
)
from grokmini.protocol.errors import SandboxError
from grokmini.protocol.events import SessionEvent
from grokmini.sandbox.deferred import DeferredRunner
from grokmini.sandbox.environment import profile_environment
from grokmini.sandbox.profile import OFF
from grokmini.sandbox.runner import UNCONFINED, unproved
from grokmini.sandbox.switch import ConfiningRunner, SwitchRunner
from grokmini.session.ports import SandboxOffer

if TYPE_CHECKING:  # what confines is loaded when something is to be confined
    from grokmini.sandbox.policy import Policy
    from grokmini.sandbox.probe import Mechanisms
    from grokmini.sandbox.resolve import Around


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
        self._notices = SandboxNotices()
        self._give: Callable[[dict[str, str]], None] = lambda env: None
        self.runner = SwitchRunner(self._runner_for(choice))

    @property
    def profile(self) -> str:
        """See `Sandbox`."""
        return self._choice.profile.name

    @property
    def digest(self) -> str:
        """What the project wrote of the profile, as a hash; empty where it is not the project's."""
        return self._choice.profile.digest

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
        self._notices.begin(emit, self._choice.profile, self.runner.enforcement)

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
        """Protect another folder from the next command on; what that changes, as whole sentences for the person.

        Blocks. Raises `SandboxError` when the profile cannot be kept there: nothing has changed then.
        """
        current = self.runner.current
        if self._choice.profile.base == OFF:
            self._cwd = cwd
            return ()
        from grokmini.sandbox.compare import grants_more
        from grokmini.sandbox.git_folders import git_besides
        from grokmini.sandbox.nested import repositories_in

        before = current.policy
        self._leave(before)
        around = replace(self._around(), cwd=str(cwd))
        nested = git_besides(repositories_in(str(cwd)), around.home, around.env)
        around = replace(around, nested=(*around.nested, *nested))
        after = self._resolve(self._choice, around)
        self._cwd, self._held = cwd, around
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

    def _resolve(self, choice: Choice, around: Around | None = None) -> Policy:
        """What the choice means here, or around another folder. Raises `SandboxError`."""
        from grokmini.sandbox.resolve import resolve

        return resolve(choice.profile, around or self._around(), explicit=choice.explicit)

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
        self._notices.tell(self._choice.profile, self.runner.enforcement, cause)

"""Changing the sandbox of a running session: tightening happens at once, loosening asks the person."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

import msgspec

from grokmini.protocol import events
from grokmini.protocol.errors import GrokminiError, SandboxError
from grokmini.protocol.ids import short_id
from grokmini.protocol.permission import PermissionAnswer, PermissionOption
from grokmini.session.approvals import Approvals
from grokmini.session.parts import Parts
from grokmini.session.ports import SandboxOffer
from grokmini.text.sanitise import sanitise
from grokmini.tools.shell_state import ShellState

PROVE_AFTER = 0.5
"""Seconds after the start of a session with a person in which its sandbox is not yet started for its proof."""

_OPTIONS = (PermissionOption("1", "yes", "allow"), PermissionOption("3", "no", "deny"))


class SandboxDone(msgspec.Struct, frozen=True):
    """The sandbox was changed; `told` is what the model hears of it, `digest` is that of a project's profile."""

    profile: str
    digest: str
    told: str


class Sandboxing:
    """The wish for another profile, one at a time. Owned by the engine, which hands back what `done` gets."""

    def __init__(
        self,
        parts: Parts,
        *,
        emit: Callable[[events.SessionEvent], None],
        done: Callable[[SandboxDone], None],
    ) -> None:
        self._parts = parts
        self._emit = emit
        self._done = done
        self._approvals = Approvals(emit)
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """The session began: where somebody looks at the status line, make the proof soon."""
        if self._parts.interactive:
            self._own(self._prove())

    async def wish(self, name: str) -> None:
        """The person wants another profile. One that still waits for an answer is dropped."""
        self.dismiss()
        try:
            offer = await asyncio.to_thread(self._parts.sandbox.offer, name)
        except GrokminiError as error:
            self._refuse(error)
            return
        self._own(self._carry_out(offer))

    def answer(self, request_id: str, answer: PermissionAnswer) -> None:
        """An answer came; it may be meant for somebody else."""
        self._approvals.answer(request_id, answer)

    def dismiss(self) -> None:
        """Close the question as answered with no; a change that is under way goes on."""
        self._approvals.dismiss()

    async def give_up(self) -> None:
        """Stop everything begun here."""
        running = tuple(self._tasks)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    def _own(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work, name="sandbox")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry_out(self, offer: SandboxOffer) -> None:
        sandbox, former = self._parts.sandbox, self._parts.sandbox.profile
        try:
            if (offer.grants or offer.untrusted) and not await self._allowed(former, offer):
                return
            if offer.grants:
                with self._parts.resources.get(ShellState).forgetting():
                    await sandbox.switch(offer)
            else:
                await sandbox.switch(offer)
        except GrokminiError as error:
            self._refuse(error)
        except OSError as error:
            self._refuse(_of_the_machine(error))
        else:
            self._done(SandboxDone(offer.profile.name, offer.profile.digest, offer.in_words))

    async def _allowed(self, former: str, offer: SandboxOffer) -> bool:
        name = offer.profile.name
        if not self._parts.interactive:
            self._refuse(
                SandboxError(
                    f"{name} grants more than {former}, and nobody can be asked here",
                    f"start with --sandbox {name}.",
                )
            )
            return False
        details = [f"they may then {grant}" for grant in offer.grants]
        if offer.untrusted:
            details.append("the profile is the project's; a yes counts until it changes")
        question = events.PermissionAsked(
            request_id=short_id(),
            call_id="",
            title=f"Loosen the sandbox for commands and file tools from {former} to {name}?",
            subject="",
            options=_OPTIONS,
            details=tuple(sanitise(detail, newlines=False) for detail in details),
        )
        if (await self._approvals.ask(question)).decision == "allow":
            return True
        self._emit(events.Notice("info", f"The sandbox stays {former}.", "sandbox"))
        return False

    def _refuse(self, error: GrokminiError) -> None:
        text = f"The sandbox stays {self._parts.sandbox.profile}: {error.message}. {error.hint}"
        self._emit(events.Notice("error", text.rstrip(), "sandbox"))

    async def _prove(self) -> None:
        await asyncio.sleep(PROVE_AFTER)
        try:
            await self._parts.sandbox.prove()
        except SandboxError as error:
            self._unproved(error)
        except OSError as error:
            self._unproved(_of_the_machine(error))

    def _unproved(self, error: SandboxError) -> None:
        text = f"No command can run in the sandbox {self._parts.sandbox.profile}: {error.message}. {error.hint}"
        self._emit(events.Notice("error", text.rstrip(), "sandbox"))


def _of_the_machine(error: OSError) -> SandboxError:
    """Trouble of the machine, such as no descriptor left, as one of the sandbox."""
    return SandboxError(
        f"it could not be started ({error.strerror or type(error).__name__})", "Make room for it and try again."
    )

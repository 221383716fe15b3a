"""A command that the sandbox stopped: may it run again outside?

The person is asked in every mode, and nothing leaves the sandbox unasked. "Always" means exactly this command, in
this folder and environment, until the session ends; it then runs outside at once. Nothing of it is stored.

A No is a No as everywhere (decisions.md, "Product"): the first result stands; a plain one ends the turn, one with a
reason tells the model the reason and the turn goes on. So the same key always stops the work, and whoever wants the
agent to go on without leaving says so in a word. Where nobody can be asked, or the command did what it was for all the
same, the first result is all there is; it names rule and path.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from grokmini.protocol.errors import SandboxError, ToolErrorKind
from grokmini.protocol.events import Notice, SessionEvent
from grokmini.session.approvals import Approvals
from grokmini.session.call_runner import CallResult, CallRunner, failed, sandbox_text
from grokmini.session.leave_question import leave_question
from grokmini.session.parts import Parts
from grokmini.session.planned import Fuse, PlannedCall
from grokmini.tools.always import changeable_programs, why_not_always
from grokmini.tools.shell_state import Leaving, ShellState


class Escalation:
    """Runs the calls of one reply, and those that were stopped once more where the person says so.

    `interjected` tells whether the person wrote something instead of an answer. `fuse` is why no more is asked. Where
    nobody is asked, a notice says what was stopped.
    """

    def __init__(
        self,
        parts: Parts,
        runner: CallRunner,
        approvals: Approvals,
        *,
        emit: Callable[[SessionEvent], None],
        interjected: Callable[[], bool],
    ) -> None:
        self._parts = parts
        self._runner = runner
        self._approvals = approvals
        self._emit = emit
        self._interjected = interjected
        self._asking = asyncio.Lock()
        self.fuse = Fuse.NONE

    async def run(self, planned: PlannedCall) -> None:
        """Run a call to its end and tell it; cancelled while the person is asked, the first run's result stands."""
        leaving = await self._leaving(planned)
        try:
            known = leaving is not None and await self._is_let_out(leaving)
        except SandboxError as error:
            self._end(planned, failed(ToolErrorKind.SANDBOX_UNAVAILABLE, sandbox_text(error)))
            return
        if leaving is not None and known:
            self._let_out(planned, leaving)
        result = await self._attempt(planned)
        if not result.stopped.sentence or leaving is None:
            self._end(planned, result)
        elif not self._parts.interactive or result.stopped.went_on:
            self._end(planned, result, stopped=result.stopped.brief)
        elif leaving.objection:
            told = result.noted(
                f"the user was not asked to let it run outside of the sandbox: {leaving.objection}"
            )
            self._end(planned, told, stopped=result.stopped.brief)
        else:
            planned.kept = result
            async with self._asking:  # one question after the other
                if self._may_ask():
                    told = await self._again(planned, leaving, result)
                    self._end(planned, told, stopped="" if planned.ctx.outside else result.stopped.brief)
                else:
                    self._end(planned, result, stopped=result.stopped.brief)

    def _end(self, planned: PlannedCall, result: CallResult, *, stopped: str = "") -> None:
        planned.result = result
        self._runner.report(planned.ctx.call_name, result)
        if stopped:
            self._emit(Notice("warning", f"The sandbox stopped {stopped}", "sandbox_stopped"))

    def _may_ask(self) -> bool:
        if self.fuse is Fuse.NONE and self._interjected():
            self.fuse = Fuse.INTERJECTION
        return self.fuse is Fuse.NONE

    async def _attempt(self, planned: PlannedCall) -> CallResult:
        assert planned.tool is not None and planned.args is not None
        return await self._runner.run(planned.tool, planned.args, planned.ctx)

    async def _leaving(self, planned: PlannedCall) -> Leaving | None:
        """The command of a call as it would run outside if it began now; None for other tools."""
        assert planned.tool is not None and planned.args is not None
        subject = planned.tool.subject(planned.args, planned.ctx)
        if subject.rule_name != "Bash":
            return None
        return await asyncio.to_thread(self._parts.resources.get(ShellState).leaving, subject.value)

    async def _why_once(self, leaving: Leaving) -> tuple[str, str]:
        """The profile in force, and why the command may be let out only once under it."""
        policy = await asyncio.to_thread(lambda: self._parts.runner.policy)
        if policy is None:
            return "", "nothing is confined"
        command = leaving.spec.env["GROKMINI_COMMAND"]
        return policy.profile, await asyncio.to_thread(why_not_always, command, leaving.spec, policy)

    async def _changeable(self, leaving: Leaving) -> tuple[str, ...]:
        """The programs of the command that commands inside can change."""
        policy = await asyncio.to_thread(lambda: self._parts.runner.policy)
        command = leaving.spec.env["GROKMINI_COMMAND"]
        return await asyncio.to_thread(changeable_programs, command, leaving.spec, policy) if policy else ()

    async def _is_let_out(self, leaving: Leaving) -> bool:
        """Whether the person said "always" to it, and it still is what they said it to."""
        profile, why_once = await self._why_once(leaving)
        known = self._parts.policy.let_out.has_command(profile, leaving.spec)
        return known and not why_once and not leaving.objection

    def _let_out(self, planned: PlannedCall, leaving: Leaving) -> None:
        self._parts.resources.get(ShellState).let_out(planned.ctx.call_name, leaving.spec)
        planned.ctx = replace(planned.ctx, outside=True)

    async def _again(self, planned: PlannedCall, leaving: Leaving, first: CallResult) -> CallResult:
        """Ask, and run it outside on a yes."""
        profile, why_once = await self._why_once(leaving)
        question = leave_question(
            planned.ctx.call_name,
            leaving,
            first,
            sandbox=self._parts.runner.enforcement.label,
            why_once=why_once,
            changeable=await self._changeable(leaving),
        )
        answer = await self._approvals.ask(question)
        if answer.decision == "allow":
            if answer.scope != "once" and not why_once:
                self._parts.policy.let_out.add_command(profile, leaving.spec)
            self._let_out(planned, leaving)
            planned.kept = None
            return await self._attempt(planned)
        if self._interjected():
            self.fuse = Fuse.INTERJECTION
            return first.noted("it was not run outside of the sandbox: the user wrote something else instead")
        if answer.text:
            self.fuse = Fuse.REASON
            return first.noted(f"the user did not let it run outside of the sandbox: {answer.text}")
        self.fuse = Fuse.DENIED
        return first.noted("the user did not let it run outside of the sandbox")

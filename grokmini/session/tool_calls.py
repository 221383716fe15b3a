"""The tool calls of one reply: first all are decoded and admitted in order, then the admitted ones run.

What the person wills stops the work: a denial, an interjection and a cancel are a fuse, after which no later call
is asked about or run. What the world refuses (invalid arguments, a deny rule, nobody to ask) is told to the model
as that call's result. Results keep the order of the calls whatever the order of finishing
(spec: session-loop.md, "Tool calls of one reply").
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, assert_never

from grokmini.protocol.errors import ConfigError, SandboxError, ToolError, ToolErrorKind
from grokmini.protocol.events import Notice, PermissionAsked, SessionEvent, ToolCallReady
from grokmini.protocol.ids import short_id
from grokmini.protocol.items import ToolCall, ToolResultItem
from grokmini.protocol.permission import PermissionAnswer, PermissionMode
from grokmini.protocol.tools import ToolKind
from grokmini.session.approvals import Approvals
from grokmini.session.call_runner import CallRunner, failed, sandbox_text
from grokmini.session.containment import containment_of
from grokmini.session.escalation import Escalation
from grokmini.session.parts import Parts
from grokmini.session.planned import Fuse, PlannedCall
from grokmini.tools.arguments import decode_arguments
from grokmini.tools.contract import Subject, ToolCallContext
from grokmini.tools.rules import way_to_allow
from grokmini.tools.shell_state import ShellState
from grokmini.tools.verdicts import Allow, Ask, Deny

_log = logging.getLogger(__name__)

_AFTER_FUSE = "Cancelled because an earlier call was; it did not run."


class BatchOutcome(NamedTuple):
    """What came of a reply's calls. `denied` names what nobody could be asked about, as rules, each with what else than
    that rule would allow it, if anything; `unconfined` says of the first call that did not run since the sandbox cannot
    be kept why; empty when there is none.
    """

    results: tuple[ToolResultItem, ...]
    fuse: Fuse
    denied: dict[str, str]
    unconfined: str = ""


class ToolCalls:
    """Runs the calls of one reply. One object a reply, so that a cancel finds what had been done."""

    def __init__(
        self,
        parts: Parts,
        runner: CallRunner,
        approvals: Approvals,
        *,
        emit: Callable[[SessionEvent], None],
        mode: Callable[[], PermissionMode],
        interjected: Callable[[], bool],
    ) -> None:
        self._parts = parts
        self._runner = runner
        self._approvals = approvals
        self._emit = emit
        self._mode = mode
        self._interjected = interjected
        self._escalation = Escalation(parts, runner, approvals, emit=emit, interjected=interjected)
        self._planned: list[PlannedCall] = []
        self._fuse = Fuse.NONE
        self._denied: dict[str, str] = {}

    async def run(
        self, calls: Sequence[ToolCall], context: Callable[[ToolCall], ToolCallContext]
    ) -> BatchOutcome:
        """Do the calls. Cancelled, everything running is stopped; `stop` then gives the results."""
        self._planned = [PlannedCall(call, context(call)) for call in calls]
        for planned in self._planned:
            self._decode(planned)
        for planned in self._planned:
            if planned.result is None:
                await self._admit(planned)
        await self._run_admitted()
        return BatchOutcome(self._results(), self._fuse, self._denied, self._unconfined())

    def stop(self) -> tuple[ToolResultItem, ...]:
        """The calls were cancelled: close what did not end, tell the world, give the results in order."""
        for planned in self._planned:
            if planned.result is None:
                planned.result = planned.kept or self._runner.stopped(planned.ctx)
                self._runner.report(planned.ctx.call_name, planned.result)
        return self._results()

    def _unconfined(self) -> str:
        kind = ToolErrorKind.SANDBOX_UNAVAILABLE.value
        results = [planned.result for planned in self._planned if planned.result is not None]
        return next((result.output for result in results if result.error_kind == kind), "")

    def _results(self) -> tuple[ToolResultItem, ...]:
        """One result for every call, in their order."""
        items = []
        for planned in self._planned:
            assert planned.result is not None
            items.append(planned.result.item(planned.call.id, planned.notes))
        return tuple(items)

    def _decode(self, planned: PlannedCall) -> None:
        call, registry = planned.call, self._parts.registry
        planned.tool = registry.find(call.name)
        try:
            if planned.tool is None:
                raise registry.unknown(call.name)
            decoded = decode_arguments(call.arguments, planned.tool.args_type)
            planned.args, planned.notes = decoded.args, decoded.notes
        except ToolError as error:
            planned.result = failed(error.kind, error.message)
        envelope = registry.envelope(planned.tool, call.name, planned.args)
        self._emit(ToolCallReady(planned.ctx.call_name, envelope, call.arguments))
        if planned.result is not None:
            self._runner.report(planned.ctx.call_name, planned.result)

    async def _admit(self, planned: PlannedCall) -> None:
        assert planned.tool is not None and planned.args is not None
        if self._fuse is Fuse.NONE and self._interjected():
            self._fuse = Fuse.INTERJECTION
        if self._fuse is not Fuse.NONE:
            self._refuse(planned, ToolErrorKind.CANCELLED, _AFTER_FUSE)
            return
        try:
            subject = planned.tool.subject(planned.args, planned.ctx)
            paths = planned.tool.writes(planned.args, planned.ctx)
            planned.edits = bool(paths)
            folder = self._parts.resources.get(ShellState).cwd
            held = await containment_of(self._parts.runner, planned.tool, folder)
            verdict = self._parts.policy.judge(planned.tool, subject, paths, self._mode(), **held._asdict())
            match verdict:
                case Allow():
                    _let_out(planned, verdict.outside)
                case Deny():
                    self._refuse(planned, verdict.kind, verdict.message)
                case Ask():
                    await self._ask(planned, subject, verdict, held.profile)
                case _:
                    assert_never(verdict)
        except ToolError as error:
            self._refuse(planned, error.kind, error.message)
        except SandboxError as error:
            self._refuse(planned, ToolErrorKind.SANDBOX_UNAVAILABLE, sandbox_text(error))
        except Exception as error:  # noqa: BLE001 - a fault in judging one call must not end the others
            _log.exception("a call could not be judged", extra={"tool": planned.tool.id})
            text = (
                f"{planned.call.name} failed inside ({type(error).__name__}) and did not run. Try another way."
            )
            self._refuse(planned, ToolErrorKind.INTERNAL, text)

    async def _ask(self, planned: PlannedCall, subject: Subject, ask: Ask, profile: str) -> None:
        diff, unseen = await _diff(planned, ask)
        if not self._parts.interactive:
            rule = ask.rule or f"{subject.rule_name}({subject.value})"
            self._denied[rule] = ask.way
            way = ask.way or f"The user can allow it with {way_to_allow(rule)}."
            self._refuse(
                planned,
                ToolErrorKind.PERMISSION_DENIED,
                "Not run: this needs the user's permission and nobody can be asked in this run. "
                f"{way} Do what is possible without it, and say so.",
            )
            return
        question = PermissionAsked(
            request_id=short_id(),
            call_id=planned.ctx.call_name,
            title=ask.title,
            subject=ask.subject,
            options=ask.options,
            details=(*ask.details, *unseen),
            diff=diff,
        )
        answer = await self._approvals.ask(question)
        if answer.decision == "allow":
            if not ask.outside:
                self._remember(answer)
            elif answer.scope != "once":
                self._parts.policy.let_out.add_files(profile, ask.outside)
            _let_out(planned, ask.outside)
        elif self._interjected():
            self._fuse = Fuse.INTERJECTION
            self._refuse(
                planned, ToolErrorKind.CANCELLED, "Not run: the user wrote something else instead; see below."
            )
        elif answer.text:
            self._fuse = Fuse.REASON
            self._refuse(planned, ToolErrorKind.PERMISSION_DENIED, f"The user said no: {answer.text}")
        else:
            self._fuse = Fuse.DENIED
            self._refuse(planned, ToolErrorKind.PERMISSION_DENIED, "The user said no. It did not run.")

    def _remember(self, answer: PermissionAnswer) -> None:
        try:
            self._parts.policy.remember(answer)
        except ConfigError as error:
            self._emit(Notice("warning", f"{error.message}: {error.hint}", "grant"))

    def _refuse(self, planned: PlannedCall, kind: ToolErrorKind, message: str) -> None:
        planned.result = failed(kind, message)
        self._runner.report(planned.ctx.call_name, planned.result)

    async def _run_admitted(self) -> None:
        """Run what was admitted: neighbours together, an exclusive call alone, and no edit beside other calls, which
        would see the file as it was or as it is going to be, as it happens.
        """
        group: list[PlannedCall] = []
        for planned in [entry for entry in self._planned if entry.result is None]:
            if group and not group[-1].goes_with(planned):
                await self._run_together(group)
                group = []
            group.append(planned)
        await self._run_together(group)

    async def _run_together(self, group: Sequence[PlannedCall]) -> None:
        self._parts.sandbox.look_again()
        if self._escalation.fuse is not Fuse.NONE:
            for planned in group:
                self._refuse(planned, ToolErrorKind.CANCELLED, _AFTER_FUSE)
        elif len(group) == 1:
            await self._escalation.run(group[0])
        elif group:
            async with asyncio.TaskGroup() as tasks:
                for planned in group:
                    tasks.create_task(self._escalation.run(planned))
        if self._fuse is Fuse.NONE:
            self._fuse = self._escalation.fuse


def _let_out(planned: PlannedCall, paths: tuple[Path, ...]) -> None:
    """Let a call write these real paths beyond the sandbox."""
    if paths:
        planned.ctx = replace(planned.ctx, outside=True, approved=paths)


async def _diff(planned: PlannedCall, ask: Ask) -> tuple[str, tuple[str, ...]]:
    """What the call would change, and what is said where the sandbox does not even show what is there.

    Raises `ToolError`. An edit of what cannot be read is not asked about: it cannot be made.
    """
    assert planned.tool is not None and planned.args is not None
    try:
        return await planned.tool.preview(planned.args, planned.ctx), ()
    except ToolError as error:
        unseen = ask.outside and error.kind is ToolErrorKind.SANDBOX_DENIED
        if unseen and planned.tool.kind is not ToolKind.EDIT:
            return "", ("the present content cannot be shown: the sandbox does not let it be read",)
        raise

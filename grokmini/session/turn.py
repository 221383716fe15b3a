"""One prompt from its first word to its end: sample, run the calls, again, until the model has no more.

A turn knows no screen, no disk and no vendor. However it ends (completed, cancelled, out of rounds, error) the
history is valid and the ending says what happened.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple

from grokmini.protocol import events
from grokmini.protocol.codec import join_surrogates
from grokmini.protocol.commands import Prompt
from grokmini.protocol.errors import ExitCode, GrokminiError, Outcome, SampleError, exit_code_of
from grokmini.protocol.ids import short_id
from grokmini.protocol.items import (
    SyntheticReason,
    TextPart,
    ToolCall,
    ToolResultItem,
    UserItem,
    user_text,
)
from grokmini.protocol.model import Usage, cost_of
from grokmini.protocol.permission import PermissionAnswer, PermissionOption
from grokmini.protocol.tools import ToolKind
from grokmini.session.approvals import Approvals
from grokmini.session.big_prompt import PROMPT_LIMIT, note_for, shorten
from grokmini.session.call_runner import CallRunner
from grokmini.session.loop_guard import LoopGuard, LoopVerdict
from grokmini.session.parts import Live, Parts
from grokmini.session.planned import Fuse
from grokmini.session.reply import Reply, ReplyStream
from grokmini.session.tool_calls import ToolCalls
from grokmini.tools.contract import ToolCallContext

_log = logging.getLogger(__name__)

CONCISE_WINDOW = 32_768
"""Windows up to this many tokens get the concise tool texts (spec: models.md, "Prompt")."""

_LOOP_NOTE = (
    "[The same call gave the same result for the third time. Do something else, or say what blocks you.]"
)
_STOPPED_EXIT = {"sigterm": ExitCode.SIGTERM, "sighup": ExitCode.SIGHUP, "output closed": ExitCode.OK}
"""Exit codes by why a turn was stopped; whatever is not here was an interrupt."""


class Ending(NamedTuple):
    """How the rounds ended."""

    outcome: Outcome
    exit_code: int = ExitCode.OK
    reason: str = ""
    error: events.ErrorInfo | None = None


class Turn:
    """The run of one prompt, in a task of its own that only `stop` may cancel."""

    def __init__(
        self,
        parts: Parts,
        live: Live,
        prompt: Prompt,
        prompt_index: int,
        *,
        emit: Callable[[events.SessionEvent], None],
        runner: CallRunner,
    ) -> None:
        self._parts = parts
        self._live = live
        self.prompt = prompt
        self.prompt_index = prompt_index
        self._emit = emit
        self._runner = runner
        self.approvals = Approvals(emit)
        self._stop_reason = ""
        self._task: asyncio.Task[object] | None = None
        self._working = True
        self._opened = False
        self._gap: list[UserItem] = []
        self._interjected = False
        self._reply: Reply | None = None
        self._calls: ToolCalls | None = None
        self._guard = LoopGuard()
        self._rounds = 0
        self._calls_made = 0
        self._denied: dict[str, str] = {}
        self._unconfined = False
        self._text = ""
        self._refusal = False

    def interject(self, prompt: Prompt) -> None:
        """Send the person's words in at the next gap between tool batches; open questions are closed."""
        content = (TextPart(self._fit(prompt.text)), *prompt.attachments)
        self._gap.append(UserItem(content, SyntheticReason.INTERJECTION))
        self._interjected = True
        self.approvals.dismiss()

    def add_at_gap(self, item: UserItem) -> None:
        """Put an item into the history where it cannot part a call from its result."""
        self._gap.append(item)

    def stop(self, reason: str) -> None:
        """Stop the work at once. The turn still ends properly; stopping it again changes nothing."""
        if self._working:
            self._working = False
            self._stop_reason = reason
            if self._task is not None:
                self._task.cancel()

    async def run(self) -> events.TurnEnded:
        """Run to the end, whatever happens."""
        started = self._parts.monotonic()
        self._task = asyncio.current_task()
        try:
            ending = await self._work() if self._working else await self._stopped()
            self._working = False
        except asyncio.CancelledError:
            assert self._task is not None
            self._task.uncancel()
            ending = await self._stopped()
        except SampleError as error:
            ending = await self._failed(error, error.kind.value)
        except GrokminiError as error:
            ending = await self._failed(error, type(error).__name__)
        except Exception as error:  # noqa: BLE001 - the outermost frame of a turn
            _log.exception("a turn failed", extra={"prompt": self.prompt.prompt_id})
            fault = GrokminiError(
                f"grokmini failed inside ({type(error).__name__}: {error})",
                "Nothing is lost; send the prompt again. `--debug` shows where the log is.",
            )
            ending = await self._failed(fault, "internal")
        return await self._ended(ending, self._parts.monotonic() - started)

    async def _work(self) -> Ending:
        await self._open()
        while True:
            reply = await self._sample()
            if not reply.calls:
                if self._gap:
                    await self._push_gap()
                    continue
                return Ending("completed", self._exit_code())
            ending = await self._run_calls(reply.calls)
            if ending is not None:
                return ending
            await self._push_gap()
            if self._parts.max_turns and self._rounds >= self._parts.max_turns:
                return Ending(
                    "max_turns_reached", ExitCode.MAX_TURNS, f"the limit of {self._parts.max_turns} rounds"
                )

    async def _open(self) -> None:
        """Put prefix and prompt into the history; return when the prompt is safe on disk.

        The prompt is kept whatever happens to the prefix.
        """
        chat = self._parts.chat
        chat.start_prompt_ledger()
        text = join_surrogates(self.prompt.text)
        self._emit(events.TurnStarted(self.prompt.prompt_id, self.prompt_index, text))
        try:
            for item in await self._parts.prefix.before_prompt(await chat.items()):
                chat.push(item)
        finally:
            self._opened = True
            self._parts.record.prompt_started(self.prompt.text, self.prompt_index)
            await chat.push_prompt(await self._item())

    async def _item(self) -> UserItem:
        text = join_surrogates(self.prompt.text)
        if len(text) * 4 > PROMPT_LIMIT:
            text = await asyncio.to_thread(self._fit, text)
        return UserItem((TextPart(text), *self.prompt.attachments), prompt_index=self.prompt_index)

    def _fit(self, text: str) -> str:
        short = shorten(text)
        if short.whole is None:
            return short.text
        path = self._parts.spill.write(f"prompt-{self.prompt_index}-{short_id()}.txt", short.whole.encode())
        return f"{short.text}\n\n{note_for(path, self._parts.registry.names.of(ToolKind.READ))}"

    async def _sample(self) -> Reply:
        parts, model = self._parts, self._live.model
        specs = parts.registry.specs(concise=model.context_window <= CONCISE_WINDOW)
        request = await parts.chat.build_request(
            request_id=short_id(),
            model=model,
            tools=specs if model.supports.tools else (),
            conversation_id=parts.session_id,
        )
        self._rounds += 1
        self._reply = reply = Reply(model.name)
        await ReplyStream(parts.sampler, self._emit).receive(request, reply)
        self._reply = None
        for item in reply.items:
            parts.chat.push(item)
        parts.chat.push(reply.assistant())
        self._text, self._refusal = reply.text, reply.refusal
        await self._account(model.name, reply.usage)
        if reply.finish == "length":
            self._emit(
                events.Notice(
                    "warning",
                    "The reply reached the model's output limit and is cut; ask it to go on.",
                    "length",
                )
            )
        return reply

    async def _account(self, model: str, usage: Usage | None) -> None:
        chat = self._parts.chat
        if usage is None:
            chat.mark_usage_incomplete(model)
            usage = Usage(calls=1, incomplete=True)
        else:
            chat.record_usage(model, usage)
        tokens = await chat.tokens()
        self._emit(events.UsageReported(model, usage, tokens, self._live.model.context_window))

    async def _run_calls(self, calls: Sequence[ToolCall]) -> Ending | None:
        """Run a reply's calls and put their results into the history; an ending when the turn is over."""
        self._calls = ToolCalls(
            self._parts,
            self._runner,
            self.approvals,
            emit=self._emit,
            mode=lambda: self._live.mode,
            interjected=lambda: self._interjected,
        )
        outcome = await self._calls.run(calls, self._context)
        self._calls = None
        self._denied.update(outcome.denied)
        if outcome.unconfined and not self._unconfined:
            self._unconfined = True
            self._emit(events.Notice("warning", outcome.unconfined, "sandbox_unavailable"))
        looping = self._push_results(calls, outcome.results)
        if outcome.fuse is Fuse.DENIED:
            return Ending("cancelled", ExitCode.PERMISSION, "permission")
        return await self._loop_ending(looping) if looping else None

    def _exit_code(self) -> int:
        """That of a turn which came to its end: a call that was denied goes before one that could not be confined."""
        if self._denied:
            return ExitCode.PERMISSION
        return ExitCode.SANDBOX if self._unconfined else ExitCode.OK

    def _push_results(self, calls: Sequence[ToolCall], results: Sequence[ToolResultItem]) -> ToolCall | None:
        """Append the results; the call that goes round in circles, if one does."""
        looping: ToolCall | None = None
        made: set[tuple[str, str]] = set()
        for call, item in zip(calls, results, strict=True):
            result, same = item, (call.name, call.arguments)
            # Several times in one reply is no loop: no result was seen in between.
            verdict = LoopVerdict.NONE if same in made else self._guard.record(*same, item.prompt_text)
            made.add(same)
            if verdict is LoopVerdict.NOTE:
                text = f"{item.prompt_text}\n{_LOOP_NOTE}"
                result = ToolResultItem(item.call_id, item.output, text, item.status, item.spill)
            elif verdict is LoopVerdict.STOP:
                looping = call
            self._parts.chat.push(result)
        return looping

    async def _loop_ending(self, call: ToolCall) -> Ending | None:
        """Stop a loop: ask the person where there is one, else end in an error of kind `loop`."""
        message = f"The agent made the same call of {call.name} five times with the same result."
        if self._parts.interactive:
            question = events.PermissionAsked(
                request_id=short_id(),
                call_id="",
                title="Go on?",
                subject=message,
                options=(
                    PermissionOption("1", "go on", "allow"),
                    PermissionOption("2", "stop here", "deny"),
                ),
            )
            answer: PermissionAnswer = await self.approvals.ask(question)
            if answer.decision == "allow":
                self._guard.forgive()
                return None
        hint = "Say what it should do instead, or give it what it lacks."
        return Ending("error", ExitCode.ERROR, "loop", events.ErrorInfo("loop", message, hint))

    def _context(self, call: ToolCall) -> ToolCallContext:
        self._calls_made += 1
        return ToolCallContext(
            call_id=call.id,
            call_name=f"{self.prompt_index}-{self._calls_made}",
            prompt_index=self.prompt_index,
            cwd=self._parts.workspace.root,
            resources=self._parts.resources,
            names=self._parts.registry.names,
            spill=self._parts.spill,
        )

    async def _push_gap(self) -> None:
        """Put what waits for a gap into the history; the person's words are waited for until they are written."""
        waiting, words, self._gap, self._interjected = self._gap, self._interjected, [], False
        for item in waiting:
            self._parts.chat.push(item)
        if waiting:
            await self._parts.chat.flush(durable=words)

    async def _stopped(self) -> Ending:
        """The turn was stopped: keep what came, close what is open, tell the model."""
        chat = self._parts.chat
        if not self._opened:
            await self._open()
        if self._reply is not None:
            self._keep_what_came(self._reply)
        if self._calls is not None:
            for item in self._calls.stop():
                chat.push(item)
        text = "The user stopped the turn here. Wait for what they say next."
        chat.push(user_text(text, reason=SyntheticReason.INTERRUPTION))
        await self._push_gap()
        await chat.repair_after_stop()
        exit_code = _STOPPED_EXIT.get(self._stop_reason, ExitCode.SIGINT)
        return Ending("cancelled", exit_code, self._stop_reason)

    def _keep_what_came(self, reply: Reply) -> None:
        """Of a reply that did not come to its end, what the person has seen: the model shall know it too."""
        self._parts.chat.mark_usage_incomplete(reply.model)
        self._text = reply.text
        if reply.text:
            self._parts.chat.push(reply.assistant(interrupted=True))

    async def _failed(self, error: GrokminiError, kind: str) -> Ending:
        self._working = False
        if self._reply is not None:
            self._keep_what_came(self._reply)
        if self._calls is not None:
            for item in self._calls.stop():
                self._parts.chat.push(item)
        await self._push_gap()
        await self._parts.chat.repair_after_stop()
        info = events.ErrorInfo(kind, error.message, error.hint)
        return Ending("error", exit_code_of(error), kind, info)

    async def _ended(self, ending: Ending, seconds: float) -> events.TurnEnded:
        report = await self._parts.chat.usage()
        total = sum(report.prompt.values(), start=Usage())
        cost, source = cost_of(total, self._live.model.price)
        return events.TurnEnded(
            prompt_index=self.prompt_index,
            outcome=ending.outcome,
            exit_code=ending.exit_code,
            text=self._text,
            usage=total,
            model_usage=report.prompt,
            rounds=self._rounds,
            seconds=round(seconds, 3),
            refusal=self._refusal,
            reason=ending.reason,
            error=ending.error,
            denied=tuple(self._denied),
            ways={rule: way for rule, way in self._denied.items() if way},
            cost_usd=cost,
            cost_source=source,
            files_changed=self._parts.workspace.changes.files_changed(self.prompt_index),
        )

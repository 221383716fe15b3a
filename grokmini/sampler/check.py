"""What `grokmini doctor` asks a model: is there a key, a server, the model, a stream, a tool call?"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal, NamedTuple

import msgspec

from grokmini.net.failures import host_of
from grokmini.net.http import HttpClient
from grokmini.protocol.errors import SampleError, SampleErrorKind
from grokmini.protocol.items import user_text
from grokmini.protocol.model import ModelRequest, ModelSpec, Usage
from grokmini.protocol.samples import (
    Adapted,
    ReasoningDelta,
    SampleEvent,
    TextDelta,
    ToolCallComplete,
    UsageReported,
)
from grokmini.protocol.tools import ToolSpec
from grokmini.sampler.credentials import Credential
from grokmini.sampler.listing import Listed, list_models
from grokmini.sampler.local_window import SMALL, Window, more_room, window_of
from grokmini.sampler.sampler import HttpSampler
from grokmini.text.nearest import nearest

Step = Literal["key", "endpoint", "model", "stream", "tool_call", "window"]
Verdict = Literal["ok", "warning", "failed", "skipped"]

_PARAMETERS = b'{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"]}'
_TOOL = ToolSpec("report_number", "Report a number to the user.", msgspec.Raw(_PARAMETERS))


class Check(NamedTuple):
    """One finding; `fix` says what to do when the verdict is not `ok`."""

    step: Step
    verdict: Verdict
    detail: str
    fix: str = ""


async def check_model(spec: ModelSpec, credential: Credential, local: str = "") -> AsyncGenerator[Check, None]:
    """The findings as they are made. A failed key or connection skips the rest. Never raises `SampleError`.

    `local` is the kind of server on this machine, if it is one.
    """
    if spec.api_backend == "demo":
        yield Check("endpoint", "skipped", "the demonstration has no server")
        return
    key = await _check_key(credential)
    yield key
    if key.verdict == "failed":
        return
    sampler = HttpSampler(lambda _: credential)
    http = HttpClient()
    once = msgspec.structs.replace(spec, max_attempts=1)
    try:
        listed, findings = await _check_list(http, spec, credential)
        for finding in findings:
            yield finding
        streamed = await _check_stream(sampler, once)
        yield streamed
        if streamed.verdict != "failed":
            yield await _check_tool_call(sampler, once)
        window = await window_of(local, spec.base_url, spec.model) if local else Window()
        yield _check_window(spec, listed) if window.now is None else _check_local_window(spec, local, window)
    finally:
        await sampler.close()
        await http.close()


async def _check_key(credential: Credential) -> Check:
    try:
        key = await credential.key()
    except SampleError as error:
        return Check("key", "failed", error.message, error.hint)
    return Check("key", "ok", f"from {credential.source}" if key else "none needed")


async def _check_list(
    http: HttpClient, spec: ModelSpec, credential: Credential
) -> tuple[list[Listed], list[Check]]:
    """The server's list, and what it says of endpoint and model. A server without a list, or that does not show it
    to everybody, is no fault.
    """
    host = host_of(spec.base_url)
    try:
        listed = await list_models(http, spec, credential)
    except SampleError as error:
        if error.kind in (SampleErrorKind.NETWORK, SampleErrorKind.TIMEOUT):
            return [], [Check("endpoint", "failed", error.message, error.hint)]
        what = f"it does not list its models: {error.message}"
        return [], [Check("endpoint", "warning", what, "No harm, as long as it streams.")]
    findings = [Check("endpoint", "ok", f"{host} answers, {_counted(len(listed), 'model')}")]
    ids = [model.id for model in listed]
    if not ids or any(spec.model in (name, name.removeprefix("models/")) for name in ids):
        findings.append(Check("model", "ok", spec.model))
    else:
        near = nearest(spec.model, ids) or ids[:5]
        fix = f"It has: {', '.join(near)}. Choose with --model or [models] default."
        findings.append(Check("model", "warning", f"{host} does not list {spec.model}", fix))
    return listed, findings


async def _check_stream(sampler: HttpSampler, spec: ModelSpec) -> Check:
    request = ModelRequest("doctor-stream", spec, (user_text("Answer with the single word: ready"),))
    events = await _collect(sampler, request)
    if isinstance(events, SampleError):
        step: Step = "key" if events.kind is SampleErrorKind.AUTH else "stream"
        return Check(step, "failed", events.message, events.hint)
    pieces = sum(isinstance(event, TextDelta | ReasoningDelta) for event in events)
    usage = next((event.usage for event in events if isinstance(event, UsageReported)), None)
    detail = f"{_counted(pieces, 'piece')}{_figures(usage)}"
    if usage is None:
        fix = "Costs and context use will be estimates: this server reports no tokens when it streams."
        return Check("stream", "warning", f"{detail}, no usage", fix)
    return Check("stream", "ok", detail)


async def _check_tool_call(sampler: HttpSampler, spec: ModelSpec) -> Check:
    prompt = user_text("Call the tool report_number with the number 7. Do not answer in words.")
    if not spec.supports.tools:
        return Check("tool_call", "warning", "supports.tools is off", "Without tools this model can only talk.")
    events = await _collect(sampler, ModelRequest("doctor-tool", spec, (prompt,), tools=(_TOOL,)))
    if isinstance(events, SampleError):
        return Check("tool_call", "failed", events.message, events.hint)
    for event in events:
        if isinstance(event, Adapted):
            return Check("tool_call", "warning", "the server takes no tools for this model", event.text)
    calls = [event.call for event in events if isinstance(event, ToolCallComplete)]
    if any(call.name == _TOOL.name and "7" in call.arguments for call in calls):
        return Check("tool_call", "ok", "called as asked")
    fix = "It can talk but hardly work as an agent. Use a model made for tool calls; llama.cpp needs --jinja."
    return Check("tool_call", "warning", "the model did not call the tool it was asked to call", fix)


def _check_window(spec: ModelSpec, listed: list[Listed]) -> Check:
    told = next((model.window for model in listed if model.id == spec.model and model.window), None)
    if told is None or told >= spec.context_window:
        says = "does not say" if told is None else f"has {told}"
        return Check("window", "ok", f"{spec.context_window} tokens; the server {says}")
    return Check(
        "window",
        "warning",
        f"set to {spec.context_window} tokens, the server says {told}",
        f"Set context_window = {told} in the model's [model.NAME] entry, or start the server with more.",
    )


def _check_local_window(spec: ModelSpec, kind: str, window: Window) -> Check:
    """What the server really gives the model, which by now it has loaded."""
    now = window.now or 0
    detail = f"{now:,} tokens as it runs"
    if window.most and window.most > now:
        detail += f"; the model could take {window.most:,}"
    if now >= SMALL:
        return Check("window", "ok", detail)
    return Check("window", "warning", f"{detail}; work on code needs more", more_room(kind))


async def _collect(sampler: HttpSampler, request: ModelRequest) -> list[SampleEvent] | SampleError:
    try:
        async with aclosing(sampler.sample(request)) as stream:
            return [event async for event in stream]
    except SampleError as error:
        return error


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _figures(usage: Usage | None) -> str:
    return f", {usage.total_input} + {usage.output} tokens" if usage else ""

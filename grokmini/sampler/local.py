"""Model servers on this machine: asked who they are, on loopback only, within 200 ms.

A port says nothing, so only a server that names itself counts. Nothing of the person is sent to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from grokmini.net.http import Deadlines, HttpClient
from grokmini.protocol.errors import SampleError, UsageError
from grokmini.protocol.model import ModelSpec
from grokmini.sampler.catalogue import ModelCatalogue, Provider
from grokmini.sampler.choose import AskServer, Chosen, LocalServer
from grokmini.sampler.credentials import NO_KEY
from grokmini.sampler.listing import list_models, parse_models, parse_window

DISCOVERY_SECONDS = 0.2


class _Mark(NamedTuple):
    """How a kind of server names itself: a path beside `/v1`, and a key its answer has."""

    path: str
    key: str


_MARKS = {
    "ollama": _Mark("/api/version", "version"),
    "llamacpp": _Mark("/props", "default_generation_settings"),
    "lmstudio": _Mark("/api/v0/models", "data"),
    "vllm": _Mark("/version", "version"),
}


async def find_local(providers: Mapping[str, Provider], seconds: float | None = None) -> list[LocalServer]:
    """The servers that answer in time, in the catalogue's order, with their models."""
    seconds = DISCOVERY_SECONDS if seconds is None else seconds
    local = [(name, row) for name, row in providers.items() if row.local and name in _MARKS]
    if not local:
        return []
    http = HttpClient(use_proxies=False)
    tasks = [
        asyncio.create_task(_look(http, name, row, Deadlines(seconds, seconds, seconds))) for name, row in local
    ]
    try:
        done, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        found = [task.result() for task in tasks if task in done]
    finally:
        await http.close()
    return [server for server in found if server is not None]


async def only_model(catalogue: ModelCatalogue, ask: AskServer) -> Chosen:
    """The one model of the server that `GROKMINI_BASE_URL` names: its only one, or the only one loaded.

    Raises `UsageError` naming `--model` when there is more than one to choose from, and `SampleError`.
    """
    spec = ModelSpec(name="", model="", base_url=ask.base_url)
    http = HttpClient()
    try:
        models = await list_models(http, spec, ask.credential)
    finally:
        await http.close()
    loaded = [model for model in models if model.loaded]
    candidates = loaded if len(loaded) == 1 else models
    if len(candidates) == 1:
        found = catalogue.find(candidates[0].id)
        if candidates[0].window:
            found = msgspec.structs.replace(found, context_window=candidates[0].window)
        return Chosen(found, catalogue.credential(found), "the only model of GROKMINI_BASE_URL")
    if not models:
        raise UsageError(f"{ask.base_url} lists no models", "Name one with --model NAME or GROKMINI_MODEL.")
    names = ", ".join(model.id for model in models[:8])
    raise UsageError(
        f"{ask.base_url} has {len(models)} models", f"Choose with --model NAME or GROKMINI_MODEL: {names}."
    )


async def _look(http: HttpClient, name: str, row: Provider, limits: Deadlines) -> LocalServer | None:
    """Ask one port; anything unexpected means that the server is not there."""
    root = row.base_url.removesuffix("/v1")
    mark = _MARKS[name]
    answer = await _get_json(http, root + mark.path, limits)
    if not isinstance(answer, dict) or mark.key not in answer:
        return None
    if name == "lmstudio":
        listed = [model if model.loaded else model._replace(window=None) for model in parse_models(answer)]
    else:
        try:
            listed = await list_models(http, ModelSpec(name="", model="", base_url=row.base_url), NO_KEY)
        except SampleError:
            return None
    loaded = [model.id for model in listed if model.loaded]
    windows = {model.id: model.window for model in listed if model.window}
    if name == "ollama":
        running = parse_models(await _get_json(http, f"{root}/api/ps", limits))
        loaded = [model.id for model in running]
        windows |= {model.id: model.window for model in running if model.window}
    elif name == "llamacpp":
        # The list tells the size that the model was trained with; what counts is how the server was started.
        window = parse_window(answer[mark.key])
        windows = {model.id: window for model in listed} if window else {}
    if name in ("llamacpp", "vllm"):
        loaded = [model.id for model in listed]
    names = tuple(model.id for model in listed)
    return LocalServer(name, row.title, row.base_url, names, tuple(loaded), windows)


async def _get_json(http: HttpClient, url: str, limits: Deadlines) -> Any:
    """The decoded answer, None for no answer or no JSON."""
    try:
        reply = await http.get(url, headers={}, deadlines=limits)
        try:
            return msgspec.json.decode(await reply.read()) if reply.status == 200 else None
        finally:
            await reply.close()
    except (SampleError, msgspec.DecodeError):
        return None

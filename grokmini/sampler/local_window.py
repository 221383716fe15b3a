"""The context size that a server on this machine really runs a model with: often far less than the model could take."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from grokmini.net.http import Deadlines, HttpClient, HttpReply
from grokmini.protocol.errors import SampleError
from grokmini.sampler.listing import parse_models, parse_window

SECONDS = 2.0
SMALL = 16_000
"""A window of fewer tokens hardly holds what an agent reads."""

_SET_BY = {
    "ollama": "OLLAMA_CONTEXT_LENGTH=32768 ollama serve",
    "llamacpp": "llama-server -c 32768",
    "lmstudio": "the context length with which LM Studio loads the model",
    "vllm": "vllm serve --max-model-len 32768",
}
_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)", re.MULTILINE)


class Window(NamedTuple):
    """Tokens: `now` as the model runs or is set up to run, `most` what it could take. None: the server does not say."""

    now: int | None = None
    most: int | None = None


def in_words(title: str, model: str, window: Window) -> str:
    """What there is to say of a window that is known."""
    most = f"; the model could take {window.most:,}" if window.most and window.most > (window.now or 0) else ""
    return f"{title} runs {model} with a window of {window.now:,} tokens{most}"


def more_room(kind: str) -> str:
    """How that kind of server gives a model a larger window."""
    return f"More room, if the memory is there: {_SET_BY[kind]}."


async def window_of(kind: str, base_url: str, model: str, seconds: float = SECONDS) -> Window:
    """What the server says; nothing when it does not answer in time."""
    limits = Deadlines(seconds, seconds, seconds)
    http = HttpClient(use_proxies=False)
    try:
        return await _ask(http, kind, base_url, model, limits)
    except (SampleError, msgspec.DecodeError):
        return Window()
    finally:
        await http.close()


async def _ask(http: HttpClient, kind: str, base_url: str, model: str, limits: Deadlines) -> Window:
    root = base_url.removesuffix("/v1")
    if kind == "ollama":
        return await _ask_ollama(http, root, model, limits)
    if kind == "llamacpp":
        props = await _get(http, f"{root}/props", limits)
        return Window(parse_window(props.get("default_generation_settings")))
    path = "/api/v0/models" if kind == "lmstudio" else "/v1/models"
    entries = (await _get(http, root + path, limits)).get("data")
    entry = _entry(entries, model)
    if kind == "lmstudio":
        return Window(_size(entry, "loaded_context_length"), _size(entry, "max_context_length"))
    return Window(_size(entry, "max_model_len"))


async def _ask_ollama(http: HttpClient, root: str, model: str, limits: Deadlines) -> Window:
    """As it runs, else as its own parameters say; what Ollama itself is set to, it does not tell."""
    names = {model, f"{model}:latest"}
    running = parse_models(await _get(http, f"{root}/api/ps", limits))
    body = msgspec.json.encode({"model": model})
    headers = {"content-type": "application/json"}
    shown = await _json(await http.post(f"{root}/api/show", headers=headers, body=body, deadlines=limits))
    facts = shown.get("model_info")
    most = next(
        (
            size
            for key, size in (facts if isinstance(facts, dict) else {}).items()
            if str(key).endswith(".context_length") and isinstance(size, int)
        ),
        None,
    )
    now = next((found.window for found in running if found.id in names and found.window), None)
    if now is None and (said := _NUM_CTX.search(str(shown.get("parameters", "")))):
        now = int(said[1])
    return Window(now, most)


def _entry(entries: Any, model: str) -> dict[str, Any]:
    listed = entries if isinstance(entries, list) else []
    return next((entry for entry in listed if isinstance(entry, dict) and entry.get("id") == model), {})


def _size(entry: Mapping[str, Any], key: str) -> int | None:
    size = entry.get(key)
    return size if isinstance(size, int) and size > 0 else None


async def _get(http: HttpClient, url: str, limits: Deadlines) -> dict[str, Any]:
    return await _json(await http.get(url, headers={}, deadlines=limits))


async def _json(reply: HttpReply) -> dict[str, Any]:
    """The decoded answer, empty for anything but an object."""
    try:
        found = msgspec.json.decode(await reply.read()) if reply.status == 200 else {}
        return found if isinstance(found, dict) else {}
    finally:
        await reply.close()

"""The models that a server says it has."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from grokmini import __version__
from grokmini.net.failures import host_of
from grokmini.net.http import Deadlines, HttpClient
from grokmini.protocol.errors import SampleError, SampleErrorKind
from grokmini.protocol.model import ModelSpec
from grokmini.sampler.addressing import extra_headers, with_query
from grokmini.sampler.asked import Asked
from grokmini.sampler.classify import classify, decode_error
from grokmini.sampler.credentials import Credential

_LOOK = Deadlines(connect=5.0, first_byte=15.0, between_chunks=15.0)
_WINDOW_KEYS = (
    "loaded_context_length",
    "context_window",
    "context_length",
    "max_model_len",
    "max_context_length",
    "n_ctx",
)


class Listed(NamedTuple):
    """A model of a server's list. `window` in tokens and `loaded` where the server tells."""

    id: str
    window: int | None = None
    loaded: bool = False


async def list_models(http: HttpClient, spec: ModelSpec, credential: Credential) -> list[Listed]:
    """`GET /models`. Raises `SampleError`."""
    key = await credential.key()
    asked = Asked(spec, host_of(spec.base_url), credential.source, key)
    headers = {"user-agent": f"grokmini/{__version__}", **extra_headers(spec)}
    if key:
        headers["authorization"] = f"Bearer {key}"
    url = with_query(f"{spec.base_url}/models", spec.query_params)
    status, body = await _get(http, url, headers)
    if status != 200:
        raise classify(status, decode_error(body), asked)
    try:
        return parse_models(msgspec.json.decode(body))
    except msgspec.DecodeError as error:
        raise SampleError(
            SampleErrorKind.PROTOCOL,
            f"{asked.host} has no list of models under {asked.clean(spec.base_url)}/models",
            "Check that address (base_url, or GROKMINI_BASE_URL); most servers want it to end in /v1.",
        ) from error


def parse_models(value: Any) -> list[Listed]:
    """The entries under `data` or `models`, or of a bare list; what has no id is left out."""
    if isinstance(value, dict):
        value = value.get("data") or value.get("models")
    entries = [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
    listed = [_listed(entry) for entry in entries]
    return [model for model in listed if model.id]


def parse_window(*places: Any) -> int | None:
    """The context size in tokens that one of these objects tells under any of its usual names."""
    for place in places:
        if isinstance(place, dict):
            for key in _WINDOW_KEYS:
                size = place.get(key)
                if isinstance(size, int) and size > 0:
                    return size
    return None


def _listed(entry: dict[str, Any]) -> Listed:
    name = next((entry[key] for key in ("id", "model", "name") if isinstance(entry.get(key), str)), "")
    return Listed(name, parse_window(entry, entry.get("meta")), entry.get("state") == "loaded")


async def _get(http: HttpClient, url: str, headers: dict[str, str]) -> tuple[int, bytes]:
    reply = await http.get(url, headers=headers, deadlines=_LOOK)
    try:
        return reply.status, await reply.read()
    finally:
        await reply.close()

"""Where and how a model is asked: time limits, headers and query from its spec."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlencode

from grokmini.net.failures import is_private
from grokmini.net.http import Deadlines
from grokmini.protocol.model import ModelRequest, ModelSpec

FIRST_BYTE = 120.0
FIRST_BYTE_REASONING = 600.0
FIRST_BYTE_PRIVATE = 1_800.0


def first_byte_seconds(spec: ModelSpec) -> float:
    """The configured limit, else 1,800 s on private addresses (a model may load), 600 s with reasoning, 120 s."""
    if spec.limits.first_byte is not None:
        return spec.limits.first_byte
    if is_private(spec.base_url):
        return FIRST_BYTE_PRIVATE
    return FIRST_BYTE_REASONING if spec.reasoning_effort else FIRST_BYTE


def reads_text_calls(request: ModelRequest) -> bool:
    """Whether calls may stand in the text: as the model is marked, else where the server is one of the person's own."""
    marked = request.model.supports.text_calls
    return bool(request.tools) and (is_private(request.model.base_url) if marked is None else marked)


def deadlines_of(spec: ModelSpec) -> Deadlines:
    """The time limits of one request."""
    return Deadlines(spec.limits.connect, first_byte_seconds(spec), spec.limits.between_chunks)


def extra_headers(spec: ModelSpec, env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The configured headers; those from the environment win, unset or blank ones are left out."""
    headers = {name.lower(): value for name, value in spec.extra_headers.items()}
    for name, variable in spec.env_http_headers.items():
        if value := env.get(variable, "").strip():
            headers[name.lower()] = value
    return headers


def with_query(url: str, query: Mapping[str, str]) -> str:
    """The address with the configured query parameters."""
    return f"{url}{'&' if '?' in url else '?'}{urlencode(query)}" if query else url

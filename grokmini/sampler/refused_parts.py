"""Parts of a request that some servers refuse, and going on without them."""

from __future__ import annotations

import re
from typing import Final, Literal

import msgspec

from grokmini.net.failures import host_of, is_private
from grokmini.protocol.errors import SampleError, SampleErrorKind
from grokmini.protocol.model import ModelRequest, ModelSpec
from grokmini.protocol.samples import Adapted

Part = Literal["tools", "stream_usage"]
TOOLS: Final = "tools"
STREAM_USAGE: Final = "stream_usage"

_NO_TOOLS = re.compile(
    r"(?:does not|doesn't|do not|don't|cannot|not able to) (?:support|accept|take|allow|use|call) "
    r"(?:the )?(?:parameter )?[`'\"]?(?:tools?\b|functions?\b|tool[ _-](?:use|call)|function[ _-]call)"
    r"|(?:\btools?|tool[ _-](?:use|calls?|calling)|function[ _-]?call(?:s|ing)?)[`'\"]? (?:is|are) not "
    r"(?:supported|available|enabled|allowed)"
    r"|tools param requires --jinja|requires --enable-auto-tool-choice|no endpoints found that support tool use",
    re.IGNORECASE,
)


def refused_part(message: str) -> Part | None:
    """The part of a request that a server's message says it does not take."""
    if "stream_options" in message:
        return STREAM_USAGE
    return TOOLS if _NO_TOOLS.search(message) else None


class Refusals:
    """What servers refused so far, by address and model: they are not asked for it again."""

    def __init__(self) -> None:
        self._parts: dict[tuple[str, str], set[Part]] = {}

    def fit(self, request: ModelRequest) -> ModelRequest:
        """The request without what its server refused."""
        parts = self._parts.get(_key(request.model))
        if not parts:
            return request
        changed = msgspec.structs.replace(request.model.supports, **dict.fromkeys(parts, False))
        tools = () if TOOLS in parts else request.tools
        return msgspec.structs.replace(
            request, model=msgspec.structs.replace(request.model, supports=changed), tools=tools
        )

    def learn(self, error: SampleError, request: ModelRequest) -> Adapted | None:
        """What to say when the request can be made again without a part; None when it cannot.

        Without tools only where the server is one of the person's own: elsewhere that would be paid for.
        """
        part = refused_part(error.message) if error.kind is SampleErrorKind.BAD_REQUEST else None
        spec = request.model
        if part == STREAM_USAGE and spec.supports.stream_usage:
            text = f"{host_of(spec.base_url)} does not count tokens while it streams: figures are estimates."
        elif part == TOOLS and request.tools and spec.supports.tools and is_private(spec.base_url):
            text = (
                f"{spec.name} cannot call tools ({error.message}), so it can talk but neither read nor change "
                f"files, nor run commands. {error.hint}"
            )
        else:
            return None
        self._parts.setdefault(_key(spec), set()).add(part)
        return Adapted(text)


def _key(spec: ModelSpec) -> tuple[str, str]:
    return spec.base_url, spec.model

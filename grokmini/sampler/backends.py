"""The model APIs: a backend is one class, named here, imported when first used."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from grokmini.protocol.errors import UsageError
from grokmini.protocol.model import ModelRequest
from grokmini.protocol.samples import SampleEvent
from grokmini.sampler.credentials import Credential

if TYPE_CHECKING:
    from grokmini.net.http import HttpClient

BACKENDS = {
    "chat_completions": "grokmini.sampler.chat_completions:ChatCompletions",
    "demo": "grokmini.sampler.demo:Demo",
}
"""`api_backend` to the class that speaks it."""


class Backend(Protocol):
    """One model API. Constructed with a function that gives the shared HTTP client."""

    def __init__(self, connect: Callable[[], HttpClient]) -> None: ...

    def stream(
        self, request: ModelRequest, credential: Credential, *, fresh_key: bool = False
    ) -> AsyncGenerator[SampleEvent, None]:
        """One attempt: neutral events, the last of them `Finished`. `fresh_key` asks for the key anew.

        Raises `SampleError`. Never retries. Closing the generator closes the connection.
        """


def load_backend(name: str, connect: Callable[[], HttpClient]) -> Backend:
    """The backend of that name. Raises `UsageError` for one that does not exist (yet)."""
    if name not in BACKENDS:
        raise UsageError(
            f"the backend {name!r} is not available",
            f"Set api_backend to one of: {', '.join(sorted(BACKENDS))}.",
        )
    module, _, attribute = BACKENDS[name].partition(":")
    backend: type[Backend] = getattr(import_module(module), attribute)
    return backend(connect)

"""The sampler: one good reply or an error, with the attempts in between (spec: models.md, "Sampler")."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING

from grokmini.protocol.errors import SampleError, SampleErrorKind
from grokmini.protocol.model import ModelRequest, ModelSpec
from grokmini.protocol.samples import Adapted, Retrying, SampleEvent
from grokmini.sampler.backends import Backend, load_backend
from grokmini.sampler.credentials import Credential
from grokmini.sampler.waiting import backoff

if TYPE_CHECKING:
    from grokmini.net.http import HttpClient
    from grokmini.sampler.refused_parts import Refusals

MAX_CONCURRENT = 8
SPREAD_SECONDS = 0.5
"""Waits that a server asked for are lengthened by up to this, so that clients do not come back as one."""


class HttpSampler:
    """Implements `session.ports.Sampler` over the backends.

    `credential_for` gives the way to a model's key. `sleep` and `random` are seams for tests.
    """

    def __init__(
        self,
        credential_for: Callable[[ModelSpec], Credential],
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        self._credential_for = credential_for
        self._sleep = sleep
        self._random = random
        self._backends: dict[str, Backend] = {}
        self._refusals: Refusals | None = None
        self._http: HttpClient | None = None
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)

    async def sample(self, request: ModelRequest) -> AsyncGenerator[SampleEvent, None]:
        """Stream one reply; the last event is `Finished`. Raises `SampleError`, and `UsageError` for a backend
        that does not exist. Closing the generator closes the connection.
        """
        backend = self._backend(request.model.api_backend)
        attempts = _Attempts(request.model, self._random)
        credential = self._credential_for(request.model)
        async with self._slots:
            while True:
                gave_out = False
                if self._refusals is not None:
                    request = self._refusals.fit(request)
                stream = backend.stream(request, credential, fresh_key=attempts.fresh_key)
                try:
                    async for event in stream:
                        gave_out = True
                        yield event
                    return
                except SampleError as error:
                    adapted = None if gave_out else self._learn(error, request)
                    retrying = None if adapted else attempts.after(error, credential, gave_out=gave_out)
                finally:
                    await stream.aclose()
                if adapted is not None:
                    yield adapted
                if retrying is not None:
                    yield retrying
                    await self._sleep(retrying.delay)

    async def close(self) -> None:
        """Close all connections."""
        if self._http is not None:
            await self._http.close()

    def _learn(self, error: SampleError, request: ModelRequest) -> Adapted | None:
        """What to say before the request is made again without a part that the server refused."""
        if error.kind is not SampleErrorKind.BAD_REQUEST:
            return None
        if self._refusals is None:
            from grokmini.sampler.refused_parts import Refusals

            self._refusals = Refusals()
        return self._refusals.learn(error, request)

    def _backend(self, name: str) -> Backend:
        if name not in self._backends:
            self._backends[name] = load_backend(name, self._connect)
        return self._backends[name]

    def _connect(self) -> HttpClient:
        if self._http is None:
            from grokmini.net.http import HttpClient

            self._http = HttpClient()
        return self._http


class _Attempts:
    """Counts the attempts of one request and decides what follows a failed one."""

    def __init__(self, model: ModelSpec, random: Callable[[], float]) -> None:
        self._allowed = max(1, model.max_attempts)
        self._random = random
        self._attempt = 1
        self._refreshed = False
        self.fresh_key = False

    def after(self, error: SampleError, credential: Credential, *, gave_out: bool) -> Retrying:
        """The retry that follows, or the error itself, raised."""
        self.fresh_key = False
        delay = 0.0
        if error.kind is SampleErrorKind.AUTH and credential.can_refresh and not self._refreshed:
            self._refreshed = self.fresh_key = True
        elif not error.retryable or self._allowed == 1:
            raise error
        elif self._attempt >= self._allowed:
            raise self._last(error) from error
        else:
            delay = self._wait(error)
            self._attempt += 1
        return Retrying(
            attempt=self._attempt,
            of=self._allowed,
            delay=delay,
            kind=error.kind.value,
            message=error.message,
            discarded=gave_out,
        )

    def _last(self, error: SampleError) -> SampleError:
        """The error of the last attempt, which says how many there were."""
        return SampleError(
            error.kind,
            f"{error.message} (tried {self._attempt} times)",
            error.hint,
            retryable=error.retryable,
            status=error.status,
            retry_after=error.retry_after,
            window=error.window,
        )

    def _wait(self, error: SampleError) -> float:
        if error.retry_after is None:
            return backoff(self._attempt, self._random)
        return error.retry_after + SPREAD_SECONDS * self._random()

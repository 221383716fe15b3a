"""How large the window of a local model really is: known once it has answered, and its server has loaded it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

from grokmini.protocol.model import ModelRequest, ModelSpec
from grokmini.protocol.samples import SampleEvent
from grokmini.sampler.catalogue import ModelCatalogue
from grokmini.sampler.sampler import HttpSampler

if TYPE_CHECKING:
    from grokmini.sampler.local_window import Window

Learnt = Callable[[ModelSpec, "Window", str], None]
"""Told a model, its window, and what a person should know of it, "" for nothing."""


class WindowWatch:
    """A sampler that asks a local server, after a model's first reply and once, what window the model has."""

    def __init__(self, sampler: HttpSampler, catalogue: ModelCatalogue, learnt: Learnt) -> None:
        self._sampler = sampler
        self._catalogue = catalogue
        self._learnt = learnt
        self._asked: set[tuple[str, str]] = set()

    def sample(self, request: ModelRequest) -> AsyncGenerator[SampleEvent, None]:
        """See `session.ports.Sampler`."""
        spec = request.model
        row = self._catalogue.local_row(spec)
        if not row or (spec.base_url, spec.model) in self._asked:
            return self._sampler.sample(request)
        return self._watched(request, row)

    async def close(self) -> None:
        """Close all connections."""
        await self._sampler.close()

    async def _watched(self, request: ModelRequest, row: str) -> AsyncGenerator[SampleEvent, None]:
        async with aclosing(self._sampler.sample(request)) as stream:
            async for event in stream:
                yield event
        from grokmini.sampler.local_window import SMALL, in_words, more_room, window_of

        spec = request.model
        self._asked.add((spec.base_url, spec.model))
        window = await window_of(row, spec.base_url, spec.model)
        if window.now is None:
            return
        said = ""
        if window.now < SMALL:
            title = self._catalogue.providers[row].title
            said = f"{in_words(title, spec.model, window)}: what is beyond it the model does not see. {more_room(row)}"
        self._learnt(spec, window, said)

"""What model servers said they have: asked when a person wants to know, remembered for the next start."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from grokmini.config.paths import Places, write_private
from grokmini.protocol.errors import SampleError
from grokmini.protocol.model import ModelSpec
from grokmini.sampler.credentials import Credential
from grokmini.text.nearest import nearest

FILE = "models.json"
ASK_SECONDS = 3.0
MOST_SERVERS, MOST_MODELS = 50, 2_000
NEAR = 5


class ModelLists:
    """The lists by base URL, kept in the cache folder, if there is one; what is unreadable there counts as nothing."""

    def __init__(self, places: Places | None) -> None:
        self._file = places.cache / FILE if places is not None else None
        self._lists: dict[str, list[str]] | None = None

    def known(self, base_url: str) -> Sequence[str]:
        """What that server said last, without asking it."""
        return self._all().get(base_url, ())

    async def ask(self, spec: ModelSpec, credential: Credential) -> Sequence[str]:
        """What the server of that model has; what it said last when it does not answer within seconds."""
        from grokmini.net.http import HttpClient
        from grokmini.sampler.listing import list_models

        http = HttpClient()
        try:
            async with asyncio.timeout(ASK_SECONDS):
                listed = await list_models(http, spec, credential)
        except (SampleError, TimeoutError):
            return self.known(spec.base_url)
        finally:
            await http.close()
        names = [model.id for model in listed]
        await asyncio.to_thread(self._remember, spec.base_url, names)
        return names

    def doubt(self, spec: ModelSpec) -> str:
        """What speaks against a model, as far as it is known without asking: "" for nothing."""
        names = self.known(spec.base_url) if spec.base_url else ()
        if not names or {spec.model, f"{spec.model}:latest", f"models/{spec.model}"} & set(names):
            return ""
        from grokmini.net.failures import host_of

        near = nearest(spec.model, names, NEAR)
        has = f"near: {', '.join(near)}" if near else f"it has: {', '.join(names[:NEAR])}"
        more = " …" if not near and len(names) > NEAR else ""
        return f"{host_of(spec.base_url)} does not list {spec.model}; {has}{more}"

    def _all(self) -> dict[str, list[str]]:
        if self._lists is None:
            self._lists = {}
            with suppress(OSError, ValueError):
                if self._file is not None:
                    self._lists = msgspec.json.decode(self._file.read_bytes(), type=dict[str, list[str]])
        return self._lists

    def _remember(self, base_url: str, names: list[str]) -> None:
        lists = self._all()
        if lists.get(base_url) == names:
            return
        lists.pop(base_url, None)
        lists[base_url] = names[:MOST_MODELS]
        for oldest in list(lists)[:-MOST_SERVERS]:
            del lists[oldest]
        if self._file is not None:
            with suppress(OSError):
                write_private(self._file, msgspec.json.encode(lists))

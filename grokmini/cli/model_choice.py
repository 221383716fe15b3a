"""The models of one run of the REPL: what `/model` lists, completes and takes."""

from __future__ import annotations

from collections.abc import Sequence

from grokmini.cli.model_lists import ModelLists
from grokmini.cli.models import Around, in_use, look_around, rows
from grokmini.cli.root import Root
from grokmini.protocol.errors import UsageError
from grokmini.protocol.model import ModelSpec


class ModelChoice:
    """Names that can be chosen. Servers are asked when somebody wants a list or names one, never before."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._lists = ModelLists(root.places)
        self._around: Around | None = None
        self._had: list[str] = []
        self._doubted = ""

    def had(self, name: str) -> None:
        """A session ran with that model: it stays in the list."""
        if name and name not in self._had:
            self._had.append(name)

    def names(self) -> Sequence[str]:
        """The names that are known without asking anybody."""
        base_url = self._root.catalogue.env_base_url
        around = self._around or Around(served=self._lists.known(base_url) if base_url else ())
        providers = self._root.catalogue.providers
        same = {name for name, row in providers.items() if row.model in self._had}
        known = [row.name for row in rows(self._root, around, in_use(self._root, around)) if row.usable]
        return [name for name in dict.fromkeys((*known, *self._had)) if " " not in name and name not in same]

    async def look(self) -> Sequence[str]:
        """The same after asking the servers that are there."""
        self._around = await look_around(self._root, self._lists)
        return self.names()

    async def meant(self, name: str) -> tuple[str, str]:
        """The whole name of a model, and what speaks against it, "" for nothing or when it was said already.

        Raises `UsageError` for a name that nobody knows.
        """
        catalogue, whole = self._root.catalogue, name
        try:
            spec = catalogue.find(name)
        except UsageError as unknown:
            spec = await self._on_this_machine(name, unknown)
            whole = spec.name
        if whole in self._had or spec.api_backend == "demo":
            return whole, ""
        if not self._lists.known(spec.base_url) or self._lists.doubt(spec):
            await self._lists.ask(spec, catalogue.credential(spec))
        doubt = self._lists.doubt(spec)
        if self._doubted == name:
            return whole, ""
        self._doubted = name if doubt else ""
        return whole, doubt

    async def _on_this_machine(self, name: str, unknown: UsageError) -> ModelSpec:
        from grokmini.sampler.choose import called_here

        await self.look()
        local = self._around.local if self._around else ()
        return called_here(self._root.catalogue, local, name, unknown)

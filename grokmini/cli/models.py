"""`grokmini models`: what can be written after `--model`, and what is there right now."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from grokmini.cli.option import CommandSpec, Option

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed
    from grokmini.cli.root import Root
    from grokmini.sampler.catalogue import ModelCatalogue
    from grokmini.sampler.choose import LocalServer

SPEC = CommandSpec(
    options=(Option(("--json",), "json", "one JSON array"),),
    examples=("grokmini models", "grokmini models --json"),
    about="Lists what --model takes: your own models, providers, and servers on this machine.",
)


class Row(NamedTuple):
    """A model: its name, whether it can be used now, and what it is or what it lacks."""

    name: str
    usable: bool
    note: str


def run(parsed: Parsed) -> int:
    """Print one line a model. Only servers on this machine are asked anything."""
    import asyncio

    from grokmini.cli.options import Options
    from grokmini.cli.root import load_root
    from grokmini.sampler.local import find_local
    from grokmini.text.sanitise import sanitise

    root = load_root(Options())
    local = asyncio.run(find_local(root.catalogue.providers))
    found = list(rows(root, local))
    if parsed.flag("json"):
        import msgspec

        listed = [row._asdict() for row in found]
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(listed), indent=2).decode() + "\n")
        return 0
    for row in found:
        mark = "ok" if row.usable else "--"
        sys.stdout.write(sanitise(f"{mark}  {row.name:<32} {row.note}", newlines=False) + "\n")
    sys.stdout.write("\nUse one: grokmini --model NAME. Test it: grokmini doctor --model NAME\n")
    return 0


def rows(root: Root, local: Sequence[LocalServer]) -> Iterator[Row]:
    """The user's own models, those of the environment, the providers', the local ones, the demo."""
    from grokmini.sampler.backends import BACKENDS

    catalogue = root.catalogue
    providers = catalogue.providers
    own = [name for name in catalogue.names if name not in providers and name != "demo"]
    for name in own:
        yield Row(name, True, f"[model.{name}] at {catalogue.find(name).base_url}")
    if catalogue.env_base_url:
        name = os.environ.get("GROKMINI_MODEL", "") or "(its only model)"
        yield Row(name, True, f"GROKMINI_BASE_URL {catalogue.env_base_url}")
    for name, provider in providers.items():
        if provider.model and provider.api_backend in BACKENDS:
            has_key = catalogue.has_key(name)
            note = f"{provider.title} {provider.model}" + ("" if has_key else f" (set {provider.keys[0]})")
            yield Row(name, has_key, note)
    for server in local:
        for model in server.models:
            loaded = ", loaded" if model in server.loaded else ""
            yield Row(f"{server.provider}/{model}", True, f"{server.title} at {server.base_url}{loaded}")
    yield Row("demo", True, "answers from a script, to see how it works")


def usable_names(catalogue: ModelCatalogue) -> list[str]:
    """The names that can be chosen as they stand, without those of providers that have no key here."""
    providers = catalogue.providers
    return [name for name in catalogue.names if name not in providers or catalogue.has_key(name)]

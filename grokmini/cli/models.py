"""`grokmini models`: what can be written after `--model`, and what is there right now."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from grokmini.cli.option import CommandSpec, Option

if TYPE_CHECKING:
    from grokmini.cli.model_lists import ModelLists
    from grokmini.cli.parse import Parsed
    from grokmini.cli.root import Root
    from grokmini.sampler.choose import LocalServer

SPEC = CommandSpec(
    options=(Option(("--json",), "json", "one JSON array"),),
    examples=("grokmini models", "grokmini models --json"),
    about="Lists what --model takes: your own models, those of the server that GROKMINI_BASE_URL names, providers, and "
    "servers on this machine.",
)

MOST_SHOWN = 100
"""Models of one server that are printed; --json has all."""


class Row(NamedTuple):
    """A model: its name, whether it can be used now, what it is or what it lacks, and whether it is the one in use."""

    name: str
    usable: bool
    note: str
    in_use: bool = False


class Around(NamedTuple):
    """What servers said: those on this machine, and the one that the environment names."""

    local: Sequence[LocalServer] = ()
    served: Sequence[str] = ()


def run(parsed: Parsed) -> int:
    """Print one line a model. Servers on this machine are asked, and the one that the environment names."""
    import asyncio

    from grokmini.cli.model_lists import ModelLists
    from grokmini.cli.options import Options
    from grokmini.cli.root import load_root
    from grokmini.text.sanitise import sanitise

    root = load_root(Options())
    around = asyncio.run(look_around(root, ModelLists(root.places)))
    found = list(rows(root, around, in_use(root, around)))
    if parsed.flag("json"):
        import msgspec

        listed = [row._asdict() for row in found]
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(listed), indent=2).decode() + "\n")
        return 0
    for row in found[:MOST_SHOWN]:
        mark = "->" if row.in_use else "ok" if row.usable else "--"
        note = f"{row.note}, in use" if row.in_use else row.note
        sys.stdout.write(sanitise(f"{mark}  {row.name:<32} {note}", newlines=False) + "\n")
    if len(found) > MOST_SHOWN:
        sys.stdout.write(f"    and {len(found) - MOST_SHOWN:,} more: grokmini models --json\n")
    sys.stdout.write("\nUse one: grokmini --model NAME. Test it: grokmini doctor --model NAME\n")
    return 0


async def look_around(root: Root, lists: ModelLists) -> Around:
    """Ask the servers that are there, all at once."""
    import asyncio

    from grokmini.protocol.model import ModelSpec
    from grokmini.sampler.local import find_local

    base_url = root.catalogue.env_base_url
    if not base_url:
        return Around(await find_local(root.catalogue.providers))
    spec = ModelSpec(name="", model="", base_url=base_url)
    asking = lists.ask(spec, root.catalogue.credential(spec))
    local, served = await asyncio.gather(find_local(root.catalogue.providers), asking)
    return Around(local, served)


def in_use(root: Root, around: Around) -> str:
    """The name of the model that would be used here now, "" for none."""
    from grokmini.protocol.errors import UsageError
    from grokmini.sampler.choose import AskServer, Chosen, choose

    default, flag = root.settings.models.default, root.options.model or ""
    try:
        choice = choose(root.catalogue, flag=flag, default=default, env=root.env, local=around.local)
    except UsageError:
        return ""
    if isinstance(choice, AskServer):
        return around.served[0] if len(around.served) == 1 else ""
    return choice.spec.name if isinstance(choice, Chosen) else ""


def rows(root: Root, around: Around, used: str) -> Iterator[Row]:
    """Every model there is, each once; `used` is the name of the one in use, which is among them."""
    found: dict[str, Row] = {}
    for row in _rows(root, around):
        if row.name:
            found.setdefault(row.name, row._replace(in_use=_is_used(root, row.name, used)))
    if used and not any(row.in_use for row in found.values()):
        yield Row(used, True, "chosen by name", in_use=True)
    yield from found.values()


def _is_used(root: Root, name: str, used: str) -> bool:
    """A provider's name stands for its main model."""
    provider = root.catalogue.providers.get(name)
    return bool(used) and (name == used or (provider is not None and provider.model == used))


def _rows(root: Root, around: Around) -> Iterator[Row]:
    """The user's own models, those of the environment, the providers', the local ones, the demo."""
    from grokmini.protocol.errors import UsageError
    from grokmini.sampler.backends import BACKENDS

    catalogue = root.catalogue
    providers = catalogue.providers
    for name in catalogue.entries:
        try:
            yield Row(name, True, f"[model.{name}] at {catalogue.find(name).base_url}")
        except UsageError as error:
            yield Row(name, False, error.message)
    if catalogue.env_base_url:
        names = (root.env.get("GROKMINI_MODEL", "").strip(), *around.served)
        if not any(names):
            yield Row("(its only model)", True, f"GROKMINI_BASE_URL {catalogue.env_base_url}")
        for name in names:
            yield Row(name, True, f"GROKMINI_BASE_URL {catalogue.env_base_url}")
    for name, provider in providers.items():
        if provider.model and provider.api_backend in BACKENDS:
            has_key = catalogue.has_key(name)
            note = f"{provider.title} {provider.model}" + ("" if has_key else f" (set {provider.keys[0]})")
            yield Row(name, has_key, note)
    for server in around.local:
        for model in server.models:
            loaded = ", loaded" if model in server.loaded else ""
            yield Row(f"{server.provider}/{model}", True, f"{server.title} at {server.base_url}{loaded}")
    yield Row("demo", True, "answers from a script, to see how it works")

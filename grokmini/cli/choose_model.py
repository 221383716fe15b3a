"""Which model to talk to (decisions.md, "Models"). A server that is merely there is named before it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from grokmini.cli.report import complain, say
from grokmini.cli.root import Root
from grokmini.protocol.errors import ConfigError, UsageError
from grokmini.protocol.model import ModelSpec
from grokmini.sampler.choose import (
    HOW_TO_CONNECT,
    SHOWN,
    AskServer,
    Chosen,
    NoModel,
    SeveralLocal,
    called_here,
    choose,
    local_by_name,
    local_model,
)
from grokmini.text.some import some_of


class NoModelError(UsageError):
    """No model can be reached."""


class Found(NamedTuple):
    """A model. `server` names the server on this machine that it was found on, when nobody had asked for it."""

    spec: ModelSpec
    server: str = ""


async def choose_model(root: Root) -> ModelSpec:
    """The model to use where nobody can be asked; one that was merely found is told on stderr.

    Raises `NoModelError` when none can be reached, `UsageError` for a name that nobody knows.
    """
    found = await find_model(root)
    if isinstance(found, SeveralLocal):
        names = found.names
        raise NoModelError(
            f"several local models are there: {some_of(names, SHOWN)}",
            f"Choose one: --model {names[0]}. In a terminal, grokmini asks once and remembers it.",
        )
    if found.server:
        say(f"using {found.spec.name} ({found.server}); --model NAME chooses another")
    return found.spec


def confirm_model(root: Root, found: Found | SeveralLocal, read: Callable[[], str]) -> ModelSpec:
    """The same where a person sits: asked once about what was merely found, and the answer is remembered.

    `read` gives the typed line, "" at its end. Raises `NoModelError` when the person wants none of it.
    """
    if isinstance(found, SeveralLocal):
        spec = _pick(root, found, read)
    elif not found.server:
        return found.spec
    else:
        say(f"No model is set up, but {found.server} is running. Use its {found.spec.name} from now on?")
        say("y uses and remembers it, n leaves:")
        if read().strip().lower() not in ("y", "yes"):
            raise NoModelError("no model is set up.", HOW_TO_CONNECT)
        spec = found.spec
    if root.places is not None:
        from grokmini.config.edit import remember_default_model

        try:
            say(f"remembered in {remember_default_model(root.places, spec.name)}")
        except ConfigError as error:
            complain(error)
    return spec


def _pick(root: Root, several: SeveralLocal, read: Callable[[], str]) -> ModelSpec:
    """One of several, by its number, its name or a beginning that only one has."""
    names = several.names
    say("No model is set up, but there are models on this machine:")
    for number, (name, (server, model)) in enumerate(zip(names, several.found, strict=True), 1):
        say(f"{number:>3}  {name}{'  (loaded)' if model in server.loaded else ''}")
    while True:
        say("Number or name of the one to use and remember; Enter leaves:")
        typed = read().strip()
        if not typed:
            raise NoModelError("no model is set up.", HOW_TO_CONNECT)
        if typed.isascii() and typed.isdigit() and 1 <= int(typed) <= len(names):
            return local_model(root.catalogue, *several.found[int(typed) - 1]).spec
        for fits in (str.__eq__, str.startswith):
            meant = [
                pair
                for pair, name in zip(several.found, names, strict=True)
                if fits(name, typed) or fits(pair[1], typed)
            ]
            if len(meant) == 1:
                return local_model(root.catalogue, *meant[0]).spec
        say(f"{typed!r} is none of them")


async def find_model(root: Root) -> Found | SeveralLocal:
    """The model by flag, environment, settings and keys, else on this machine. Raises as `choose_model` does."""
    catalogue, flag, default = root.catalogue, root.options.model or "", root.settings.models.default
    try:
        choice = choose(catalogue, flag=flag, default=default, env=root.env)
    except UsageError as unknown:
        name = flag or root.env.get("GROKMINI_MODEL", "").strip() or default
        return Found(await _by_short_name(root, name, unknown))
    if isinstance(choice, AskServer):
        from grokmini.sampler.local import only_model

        return Found((await only_model(catalogue, choice)).spec)
    if isinstance(choice, Chosen):
        return Found(await as_it_runs(root, choice.spec))
    from grokmini.sampler.local import find_local

    local = await find_local(catalogue.providers)
    choice = choose(catalogue, flag=flag, default=default, env=root.env, local=local)
    if isinstance(choice, Chosen):
        return Found(choice.spec, choice.reason)
    if isinstance(choice, SeveralLocal):
        return choice
    assert isinstance(choice, NoModel)
    raise NoModelError(choice.message, choice.hint)


async def _by_short_name(root: Root, name: str, unknown: UsageError) -> ModelSpec:
    """The model on this machine that is called so without its server's name. Raises `unknown`, with the nearest."""
    from grokmini.sampler.local import find_local

    return called_here(root.catalogue, await find_local(root.catalogue.providers), name, unknown)


async def as_it_runs(root: Root, spec: ModelSpec) -> ModelSpec:
    """A model of a server on this machine with the window that the server tells, if it is there.

    A name that is only by its beginning taken for a provider's, whose key is not there, may be one of theirs too.
    """
    catalogue = root.catalogue
    row = catalogue.providers.get(spec.provider)
    if row is None:
        return spec
    from grokmini.sampler.local import find_local

    if not row.local:
        guessed = spec.name == spec.model and spec.name not in catalogue.names
        if not guessed or catalogue.has_key(spec.provider) or root.env.get("GROKMINI_API_KEY", "").strip():
            return spec
        chosen, _ = local_by_name(catalogue, await find_local(catalogue.providers), spec.name)
        return spec if chosen is None else chosen.spec
    if spec.name != f"{spec.provider}/{spec.model}":
        return spec
    for server in await find_local({spec.provider: row}):
        if spec.model in server.models:
            return local_model(catalogue, server, spec.model).spec
    return spec

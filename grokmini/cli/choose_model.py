"""Which model to talk to (decisions.md, "Models"). A server that is merely there is named before it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from grokmini.cli.report import complain, say
from grokmini.cli.root import Root
from grokmini.protocol.errors import ConfigError, UsageError
from grokmini.protocol.model import ModelSpec
from grokmini.sampler.choose import HOW_TO_CONNECT, AskServer, Chosen, NoModel, choose, local_model


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
    if found.server:
        say(f"using {found.spec.name} ({found.server}); --model NAME chooses another")
    return found.spec


def confirm_model(root: Root, found: Found, read: Callable[[], str]) -> ModelSpec:
    """The same where a person sits: asked once about a model that was merely found, and the yes is remembered.

    `read` gives the typed line, "" at its end. Raises `NoModelError` after a no.
    """
    if not found.server:
        return found.spec
    say(f"No model is set up, but {found.server} is running. Use its {found.spec.name} from now on?")
    say("y uses and remembers it, n leaves:")
    if read().strip().lower() not in ("y", "yes"):
        raise NoModelError("no model is set up.", HOW_TO_CONNECT)
    if root.places is not None:
        from grokmini.config.edit import remember_default_model

        try:
            say(f"remembered in {remember_default_model(root.places, found.spec.name)}")
        except ConfigError as error:
            complain(error)
    return found.spec


async def find_model(root: Root) -> Found:
    """The model by flag, environment, settings and keys, else on this machine. Raises as `choose_model` does."""
    catalogue, flag, default = root.catalogue, root.options.model or "", root.settings.models.default
    choice = choose(catalogue, flag=flag, default=default, env=root.env)
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
    assert isinstance(choice, NoModel)
    raise NoModelError(choice.message, choice.hint)


async def as_it_runs(root: Root, spec: ModelSpec) -> ModelSpec:
    """A model of a server on this machine with the window that the server tells, if it is there."""
    row = root.catalogue.providers.get(spec.provider)
    if row is None or not row.local or spec.name != f"{spec.provider}/{spec.model}":
        return spec
    from grokmini.sampler.local import find_local

    for server in await find_local({spec.provider: row}):
        if spec.model in server.models:
            return local_model(root.catalogue, server, spec.model).spec
    return spec

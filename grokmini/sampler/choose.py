"""Which model to talk to (decisions.md, "Models"): the flag, the environment, the settings, the keys, local.

`choose` is pure. Where only a server can tell (a base URL without a model's name), it says so, and the caller
asks with `sampler.local.only_model`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from grokmini.protocol.errors import UsageError
from grokmini.protocol.model import ModelSpec
from grokmini.sampler.catalogue import ModelCatalogue
from grokmini.sampler.credentials import Credential
from grokmini.text.nearest import nearest
from grokmini.text.some import some_of

SHOWN = 8
"""Names that an error lists."""
HOW_TO_CONNECT = (
    "export XAI_API_KEY=…            or OPENAI_, ANTHROPIC_, OPENROUTER_API_KEY\n"
    "ollama serve                    a local server is found by itself\n"
    "grokmini demo                   see it work without any"
)
"""Three lines for people."""


class LocalServer(NamedTuple):
    """A model server that answered on loopback. `provider` is its row in the catalogue.

    `windows` are the context sizes in tokens of the models of which the server told them.
    """

    provider: str
    title: str
    base_url: str
    models: tuple[str, ...]
    loaded: tuple[str, ...] = ()
    windows: Mapping[str, int] = MappingProxyType({})


class Chosen(NamedTuple):
    """The model to use, the way to its key, and why this one (for the status line and `doctor`)."""

    spec: ModelSpec
    credential: Credential
    reason: str


class AskServer(NamedTuple):
    """The environment names a server but no model: the server has to be asked for its list."""

    base_url: str
    credential: Credential


class NoModel(NamedTuple):
    """There is no model. `message` says why, `hint` how to connect one."""

    message: str
    hint: str = HOW_TO_CONNECT


class SeveralLocal(NamedTuple):
    """Servers on this machine have several models, `found`, loaded ones first, and not just one of them is loaded."""

    found: tuple[tuple[LocalServer, str], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What can be written after `--model`."""
        return tuple(f"{server.provider}/{model}" for server, model in self.found)


Choice: TypeAlias = Chosen | AskServer | SeveralLocal | NoModel


def choose(
    catalogue: ModelCatalogue,
    *,
    flag: str = "",
    default: str = "",
    env: Mapping[str, str],
    local: Sequence[LocalServer] = (),
) -> Choice:
    """The first of flag, `GROKMINI_*`, `[models] default`, provider keys and local servers that gives one.

    Raises `UsageError` when one of them names a model that nobody knows.
    """
    if flag:
        return _named(catalogue, flag, "--model")
    if name := env.get("GROKMINI_MODEL", "").strip():
        return _named(catalogue, name, "GROKMINI_MODEL")
    if base_url := catalogue.env_base_url:
        asked = ModelSpec(name="", model="", base_url=base_url)
        return AskServer(base_url, catalogue.credential(asked))
    if default:
        return _named(catalogue, default, "[models] default")
    for provider, row in catalogue.providers.items():
        if row.model and catalogue.has_key(provider):
            return _named(catalogue, provider, row.keys[0])
    return _local(catalogue, local)


def _named(catalogue: ModelCatalogue, name: str, reason: str) -> Chosen:
    spec = catalogue.find(name)
    return Chosen(spec, catalogue.credential(spec), reason)


def _local(catalogue: ModelCatalogue, servers: Sequence[LocalServer]) -> Choice:
    """The one that is loaded, or the only one there is; with several to pick from, the person picks."""
    found = [(server, model) for server in servers for model in server.models if talks(model)]
    loaded = [(server, model) for server, model in found if model in server.loaded]
    candidates = loaded or found
    if len(candidates) == 1:
        return local_model(catalogue, *candidates[0])
    if candidates:
        return SeveralLocal((*loaded, *(pair for pair in found if pair not in loaded)))
    if servers:
        return NoModel(
            f"{servers[0].title} is running but has no model", "Load one there, or use another server."
        )
    return NoModel("no model is set up.")


def talks(model: str) -> bool:
    """Whether a model of that name is one to talk to, not one that turns texts into numbers."""
    return "embed" not in model.casefold()


def local_by_name(
    catalogue: ModelCatalogue, servers: Sequence[LocalServer], name: str
) -> tuple[Chosen | None, list[str]]:
    """The model on this machine called so without its server's name, or the names of the nearest, else of all."""
    whole = {f"{server.provider}/{model}": (server, model) for server in servers for model in server.models}
    meant = [full for full, (_, model) in whole.items() if name in (model, model.removesuffix(":latest"))]
    if len(meant) == 1:
        return local_model(catalogue, *whole[meant[0]]), []
    close = nearest(name, [model for _, model in whole.values()])
    near = [full for model in close for full, pair in whole.items() if pair[1] == model]
    return None, meant or near or list(whole)


def called_here(
    catalogue: ModelCatalogue, servers: Sequence[LocalServer], name: str, unknown: UsageError
) -> ModelSpec:
    """The model on this machine that a name nobody else knows means. Raises `unknown`, with those it could mean."""
    chosen, near = local_by_name(catalogue, servers, name)
    if chosen is not None:
        return chosen.spec
    if near:
        raise UsageError(unknown.message, f"On this machine: {some_of(near, SHOWN)}. {unknown.hint}")
    raise unknown


def local_model(catalogue: ModelCatalogue, server: LocalServer, model: str) -> Chosen:
    """A model of a server on this machine, with the window that the server told."""
    chosen = _named(catalogue, f"{server.provider}/{model}", f"{server.title} on {server.base_url}")
    return chosen._replace(spec=catalogue.with_window(chosen.spec, server.windows.get(model)))

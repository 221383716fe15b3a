"""The models that can be named: the user's own entries, the known providers, the demonstration.

A name is, in this order: `demo`, a `[model.NAME]` entry, `provider` (its main model), `provider/model`, any
name at all while `GROKMINI_BASE_URL` is set, a model id of a known family (`grok-…`, `gpt-…`, `claude-…`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from grokmini.protocol.errors import UsageError
from grokmini.protocol.model import Backend, ModelEntry, ModelSpec, Supports, TimeLimits
from grokmini.sampler.credentials import NO_KEY, Credential

DEMO = "demo"
DEFAULT_WINDOW = 128_000
REASONING_FIRST_BYTE = 600.0


class Provider(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of `catalogue.toml`. `keys` are the variables that may hold its key, `model` its main model."""

    title: str
    base_url: str
    api_backend: Backend
    keys: tuple[str, ...] = ()
    model: str = ""
    window: int = DEFAULT_WINDOW
    families: tuple[str, ...] = ()
    images: bool = False
    local: bool = False


def load_providers() -> dict[str, Provider]:
    """The rows of `catalogue.toml`, by name, in order."""
    text = (Path(__file__).parent / "catalogue.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, Provider])


def clean_base_url(url: str) -> str:
    """Without the slash at the end and without `/chat/completions`, which people paste along."""
    return url.strip().rstrip("/").removesuffix("/chat/completions").rstrip("/")


class ModelCatalogue:
    """Finds specs and credentials by name. `env` is read, never kept beyond what it names."""

    def __init__(
        self,
        entries: Mapping[str, ModelEntry],
        env: Mapping[str, str],
        providers: Mapping[str, Provider] | None = None,
    ) -> None:
        self._entries = dict(entries)
        self._windows: dict[tuple[str, str], int] = {}
        self._env = env
        self.providers: Mapping[str, Provider] = load_providers() if providers is None else providers

    @property
    def names(self) -> tuple[str, ...]:
        """What can be written after `--model` as it stands; local servers need a model beside their name."""
        hosted = (name for name, row in self.providers.items() if row.model)
        return (*self._entries, *hosted, DEMO)

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of the user's own entries."""
        return tuple(self._entries)

    def entry(self, name: str) -> ModelEntry:
        """What the user wrote under that name. Raises `KeyError`."""
        return self._entries[name]

    def find(self, name: str) -> ModelSpec:
        """The model of that name. Raises `UsageError` naming the nearest known ones."""
        if name in self._entries and name != DEMO:
            found = self._from_entry(name, self._entries[name])
        else:
            known = self._without_entries(name)
            if known is None:
                raise UsageError(f"no model is called {name!r}", self._advice(name))
            found = known
        return self.with_window(found, self._windows.get((found.base_url, found.model)))

    @property
    def env_base_url(self) -> str:
        """The base URL that the environment names, cleaned, or ``."""
        return clean_base_url(self._env.get("GROKMINI_BASE_URL", ""))

    def credential(self, spec: ModelSpec) -> Credential:
        """The way to the key for that model; only ever a key that belongs to its address."""
        if spec.name in self._entries:
            return self._entry_credential(spec.name, self._entries[spec.name])
        return self._credential_of(spec)

    def with_window(self, spec: ModelSpec, told: int | None) -> ModelSpec:
        """The model with the window that its server told, unless the person has set one."""
        entry = self._entries.get(spec.name)
        if told is None or (entry is not None and entry.context_window):
            return spec
        return msgspec.structs.replace(spec, context_window=told)

    def learn_window(self, spec: ModelSpec, told: int) -> ModelSpec:
        """The model with the window that its server told, which counts from now on whenever it is found."""
        self._windows[spec.base_url, spec.model] = told
        return self.with_window(spec, told)

    def local_row(self, spec: ModelSpec) -> str:
        """The name of the provider on this machine whose model that is, by its name or by its address; "" for none."""
        row = self.providers.get(spec.provider)
        if row is not None:
            return spec.provider if row.local else ""
        usual = spec.base_url.replace("://localhost:", "://127.0.0.1:")
        return next((name for name, row in self.providers.items() if row.local and row.base_url == usual), "")

    def has_key(self, provider: str) -> bool:
        """Whether the environment holds a key of that provider."""
        return any(self._env.get(name, "").strip() for name in self.providers[provider].keys)

    def _from_provider(self, provider: str, model: str, name: str) -> ModelSpec:
        row = self.providers[provider]
        return ModelSpec(
            name=name or model,
            model=model,
            base_url=row.base_url,
            api_backend=row.api_backend,
            context_window=row.window,
            supports=Supports(images=row.images),
            limits=TimeLimits(first_byte=None if row.local else REASONING_FIRST_BYTE),
            provider=provider,
        )

    def _without_entries(self, name: str) -> ModelSpec | None:
        """What a name means to somebody who has written no entry."""
        if name == DEMO:
            return ModelSpec(name=DEMO, model=DEMO, base_url="", api_backend="demo", provider=DEMO)
        provider, _, model = name.partition("/")
        if provider in self.providers and (model or self.providers[provider].model):
            return self._from_provider(provider, model or self.providers[provider].model, name if model else "")
        if base_url := self.env_base_url:
            return ModelSpec(name=name, model=name, base_url=base_url)
        for key, row in self.providers.items():
            if name.startswith(row.families):
                return self._from_provider(key, name, name)
        return None

    def _from_entry(self, name: str, entry: ModelEntry) -> ModelSpec:
        """An entry with an address stands for itself; one without changes the model of that name, or of its `model`."""
        model = entry.model or name
        if base_url := clean_base_url(entry.base_url):
            base = ModelSpec(name=name, model=model, base_url=base_url)
        else:
            known = self._without_entries(model)
            if known is None:
                raise UsageError(
                    f"[model.{name}] has no base_url",
                    'Add the address of its API: base_url = "https://host/v1".',
                )
            base = known
        return ModelSpec(
            name=name,
            model=base.model,
            base_url=base.base_url,
            api_backend=entry.api_backend or base.api_backend,
            context_window=entry.context_window or base.context_window,
            max_output_tokens=entry.max_completion_tokens,
            temperature=entry.temperature,
            top_p=entry.top_p,
            reasoning_effort=entry.reasoning_effort,
            extra_headers=entry.extra_headers,
            env_http_headers=entry.env_http_headers,
            query_params=entry.query_params,
            supports=entry.supports.over(base.supports) if entry.supports else base.supports,
            price=entry.price,
            limits=entry.limits or base.limits,
            provider=base.provider,
        )

    def _entry_credential(self, name: str, entry: ModelEntry) -> Credential:
        if entry.api_key:
            return Credential(f"api_key of [model.{name}]", literal=entry.api_key)
        variables = (entry.env_key,) if isinstance(entry.env_key, str) else entry.env_key
        variables = tuple(variable for variable in variables if variable)
        named = any(self._env.get(variable, "").strip() for variable in variables)
        if entry.api_key_command and not named:
            source = f"api_key_command of [model.{name}]"
            return Credential(source, command=entry.api_key_command, env=self._env)
        if variables:
            return Credential(" or ".join(variables), variables=variables, env=self._env)
        if entry.base_url:
            return NO_KEY
        return self._credential_of(self._without_entries(entry.model or name))

    def _credential_of(self, spec: ModelSpec | None) -> Credential:
        if spec is None or spec.provider == DEMO:
            return NO_KEY
        if spec.provider in self.providers:
            return self._provider_credential(self.providers[spec.provider])
        if self._env.get("GROKMINI_API_KEY"):
            return Credential("GROKMINI_API_KEY", variables=("GROKMINI_API_KEY",), env=self._env)
        return NO_KEY

    def _provider_credential(self, row: Provider) -> Credential:
        if not row.keys:
            return NO_KEY
        if not self.env_base_url and self._env.get("GROKMINI_API_KEY", "").strip():
            return Credential("GROKMINI_API_KEY", variables=("GROKMINI_API_KEY",), env=self._env)
        return Credential(row.keys[0], variables=row.keys, env=self._env)

    def _advice(self, name: str) -> str:
        from grokmini.text.nearest import nearest

        near = nearest(name, self.names) or list(self.names)
        return (
            f"Known: {', '.join(near)}. Add a [model.{name}] entry to config.toml, or set GROKMINI_BASE_URL to "
            "the server that has it."
        )

"""`grokmini config`: every setting in force and the file it comes from."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from grokmini.cli.option import CommandSpec, Option
from grokmini.cli.report import say
from grokmini.text.sanitise import sanitise

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed
    from grokmini.config.load import Loaded

SPEC = CommandSpec(
    options=(Option(("--json",), "json", "one JSON object: key -> value and origin"),),
    examples=("grokmini config", "grokmini config --json"),
    about="Shows every setting in force and the file or variable it comes from.",
)

DERIVED = frozenset({"permission.never_ask"})
"""What follows from another setting and cannot be set."""


def run(parsed: Parsed) -> int:
    """Print the settings; warnings about the files go to stderr. Raises `ConfigError`."""
    from grokmini.cli.folder import working_folder
    from grokmini.config.load import load_settings
    from grokmini.config.paths import find_places

    places = find_places(os.environ)
    loaded = load_settings(places, working_folder(None), os.environ)
    for warning in loaded.warnings:
        say(f"! {warning}")
    found = [*settings_with_origins(loaded), *settings_of_environment(os.environ)]
    if parsed.flag("json"):
        import msgspec

        table = {key: {"value": value, "origin": origin} for key, value, origin in found}
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(table), indent=2).decode() + "\n")
        return 0
    for key, value, origin in found:
        sys.stdout.write(sanitise(f"{key:<28} {_shown(value):<24} {origin}", newlines=False) + "\n")
    if places is not None:
        sys.stdout.write(f"\nyours to edit: {sanitise(str(places.config / 'config.toml'), newlines=False)}\n")
    return 0


def settings_with_origins(loaded: Loaded) -> Iterator[tuple[str, Any, str]]:
    """Key, value and origin of every setting; a model of the user's shows its address, never its key."""
    import msgspec

    from grokmini.config.layers import leaves

    for names, value in leaves(msgspec.to_builtins(loaded.settings)):
        if (key := ".".join(names)) not in DERIVED:
            yield key, value, loaded.origins.get(key, "default")
    for name, entry in loaded.models.items():
        shown = f"{entry.model or name} {entry.base_url}".strip()
        origins = {origin for key, origin in loaded.origins.items() if key.startswith(f"model.{name}.")}
        yield f"model.{name}", shown, ", ".join(sorted(origins))


def settings_of_environment(env: Mapping[str, str]) -> Iterator[tuple[str, Any, str]]:
    """What variables say of the model and of places; of a key only that it is there, of an address no password."""
    from grokmini.sampler.catalogue import clean_base_url, load_providers

    keys = ["GROKMINI_API_KEY", *(key for row in load_providers().values() for key in row.keys)]
    said = {name: env.get(name, "").strip() for name in ("GROKMINI_MODEL", "GROKMINI_HOME")}
    said["GROKMINI_BASE_URL"] = _without_password(clean_base_url(env.get("GROKMINI_BASE_URL", "")))
    said |= {key: "(a key)" for key in keys if env.get(key, "").strip()}
    for name, value in said.items():
        if value:
            yield name, value, "environment"


def _without_password(url: str) -> str:
    """The address as it is, but for who it is asked as and what is in its query."""
    scheme, mark, rest = url.partition("?")[0].partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "(none)"
    return str(value) if value != "" else '""'

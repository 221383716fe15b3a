"""The settings in force, from every layer, with where each value came from (spec: governance-memory.md)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from grokmini.config.layers import Layer, Table, leaves, merge, read_layer
from grokmini.config.modes import parse_mode
from grokmini.config.paths import Places
from grokmini.config.project import folders_down_to
from grokmini.config.settings import Settings
from grokmini.files.places import PROJECT_FOLDER, repository_root
from grokmini.protocol.errors import ConfigError, UsageError
from grokmini.protocol.model import ModelEntry
from grokmini.protocol.permission import PermissionMode
from grokmini.text.nearest import nearest

SYSTEM_FILE = Path("/etc/grokmini/managed_config.toml")
USER_DEFAULTS = "managed_config.toml"
USER_FILE = "config.toml"

PROJECT_KEYS = (("permission", "ask"), ("permission", "deny"))
"""All that a project may set: it can only make things stricter. Its rules are added, they replace none."""

_DERIVED = frozenset({("permission", "never_ask")})
_KINDS = {
    "object": "a table",
    "array": "an array",
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
}
_BOUNDS = {" >= ": "at least", " > ": "more than", " <= ": "at most"}
_ON = frozenset({"1", "true", "yes", "on"})


class Loaded(NamedTuple):
    """What was read. `origins` names for each key that is set (`permission.deny`) where its value came from;
    `warnings` are whole sentences for the person.
    """

    settings: Settings
    models: dict[str, ModelEntry]
    warnings: tuple[str, ...]
    origins: dict[str, str]


def load_settings(
    places: Places | None, cwd: Path, env: Mapping[str, str], *, system_file: Path = SYSTEM_FILE
) -> Loaded:
    """Read every layer, low to high: system defaults, the user's managed defaults, the user's `config.toml`,
    the projects' `.grokmini/config.toml` from the repository's root down to `cwd`, and of the environment
    `ACCESSIBLE`.

    Unknown keys, and keys that a project may not set, are left out with a warning. Without a home the user's
    layers are empty. Raises `ConfigError` naming file, line, column and key, never the line's text.
    """
    warnings: list[str] = []
    origins: dict[str, str] = {}
    merged: Table = {}
    for layer in _layers(places, cwd, system_file):
        known = _known_part(layer, warnings)
        _check(layer, known)
        allowed = _project_part(layer, known, merged, warnings) if layer.trust == "project" else known
        merged = merge(merged, allowed)
        for key, _ in leaves(allowed):
            name, at = ".".join(key), str(layer.path)
            adds = layer.trust == "project" and name in origins
            origins[name] = f"{origins[name]}, {at}" if adds else at
    if env.get("ACCESSIBLE", "").casefold() in _ON:
        merged = merge(merged, {"ui": {"accessible": True}})
        origins["ui.accessible"] = "environment ACCESSIBLE"
    models = {name: _entry(table) for name, table in merged.pop("model", {}).items()}
    return Loaded(msgspec.convert(_with_mode(merged), Settings), models, tuple(warnings), origins)


def _layers(places: Places | None, cwd: Path, system_file: Path) -> list[Layer]:
    """Every file that is there, low to high."""
    files = [read_layer("system", system_file)]
    if places is not None:
        files += [read_layer("user", places.config / name) for name in (USER_DEFAULTS, USER_FILE)]
    folders = folders_down_to(cwd, repository_root(cwd))
    files += [read_layer("project", folder / PROJECT_FOLDER / USER_FILE) for folder in folders]
    return [layer for layer in files if layer is not None]


def _fields(type_: type[msgspec.Struct]) -> dict[str, Any]:
    return {field.encode_name: field.type for field in msgspec.structs.fields(type_)}


def _is_struct(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, msgspec.Struct)


def _struct_in(type_: Any) -> type[msgspec.Struct] | None:
    """The struct that a field holds, also when it may be left out (`Price | None`)."""
    from typing import get_args

    for candidate in (type_, *get_args(type_)):
        if _is_struct(candidate):
            found: type[msgspec.Struct] = candidate
            return found
    return None


def _known_part(layer: Layer, warnings: list[str]) -> Table:
    """The layer without keys that mean nothing; each gets a warning with the nearest known one."""
    known: Table = {}
    sections = _fields(Settings)
    for section, value in layer.table.items():
        if section == "model" and isinstance(value, dict):
            known["model"] = {
                name: _known_fields(layer, ("model", name), entry, ModelEntry, warnings)
                for name, entry in value.items()
            }
        elif section in sections and section != "model":
            known[section] = _known_fields(layer, (section,), value, sections[section], warnings)
        else:
            keys = [key for key, _ in leaves({section: value})]
            warnings += [_unknown(layer, (), key, [*sections, "model"]) for key in keys]
    return known


def _known_fields(layer: Layer, at: tuple[str, ...], value: Any, type_: Any, warnings: list[str]) -> Any:
    struct = _struct_in(type_)
    if struct is None or not isinstance(value, dict):
        return value
    fields = {name: inner for name, inner in _fields(struct).items() if (*at, name) not in _DERIVED}
    kept: Table = {}
    for name, inner in value.items():
        if name in fields:
            kept[name] = _known_fields(layer, (*at, name), inner, fields[name], warnings)
        else:
            warnings.append(_unknown(layer, at, (*at, name), list(fields)))
    return kept


def _unknown(layer: Layer, at: tuple[str, ...], key: tuple[str, ...], known: list[str]) -> str:
    """The warning for `key`, whose first part behind `at` is none of the `known`."""
    wrong = len(at)
    close = nearest(key[wrong], known, 1)
    meant = f"; did you mean {'.'.join((*at, close[0], *key[wrong + 1 :]))}?" if close else ""
    return f"{layer.at(key)} is not a known setting and has no effect{meant}"


def _project_part(layer: Layer, known: Table, below: Table, warnings: list[str]) -> Table:
    """What a project's file may say, its rules added to those below."""
    allowed: Table = {}
    for key, _ in leaves(known):
        if key not in PROJECT_KEYS:
            warnings.append(
                f"{layer.at(key)} is ignored: a project may only set permission.ask and permission.deny"
            )
    for section, name in PROJECT_KEYS:
        rules = known.get(section, {}).get(name)
        if rules:
            allowed.setdefault(section, {})[name] = [*below.get(section, {}).get(name, ()), *rules]
    return allowed


def _check(layer: Layer, known: Table) -> None:
    """Raise `ConfigError` for the first value of the wrong kind."""
    sections = _fields(Settings)
    for section, value in known.items():
        if section == "model":
            for name, entry in value.items():
                _convert(layer, ("model", name), entry, ModelEntry)
        else:
            _convert(layer, (section,), _checked_mode(layer, value) if section == "permission" else value,
                     sections[section])  # fmt: skip
    models = layer.table.get("model")
    if models is not None and not isinstance(models, dict):
        raise ConfigError(f"{layer.at(('model',))} must be a table", "write [model.NAME]")


def _checked_mode(layer: Layer, permission: Any) -> Any:
    if not isinstance(permission, dict) or not isinstance(permission.get("mode"), str):
        return permission
    try:
        choice = parse_mode(permission["mode"])
    except UsageError as error:
        raise ConfigError(f"{layer.at(('permission', 'mode'))}: {error.message}", error.hint) from None
    return {**permission, "mode": choice.mode.value}


def _convert(layer: Layer, at: tuple[str, ...], value: Any, type_: Any) -> None:
    try:
        msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        what, inner = _reason(str(error))
        raise ConfigError(f"{layer.at((*at, *inner))} {what}", "correct the value or remove the line") from None


def _reason(message: str) -> tuple[str, tuple[str, ...]]:
    """What is wrong in our words, and the key inside the table; the value itself is never repeated."""
    problem, _, path = message.partition(" - at `$")
    inner = tuple(part for part in path.rstrip("`").replace("[", ".[").split(".") if part and part[0] != "[")
    expected, _, got = problem.partition(", got ")
    if got and expected.startswith("Expected "):
        wanted, given = expected.removeprefix("Expected "), got
        for theirs, ours in _KINDS.items():
            wanted, given = wanted.replace(f"`{theirs}", f"`{ours}"), given.replace(f"`{theirs}", f"`{ours}")
        return f"must be {wanted}, not {given}".replace("`", ""), inner
    for mark, words in _BOUNDS.items():
        if mark in expected:
            bound = float(expected.partition(mark)[2])
            return f"must be {words} {bound:,.15g}", inner
    return "has a value that is not allowed", inner


def _with_mode(merged: Table) -> Table:
    permission = merged.get("permission", {})
    if "mode" not in permission:
        return merged
    choice = parse_mode(permission["mode"])
    return {
        **merged,
        "permission": {**permission, "mode": PermissionMode(choice.mode), "never_ask": choice.never_ask},
    }


def _entry(table: Table) -> ModelEntry:
    return msgspec.convert(table, ModelEntry)

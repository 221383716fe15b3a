"""Changing single settings in the user's `config.toml`, its comments and order kept."""

from __future__ import annotations

from pathlib import Path

from grokmini.config.layers import read_layer
from grokmini.config.load import USER_FILE
from grokmini.config.paths import Places, write_private
from grokmini.protocol.errors import ConfigError


def remember_default_model(places: Places, name: str) -> Path:
    """Set `[models] default`; the file that was written. Raises `ConfigError`."""
    return set_text(places, ("models", "default"), name)


def set_text(places: Places, key: tuple[str, str], value: str) -> Path:
    """Set `[table] key` to a text in the user's file, which is created when it is not there.

    Raises `ConfigError` when the file is no TOML, the table's name is something else there, or it cannot be written.
    """
    import tomlkit

    path = places.config / USER_FILE
    layer = read_layer("user", path)
    document = tomlkit.parse(path.read_text("utf-8") if layer is not None else "")
    table_name, name = key
    if table_name not in document:
        document[table_name] = tomlkit.table()
    table = document[table_name]
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: {table_name} is no table", f"write [{table_name}]")
    table[name] = value
    try:
        write_private(path, tomlkit.dumps(document).encode())
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror}", "check the folder's permissions"
        ) from error
    return path

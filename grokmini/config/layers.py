"""Files of settings as layers, low to high: read, checked for unknown keys, laid over one another."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from grokmini.config.locate import key_at, locate
from grokmini.files.regular import read_start
from grokmini.protocol.errors import ConfigError
from grokmini.text.sanitise import sanitise

Table: TypeAlias = dict[str, Any]
Trust = Literal["system", "user", "project"]

MAX_BYTES = 1_000_000


class Layer(NamedTuple):
    """One file that is there: whose it is, where, its text and what it holds."""

    trust: Trust
    path: Path
    text: str
    table: Table

    def at(self, key: tuple[str, ...]) -> str:
        """`FILE, line L, column C: key` for a message."""
        place = locate(self.text, key)
        where = f"{self.path}, line {place.line}, column {place.column}" if place else str(self.path)
        return sanitise(f"{where}: {'.'.join(key)}", newlines=False)


def read_layer(trust: Trust, path: Path) -> Layer | None:
    """The layer in that file, None when there is no such file.

    Raises `ConfigError` naming file, line, column and key when it cannot be read or is no TOML.
    """
    import tomllib

    try:
        if not path.is_file():
            return None
        data = read_start(path, MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", "check the file's permissions") from error
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{path} is larger than {MAX_BYTES:,} bytes", "settings are never that long")
    try:
        text = data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise ConfigError(
            f"{path}, line {line}, column {column}: not UTF-8", "save the file as UTF-8"
        ) from None
    try:
        return Layer(trust, path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(path, text, error) from None
    except RecursionError:
        raise ConfigError(f"{path} is nested too deeply", "write it with fewer brackets") from None


def _not_toml(path: Path, text: str, error: ValueError) -> ConfigError:
    line, column = _position(str(error), text)
    key = key_at(text, line)
    return ConfigError(
        f"{path}, line {line}, column {column}: not valid TOML"
        + (f" (at key {sanitise(key, newlines=False)})" if key else ""),
        "texts need quotes, tables a line like [shell]; fix the file or move it away",
    )


def _position(message: str, text: str) -> tuple[int, int]:
    """Line and column in the parser's message; the end of the text when it names none."""
    import re

    if found := re.search(r"at line (\d+), column (\d+)", message):
        return int(found[1]), int(found[2])
    return text.count("\n") + 1, len(text) - text.rfind("\n")


def merge(low: Table, high: Table) -> Table:
    """`high` over `low`: tables merge deeply, arrays and scalars replace."""
    merged = dict(low)
    for key, value in high.items():
        below = merged.get(key)
        both = isinstance(below, dict) and isinstance(value, dict)
        merged[key] = merge(below, value) if both and isinstance(below, dict) else value
    return merged


def leaves(table: Table, above: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Every value that is no table, with its whole key."""
    found: list[tuple[tuple[str, ...], Any]] = []
    for key, value in table.items():
        if isinstance(value, dict) and value:
            found += leaves(value, (*above, key))
        else:
            found.append(((*above, key), value))
    return found

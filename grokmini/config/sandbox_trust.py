"""Project sandbox profiles that the person agreed to, by the hash of their content: `{state}/sandbox-trust.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from grokmini.config.paths import write_private
from grokmini.protocol.errors import ConfigError

FILE: Final = "sandbox-trust.json"


def is_trusted(state: Path, digest: str) -> bool:
    """Whether exactly this content was agreed to; a file that cannot be understood agrees to nothing."""
    return digest in _read(state)


def trust(state: Path, digest: str) -> None:
    """Agree to this content. Raises `ConfigError` when it cannot be written."""
    digests = [*_read(state), digest]
    try:
        write_private(state / FILE, msgspec.json.encode(digests) + b"\n")
    except OSError as error:
        raise ConfigError(f"{state / FILE} cannot be written: {error.strerror}", "check the folder") from error


def _read(state: Path) -> list[str]:
    try:
        return msgspec.json.decode((state / FILE).read_bytes(), type=list[str])
    except (OSError, msgspec.DecodeError):
        return []

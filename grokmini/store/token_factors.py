"""What was learnt of each model's tokens, kept across sessions. Only a cache: a lost file is learnt again."""

from __future__ import annotations

from pathlib import Path

import msgspec

from grokmini.store.atomic import replace_file
from grokmini.store.layout import TOKEN_FACTORS

_ENOUGH = 0.02
"""Relative change from which a factor is worth writing."""


def read_factors(root: Path) -> dict[str, float]:
    """Correction factors by model name; empty when there are none."""
    try:
        return msgspec.json.decode((root / TOKEN_FACTORS).read_bytes(), type=dict[str, float])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}


def write_factors(root: Path, learnt: dict[str, float]) -> None:
    """Merge factors into the file if one has really changed. Raises `OSError`."""
    known = read_factors(root)
    if any(abs(known.get(model, 0.0) - factor) > _ENOUGH * factor for model, factor in learnt.items()):
        replace_file(root / TOKEN_FACTORS, msgspec.json.encode(known | learnt))

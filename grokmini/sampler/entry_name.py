"""How the entry of a model is written in `config.toml`."""

from __future__ import annotations

import re

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def entry_name(name: str) -> str:
    """`[model.NAME]`, the name in quotes where TOML wants them."""
    if _BARE.fullmatch(name):
        return f"[model.{name}]"
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'[model."{quoted}"]'

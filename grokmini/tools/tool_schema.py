"""The JSON schema of a tool's arguments as a model gets it: no more words than it needs."""

from __future__ import annotations

from typing import Any

import msgspec

from grokmini.protocol.schema import schema_of


def argument_schema(type_: type[msgspec.Struct], *, concise: bool = False) -> dict[str, Any]:
    """The schema without the structs' own docstrings; `concise` leaves out all descriptions."""
    cleaned = _clean(schema_of(type_), concise)
    assert isinstance(cleaned, dict)
    return cleaned


def _clean(node: Any, concise: bool) -> Any:
    if isinstance(node, list):
        return [_clean(entry, concise) for entry in node]
    if not isinstance(node, dict):
        return node
    dropped = {"description"} if concise or "properties" in node else set()
    return {
        key: {name: _clean(entry, concise) for name, entry in value.items()}
        if key == "properties"
        else _clean(value, concise)
        for key, value in node.items()
        if key not in dropped
    }

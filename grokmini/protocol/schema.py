"""JSON schemas for tool arguments, derived from structs, as small as a model needs them."""

from __future__ import annotations

from typing import Any

import msgspec

_NOISE = frozenset({"title", "default", "$defs", "$ref"})


def schema_of(type_: type[msgspec.Struct]) -> dict[str, Any]:
    """The schema of a struct with every sub-schema inlined and no noise keys (`title`, `default`, `$ref`).

    Optional fields (`T | None = None`) show as plain `T`: leaving them out is how they are not given.
    """
    whole = msgspec.json.schema(type_)
    definitions: dict[str, Any] = whole.get("$defs", {})
    schema = _inline(whole, definitions)
    assert isinstance(schema, dict)
    return schema


def _inline(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inline(entry, definitions) for entry in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = dict(definitions[node["$ref"].rsplit("/", 1)[1]])
        target.update({key: value for key, value in node.items() if key != "$ref"})
        return _inline(target, definitions)
    if "anyOf" in node:
        branches = [branch for branch in node["anyOf"] if branch != {"type": "null"}]
        if len(branches) == 1:
            rest = {key: value for key, value in node.items() if key != "anyOf"}
            return _inline({**branches[0], **rest}, definitions)
    result: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            result[key] = {name: _inline(entry, definitions) for name, entry in value.items()}
        elif key not in _NOISE:
            result[key] = _inline(value, definitions)
    return result

"""The tools of a session: found by name, described to the model, checked once at the start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from grokmini.protocol.errors import ToolError, ToolErrorKind, UsageError
from grokmini.protocol.tools import ToolEnvelope, ToolKind, ToolNamespace, ToolSpec
from grokmini.text.nearest import nearest
from grokmini.tools.contract import Tool
from grokmini.tools.requirements import Facts, requirement_of
from grokmini.tools.taxonomy import presentation_name
from grokmini.tools.tool_schema import argument_schema


class WireNames:
    """The names that the model can really call, by kind (a `ToolNames`)."""

    def __init__(self, tools: Sequence[Tool[Any]]) -> None:
        self._by_kind: dict[ToolKind, str] = {}
        for tool in tools:
            self._by_kind.setdefault(tool.kind, tool.wire_name)

    def of(self, kind: ToolKind) -> str:
        """The wire name of the first tool of that kind; the kind's own name when there is none."""
        return self._by_kind.get(kind, kind.value)


class ToolRegistry:
    """A fixed set of tools. `settings` are the switches that requirements may ask for."""

    def __init__(self, tools: Sequence[Tool[Any]], settings: Mapping[str, bool] | None = None) -> None:
        self._tools = tuple(tools)
        self._settings = dict(settings or {})
        self._by_name = {tool.id: tool for tool in self._tools} | {tool.wire_name: tool for tool in self._tools}
        self._specs: dict[bool, tuple[ToolSpec, ...]] = {}
        self.names = WireNames(self._tools)

    @property
    def tools(self) -> tuple[Tool[Any], ...]:
        """All of them, in the order the model sees them."""
        return self._tools

    def finalize(self) -> None:
        """Check names and requirements. Raises `UsageError` with a sentence in plain words."""
        wire_names = [tool.wire_name for tool in self._tools]
        for name in wire_names:
            if wire_names.count(name) > 1:
                raise UsageError(f"Two tools are called {name}.", "Leave one of them out.")
        facts = Facts({tool.id for tool in self._tools}, self._settings)
        for tool in self._tools:
            needed = requirement_of(tool.id)
            if not needed.holds(facts):
                raise UsageError(
                    f"The tool {tool.id} needs {needed.describe()}.",
                    f"Add what is missing, or leave {tool.id} out with --disallowed-tools {tool.id}.",
                )

    def specs(self, concise: bool = False) -> tuple[ToolSpec, ...]:
        """The tools as they are offered to a model; `concise` with shorter texts."""
        if concise not in self._specs:
            self._specs[concise] = tuple(_spec(tool, concise) for tool in self._tools)
        return self._specs[concise]

    def find(self, wire_name: str) -> Tool[Any] | None:
        """The tool with that wire name or id."""
        return self._by_name.get(wire_name)

    def unknown(self, wire_name: str) -> ToolError:
        """The error for a call of a tool that is not there."""
        known = [tool.wire_name for tool in self._tools]
        near = nearest(wire_name.rpartition(".")[2], known)  # `functions.read_file` as well
        hint = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(known)}."
        return ToolError(ToolErrorKind.NOT_FOUND, f"There is no tool `{wire_name[:100]}`. {hint}")

    def envelope(self, tool: Tool[Any] | None, wire_name: str, args: msgspec.Struct | None) -> ToolEnvelope:
        """The `x.ai/tool` envelope of a call; of an unknown tool it holds the name alone."""
        if tool is None:
            kind = ToolKind.OTHER
            return ToolEnvelope(wire_name, kind, ToolNamespace.GROK_BUILD, presentation_name(kind), False)
        return ToolEnvelope(
            name=tool.wire_name,
            kind=tool.kind,
            namespace=tool.namespace,
            label=presentation_name(tool.kind),
            read_only=tool.read_only,
            input=tool.projection(args) if args is not None else {},
        )


def _spec(tool: Tool[Any], concise: bool) -> ToolSpec:
    schema = argument_schema(tool.args_type, concise=concise)
    return ToolSpec(tool.wire_name, description_of(tool, concise), msgspec.Raw(msgspec.json.encode(schema)))


def description_of(tool: Tool[Any], concise: bool = False) -> str:
    """The text for the model, from the file beside the tool's module."""
    folder = Path(__file__).parent / "builtin"
    name = f"{tool.id}.concise.md" if concise else f"{tool.id}.md"
    return (folder / name).read_text(encoding="utf-8").strip()

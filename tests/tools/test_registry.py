"""The set of tools: names, requirements, what a model is sent."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import cast

import msgspec
import pytest

from grokmini.protocol.errors import UsageError
from grokmini.protocol.schema import schema_of
from grokmini.protocol.tools import ToolEnvelope, ToolKind, ToolNamespace, ToolSpec
from grokmini.text.tokens import estimate_tokens
from grokmini.tools.builtin.read_file import ReadArgs
from grokmini.tools.registry import ToolRegistry
from grokmini.tools.requirements import All, Any, Constant, Facts, Not, Present, Setting
from grokmini.tools.table import build_tools
from grokmini.tools.taxonomy import presentation_name
from tests.cost import LINEAR, growth

WIRE_NAMES = [
    "run_terminal_command",
    "read_file",
    "search_replace",
    "write",
    "list_dir",
    "grep",
    "glob",
    "todo_write",
]


def test_the_default_set_is_complete_and_passes_its_own_check() -> None:
    registry = ToolRegistry(build_tools())
    registry.finalize()
    assert [tool.wire_name for tool in registry.tools] == WIRE_NAMES


@pytest.mark.parametrize(("concise", "limit"), [(False, 1_500), (True, 900)])
def test_the_tools_cost_few_tokens(concise: bool, limit: int) -> None:
    specs = ToolRegistry(build_tools()).specs(concise)
    sent = json.dumps([{"type": "function", "function": _function(spec)} for spec in specs])
    assert estimate_tokens(sent) <= limit


def _function(spec: ToolSpec) -> dict[str, object]:
    return {
        "name": spec.name,
        "description": spec.description,
        "parameters": json.loads(bytes(spec.parameters)),
    }


def test_schemas_name_the_parameters_models_know() -> None:
    parameters = {
        spec.name: list(json.loads(bytes(spec.parameters))["properties"])
        for spec in ToolRegistry(build_tools()).specs()
    }
    assert parameters["run_terminal_command"] == ["command", "description", "timeout"]
    assert parameters["read_file"] == ["target_file", "offset", "limit"]
    assert parameters["search_replace"] == ["file_path", "old_string", "new_string", "replace_all"]
    assert parameters["write"] == ["file_path", "content"]
    assert parameters["list_dir"] == ["target_directory"]
    assert parameters["glob"] == ["pattern", "path"]
    assert parameters["todo_write"] == ["todos", "merge"]
    assert {"pattern", "path", "glob", "type", "-A", "-B", "-C", "-i", "head_limit", "multiline"} <= set(
        parameters["grep"]
    )


def test_schemas_hold_no_references_titles_or_docstrings() -> None:
    for concise in (False, True):
        for spec in ToolRegistry(build_tools()).specs(concise):
            text = bytes(spec.parameters).decode()
            assert "$ref" not in text and "Arguments of" not in text
            assert ("description" in json.loads(text)) is False


def test_a_tool_is_found_by_wire_name_and_by_id() -> None:
    registry = ToolRegistry(build_tools())
    assert registry.find("run_terminal_command") is registry.find("run_terminal_cmd") is not None
    assert registry.find("nothing") is None
    assert registry.names.of(ToolKind.EXECUTE) == "run_terminal_command"
    assert registry.names.of(ToolKind.WEB_FETCH) == "web_fetch"


def test_an_edit_tool_without_a_read_tool_stops_the_start_in_plain_words() -> None:
    with pytest.raises(
        UsageError,
        match=r"search_replace needs the tool read_file or the setting \[tools\] skip_read_before_edit = true\.",
    ):
        ToolRegistry(build_tools(without=["read_file"])).finalize()
    with pytest.raises(UsageError, match="The tool write needs the tool read_file or the setting"):
        ToolRegistry(build_tools(only=["write"])).finalize()
    ToolRegistry(build_tools(without=["read_file"]), {"skip_read_before_edit": True}).finalize()
    ToolRegistry(build_tools(only=["grep"])).finalize()


def test_two_tools_of_one_name_stop_the_start() -> None:
    with pytest.raises(UsageError, match="Two tools are called grep"):
        ToolRegistry([*build_tools(only=["grep"]), *build_tools(only=["grep"])]).finalize()


def test_tools_are_chosen_by_id_or_wire_name_and_a_wrong_one_is_named() -> None:
    assert [tool.id for tool in build_tools(only=["run_terminal_command", "read_file"])] == [
        "run_terminal_cmd",
        "read_file",
    ]
    with pytest.raises(UsageError, match="no tool called 'read_fil'") as caught:
        build_tools(only=["read_fil"])
    assert "read_file" in caught.value.hint


def test_every_kind_has_a_label() -> None:
    for kind in ToolKind:
        assert presentation_name(kind)


def test_the_envelope_projects_what_dialects_share_and_no_content() -> None:
    registry = ToolRegistry(build_tools())
    envelope = registry.envelope(registry.find("read_file"), "read_file", ReadArgs("a.py", 0, 5))
    assert envelope.input == {"path": "a.py", "offset": 1, "limit": 5}
    assert (envelope.kind, envelope.label, envelope.read_only, envelope.version) == (
        ToolKind.READ,
        "Read",
        True,
        1,
    )
    for tool in registry.tools:
        required = json.loads(bytes(registry.specs()[WIRE_NAMES.index(tool.wire_name)].parameters)).get(
            "required", []
        )
        values = {name: [] if name == "todos" else "SECRET" for name in required}
        args = msgspec.convert(values, tool.args_type)
        shown = registry.envelope(tool, tool.wire_name, args).input
        assert not {"content", "old_string", "new_string"} & shown.keys()


def test_the_envelope_is_what_its_schema_file_says() -> None:
    file = Path(__file__).parents[2] / "grokmini" / "tools" / "tool_envelope.schema.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    derived = schema_of(ToolEnvelope)
    assert schema["properties"] == {
        **derived["properties"],
        "version": {"const": ToolEnvelope("", ToolKind.OTHER, ToolNamespace.MCP, "", False).version},
    }
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    registry = ToolRegistry(build_tools())
    envelopes = [registry.envelope(tool, tool.wire_name, None) for tool in registry.tools]
    envelopes.append(registry.envelope(registry.find("read_file"), "read_file", ReadArgs("a.py")))
    envelopes.append(registry.envelope(None, "fly", None))
    for envelope in envelopes:
        carried = json.loads(msgspec.json.encode(envelope)).keys()
        assert set(schema["required"]) <= carried <= set(schema["properties"])
        assert envelope.label in {presentation_name(kind) for kind in ToolKind}
    assert set(schema["required"]) == {"version", "name", "kind", "label", "namespace", "read_only"}


def test_a_kind_without_a_label_is_an_error() -> None:
    class Kind(StrEnum):
        NEW = "new"

    with pytest.raises(KeyError):
        presentation_name(cast(ToolKind, Kind.NEW))


def test_the_envelope_of_an_unknown_tool_holds_its_name_alone() -> None:
    envelope = ToolRegistry([]).envelope(None, "fly", None)
    assert (envelope.name, envelope.kind, envelope.namespace) == (
        "fly",
        ToolKind.OTHER,
        ToolNamespace.GROK_BUILD,
    )


def test_every_tool_has_its_texts_beside_it() -> None:
    folder = Path(__file__).parents[2] / "grokmini" / "tools" / "builtin"
    for tool in build_tools():
        whole, short = (folder / f"{tool.id}.md").read_text(), (folder / f"{tool.id}.concise.md").read_text()
        assert 0 < len(short) < len(whole)


def test_requirements_combine_and_say_what_they_mean() -> None:
    facts = Facts({"a"}, {"on": True})
    needed = All((Present("a"), Constant(True), Not(Present("b")), Any((Setting("off"), Setting("on")))))
    assert needed.holds(facts)
    assert not All((needed, Constant(False))).holds(facts)
    assert needed.describe() == (
        "the tool a and nothing and that there is not the tool b "
        "and the setting [tools] off = true or the setting [tools] on = true"
    )


def test_a_name_without_end_is_looked_up_at_no_cost() -> None:
    registry = ToolRegistry(build_tools())
    assert growth(lambda size: [registry.unknown("x" * size) for _ in range(3)], 40_000) < LINEAR / 4


def test_a_tool_called_by_its_name_in_another_space_is_the_nearest() -> None:
    error = ToolRegistry(build_tools()).unknown("functions.read_file")
    assert error.message.endswith("Did you mean read_file?")

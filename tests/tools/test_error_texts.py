"""Every error text a model may read is a golden file: changing one is a visible decision."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from grokmini.protocol.errors import ToolError, ToolErrorKind
from grokmini.tools.arguments import decode_arguments
from grokmini.tools.builtin.read_file import ReadArgs
from tests.tools.room import check_golden, room

Kind = ToolErrorKind


class Case(NamedTuple):
    """A call that fails. `seen` are files read before."""

    name: str
    kind: Kind
    tool: str
    arguments: dict[str, Any]
    seen: tuple[str, ...] = ()


def _replace(old: str, new: str = "new", path: str = "a.txt") -> dict[str, Any]:
    return {"file_path": path, "old_string": old, "new_string": new}


CASES = [
    Case("read_missing_with_near_name", Kind.NOT_FOUND, "read_file", {"target_file": "a.tx"}),
    Case("read_missing", Kind.NOT_FOUND, "read_file", {"target_file": "qqqqqqq"}),
    Case("read_missing_folder", Kind.NOT_FOUND, "read_file", {"target_file": "no/where.txt"}),
    Case("read_folder", Kind.INVALID_ARGUMENTS, "read_file", {"target_file": "folder"}),
    Case("read_below_a_file", Kind.NOT_FOUND, "read_file", {"target_file": "a.txt/b"}),
    Case("read_binary", Kind.BINARY, "read_file", {"target_file": "image.png"}),
    Case("read_pipe", Kind.UNSUPPORTED, "read_file", {"target_file": "pipe"}),
    Case("read_link_loop", Kind.IO, "read_file", {"target_file": "loop"}),
    Case("read_too_large", Kind.TOO_LARGE, "read_file", {"target_file": "large"}),
    Case("read_name_too_long", Kind.IO, "read_file", {"target_file": "n" * 300}),
    Case("empty_path", Kind.INVALID_ARGUMENTS, "read_file", {"target_file": ""}),
    Case("edit_unread", Kind.REQUIRES_OTHER_TOOL, "search_replace", _replace("alpha")),
    Case(
        "edit_changed", Kind.CONFLICT, "search_replace", _replace("alpha", path="moving.txt"), ("moving.txt",)
    ),
    Case("edit_not_found", Kind.NOT_FOUND, "search_replace", _replace("alpha()\nbeta"), ("a.txt",)),
    Case("edit_nothing_like_it", Kind.NOT_FOUND, "search_replace", _replace("zzz"), ("a.txt",)),
    Case("edit_ambiguous", Kind.INVALID_ARGUMENTS, "search_replace", _replace("same"), ("a.txt",)),
    Case("edit_same", Kind.INVALID_ARGUMENTS, "search_replace", _replace("x", "x"), ("a.txt",)),
    Case("edit_look_alike", Kind.NOT_FOUND, "search_replace", _replace("go now"), ("a.txt",)),
    Case("edit_look_alike_sent", Kind.NOT_FOUND, "search_replace", _replace("sa\u2011me thing"), ("a.txt",)),
    Case("edit_line_number", Kind.NOT_FOUND, "search_replace", _replace("3\u2192same"), ("a.txt",)),
    Case("edit_white_space", Kind.NOT_FOUND, "search_replace", _replace("  tail", "x"), ("a.txt",)),
    Case("edit_create_over_file", Kind.INVALID_ARGUMENTS, "search_replace", _replace("")),
    Case(
        "edit_no_such_character",
        Kind.UNSUPPORTED,
        "search_replace",
        _replace("r\u00f4le", "\u2192", "latin.txt"),
        ("latin.txt",),
    ),
    Case("write_unread", Kind.REQUIRES_OTHER_TOOL, "write", {"file_path": "a.txt", "content": "x"}),
    Case("write_folder", Kind.INVALID_ARGUMENTS, "write", {"file_path": "folder", "content": "x"}),
    Case("list_file", Kind.INVALID_ARGUMENTS, "list_dir", {"target_directory": "a.txt"}),
    Case("list_missing", Kind.NOT_FOUND, "list_dir", {"target_directory": "folde"}),
    Case("glob_empty", Kind.INVALID_ARGUMENTS, "glob", {"pattern": ""}),
    Case("grep_empty", Kind.INVALID_ARGUMENTS, "grep", {"pattern": ""}),
    Case("grep_missing", Kind.NOT_FOUND, "grep", {"pattern": "x", "path": "folde"}),
    Case("command_empty", Kind.INVALID_ARGUMENTS, "run_terminal_command", {"command": " "}),
    Case("command_nul", Kind.INVALID_ARGUMENTS, "run_terminal_command", {"command": "echo \0"}),
    Case("command_too_long", Kind.TOO_LARGE, "run_terminal_command", {"command": "#" * 130_000}),
    Case("todo_unknown", Kind.INVALID_ARGUMENTS, "todo_write", {"todos": [{"id": "9", "status": "completed"}]}),
    Case("todo_twice", Kind.INVALID_ARGUMENTS, "todo_write", {"todos": [{"id": "1"}, {"id": "1"}]}),
]


SAW_A_FILE = ("edit_", "write_unread")


def _furnish(folder: Path) -> None:
    (folder / "a.txt").write_text("alpha\nbeta gamma\nsame\nsame\ngo\u00a0now\n\ttail \nsa-me thing\nxx\n")
    (folder / "moving.txt").write_text("alpha\n")
    (folder / "latin.txt").write_bytes(b"# r\xf4le\n")
    (folder / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "pipe")
    with (folder / "large").open("wb") as file:
        file.truncate(60_000_000)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_an_error_leads_the_model_on(tmp_path: Path, case: Case) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    _furnish(folder)
    async with room(folder) as made:
        for name in case.seen:
            await made.call("read_file", target_file=name)
        (folder / "moving.txt").write_text("alpha changed\n")
        before = _contents(folder)
        error = await made.error(case.tool, **case.arguments)
        assert error.kind is case.kind
        assert _contents(folder) == before
        check_golden(case.name, error.message.replace(str(folder), "/work"))
        assert error.seen == (before[case.arguments["file_path"]] if case.name.startswith(SAW_A_FILE) else None)


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.txt")}


async def test_an_unknown_tool_is_answered_with_the_nearest(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        check_golden("unknown_tool_near", made.registry.unknown("readfile").message)
        check_golden("unknown_tool", made.registry.unknown("fly_to_the_moon").message)


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("arguments_cut_off", '{"target_file": "a'),
        ("arguments_missing_field", "{}"),
        ("arguments_wrong_type", json.dumps({"target_file": "a", "offset": "first"})),
        ("arguments_no_object", "[1, 2]"),
        ("arguments_a_number", "5"),
        ("arguments_no_json", "read a.txt please"),
    ],
)
def test_bad_arguments_are_answered_with_the_schema(name: str, raw: str) -> None:
    with pytest.raises(ToolError) as caught:
        decode_arguments(raw, ReadArgs)
    assert caught.value.kind is Kind.INVALID_ARGUMENTS
    check_golden(name, caught.value.message)


async def test_a_bad_pattern_is_answered_the_same_way_with_and_without_ripgrep(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        first = await made.error("grep", pattern="(x")
        made.shell.env["PATH"] = "/nowhere"
        second = await made.error("grep", pattern="(x")
        assert first.kind is second.kind is Kind.INVALID_ARGUMENTS
        check_golden("grep_bad_pattern", second.message)
        kind = await made.error("grep", pattern="x", type="elvish")
        check_golden("grep_unknown_type", kind.message)

"""File names that are no UTF-8: they work on disk, and what is told of them is text that can be sent and stored."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from grokmini.protocol.codec import encode
from grokmini.tools.contract import ToolOutput
from tests.tools.room import Room, room

ODD_FILE = os.fsdecode(b"\xe9tude.txt")
ODD_FOLDER = os.fsdecode(b"d\xe9p\xf4t")


def _folder(base: Path) -> Path:
    folder = base / ODD_FOLDER
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system takes no such names")
    (folder / ODD_FILE).write_text("needle\n")
    (folder / ODD_FOLDER).mkdir()
    (folder / ODD_FOLDER / "plain.txt").write_text("needle\n")
    return folder


async def _sendable(made: Room, name: str, **arguments: object) -> ToolOutput:
    output = await made.output(name, **arguments)
    encode([output.output, output.for_model, output.display, output.spill])
    return output


@pytest.mark.parametrize("ripgrep", [True, False])
async def test_searching_shows_odd_names_with_replacement_characters(tmp_path: Path, ripgrep: bool) -> None:
    if ripgrep and shutil.which("rg") is None:
        pytest.skip("needs ripgrep")
    env = dict(os.environ) if ripgrep else {**os.environ, "PATH": "/nowhere"}
    async with room(_folder(tmp_path), env) as made:
        assert "\ufffdtude.txt" in (await _sendable(made, "list_dir")).for_model
        assert "\ufffdtude.txt" in (await _sendable(made, "glob", pattern="*.txt")).for_model
        for mode in ("content", "files_with_matches", "count"):
            found = await _sendable(made, "grep", pattern="needle", output_mode=mode)
            assert "\ufffdtude.txt" in found.for_model and "plain.txt" in found.for_model


async def test_files_in_odd_folders_are_read_and_edited(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    async with room(folder) as made:
        made.workspace.move_to(folder / ODD_FOLDER)
        assert "needle" in (await _sendable(made, "read_file", target_file="plain.txt")).for_model
        await _sendable(made, "search_replace", file_path="plain.txt", old_string="needle", new_string="pin")
        assert (folder / ODD_FOLDER / "plain.txt").read_text() == "pin\n"
        for tool, arguments in (
            ("read_file", {"target_file": "plane.txt"}),
            ("list_dir", {"target_directory": "nowhere"}),
            ("glob", {"pattern": "*", "path": "plain.txt"}),
            ("grep", {"pattern": "x", "path": "nowhere"}),
            ("search_replace", {"file_path": f"{tmp_path}/no.txt", "old_string": "a", "new_string": "b"}),
        ):
            encode((await made.error(tool, **arguments)).message)
        encode(made.workspace.changes.diff())


async def test_commands_run_in_odd_folders_and_their_notes_can_be_sent(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    async with room(folder) as made:
        output = await _sendable(made, "run_terminal_command", command="cd d*; cat plain.txt")
        assert "needle" in output.for_model and "commands now start in" in output.for_model
        assert made.shell.cwd == folder / ODD_FOLDER
        shutil.rmtree(folder / ODD_FOLDER)
        assert "no longer exists" in (await _sendable(made, "run_terminal_command", command="pwd")).for_model

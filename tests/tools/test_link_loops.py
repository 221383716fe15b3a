"""A link that leads to itself is an ordinary failure of a call, not of the program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grokmini.protocol.errors import ToolErrorKind
from grokmini.protocol.permission import PermissionMode
from grokmini.protocol.tools import ToolKind
from grokmini.tools.contract import Subject
from grokmini.tools.git_trust import runs_programs
from grokmini.tools.verdicts import Allow, Ask, Deny, Verdict
from tests.tools.judging import Ground, tool
from tests.tools.room import room

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("read_file", {"target_file": "loop"}),
    ("write", {"file_path": "loop", "content": "x"}),
    ("search_replace", {"file_path": "loop", "old_string": "a", "new_string": "b"}),
    ("search_replace", {"file_path": "loop", "old_string": "", "new_string": "b"}),
    ("list_dir", {"target_directory": "loop"}),
    ("glob", {"pattern": "*", "path": "loop"}),
    ("grep", {"pattern": "x", "path": "loop"}),
]


def _ground(base: Path, **rules: Any) -> Ground:
    ground = Ground(base, **rules)
    (ground.root / "loop").symlink_to("loop")
    return ground


def _judge(ground: Ground, kind: ToolKind, rule: str, path: str) -> Verdict:
    subject = Subject(rule, str(ground.root / path), "?")
    writes = (ground.root / path,) if kind is ToolKind.WRITE else ()
    reader = kind is not ToolKind.WRITE
    return ground.policy.judge(
        tool(kind, read_only=reader), subject, writes, PermissionMode.ASK, contained=False
    )


@pytest.mark.parametrize(("name", "arguments"), CALLS)
async def test_every_file_tool_says_that_it_leads_to_itself(
    tmp_path: Path, name: str, arguments: dict[str, Any]
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    async with room(tmp_path) as made:
        error = await made.error(name, **arguments)
    assert error.kind is ToolErrorKind.IO
    assert error.message.startswith("loop is a symbolic link that leads back to itself.")


@pytest.mark.parametrize(
    ("kind", "rule"),
    [(ToolKind.READ, "Read"), (ToolKind.LIST_DIR, "Read"), (ToolKind.LIST, "Read"), (ToolKind.SEARCH, "Grep")],
)
def test_reading_one_is_let_through_to_fail_by_itself(tmp_path: Path, kind: ToolKind, rule: str) -> None:
    assert _judge(_ground(tmp_path), kind, rule, "loop") == Allow()
    assert _judge(_ground(tmp_path / "b", allow=["Read", "Grep"]), kind, rule, "loop/x") == Allow()


def test_writing_one_is_asked_about_like_any_file(tmp_path: Path) -> None:
    assert isinstance(_judge(_ground(tmp_path), ToolKind.WRITE, "Write", "loop"), Ask)


def test_deny_rules_hold_for_the_name(tmp_path: Path) -> None:
    assert isinstance(_judge(_ground(tmp_path, deny=["Read(loop)"]), ToolKind.READ, "Read", "loop"), Deny)


@pytest.mark.parametrize("command", ["cat loop", "cd loop", "cd loop && ls", "ls loop/x"])
def test_commands_with_one_are_commands(tmp_path: Path, command: str) -> None:
    assert _ground(tmp_path).run(command) == Allow()
    assert _ground(tmp_path / "b", deny=["Read(secret)"]).run(command) == Allow()


def test_git_in_a_folder_whose_marker_is_one_is_judged(tmp_path: Path) -> None:
    ground = _ground(tmp_path)
    (ground.root / ".git").symlink_to(".git")
    assert isinstance(ground.run("git status"), Allow | Ask)


@pytest.mark.parametrize("pointer", ["gitdir: a\0b\n", "gitdir: loop/x\n"])
def test_a_marker_that_names_no_path_is_no_failure(tmp_path: Path, pointer: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / ".git").write_text(pointer)
    assert isinstance(runs_programs(tmp_path), str)

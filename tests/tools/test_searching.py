"""grep, glob, list_dir and todo_write."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import msgspec
import pytest

from grokmini.protocol.errors import ToolError, ToolErrorKind
from grokmini.protocol.items import AssistantItem, ConversationItem, ToolCall, ToolResultItem
from grokmini.protocol.tools import SummaryDisplay, TodoEntry
from grokmini.tools.builtin.todo_write import TodoArgs, TodoItem, TodoStore, merged, todos_from
from tests.cost import LINEAR, growth
from tests.tools.room import Room, room

needs_ripgrep = pytest.mark.skipif(shutil.which("rg") is None, reason="needs ripgrep")


def _project(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".gitignore").write_text("build/\n*.log\n!keep.log\n")
    (folder / "src").mkdir()
    (folder / "build").mkdir()
    (folder / ".hidden").mkdir()
    (folder / "src" / "a.py").write_text(
        "import os\n\ndef total(x):\n    return x\n\n\ndef other():\n    pass\n"
    )
    (folder / "src" / "b.ts").write_text("const total = 1\n")
    (folder / "src" / ".gitignore").write_text("secret.py\n")
    (folder / "src" / "secret.py").write_text("total = 3\n")
    (folder / "build" / "out.py").write_text("total = 2\n")
    (folder / "x.log").write_text("total\n")
    (folder / "keep.log").write_text("total\n")
    (folder / ".hidden" / "h.py").write_text("total\n")
    (folder / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\0total\n")


QUERIES = [
    {"pattern": "total"},
    {"pattern": "TOTAL", "-i": True},
    {"pattern": r"def \w+", "-C": 1},
    {"pattern": "def", "-A": 1, "path": "src"},
    {"pattern": "total", "type": "py"},
    {"pattern": "total", "glob": "*.ts"},
    {"pattern": "total", "output_mode": "files_with_matches"},
    {"pattern": "total", "output_mode": "count"},
    {"pattern": r"x\):\n    return", "multiline": True},
    {"pattern": "total", "path": "src/a.py"},
    {"pattern": "^$", "path": "src"},
    {"pattern": "nowhere to be found"},
    {"pattern": "-total"},
]


@needs_ripgrep
@pytest.mark.parametrize("query", QUERIES, ids=str)
async def test_our_own_search_answers_as_ripgrep_does(tmp_path: Path, query: dict[str, object]) -> None:
    _project(tmp_path)
    async with room(tmp_path) as made:
        with_ripgrep = await made.call("grep", **query)
        made.shell.env["PATH"] = "/nowhere"
        by_ourselves = await made.call("grep", **query)
    assert sorted(by_ourselves.split("\n")) == sorted(with_ripgrep.split("\n"))


async def test_a_search_counts_and_names_lines(tmp_path: Path) -> None:
    _project(tmp_path)
    async with room(tmp_path) as made:
        output = await made.output("grep", pattern="total", path="src")
    assert (
        output.for_model == "Found 2 matching lines\nsrc/a.py\n3:def total(x):\n\nsrc/b.ts\n1:const total = 1"
    )
    assert output.display == SummaryDisplay("2 matching lines")


@pytest.mark.parametrize("path", [os.environ.get("PATH", ""), "/nowhere"], ids=["ripgrep", "own"])
async def test_a_search_is_bounded_and_says_what_is_left_out(tmp_path: Path, path: str) -> None:
    (tmp_path / "f.txt").write_text("word\n" * 3_000)
    (tmp_path / "wide.md").write_text("word " * 5_000)
    async with room(tmp_path) as made:
        made.shell.env["PATH"] = path
        text = await made.call("grep", pattern="word", glob="*.txt")
        assert (
            len(text.split("\n")) == 202 and "[2801 more lines; narrow the search, or raise head_limit]" in text
        )
        assert len((await made.call("grep", pattern="word", head_limit=5)).split("\n")) == 7
        least = (await made.call("grep", pattern="word", head_limit=1)).split("\n")
        assert "word" in least[-2] and least[-1].startswith("[")
        assert len(await made.call("grep", pattern="word", glob="*.md")) < 1_300


async def test_a_cancelled_search_in_a_thread_stops(tmp_path: Path) -> None:
    _project(tmp_path)
    async with room(tmp_path) as made:
        made.shell.env["PATH"] = "/nowhere"
        tool = made.registry.find("grep")
        assert tool is not None
        ctx = made.context()
        ctx.cancellation.cancel()
        with pytest.raises(ToolError) as caught:
            await tool.run(msgspec.convert({"pattern": "total"}, tool.args_type), ctx)
        assert caught.value.kind is ToolErrorKind.CANCELLED


async def test_files_are_found_newest_first_without_hidden_and_ignored(tmp_path: Path) -> None:
    _project(tmp_path)
    os.utime(tmp_path / "src" / "a.py", (2_000_000_000, 2_000_000_000))
    async with room(tmp_path) as made:
        assert await made.call("glob", pattern="**/*.{py,ts}") == "src/a.py\nsrc/b.ts"
        assert await made.call("glob", pattern="*.py", path="src") == "src/a.py"
        assert await made.call("glob", pattern="src/*.ts") == "src/b.ts"
        assert await made.call("glob", pattern=f"{tmp_path}/src/*.ts") == "src/b.ts"
        assert await made.call("glob", pattern="*.log") == "keep.log"
        assert await made.call("glob", pattern="*.nothing") == "No files found."


async def test_of_many_files_the_newest_hundred_are_named(tmp_path: Path) -> None:
    for number in range(120):
        (tmp_path / f"f{number}").touch()
    async with room(tmp_path) as made:
        text = await made.call("glob", pattern="f*")
    assert len(text.split("\n")) == 101 and "[the newest 100 of 120;" in text


async def test_a_folder_is_listed_as_a_tree_without_hidden_and_ignored(tmp_path: Path) -> None:
    _project(tmp_path)
    (tmp_path / "empty").mkdir()
    async with room(tmp_path) as made:
        output = await made.output("list_dir", target_directory=".")
    assert output.for_model == (
        "- ./\n  - empty/ [empty]\n  - image.png\n  - keep.log\n  - src/\n    - a.py\n    - b.ts"
    )
    assert output.display == SummaryDisplay("4 entries")


async def test_what_does_not_fit_is_summed_up(tmp_path: Path) -> None:
    (tmp_path / "large").mkdir()
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "one.md").touch()
    for number in range(1_000):
        (tmp_path / "large" / f"some_longer_name_{number}.{'py' if number % 4 else 'rs'}").touch()
    async with room(tmp_path) as made:
        text = await made.call("list_dir", target_directory=".")
        assert text == (
            "- ./\n  - large/ [1000 files in subtree: 750 *.py, 250 *.rs]\n  - small/\n    - one.md"
        )
        inner = await made.call("list_dir", target_directory="large")
    assert len(inner) < 10_300 and "more entries" in inner and "[not all is shown;" in inner


async def _todos(made: Room, todos: list[dict[str, str]], **more: object) -> str:
    return await made.call("todo_write", todos=todos, **more)


async def test_the_todo_list_merges_by_id_and_tells_its_changes(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        await _todos(made, [{"id": "1", "content": "look"}, {"id": "2", "content": "2"}])
        text = await _todos(made, [{"id": "1", "status": "completed"}, {"id": "3", "content": "new"}])
        assert text == "- [completed] 1: look\n- [pending] 2: 2\n- [pending] 3: new"
        await _todos(made, [{"id": "1", "status": "completed"}])
    assert len(made.todos) == 2


async def test_an_unknown_todo_without_content_is_refused_and_no_content_is_made_up(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        await _todos(made, [{"id": "1", "content": "look"}, {"id": "2", "content": "change"}])
        for merge in (True, False):
            todos = [{"id": "1", "status": "completed"}, {"id": "3", "status": "completed"}]
            error = await made.error("todo_write", todos=todos, merge=merge)
            assert error.kind is ToolErrorKind.INVALID_ARGUMENTS
            assert "`3`" in error.message and "1, 2" in error.message
        assert len(made.todos) == 1


async def test_a_todo_list_without_measure_is_refused_and_the_one_before_stays(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        await _todos(made, [{"id": "a", "content": "look"}])
        with pytest.raises(ToolError, match="characters; the list was left as it is"):
            await _todos(made, [{"id": str(n), "content": "c" * 50} for n in range(1_000)])
        assert await _todos(made, []) == "- [pending] a: look"


def test_a_long_todo_list_is_merged_at_a_cost_in_proportion() -> None:
    def merge(count: int) -> None:
        merged((), TodoArgs(tuple(TodoItem(str(n), "c") for n in range(count))))

    assert growth(merge, 40_000) < LINEAR


def test_the_todo_list_is_found_again_in_a_history() -> None:
    def asked(call_id: str, todos: list[dict[str, str]], name: str = "todo_write") -> AssistantItem:
        return AssistantItem(tool_calls=(ToolCall(call_id, name, json.dumps({"todos": todos})),))

    history: list[ConversationItem] = [
        asked("a", [{"id": "1", "content": "Fix the parser", "status": "in_progress"}]),
        ToolResultItem("a", "", "ok"),
        asked("b", [{"id": "1", "status": "completed"}, {"id": "2", "content": "Test it"}]),
        ToolResultItem("b", "", "ok"),
        asked("c", [{"id": "1", "content": "never happened"}]),
        ToolResultItem("c", "", "cancelled", status="cancelled"),
        asked("d", [{"id": "7", "status": "completed"}]),
        ToolResultItem("d", "", "refused", status="error"),
        asked("e", [{"id": "8", "content": "x"}], name="other"),
        ToolResultItem("e", "", "ok"),
        asked("f", [{"id": "2", "content": "no result"}]),
    ]
    heard: list[tuple[TodoEntry, ...]] = []
    store = TodoStore(heard.append)
    store.restore(todos_from(history))
    assert store.entries == (
        TodoEntry("1", "Fix the parser", "completed"),
        TodoEntry("2", "Test it", "pending"),
    )
    assert heard == []


async def test_the_todo_list_is_replaced_unless_only_states_are_given(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        await _todos(made, [{"id": "1", "content": "look"}, {"id": "2", "content": "change"}])
        text = await _todos(made, [{"id": "2", "status": "in_progress"}], merge=False)
        assert text == "- [pending] 1: look\n- [in_progress] 2: change"
        assert await _todos(made, [{"id": "9", "content": "other"}], merge=False) == "- [pending] 9: other"
        assert await _todos(made, [], merge=False) == "The list is empty."

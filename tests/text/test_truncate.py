"""Cutting says what it leaves out."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.text.truncate import cut_long_lines, head_tail


def test_a_text_that_fits_is_left_alone() -> None:
    assert head_tail("short", 10) == ("short", 0)


def test_beginning_and_end_are_kept_at_line_ends_with_a_count_between() -> None:
    text = "".join(f"line {i}\n" for i in range(1000))
    cut = head_tail(text, 200)
    lines = cut.text.split("\n")
    assert lines[0] == "line 0"
    assert lines[-2:] == ["line 999", ""]
    assert f"… {cut.omitted:,} characters left out …" in lines
    assert all(line.startswith(("line ", "…")) or not line for line in lines)


@settings(max_examples=80, derandomize=True)
@given(st.text(alphabet="ab\n", max_size=400), st.integers(0, 300))
def test_the_result_fits_and_the_count_is_right(text: str, limit: int) -> None:
    cut = head_tail(text, limit)
    assert len(cut.text) <= max(limit, 0) or cut.omitted == 0
    if cut.omitted:
        head, mark, tail = cut.text.partition(f"… {cut.omitted:,} characters left out …\n")
        if mark:
            head = head.removesuffix("\n") if not text.startswith(head) else head
            assert text.startswith(head)
            assert text.endswith(tail)
            assert len(head) + len(tail) + cut.omitted == len(text)
        else:
            assert len(cut.text) + cut.omitted == len(text)


def test_long_lines_are_cut_and_others_kept() -> None:
    assert cut_long_lines("a\n" + "x" * 30 + "\nb", 10) == "a\n" + "x" * 10 + "… [20 more characters]\nb"

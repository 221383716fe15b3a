"""Arguments: lenient on form, strict on meaning, and honest about what was bent."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.protocol.errors import ToolError, ToolErrorKind
from grokmini.tools.arguments import decode_arguments
from grokmini.tools.lenient_json import read_lenient
from grokmini.tools.unreadable import UnreadableError
from tests.cost import LINEAR, growth


class Entry(msgspec.Struct, frozen=True):
    id: str
    status: Literal["pending", "in_progress"] = "pending"


class Args(msgspec.Struct, frozen=True):
    path: str
    range: tuple[int, ...] = ()
    entries: tuple[Entry, ...] = ()
    words: tuple[str, ...] = ()
    deep: bool = False
    limit: int | None = None
    ignore_case: bool = msgspec.field(default=False, name="-i")


def _decode(raw: str) -> Args:
    return decode_arguments(raw, Args).args


def _notes(raw: str) -> str:
    return "; ".join(decode_arguments(raw, Args).notes)


def test_good_json_needs_no_note() -> None:
    decoded = decode_arguments('{"path": "a", "range": [1, 2], "-i": true}', Args)
    assert decoded.args == Args("a", (1, 2), ignore_case=True)
    assert decoded.notes == ()


@pytest.mark.parametrize("value", ["3", 3, 3.0, "3.0", " 3 "])
def test_an_integer_may_be_written_in_any_form(value: object) -> None:
    assert _decode(json.dumps({"path": "a", "limit": value})).limit == 3


@pytest.mark.parametrize("value", ["three", 3.5, "3.5", "", [3], True])
def test_what_is_no_integer_is_refused(value: object) -> None:
    with pytest.raises(ToolError) as caught:
        _decode(json.dumps({"path": "a", "limit": value}))
    assert caught.value.kind is ToolErrorKind.INVALID_ARGUMENTS


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("False", False), (1, True), ("no", False)])
def test_a_boolean_may_be_written_in_any_form(value: object, expected: bool) -> None:
    assert _decode(json.dumps({"path": "a", "deep": value})).deep is expected


def test_a_coercion_is_noted() -> None:
    assert "`limit` was string" in _notes('{"path": "a", "limit": "3"}')


@pytest.mark.parametrize(
    "entries", [[{"id": "1"}], '[{"id": "1"}]', {"id": "1"}, '{"id": "1"}', [{"id": 1}], ['{"id": "1"}']]
)
def test_a_list_may_come_as_a_string_or_as_its_only_entry(entries: object) -> None:
    assert _decode(json.dumps({"path": "a", "entries": entries})).entries == (Entry("1"),)


def test_one_word_where_a_list_of_words_is_meant() -> None:
    assert _decode('{"path": "a", "words": "x"}').words == ("x",)


def test_the_whole_may_come_as_a_string_or_in_a_list() -> None:
    assert _decode(json.dumps('{"path": "a"}')) == Args("a")
    assert _decode('[{"path": "a"}]') == Args("a")


def test_null_for_an_optional_parameter_is_leaving_it_out() -> None:
    assert _decode('{"path": "a", "limit": null, "range": null}') == Args("a")


def test_a_literal_may_differ_in_case_and_separators() -> None:
    assert _decode('{"path": "a", "entries": [{"id": "1", "status": "In Progress"}]}').entries[0].status == (
        "in_progress"
    )


def test_other_spellings_of_a_name_are_taken_and_unknown_ones_named() -> None:
    decoded = decode_arguments('{"Path": "a", "colour": 1}', Args)
    assert decoded.args == Args("a")
    assert decoded.notes == ("`Path` was taken for `path`", "`colour` is no parameter and was ignored")


def test_a_missing_parameter_is_named_with_the_schema() -> None:
    with pytest.raises(ToolError, match=r"required field `path`.*\"properties\""):
        _decode("")


@pytest.mark.parametrize(
    "raw",
    [
        '{"path": "a.txt", "range": \\n[3, 9]\\n}',
        '{"path": "a.txt", "range": \\\\n[3, 9]\\\\n}',
        '{"path": "a.txt", "range": [3, 9],}',
        '{"path": "a.txt", "range": [3, 9,]',
        '{"path": "a.txt", "range": [3, 9]',
        "{'path': 'a.txt', 'range': [3, 9]}",
        '```json\n{"path": "a.txt", "range": [3, 9]}\n```',
        '{path: "a.txt", range: [3, 9]}',
        '{"path": "a.txt", "range": [3, 9], "deep": False, "limit": None}',
        '{"path": "a.txt", "range": [3, 9]}}',
        '{"path": "a.txt", "range": [3, 9]}</tool_call>',
    ],
)
def test_broken_json_with_a_clear_meaning_is_read_and_noted(raw: str) -> None:
    decoded = decode_arguments(raw, Args)
    assert decoded.args == Args("a.txt", (3, 9))
    assert decoded.notes[0].startswith("the arguments were repaired: ")


def test_parameters_in_tags_are_read() -> None:
    assert _decode("<parameter=path>a.txt</parameter>") == Args("a.txt")
    inner = "<parameter=path>\na b\n</parameter><parameter=limit>4</parameter>"
    assert _decode(f"<tool_call><function=read>{inner}</function></tool_call>") == Args("a b", limit=4)


@pytest.mark.parametrize(
    "raw",
    [
        '{"path": "a',
        '{"path": "rm -r',
        '{"path": ',
        '{"path": "a", "limit": 12',
        '{"path"',
        "{",
        "path",
        '{"path": "a"} and {"path": "b"}',
        '{"path": "a" "range": []}',
        '{"path": "a", "path": "b",}',
        "[" * 5_000,
    ],
)
def test_doubtful_json_is_refused(raw: str) -> None:
    with pytest.raises(ToolError) as caught:
        _decode(raw)
    assert caught.value.kind is ToolErrorKind.INVALID_ARGUMENTS


def test_a_regular_expression_with_single_backslashes_is_kept() -> None:
    assert _decode('{"path": "\\d+\\.py\\n"}').path == "\\d+\\.py\n"


def test_real_newlines_inside_a_string_are_kept() -> None:
    assert _decode('{"path": "a\nb"}').path == "a\nb"


def test_backslash_n_inside_a_good_string_stays_two_characters() -> None:
    assert _decode(json.dumps({"path": 's = "a\\nb"'})).path == 's = "a\\nb"'


def test_surrogate_pairs_are_joined_and_single_ones_replaced() -> None:
    assert _decode('{"path": "\\ud83d\\ude00 \\ud800"}').path == "\U0001f600 \ufffd"
    assert _decode('{"path": "\ud83d\ude00"}').path == "\U0001f600"


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=50)
@given(VALUES)
def test_good_json_is_read_by_the_lenient_reader_as_it_is(value: Any) -> None:
    assert read_lenient(json.dumps(value)).value == value


@settings(max_examples=50)
@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), VALUES, min_size=1, max_size=3), st.data())
def test_json_cut_anywhere_is_refused_or_gives_whole_values_only(
    value: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    try:
        read = read_lenient(cut).value
    except UnreadableError:
        return
    assert isinstance(read, dict)
    for text_read in _strings(read):
        assert text_read in _strings(value)
    assert set(_numbers(read)) <= set(_numbers(value))


def _numbers(value: Any) -> list[int]:
    if isinstance(value, list):
        return [found for entry in value for found in _numbers(entry)]
    if isinstance(value, dict):
        return [found for entry in value.values() for found in _numbers(entry)]
    return [value] if type(value) is int else []


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [found for entry in value for found in _strings(entry)]
    if isinstance(value, dict):
        return [found for entry in value.values() for found in _strings(entry)]
    return []


@settings(max_examples=60)
@given(st.text("{}[]\",:'\\ntrue0.<>/`", max_size=40))
def test_no_text_breaks_the_decoder(raw: str) -> None:
    try:
        decode_arguments(raw, Args)
    except ToolError as error:
        assert error.kind is ToolErrorKind.INVALID_ARGUMENTS


@pytest.mark.parametrize(
    "part", ["<parameter=a>", "<parameter=a></parameter>", "``` ", "{", "'", "\\", " ", "\\n"]
)
@pytest.mark.parametrize("begin", ["", '{"path": "a"', "```"])
def test_arguments_without_sense_cost_in_proportion(begin: str, part: str) -> None:
    def read(size: int) -> None:
        with suppress(ToolError):
            decode_arguments(begin + part * size + "x", Args)

    assert growth(read, 40_000) < LINEAR

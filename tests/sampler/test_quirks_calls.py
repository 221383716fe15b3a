"""Tool calls as real servers send them (reference/quirks.md; the number is the row's)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.protocol.errors import SampleErrorKind
from grokmini.protocol.items import AssistantItem, ToolCall, ToolResultItem, user_text
from grokmini.protocol.samples import ToolCallComplete, ToolCallDelta, ToolCallStarted
from grokmini.sampler.call_assembly import CallAssembly, Fragment, is_unfinished
from tests.fakes.model_server import ModelServer, call, chunk, raw, reply, sse
from tests.sampler.asking import answer_to, ask, ask_for_error, call_chunk, entry, error_of, text_chunks

END = chunk({}, finish="tool_calls")


async def test_28_calls_without_index_and_type() -> None:
    both = call_chunk(entry('{"a":1}', name="f", id="x"), entry('{"b":2}', name="g", id="y"))
    assert (await answer_to(both, END)).named_calls == [("f", {"a": 1}), ("g", {"b": 2})]


async def test_28_calls_without_index_and_id_in_one_chunk_are_several() -> None:
    both = call_chunk(entry('{"a":1}', name="f"), entry('{"a":2}', name="f"))
    assert (await answer_to(both, END)).named_calls == [("f", {"a": 1}), ("f", {"a": 2})]


async def test_28_pieces_without_index_belong_to_the_last_call() -> None:
    chunks = [call_chunk(entry("", name="f", id="x")), call_chunk(entry('{"a"')), call_chunk(entry(":1}"))]
    assert (await answer_to(*chunks, END)).named_calls == [("f", {"a": 1})]


async def test_29_an_empty_id_is_replaced_and_extras_are_kept() -> None:
    extra = {"google": {"thought_signature": "s"}}
    chunks = [call_chunk(entry("{}", name=name, id="", index=0, extra_content=extra)) for name in ("f", "f")]
    answer = await answer_to(*chunks, END)
    first, second = answer.calls
    assert first.id.startswith("call_") and first.id != second.id
    assert first.extra is not None and json.loads(bytes(first.extra)) == {"extra_content": extra}


async def test_30_the_first_index_may_be_1() -> None:
    chunks = [call_chunk(entry("", name="f", id="x", index=1)), call_chunk(entry("{}", index=1))]
    answer = await answer_to(*text_chunks("let me"), *chunks, END)
    assert [(event.index, event.call.name) for event in answer.of(ToolCallComplete)] == [(0, "f")]


async def test_31_whole_calls_in_one_chunk_each_even_under_one_index() -> None:
    chunks = [
        call_chunk(entry('{"a":1}', name="f", id="x", index=0)),
        call_chunk(entry('{"a":2}', name="f", id="y", index=0)),
    ]
    assert (await answer_to(*chunks, END)).named_calls == [("f", {"a": 1}), ("f", {"a": 2})]


async def test_31_another_id_under_one_index_begins_another_call() -> None:
    chunks = [
        call_chunk(entry("", name="f", id="x", index=0)),
        call_chunk(entry('{"a":2}', name="f", id="y", index=0)),
    ]
    assert (await answer_to(*chunks, END)).named_calls == [("f", {}), ("f", {"a": 2})]


async def test_32_name_first_then_token_size_pieces() -> None:
    pieces = [call_chunk(entry(piece, index=0)) for piece in '{"a": 12, "b": 34}'[1:]]
    answer = await answer_to(call_chunk(entry("{", name="f", id="x", index=0, type="function")), *pieces, END)
    assert answer.named_calls == [("f", {"a": 12, "b": 34})]
    assert len(answer.of(ToolCallStarted)) == 1
    assert "".join(event.arguments for event in answer.of(ToolCallDelta)) == '{"a": 12, "b": 34}'


async def test_32_parallel_calls_may_interleave() -> None:
    chunks = [
        call_chunk(entry("", name="f", id="x", index=0)),
        call_chunk(entry("", name="g", id="y", index=1)),
        call_chunk(entry('{"a"', index=0), entry('{"b"', index=1)),
        call_chunk(entry(":2}", index=1)),
        call_chunk(entry(":1}", index=0)),
    ]
    assert (await answer_to(*chunks, END)).named_calls == [("f", {"a": 1}), ("g", {"b": 2})]


@pytest.mark.parametrize("again", ["", "f", None])
async def test_34_a_repeated_or_empty_name_goes_on_with_the_call(again: str | None) -> None:
    chunks = [
        call_chunk(entry('{"a"', name="f", id="x", index=0)),
        call_chunk(entry(":1}", name=again, id="x" if again else "", index=0)),
        call_chunk(entry("", name=again, index=0)),
    ]
    assert (await answer_to(*chunks, END)).named_calls == [("f", {"a": 1})]


async def test_35_36_no_arguments_become_an_empty_object() -> None:
    chunks = [call_chunk(entry("", name="f", id="x", index=0)), *[call_chunk(entry("", index=0))] * 3]
    assert (await answer_to(*chunks, END)).calls[0].arguments == "{}"
    assert (await answer_to(*chunks, call_chunk(entry("{}", index=0)), END)).calls[0].arguments == "{}"


async def test_37_call_finish_and_usage_in_one_chunk() -> None:
    whole = call_chunk(entry("{}", name="f", id="123456789"), finish="tool_calls")
    answer = await answer_to({**whole, "usage": {"prompt_tokens": 3, "completion_tokens": 2}})
    assert (answer.calls[0].id, answer.usage.output, answer.finish) == ("123456789", 2, "tool_calls")


async def test_39_ids_used_earlier_in_the_conversation_are_made_unique() -> None:
    earlier = AssistantItem(tool_calls=(ToolCall("call_0", "f", "{}"),))
    with ModelServer([reply(calls=[call("f", call_id="call_0"), call("g", call_id="call_0")])]) as server:
        answer = await ask(server, user_text("hi"), earlier, ToolResultItem("call_0", "x", "x"))
    ids = [made.id for made in answer.calls]
    assert len({*ids, "call_0"}) == 3


async def test_41_prose_before_calls_is_kept() -> None:
    with ModelServer([reply("I look at it.", calls=[call("f")])]) as server:
        answer = await ask(server)
    assert (answer.text, answer.named_calls) == ("I look at it.", [("f", {})])


async def test_43_tools_that_the_server_ran_are_no_calls() -> None:
    ran = chunk({"content": "a", "executed_tools": [{"type": "search", "arguments": "{}"}]})
    assert (await answer_to(ran, chunk({}, finish="stop"))).calls == []


async def test_calls_with_finish_stop_are_still_calls() -> None:
    whole = call_chunk(entry("{}", name="f", id="x", index=0))
    assert (await answer_to(whole, chunk({}, finish="stop"))).finish == "tool_calls"


async def test_arguments_sent_as_an_object_are_taken() -> None:
    odd = {"index": 0, "id": "x", "function": {"name": "f", "arguments": {"a": 1}}}
    assert (await answer_to(call_chunk(odd), END)).named_calls == [("f", {"a": 1})]


@pytest.mark.parametrize("entries", [None, 5, ["x"], [{}], [{"function": 3}], [{"index": "0", "function": {}}]])
async def test_what_is_no_call_is_left_out(entries: Any) -> None:
    answer = await answer_to(chunk({"content": "a", "tool_calls": entries}), chunk({}, finish="stop"))
    assert (answer.text, answer.calls) == ("a", [])


async def test_h34_a_stream_cut_in_arguments_runs_nothing_and_is_asked_again() -> None:
    """H34."""
    half = raw(*sse(call_chunk(entry('{"cmd": "rm -r', name="sh", id="x", index=0))), cut=10_000)
    with ModelServer([half, reply(calls=[call("sh", cmd="rm -r build")])]) as server:
        answer = await ask(server)
    assert answer.named_calls == [("sh", {"cmd": "rm -r build"})]


@pytest.mark.parametrize("ending", [["[DONE]"], [], [END]])
async def test_h34_half_arguments_become_no_call_unless_the_stream_is_surely_whole(
    ending: list[object],
) -> None:
    """H34."""
    half = call_chunk(entry('{"cmd": "rm -r', name="sh", id="x", index=0))
    error = await error_of(raw(*sse(half, *ending)))
    assert (error.kind, error.retryable) == (SampleErrorKind.STREAM_CUT, True)


@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
@pytest.mark.parametrize("text", ['{"cmd": "rm -r', '{"cmd": "ls"', '{"cmd": '])
async def test_arguments_the_model_did_not_finish_are_left_to_the_tools_not_asked_for_again(
    text: str, finish: str
) -> None:
    half = call_chunk(entry(text, name="sh", id="x", index=0))
    whole = raw(*sse(half, chunk({}, finish=finish), "[DONE]"))
    with ModelServer([whole]) as server:
        answer = await ask(server)
    assert [(made.name, made.arguments) for made in answer.calls] == [("sh", text.strip())]
    assert len(server.requests) == 1


async def test_h34_half_arguments_at_the_length_limit_are_left_out() -> None:
    """H34."""
    chunks = [
        call_chunk(entry('{"a": 1}', name="f", id="x", index=0)),
        call_chunk(entry('{"cmd": "rm -r', name="sh", id="y", index=1)),
    ]
    answer = await answer_to(*chunks, chunk({}, finish="length"))
    assert (answer.named_calls, answer.finish) == ([("f", {"a": 1})], "length")


async def test_a_call_without_arguments_at_the_length_limit_is_left_out() -> None:
    answer = await answer_to(call_chunk(entry("", name="f", id="x", index=0)), chunk({}, finish="length"))
    assert answer.calls == []


async def test_malformed_but_finished_arguments_are_left_to_the_tools() -> None:
    text = '{"path": "a.txt", "range": \\n[3, 9]\\n}'
    answer = await answer_to(call_chunk(entry(text, name="f", id="x", index=0)), END)
    assert answer.calls[0].arguments == text


async def test_h23_a_lone_surrogate_in_arguments_is_replaced() -> None:
    """H23."""
    answer = await answer_to(call_chunk(entry('{"q": "x\\ud99cy"}', name="f", id="x", index=0)), END)
    assert answer.named_calls == [("f", {"q": "x\ufffdy"})]


async def test_h23_a_pair_in_arguments_cut_between_two_pieces_is_whole() -> None:
    """H23."""
    first = b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f",'
    first += b'"arguments":"{\\"q\\": \\"\\ud83d"}}]}}]}\n\n'
    second = (
        b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\\ude00\\"}"}}]}}]}\n\n'
    )
    with ModelServer([raw(first, second, *sse(END))]) as server:
        assert (await ask(server)).named_calls == [("f", {"q": "😀"})]


@pytest.mark.parametrize(
    ("text", "unfinished"),
    [
        ('{"a": "b', True),
        ('{"a": [1, 2', True),
        ('{"a": "\\"}', True),
        ("{", True),
        ('{"a": "}"}', False),
        ("<parameter=path>a.txt</parameter>", False),
        ("", False),
    ],
)
def test_an_end_inside_a_string_an_object_or_a_list_is_seen(text: str, unfinished: bool) -> None:
    assert is_unfinished(text) is unfinished


_ARGUMENTS = st.lists(
    st.dictionaries(st.text(max_size=4), st.one_of(st.integers(), st.text(max_size=8)), max_size=3),
    min_size=1,
    max_size=4,
)


@settings(max_examples=50)
@given(_ARGUMENTS, st.integers(1, 9), st.sampled_from(["index", "id", "neither"]), st.booleans())
def test_any_calls_in_any_pieces_come_out_whole(
    values: list[dict[str, Any]], size: int, identified: str, names_repeat: bool
) -> None:
    assembly = CallAssembly(set(), lambda: "new")
    for index, value in enumerate(values):
        text = json.dumps(value)
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        for number, piece in enumerate(pieces):
            shown = number == 0 or (names_repeat and identified == "id")
            fragment = Fragment(
                index=index if identified == "index" else None,
                id=f"id{index}" if identified == "id" or number == 0 else "",
                name="f" if shown else "",
                arguments=piece,
            )
            assembly.add([fragment])
    complete = assembly.complete(cut_short=False)
    assert complete is not None
    made = [event.call.arguments for event in complete if isinstance(event, ToolCallComplete)]
    assert [json.loads(arguments) for arguments in made] == values


@settings(max_examples=60)
@given(st.text(alphabet='abc \\"{}[]:,1', max_size=30), st.data())
def test_no_proper_prefix_of_arguments_is_ever_complete(value: str, draw: st.DataObject) -> None:
    text = json.dumps({"cmd": value, "list": [value]})
    cut = draw.draw(st.integers(1, len(text) - 1))
    assembly = CallAssembly(set(), lambda: "new")
    assembly.add([Fragment(0, "x", "sh", text[:cut])])
    assert assembly.complete(cut_short=False) is None
    assert assembly.complete(cut_short=True) == []


async def test_an_error_leaves_no_complete_call_behind() -> None:
    with ModelServer([raw(*sse(call_chunk(entry("{}", name="f", id="x", index=0))))]) as server:
        assert (await ask_for_error(server)).kind is SampleErrorKind.STREAM_CUT

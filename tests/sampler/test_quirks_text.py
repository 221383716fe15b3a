"""Framing, text and reasoning as real servers send them (reference/quirks.md; the number is the row's)."""

from __future__ import annotations

import gzip

import msgspec
import pytest

from grokmini.protocol.samples import ReasoningComplete, TextDelta
from grokmini.sampler.chat_request import ReasoningReturn
from tests.fakes.model_server import ModelServer, Reply, chunk, raw, reply, sse
from tests.sampler.asking import Answer, answer_to, ask, text_chunks

END = chunk({}, finish="stop")


async def stream(*pieces: bytes, headers: dict[str, str] | None = None) -> Answer:
    with ModelServer([raw(*pieces, headers=headers)]) as server:
        return await ask(server, max_attempts=1)


async def test_1_crlf_line_ends() -> None:
    whole = b"".join(sse(*text_chunks("a", "b"), END, "[DONE]")).replace(b"\n", b"\r\n")
    assert (await stream(whole)).text == "ab"


async def test_2_3_comments_keep_the_stream_alive() -> None:
    first, second, end = sse(*text_chunks("a", "b"), END)
    comments = b": OPENROUTER PROCESSING\n\n" * 30
    assert (await stream(comments, first, b": ping - 12\n\n", second, b": \n\n", end)).text == "ab"


async def test_4_a_ping_event_is_nothing() -> None:
    ping = b'event: ping\ndata: {"type":"ping"}\n\n'
    first, end = sse(*text_chunks("a"), END)
    assert (await stream(ping, first, ping, end)).text == "a"


async def test_5_a_stream_without_done_is_complete_after_the_finish_reason() -> None:
    answer = await stream(*sse(*text_chunks("a"), END))
    assert (answer.text, answer.finish) == ("a", "stop")


async def test_an_end_mark_with_blanks_around_it_is_one() -> None:
    answer = await stream(*sse(*text_chunks("a")), b"data:  [DONE] \n\n")
    assert (answer.text, answer.finish) == ("a", "stop")


async def test_7_event_names_beside_the_data_do_no_harm() -> None:
    pieces = [b"event: completion\n" + piece for piece in sse(*text_chunks("a"), END)]
    assert (await stream(*pieces)).text == "a"


@pytest.mark.parametrize(
    "kind",
    ["text/event-stream; charset=utf-8", "text/event-stream;charset=UTF-8", "application/octet-stream", "x/y"],
)
async def test_8_the_content_type_does_not_decide(kind: str) -> None:
    assert (await stream(*sse(*text_chunks("a"), END), headers={"content-type": kind})).text == "a"


async def test_a_byte_order_mark_and_missing_spaces() -> None:
    whole = b"\xef\xbb\xbf" + b"".join(sse(*text_chunks("a"), END)).replace(b"data: ", b"data:")
    assert (await stream(whole)).text == "a"


async def test_a_stream_cut_into_single_bytes_gives_the_same() -> None:
    whole = b"".join(sse(*text_chunks("grüße", " 👍"), END, "[DONE]"))
    answer = await stream(*(whole[at : at + 1] for at in range(len(whole))))
    assert answer.text == "grüße 👍"


async def test_events_that_lost_their_blank_lines_are_told_apart() -> None:
    whole = b"".join(sse(*text_chunks("a", "b"), END, "[DONE]")).replace(b"\n\n", b"\n")
    assert (await stream(whole)).text == "ab"


async def test_a_compressed_stream_is_read() -> None:
    whole = gzip.compress(b"".join(sse(*text_chunks("a"), END)))
    assert (await stream(whole[:9], whole[9:], headers={"content-encoding": "gzip"})).text == "a"


async def test_11_12_the_role_may_come_always_or_never() -> None:
    assert (await answer_to(chunk({"role": "assistant", "content": "a"}), *text_chunks("b"), END)).text == "ab"


async def test_13_14_null_and_empty_contents_are_nothing() -> None:
    answer = await answer_to(
        chunk({"role": "assistant", "content": "", "refusal": None}),
        chunk({"content": None, "reasoning_content": "r"}),
        *text_chunks("a", ""),
        END,
    )
    assert (answer.text, answer.reasoning) == ("a", "r")


async def test_16_content_may_be_a_list_of_parts() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    answer = await answer_to(
        chunk({"content": [thinking]}),
        chunk({"content": [{"type": "text", "text": "a"}]}),
        *text_chunks("b"),
        END,
    )
    assert (answer.reasoning, answer.text) == ("hm", "ab")


async def test_17_the_finish_reason_may_be_absent_until_the_end() -> None:
    bare = {"choices": [{"index": 0, "delta": {"content": "a"}}]}
    assert (await answer_to(bare, END)).text == "a"


async def test_18_done_is_enough_without_any_finish_reason() -> None:
    delta = {"content": "a", "tool_calls": None, "refusal": ""}
    answer = await answer_to({"id": "", "created": 0, "choices": [{"delta": delta}]})
    assert (answer.text, answer.finish) == ("a", "stop")


async def test_19_20_chunks_without_choices_are_nothing() -> None:
    answer = await answer_to(
        {"id": "", "model": "", "object": "", "choices": [], "prompt_filter_results": [{}]},
        *text_chunks("a"),
        {"choices": [], "obfuscation": "xyz", "moderation": {}},
        END,
    )
    assert answer.text == "a"


async def test_21_22_23_unknown_fields_are_ignored() -> None:
    odd = {"index": 0, "text": "a", "token_ids": [1], "stop_reason": None}
    first = {
        "choices": [{**odd, "delta": {"content": "a", "token_id": 7, "index": 0}}],
        "prompt_token_ids": [3],
    }
    assert (await answer_to(first, END)).text == "a"


async def test_24_a_cumulative_message_beside_the_delta_is_not_read() -> None:
    def both(piece: str, so_far: str, finish: str | None = None) -> dict[str, object]:
        choice = {"delta": {"content": piece}, "message": {"content": so_far}, "finish_reason": finish}
        return {"object": "chat.completion.done", "choices": [choice]}

    assert (await answer_to(both("a", "a"), both("b", "ab", "stop"))).text == "ab"


async def test_25_fields_of_the_wrong_type_do_no_harm() -> None:
    odd = {
        "id": 7,
        "object": None,
        "model": ["x"],
        "created": "now",
        "choices": [{"delta": {"content": "a"}}, 5],
    }
    assert (await answer_to(odd, {"choices": "none"}, {"choices": [{"delta": "?"}]}, END)).text == "a"


async def test_27_the_answered_model_is_told() -> None:
    answer = await answer_to(chunk({"content": "a"}), END)
    assert getattr(answer.events[-1], "model", "") == "fake-model"


async def test_choices_beyond_the_first_are_not_ours() -> None:
    second = {"choices": [{"index": 1, "delta": {"content": "other"}}]}
    assert (await answer_to(*text_chunks("a"), second, END)).text == "a"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_44_reasoning_under_both_names(field: str) -> None:
    answer = await answer_to(chunk({field: "hm "}), chunk({field: "so"}), *text_chunks("a"), END)
    assert (answer.reasoning, answer.text) == ("hm so", "a")
    (complete,) = answer.of(ReasoningComplete)
    assert (complete.item.text, complete.item.model) == ("hm so", "fake-model")


async def test_44_reasoning_details_are_kept_to_be_given_back() -> None:
    def part(text: str, **more: object) -> dict[str, object]:
        return {"type": "reasoning.text", "index": 0, "text": text, **more}

    answer = await answer_to(
        chunk({"reasoning": "hm ", "reasoning_details": [part("hm ")]}),
        chunk({"reasoning": "so", "reasoning_details": [part("so", signature="s1")]}),
        *text_chunks("a"),
        END,
    )
    (complete,) = answer.of(ReasoningComplete)
    assert complete.item.opaque is not None
    kept = msgspec.json.decode(complete.item.opaque, type=ReasoningReturn)
    assert [msgspec.json.decode(detail) for detail in kept.details] == [part("hm so", signature="s1")]


async def test_44_reasoning_in_details_alone_is_shown() -> None:
    details = [{"type": "reasoning.summary", "summary": "hm"}]
    assert (await answer_to(chunk({"reasoning_details": details}), *text_chunks("a"), END)).reasoning == "hm"


async def test_45_think_tags_at_the_start_are_reasoning_however_cut() -> None:
    whole = "<think>so it <b>is</think>\n\nthe answer"
    for size in (1, 3, 8, 100):
        pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
        answer = await answer_to(*text_chunks(*pieces), END)
        assert (answer.reasoning, answer.text) == ("so it <b>is", "the answer")


@pytest.mark.parametrize("text", ["about <think> tags </think>", "<thin air", "  <", "<think"])
async def test_45_other_uses_of_the_tag_are_text(text: str) -> None:
    answer = await answer_to(*text_chunks(*text), END)
    assert (answer.text, answer.reasoning) == (text, "")


async def test_46_unknown_channels_beside_reasoning_are_ignored() -> None:
    answer = await answer_to(chunk({"reasoning": "hm", "channel": "analysis"}), *text_chunks("a"), END)
    assert answer.reasoning == "hm"


async def test_reasoning_between_texts_is_closed_each_time() -> None:
    thought = chunk({"reasoning_content": "r"})
    answer = await answer_to(thought, *text_chunks("a"), thought, *text_chunks("b"), END)
    assert [event.item.text for event in answer.of(ReasoningComplete)] == ["r", "r"]


async def test_a_refusal_is_told_as_one() -> None:
    answer = await answer_to(chunk({"refusal": "I can"}), chunk({"refusal": "not"}), END)
    assert answer.finish == "refusal"


async def test_a_whole_answer_instead_of_a_stream_is_taken() -> None:
    message = {"role": "assistant", "content": "a", "tool_calls": None}
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    with ModelServer([Reply(body=msgspec.json.encode(body))]) as server:
        assert (await ask(server)).text == "a"


async def test_h23_a_surrogate_pair_split_between_pieces_is_one_character() -> None:
    """H23."""
    first = b'data: {"choices":[{"delta":{"content":"ok \\ud83d"}}]}\n\n'
    second = b'data: {"choices":[{"delta":{"content":"\\ude00!"}}]}\n\n'
    answer = await stream(first, second, *sse(END))
    assert answer.text == "ok 😀!"


@pytest.mark.parametrize("field", ["content", "reasoning_content"])
async def test_h23_a_lone_surrogate_becomes_a_replacement_character(field: str) -> None:
    """H23."""
    lone = b'data: {"choices":[{"delta":{"%s":"x\\ud83d"}}]}\n\n' % field.encode()
    low = b'data: {"choices":[{"delta":{"%s":"y\\ude00z"}}]}\n\n' % field.encode()
    answer = await stream(lone, *sse(chunk({field: "-"})), low, lone, *sse(*text_chunks("t"), END))
    assert (answer.reasoning + answer.text).replace("t", "") == "x\ufffd-y\ufffdzx\ufffd"


async def test_text_that_arrives_together_is_given_out_together() -> None:
    whole = b"".join(sse(*text_chunks("a", "b", "c"), END, "[DONE]"))
    assert [event.text for event in (await stream(whole)).of(TextDelta)] == ["abc"]


async def test_the_servers_own_forms_are_read() -> None:
    with ModelServer([reply("hello there", reasoning="let me see")]) as server:
        answer = await ask(server)
    assert (answer.text, answer.reasoning, answer.finish) == ("hello there", "let me see", "stop")

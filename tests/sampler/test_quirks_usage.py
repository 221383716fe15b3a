"""Usage and finish reasons as real servers send them (reference/quirks.md; the number is the row's)."""

from __future__ import annotations

from typing import Any

import pytest

from grokmini.protocol.errors import SampleErrorKind
from grokmini.protocol.model import Price, Usage, cost_of
from grokmini.protocol.samples import UsageReported
from tests.fakes.model_server import ModelServer, chunk, raw, sse
from tests.sampler.asking import answer_to, ask, error_of, text_chunks

END = chunk({}, finish="stop")


async def usage_from(usage: dict[str, Any], **more: Any) -> Usage:
    return (await answer_to(*text_chunks("a"), END, chunk(usage=usage, **more))).usage


async def test_50_usage_in_a_chunk_of_its_own() -> None:
    assert await usage_from({"prompt_tokens": 7, "completion_tokens": 2}) == Usage(calls=1, input=7, output=2)


async def test_51_usage_on_the_finish_chunk() -> None:
    end = {**END, "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
    assert (await answer_to(*text_chunks("a"), end)).usage == Usage(calls=1, input=7, output=2)


async def test_53_growing_usage_in_every_chunk_is_counted_once() -> None:
    chunks = [
        {**chunk({"content": "a"}), "usage": {"prompt_tokens": 7, "completion_tokens": count}}
        for count in (1, 2, 3)
    ]
    assert (await answer_to(*chunks, END)).usage == Usage(calls=1, input=7, output=3)


async def test_54_usage_under_x_groq() -> None:
    end = {**END, "x_groq": {"id": "r", "usage": {"prompt_tokens": 7, "completion_tokens": 2}}}
    assert (await answer_to(chunk({"content": "a"}, x_groq={"id": "r"}), end)).usage.input == 7


async def test_55_null_usage_is_none() -> None:
    answer = await answer_to({**chunk({"content": "a"}), "usage": None}, {**END, "usage": None})
    assert answer.of(UsageReported) == []


async def test_56_reasoning_outside_of_the_completion_is_added_to_the_output() -> None:
    usage = await usage_from(
        {
            "prompt_tokens": 307,
            "completion_tokens": 26,
            "total_tokens": 560,
            "completion_tokens_details": {"reasoning_tokens": 227},
            "cost_in_usd_ticks": 15_000_000,
        }
    )
    assert (usage.output, usage.reasoning, usage.total, usage.cost_usd) == (253, 227, 560, 0.0015)


async def test_56_reasoning_inside_of_the_completion_is_not_counted_twice() -> None:
    usage = await usage_from(
        {
            "prompt_tokens": 10,
            "completion_tokens": 30,
            "total_tokens": 40,
            "completion_tokens_details": {"reasoning_tokens": 20},
        }
    )
    assert (usage.output, usage.reasoning) == (30, 20)


@pytest.mark.parametrize(
    "cached",
    [
        {"prompt_tokens_details": {"cached_tokens": 90}},
        {"prompt_cache_hit_tokens": 90, "prompt_cache_miss_tokens": 10},
        {"cache_read_input_tokens": 90},
    ],
)
async def test_58_the_cached_part_under_all_names(cached: dict[str, Any]) -> None:
    usage = await usage_from({"prompt_tokens": 100, "completion_tokens": 1, **cached})
    assert (usage.input, usage.cached_input, usage.total_input) == (10, 90, 100)


async def test_tokens_written_to_the_cache_are_neither_fresh_nor_read() -> None:
    details = {"cached_tokens": 50, "cache_write_tokens": 30}
    usage = await usage_from({"prompt_tokens": 100, "completion_tokens": 1, "prompt_tokens_details": details})
    assert (usage.input, usage.cached_input, usage.cache_write) == (20, 50, 30)


async def test_h35_each_token_is_charged_once() -> None:
    """H35."""
    usage = await usage_from(
        {
            "prompt_tokens": 17111,
            "completion_tokens": 50,
            "prompt_tokens_details": {"cached_tokens": 17102},
        }
    )
    cost, source = cost_of(usage, Price(input=1.0, output=5.0, cached_input=0.1))
    assert (usage.input, usage.cached_input, usage.output, usage.total) == (9, 17102, 50, 17161)
    assert cost == pytest.approx(0.0019692)
    assert source == "computed"


@pytest.mark.parametrize(
    ("fields", "cost"),
    [({"cost": 0.25}, 0.25), ({"cost": {"total_cost": 0.5}}, 0.5), ({"cost": 0}, None), ({"cost": "?"}, None)],
)
async def test_costs_that_servers_report(fields: dict[str, Any], cost: float | None) -> None:
    assert (await usage_from({"prompt_tokens": 1, "completion_tokens": 1, **fields})).cost_usd == cost


@pytest.mark.parametrize("usage", [{"prompt_tokens": "7"}, {"prompt_tokens": -3, "prompt_tokens_details": 5}])
async def test_figures_of_the_wrong_type_count_as_none(usage: dict[str, Any]) -> None:
    assert await usage_from(usage) == Usage(calls=1)


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("stop", "stop"),
        ("eos", "stop"),
        ("end_turn", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("content_filter", "content_filter"),
        ("SAFETY", "content_filter"),
        ("something new", "stop"),
    ],
)
async def test_finish_reasons_are_mapped(told: str, meant: str) -> None:
    assert (await answer_to(*text_chunks("a"), chunk({}, finish=told))).finish == meant


async def test_a_finish_reason_of_error_is_an_error() -> None:
    error = await error_of(raw(*sse(*text_chunks("a"), chunk({}, finish="error"), "[DONE]")))
    assert (error.kind, error.retryable) == (SampleErrorKind.SERVER, True)


async def test_the_chunk_of_figures_ends_a_stream_without_finish_reason() -> None:
    figures = chunk(usage={"prompt_tokens": 7, "completion_tokens": 2})
    with ModelServer([raw(*sse(*text_chunks("a"), figures))]) as server:
        assert (await ask(server)).text == "a"
    assert (await error_of(raw(*sse(*text_chunks("a"))))).kind is SampleErrorKind.STREAM_CUT


@pytest.mark.parametrize("finish", ["stop", "tool_calls"])
async def test_a_reply_without_anything_is_asked_again(finish: str) -> None:
    only_thought = chunk({"reasoning_content": "hm"})
    error = await error_of(raw(*sse(only_thought, *text_chunks("\n"), chunk({}, finish=finish), "[DONE]")))
    assert (error.kind, error.retryable) == (SampleErrorKind.EMPTY_REPLY, True)


async def test_a_reply_cut_at_the_length_limit_may_be_empty() -> None:
    assert (await answer_to(chunk({"reasoning_content": "hm"}), chunk({}, finish="length"))).finish == "length"

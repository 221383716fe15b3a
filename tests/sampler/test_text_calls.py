"""Quirk 42: calls that a model writes into its text, because the server does not take them out."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.protocol.items import user_text
from grokmini.protocol.model import ModelRequest, Supports
from grokmini.protocol.tools import ToolSpec
from grokmini.sampler.credentials import NO_KEY
from grokmini.sampler.sampler import HttpSampler
from grokmini.sampler.text_calls import MAX_HELD, TextCalls
from tests.cost import LINEAR, growth
from tests.fakes.model_server import ModelServer, Reply, call, reply
from tests.sampler.asking import Answer, spec_for

TOOLS = frozenset({"read_file", "run_terminal_command"})
READ = ("read_file", {"target_file": "a.py"})
JSON = '{"name": "read_file", "arguments": {"target_file": "a.py"}}'
RUN = '{"name": "run_terminal_command", "arguments": {"command": "ls"}}'


async def answer(script: Reply, *, marked: bool | None = None, tools: bool = True, url: str = "") -> Answer:
    """The reply to a request that offers the tools."""
    offered = tuple(ToolSpec(name, "", msgspec.Raw(b"{}")) for name in sorted(TOOLS)) if tools else ()
    with ModelServer([script]) as server:
        spec = spec_for(server, supports=Supports(text_calls=marked), max_attempts=1)
        sampler = HttpSampler(lambda spec: NO_KEY)
        try:
            async with aclosing(sampler.sample(ModelRequest("r", spec, (user_text("hi"),), offered))) as stream:
                return Answer([event async for event in stream])
        finally:
            await sampler.close()


@pytest.mark.parametrize(
    ("text", "said", "calls"),
    [
        (f"<tool_call>\n{JSON}\n</tool_call>", "", [READ]),
        (f"I look.\n<tool_call>{JSON}</tool_call>\n<tool_call>{RUN}", "I look.\n\n", [READ, "run"]),
        (f"I look. <tool_call>{JSON}</tool_call>", "I look. ", [READ]),
        (f"<tool_call>{JSON}\n<tool_call>{RUN}\n</tool_call>", "", [READ, "run"]),
        (
            "<tool_call><function=read_file><parameter=target_file>\na.py\n</parameter></function></tool_call>",
            "",
            [READ],
        ),
        (f"```json\n{JSON}\n```", "", [READ]),
        (f"First:\n\n```json\n[{JSON}, {RUN}]\n```\n", "First:\n\n", [READ, "run"]),
        (f"```\n{JSON}\n```", "", [READ]),
        ('```tool_code\nread_file(target_file="a.py")\n```', "", [READ]),
        (JSON, "", [READ]),
        (JSON.replace("arguments", "parameters"), "", [READ]),
        (f'{{"type": "function", "function": {JSON}}}', "", [READ]),
        (f"[TOOL_CALLS][{JSON}]", "", [READ]),
        ('[read_file(target_file="a.py"), run_terminal_command(command="ls")]', "", [READ, "run"]),
    ],
)
@pytest.mark.parametrize("piece", [1, 7, 1000])
async def test_42_a_call_written_as_text_is_a_call(text: str, said: str, calls: list[Any], piece: int) -> None:
    got = await answer(reply(text, piece=piece))
    expected = [("run_terminal_command", {"command": "ls"}) if made == "run" else made for made in calls]
    assert got.named_calls == expected
    assert (got.text, got.finish) == (said, "tool_calls")


@pytest.mark.parametrize(
    "text",
    [
        f"A call looks like this:\n```json\n{JSON}\n```\nNow you know.",
        f"Write `{JSON}` there.",
        '```json\n{"name": "another_tool", "arguments": {}}\n```',
        '```json\n{"a": 1}\n```',
        '{"name": "Bob", "arguments": {}}',
        '{"answer": 42}',
        "[1, 2]",
        "[link](a.md) and `read_file(x)`",
        "<tool_call> is the mark of a call.",
        "```python\nread_file(target_file='a.py')\n```",
        "```\nplain\n```",
        f"<tool_call>\n{JSON[:-5]}",
        "[read_file('a.py')]",
        "[read_file(target_file=open('x'))]",
        "`",
        "  \n\n[TOOL",
        "a <tool",
    ],
)
@pytest.mark.parametrize("piece", [1, 1000])
async def test_42_what_is_no_call_is_text_to_the_last_character(text: str, piece: int) -> None:
    got = await answer(reply(text, piece=piece))
    assert (got.text, got.calls) == (text, [])


async def test_42_arguments_that_are_no_json_are_left_to_whoever_mends_them() -> None:
    (made,) = (
        await answer(reply('<tool_call>{"name": "read_file", "arguments": {\'target_file\': 1,}}</tool_call>'))
    ).calls
    assert (made.name, made.arguments) == ("read_file", "{'target_file': 1,}")


async def test_42_a_stream_that_breaks_off_in_a_written_call_runs_nothing() -> None:
    got = await answer(reply(f"<tool_call>{JSON}", finish="length"))
    assert [made.name for made in got.calls] == ["read_file"]
    half = await answer(reply(f"<tool_call>{JSON[:-9]}", finish="length"))
    assert half.calls == []


async def test_42_where_the_server_takes_calls_out_the_text_is_text() -> None:
    got = await answer(reply(f"```json\n{JSON}\n```", calls=[call("run_terminal_command", command="ls")]))
    assert got.text == f"```json\n{JSON}\n```"
    assert [made.name for made in got.calls] == ["run_terminal_command"]


@pytest.mark.parametrize(("marked", "tools"), [(False, True), (None, False)])
async def test_42_not_where_the_model_is_marked_otherwise_or_no_tool_was_offered(
    marked: bool | None, tools: bool
) -> None:
    got = await answer(reply(JSON), marked=marked, tools=tools)
    assert (got.text, got.calls) == (JSON, [])


@settings(max_examples=100)
@given(
    st.lists(
        st.sampled_from(
            [
                "```json\n",
                "```\n",
                "\n```",
                "\n",
                JSON,
                "{",
                "[",
                "<tool_call>",
                "</tool_call>",
                "a",
                " ",
                "`",
                "[TOOL_CALLS]",
            ]
        ),
        max_size=8,
    ).map("".join),
    st.integers(min_value=1, max_value=5),
)
def test_42_any_cut_into_pieces_gives_the_same(text: str, size: int) -> None:
    def read(pieces: list[str]) -> tuple[str, list[Any]]:
        reader = TextCalls(TOOLS)
        said = "".join(reader.feed(piece) for piece in pieces)
        rest, calls = reader.finish()
        return said + rest, calls

    whole = read([text])
    assert read([text[at : at + size] for at in range(0, len(text), size)]) == whole
    if not whole[1]:
        assert whole[0] == text


def test_42_what_never_ends_is_given_out_as_text() -> None:
    reader = TextCalls(TOOLS)
    pieces = [JSON[:-2], *("again and " for _ in range(MAX_HELD // 5))]
    said = "".join(reader.feed(piece) for piece in pieces)
    assert len(said) > MAX_HELD and "".join(pieces).startswith(said)


def test_42_a_long_call_in_small_pieces_costs_in_proportion() -> None:
    def read(size: int) -> None:
        reader = TextCalls(TOOLS)
        for piece in ("<tool_call>", JSON[:-2], *("abcd" for _ in range(size))):
            reader.feed(piece)
        reader.feed('"}}')

    assert growth(read, 100_000) < LINEAR


@pytest.mark.parametrize(
    "part", ["word word\n", "<tool_call>{", "```json\n{", "<function=read_file>", "{", "`", "<"]
)
def test_42_any_text_at_once_costs_in_proportion(part: str) -> None:
    def read(size: int) -> None:
        reader = TextCalls(TOOLS)
        reader.feed(part * size)
        reader.finish()

    assert growth(read, 20_000) < LINEAR

"""The demonstration plays its five rounds on the sample project and says what it is anywhere else."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from grokmini.protocol.items import AssistantItem, ConversationItem, ToolCall, ToolResultItem, user_text
from grokmini.protocol.model import ModelRequest
from grokmini.protocol.samples import Finished, TextDelta, ToolCallComplete
from grokmini.protocol.tools import ToolSpec
from grokmini.sampler.catalogue import ModelCatalogue
from grokmini.sampler.credentials import NO_KEY
from grokmini.sampler.demo import PIECE_SECONDS, Demo, next_line
from tests.sampler.asking import Answer, Waits

NAMES = ("run_terminal_command", "read_file", "search_replace", "list_dir")
TOOLS = tuple(ToolSpec(name, "", msgspec.Raw(b"{}")) for name in NAMES)
PROMPT = "The test fails. Find out why, fix it, and run the test again."
RED = "exit: 1\nFAIL: test_add (test_calc.AddTest)\nFAILED (failures=1)"
CALC = '1→"""A little arithmetic."""\n\ndef add(a, b):\n    return a - b\n'
RESULTS = (RED, CALC, "updated", "exit: 0\nOK")


def request(*items: ConversationItem, tools: tuple[ToolSpec, ...] = TOOLS) -> ModelRequest:
    return ModelRequest("r", ModelCatalogue({}, {}).find("demo"), items, tools)


async def play(results: tuple[str, ...], prompt: str = PROMPT) -> tuple[list[tuple[str, Any]], str, float]:
    """The calls made, the last text, and the seconds that the streaming took."""
    waits = Waits()
    demo = Demo(lambda: pytest.fail("the demonstration connected"), waits)
    items: list[ConversationItem] = [user_text(prompt)]
    calls: list[tuple[str, Any]] = []
    for result in (*results, ""):
        answer = Answer([event async for event in demo.stream(request(*items), NO_KEY)])
        assert isinstance(answer.events[-1], Finished)
        calls += answer.named_calls
        if not answer.calls:
            return calls, answer.text, sum(waits.seconds)
        items += [
            AssistantItem(answer.text, tuple(answer.calls)),
            ToolResultItem(answer.calls[0].id, result, result),
        ]
    raise AssertionError("the demonstration did not end")


async def test_it_runs_reads_edits_runs_and_explains() -> None:
    calls, text, seconds = await play(RESULTS)
    assert [name for name, _ in calls] == [NAMES[0], NAMES[1], NAMES[2], NAMES[0]]
    assert calls[0][1]["command"] == calls[3][1]["command"] == "python3 -m unittest -q test_calc"
    assert calls[1][1] == {"target_file": "calc.py"}
    assert calls[2][1] == {"file_path": "calc.py", "old_string": "return a - b", "new_string": "return a + b"}
    assert "green" in text
    assert seconds < 2.0


async def test_its_text_says_that_it_is_a_demonstration() -> None:
    assert "Demonstration" in next_line(request(user_text(PROMPT))).text
    assert "demonstration" in (await play(RESULTS))[1]


@pytest.mark.parametrize("prompt", ["hi", "Write a poem", "What is a test?"])
async def test_other_prompts_are_answered_with_how_to_connect_a_model(prompt: str) -> None:
    calls, text, _ = await play((), prompt)
    assert calls == []
    assert "demonstration" in text and "XAI_API_KEY" in text


@pytest.mark.parametrize(
    "results",
    [
        ("exit: 127\npython3: not found",),
        (RED, "1→def add(a, b):\n    return sum((a, b))\n"),
        (*RESULTS[:3], RED),
    ],
)
async def test_another_project_ends_it_politely(results: tuple[str, ...]) -> None:
    _, text, _ = await play(results)
    assert "demonstration" in text


def test_without_the_tools_it_does_not_pretend() -> None:
    assert next_line(request(user_text(PROMPT), tools=TOOLS[:1])).tool == ""


def test_an_earlier_round_of_the_same_session_does_not_count() -> None:
    earlier = (
        user_text(PROMPT),
        AssistantItem("", (ToolCall("c", "read_file", "{}"),)),
        ToolResultItem("c", RED, RED),
        user_text(PROMPT),
    )
    assert next_line(request(*earlier)).tool == "run_terminal_command"


async def test_pieces_are_small_and_ids_differ_between_rounds() -> None:
    demo = Demo(lambda: pytest.fail("connected"), Waits())
    ids = set()
    for items in ((user_text(PROMPT),), (user_text("x"), AssistantItem("y"), user_text(PROMPT))):
        events = [event async for event in demo.stream(request(*items), NO_KEY)]
        assert all(len(event.text) <= 8 for event in events if isinstance(event, TextDelta))
        ids |= {event.call.id for event in events if isinstance(event, ToolCallComplete)}
    assert len(ids) == 2
    assert PIECE_SECONDS < 0.01

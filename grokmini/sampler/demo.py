"""The demonstration: an ordinary backend whose replies come from a script, offline.

It plays against the sample project of `grokmini demo` (`calc.py` with an `add` that subtracts, `test_calc.py`):
run the test, read, edit, run again, explain. How far it has come it sees from the history alone. With any other
conversation it says what it is and how to connect a model.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from grokmini.protocol.items import AssistantItem, ConversationItem, ToolCall, ToolResultItem, UserItem
from grokmini.protocol.model import ModelRequest
from grokmini.protocol.samples import (
    Finished,
    SampleEvent,
    TextDelta,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStarted,
)
from grokmini.sampler.credentials import Credential

if TYPE_CHECKING:
    from grokmini.net.http import HttpClient

CHECK = "python3 -m unittest -q test_calc"
PIECE = 6
PIECE_SECONDS = 0.004
NO_MODEL = (
    "This is a demonstration: no model is connected, so I can only play my script on the sample project that "
    "`grokmini demo` makes. To connect one, set XAI_API_KEY (or OPENAI_API_KEY, ANTHROPIC_API_KEY, "
    "OPENROUTER_API_KEY), or GROKMINI_BASE_URL and GROKMINI_MODEL for a server of your own."
)
_NEEDED = frozenset({"run_terminal_command", "read_file", "search_replace"})
_WRONG_SUM = re.compile(r"return (\w+) - (\w+)")


class Line(NamedTuple):
    """One reply of the script; without `tool` it is the last."""

    text: str
    tool: str = ""
    arguments: Mapping[str, str] = MappingProxyType({})


class Demo:
    """Plays the script (see `backends.Backend`)."""

    def __init__(
        self, connect: Callable[[], HttpClient], sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._sleep = sleep

    async def stream(
        self, request: ModelRequest, credential: Credential, *, fresh_key: bool = False
    ) -> AsyncGenerator[SampleEvent, None]:
        """The next reply of the script, in small pieces."""
        line = next_line(request)
        for start in range(0, len(line.text), PIECE):
            yield TextDelta(line.text[start : start + PIECE])
            await self._sleep(PIECE_SECONDS)
        if line.tool:
            arguments = msgspec.json.encode(dict(line.arguments)).decode()
            call = ToolCall(f"call_demo_{len(request.items)}", line.tool, arguments)
            yield ToolCallStarted(0, call.id, call.name)
            yield ToolCallDelta(0, arguments)
            yield ToolCallComplete(0, call)
        yield Finished("tool_calls" if line.tool else "stop", request.model.model)


def next_line(request: ModelRequest) -> Line:
    """What the script says to this history."""
    prompt, results = _since_last_prompt(request.items)
    asked = prompt.lower()
    if "test" not in asked or not ("fail" in asked or "fix" in asked):
        return Line(NO_MODEL)
    if not {tool.name for tool in request.tools} >= _NEEDED:
        return Line(NO_MODEL)
    return _play(results)


def _play(results: Sequence[ToolResultItem]) -> Line:
    match len(results):
        case 0:
            return Line(
                "*Demonstration: my words come from a script, what the tools do is real.*\n\n"
                "First I run the test to see how it fails.",
                "run_terminal_command",
                {"command": CHECK, "description": "Run the test"},
            )
        case 1 if "test_calc" not in results[0].prompt_text + results[0].output:
            return Line(NO_MODEL)
        case 1:
            return Line("The test is red. Now the code under test.", "read_file", {"target_file": "calc.py"})
        case 2:
            return _edit(results[1])
        case 3:
            return Line(
                "Changed. The test again, to be sure.",
                "run_terminal_command",
                {"command": CHECK, "description": "Run the test again"},
            )
        case _:
            return _explain(results[-1])


def _edit(read: ToolResultItem) -> Line:
    found = _WRONG_SUM.search(read.prompt_text or read.output)
    if found is None:
        return Line("`calc.py` is not as my script expects it, so I leave it alone. " + NO_MODEL)
    right = f"return {found[1]} + {found[2]}"
    return Line(
        "`add` subtracts: there is a minus where a plus belongs.",
        "search_replace",
        {"file_path": "calc.py", "old_string": found[0], "new_string": right},
    )


def _explain(last: ToolResultItem) -> Line:
    if "FAILED" in last.prompt_text or last.status != "ok":
        return Line("The test is still red, and here my script ends. " + NO_MODEL)
    return Line(
        "Fixed: the test is green.\n\n"
        "- **Cause:** `add` in `calc.py` returned `a - b`.\n"
        "- **Change:** it returns `a + b` now; nothing else was touched.\n\n"
        "That was the demonstration. For real answers connect a model: `grokmini --help all` says how."
    )


def _since_last_prompt(items: Sequence[ConversationItem]) -> tuple[str, list[ToolResultItem]]:
    """The last thing the person asked and the results of my calls since then."""
    prompt = ""
    results: list[ToolResultItem] = []
    mine: set[str] = set()
    for item in items:
        if isinstance(item, UserItem) and item.is_real_prompt:
            prompt, results, mine = item.text, [], set()
        elif isinstance(item, AssistantItem):
            mine.update(call.id for call in item.tool_calls)
        elif isinstance(item, ToolResultItem) and item.call_id in mine:
            results.append(item)
    return prompt, results

"""The figures of the chat state: a long history with much tool output, in a process of its own."""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from grokmini.chat.chat_state import ChatState
from grokmini.protocol.items import AssistantItem, ReasoningItem, ToolCall, ToolResultItem, user_text
from grokmini.protocol.model import ModelSpec

TURNS = 1_000
CALLS = 7
OUTPUT_BYTES = 200 << 20
MODEL = ModelSpec("demo", "demo-1", "http://127.0.0.1:1", context_window=200_000)


class LongHistory(NamedTuple):
    """Bytes resident more than before it was made; items; seconds of processor time, medians: the next request,
    and a request from a history that was rewritten or loaded.
    """

    resident: int
    items: int
    build: float
    rebuild: float


def long_history(turns: int = TURNS, output: int = OUTPUT_BYTES) -> LongHistory:
    """Drive a state through so many turns with so many bytes of tool output in all, pruned as it goes."""
    words = [sys.executable, "-m", "tests.bench.chat", str(turns), str(output)]
    root = Path(__file__).resolve().parent.parent.parent
    printed = subprocess.run(words, cwd=root, check=True, capture_output=True, text=True).stdout
    return LongHistory(*json.loads(printed))


def measure(turns: int, output: int) -> LongHistory:
    """The same in this process."""
    size = output // (turns * CALLS)
    before = _resident()
    state = ChatState([])
    builds: list[float] = []
    for turn in range(turns):
        state.conversation.repair()
        state.push(user_text(f"prompt {turn} " + "words " * 20, prompt_index=turn))
        state.conversation.clear_old_results()
        for number in range(CALLS):
            state.push(ReasoningItem("thinking of it " * 5, "demo"))
            state.push(AssistantItem("let me see", (ToolCall(f"c{turn}-{number}", "grep", '{"pattern":"x"}'),)))
            text = f"{turn}-{number} ".ljust(size, "x")
            state.push(ToolResultItem(f"c{turn}-{number}", text, text + "!"))
            builds.append(_build(state))
        state.push(AssistantItem("done"))
    gc.collect()
    resident = _resident() - before
    rebuilds = [_build(_loaded(state)) for _ in range(5)]
    recent = builds[-500:]
    return LongHistory(
        resident, len(state.conversation), statistics.median(recent), statistics.median(rebuilds)
    )


def _loaded(state: ChatState) -> ChatState:
    """The state as a session starts with it."""
    loaded = ChatState(state.conversation.stored)
    loaded.conversation.repair()
    return loaded


def _build(state: ChatState) -> float:
    begin = time.process_time()
    state.conversation.repair()
    state.build(request_id="r", model=MODEL, tools=(), conversation_id="c")
    return time.process_time() - begin


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]))))

"""A session as Markdown: prompts as headings with quotes, replies as they were written, calls with their output.

Fed with events like every other view, and as streaming: what is complete comes out at once, in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import assert_never

from grokmini.protocol.events import DirectoryChanged, SessionEvent, SessionStarted
from grokmini.protocol.tools import DiffDisplay
from grokmini.render.blocks import (
    Block,
    Change,
    Changed,
    Closed,
    Fold,
    Grew,
    NoticeBlock,
    Opened,
    PromptBlock,
    ReasoningBlock,
    SessionBlock,
    ShellBlock,
    TextBlock,
    TodoBlock,
    ToolBlock,
    TurnBlock,
)
from grokmini.render.blockview import session_lines, turn_lines
from grokmini.render.lines import Line, plain
from grokmini.render.look import Look
from grokmini.render.toolview import WHOLE, ToolLook, output_rows, told
from grokmini.text.sanitise import sanitise

_WIDE = 1_000_000
"""Cells: nothing is wrapped here, whoever shows the Markdown does that."""

_LOOK = Look()
_TODO_MARKS = {"completed": "[x]", "cancelled": "[-]"}


class _Entry:
    """A block that is not given out yet, and the text it has so far."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.text: list[str] = []
        self.closed = False


class MarkdownLog:
    """Events in, Markdown out. `reasoning` False leaves the model's reasoning out; `home` is shown as `~`."""

    def __init__(self, *, reasoning: bool = True, home: str = "") -> None:
        self._fold = Fold(tells_queue=False)
        self._reasoning = reasoning
        self._home = home
        self._cwd = ""
        self._entries: dict[int, _Entry] = {}

    def apply(self, event: SessionEvent) -> str:
        """What the event completes: paragraphs with a blank line behind each; often nothing."""
        if isinstance(event, SessionStarted | DirectoryChanged):
            self._cwd = event.cwd
        return self._follow(self._fold.apply(event))

    def settle(self) -> str:
        """End what is still open and give it."""
        return self._follow(self._fold.close())

    def _follow(self, changes: Iterable[Change]) -> str:
        for change in changes:
            match change:
                case Opened(block):
                    self._entries[block.id] = _Entry(block)
                case Grew(block_id, text):
                    self._entries[block_id].text.append(text)
                case Changed(block):
                    self._entries[block.id].block = block
                case Closed(block):
                    entry = self._entries[block.id]
                    entry.block, entry.closed = block, True
                case _:
                    assert_never(change)
        return "".join(f"{text}\n\n" for text in self._complete() if text)

    def _complete(self) -> Iterable[str]:
        while self._entries:
            block_id, entry = next(iter(self._entries.items()))
            if not entry.closed:
                return
            del self._entries[block_id]
            yield self._write(entry.block, "".join(entry.text)).strip("\n")

    def _write(self, block: Block, text: str) -> str:
        match block:
            case SessionBlock(_, event):
                return f"*{_joined(session_lines(event, _WIDE, _LOOK, self._home))}*"
            case PromptBlock(_, index, prompt):
                title = "Meanwhile" if index is None else f"Prompt {index + 1}"
                return f"## {title}\n\n{_quoted(prompt)}"
            case TextBlock():
                return sanitise(text)
            case ReasoningBlock():
                return _quoted(f"*Reasoning:* {text}") if self._reasoning else ""
            case ToolBlock():
                return self._call(block)
            case ShellBlock(_, event):
                ends = {0: "ok", None: "stopped"}
                end = ends.get(event.exit_code, f"exit {event.exit_code}")
                return f"**Shell** {_code(event.command)} · {end}\n\n{_fenced(output_rows(event.output))}"
            case TodoBlock(_, todos):
                return "\n".join(
                    f"- {_TODO_MARKS.get(todo.status, '[ ]')} {sanitise(todo.content, newlines=False)}"
                    for todo in todos
                )
            case NoticeBlock(_, level, notice):
                mark = "" if level == "info" else f"{level}: "
                return _quoted(f"*{mark}{sanitise(notice)}*")
            case TurnBlock(_, ended):
                return f"*{_joined(turn_lines(ended, _WIDE, _LOOK))}*\n\n---"
            case _:
                assert_never(block)

    def _call(self, block: ToolBlock) -> str:
        words = told(block, ToolLook(_WIDE, _LOOK, WHOLE, self._cwd, self._home))
        head = f"**{words.verb}**" + (f" {_code(words.subject)}" if words.subject else "")
        head = " · ".join((head, *words.remarks))
        result = block.result
        if result is None:
            return f"{head}\n\n{_fenced(output_rows(block.progress))}"
        if isinstance(result.display, DiffDisplay) and result.status == "ok":
            return f"{head}\n\n{_fenced(output_rows(result.display.diff), 'diff')}"
        return f"{head}\n\n{_fenced(output_rows(result.output))}"


def _quoted(text: str) -> str:
    lines = sanitise(text.replace("\r\n", "\n")).strip("\n").split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _joined(lines: Iterable[Line]) -> str:
    return " · ".join(plain(line) for line in lines if line.spans).replace("*", "\\*")


def _code(text: str) -> str:
    """Code inside a line, whatever backticks are in it; of several lines the first."""
    first, *others = sanitise(text.strip()).split("\n")
    ticks = "`" * (_longest_run(first) + 1)
    blank = " " if first.startswith("`") or first.endswith("`") else ""
    more = f" … +{len(others)} lines" if others else ""
    return f"{ticks}{blank}{first}{blank}{ticks}{more}"


def _fenced(rows: list[str], info: str = "") -> str:
    """Rows as they are, in a fence that nothing in them can close; nothing for no rows."""
    if not rows:
        return ""
    fence = "`" * max(3, max(map(_longest_run, rows)) + 1)
    return "\n".join((f"{fence}{info}", *rows, fence))


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)

"""The commit frontier: blocks become lines in order, each line given out once, when it can no longer change.

`apply` gives what is to be printed for good; `live` is what a live region shows below it. A streamed text
commits its frozen prefix early; everything else commits whole.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, assert_never

from grokmini.protocol.events import DirectoryChanged, SessionEvent, SessionStarted
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
from grokmini.render.blockview import notice_lines, prompt_lines, session_lines, turn_lines
from grokmini.render.code import Languages
from grokmini.render.lines import EMPTY, Line, Span
from grokmini.render.look import Look
from grokmini.render.reasoning import ReasoningStream
from grokmini.render.stream import MarkdownStream
from grokmini.render.toolview import (
    Preview,
    ToolLook,
    shell_lines,
    todo_lines,
    tool_lines,
    under_way,
)
from grokmini.text.width import cell_width, cut_to_width


class Shown(NamedTuple):
    """What a transcript shows and how. `home` shortens paths; `turn_hint` ends a turn's figures; `queue` False
    leaves waiting prompts to a live region; of a prompt so long that it would bury the rest (a paste), `prompt_rows`
    are shown.
    """

    look: Look = Look()
    preview: Preview = Preview()
    reasoning: bool = True
    prompts: bool = True
    home: str = ""
    turn_hint: str = ""
    queue: bool = True
    prompt_rows: int = sys.maxsize


class Running(NamedTuple):
    """What runs just now: for how many seconds each call has, the call that the model writes, and the person's own
    command.
    """

    seconds: Mapping[str, float] = MappingProxyType({})
    call: str = ""
    call_seconds: float = 0.0
    shell: str = ""
    shell_seconds: float = 0.0


NOTHING_RUNS = Running()


class _Entry:
    """A block on its way: its lines not yet committed; of a text what came of it, and the stream that draws it."""

    def __init__(self, block: Block, stream: MarkdownStream | ReasoningStream | None) -> None:
        self.block = block
        self.stream = stream
        self.text: list[str] = []
        self.ready: list[Line] = []
        self.closed = False


class Transcript:
    """Events in, lines out. `width` is in cells and may change at any time; what is out stays as it is."""

    def __init__(self, width: int, shown: Shown) -> None:
        self._fold = Fold(tells_queue=shown.queue)
        self._shown = shown
        self._width = max(1, width)
        self._languages = Languages()
        self._entries: dict[int, _Entry] = {}
        self._cwd = ""
        self._last_group = ""

    @property
    def width(self) -> int:
        """Cells across."""
        return self._width

    def resize(self, width: int) -> None:
        """Draw at another width from now on."""
        self._width = max(1, width)
        for entry in self._entries.values():
            if entry.ready:  # it waits for an older one to end: nothing of it is out
                self._draw_anew(entry)
            elif entry.stream is not None:
                entry.stream.resize(self._width)

    def apply(self, event: SessionEvent) -> list[Line]:
        """The lines that the event makes final, in order."""
        if isinstance(event, SessionStarted | DirectoryChanged):
            self._cwd = event.cwd
        return self._follow(self._fold.apply(event))

    def close(self) -> list[Line]:
        """End all that is still open and give the rest."""
        return self._follow(self._fold.close())

    def beside(self, lines: Sequence[Line]) -> list[Line]:
        """Lines that came of no event, as a block among the others."""
        gap = [EMPTY] if self._last_group and lines else []
        self._last_group = "beside" if lines else self._last_group
        return [*gap, *lines]

    def live(self, now: Running = NOTHING_RUNS, *, brief: bool = False) -> list[Line]:
        """What is not final: tails of texts and calls under way, as they look now; not the call that a question is
        open about. `brief` leaves the room to these: of a notice or a call that waits for them to end, the first line.
        """
        lines: list[Line] = []
        group = self._last_group
        for entry in self._entries.values():
            if isinstance(entry.block, ToolBlock) and entry.block.state == "asking":
                continue
            if entry.stream is not None and not entry.closed:
                drawn = [*entry.ready, *entry.stream.tail()]
            else:
                drawn = entry.ready or self._draw(entry.block, now.seconds)
            if brief and drawn and entry.closed and isinstance(entry.block, NoticeBlock | ToolBlock):
                drawn = [self._begun(drawn)]
            if drawn:
                lines += [*self._gap(group, entry.block), *drawn]
                group = _group(entry.block)
        for verb, subject, lasting in (
            ("Call", now.call, now.call_seconds),
            ("Shell", now.shell, now.shell_seconds),
        ):
            if subject:
                gap = [EMPTY] if group not in ("", "tool") else []
                lines += [*gap, *under_way(verb, subject, lasting, self._place)]
                group = "tool"
        return lines

    def _begun(self, lines: list[Line]) -> Line:
        """The first of some lines, marked when there are more."""
        first = lines[0]
        if len(lines) == 1:
            return first
        *lead, last = first.spans
        more = self._shown.look.glyphs.ellipsis
        room = self._width - first.width + cell_width(last.text)
        return Line((*lead, Span(cut_to_width(f"{last.text} {more}", room, more), last.style)))

    def _follow(self, changes: list[Change]) -> list[Line]:
        for change in changes:
            self._take(change)
        return self._commit()

    def _take(self, change: Change) -> None:
        match change:
            case Opened(block):
                self._entries[block.id] = _Entry(block, self._stream_for(block))
            case Grew(block_id, text):
                entry = self._entries[block_id]
                if entry.stream is not None:
                    entry.text.append(text)
                    entry.ready += entry.stream.feed(text)
            case Changed(block):
                self._entries[block.id].block = block
            case Closed(block):
                self._close(self._entries[block.id], block)
            case _:
                assert_never(change)

    def _close(self, entry: _Entry, block: Block) -> None:
        entry.block, entry.closed = block, True
        if entry.stream is None:
            entry.ready = self._draw(block)
        else:
            entry.ready += entry.stream.finish()

    def _draw_anew(self, entry: _Entry) -> None:
        entry.stream = self._stream_for(entry.block)
        if entry.stream is None:
            entry.ready = self._draw(entry.block)
            return
        entry.ready = entry.stream.feed("".join(entry.text))
        if entry.closed:
            entry.ready += entry.stream.finish()

    def _stream_for(self, block: Block) -> MarkdownStream | ReasoningStream | None:
        if isinstance(block, TextBlock):
            return MarkdownStream(self._width, self._shown.look, self._languages)
        if isinstance(block, ReasoningBlock) and self._shown.reasoning:
            return ReasoningStream(self._width, self._shown.look, self._languages)
        return None

    def _commit(self) -> list[Line]:
        """Lines from the oldest block on, as far as they are final."""
        lines: list[Line] = []
        while self._entries:
            block_id, entry = next(iter(self._entries.items()))
            if entry.ready:
                lines += [*self._gap(self._last_group, entry.block), *entry.ready]
                self._last_group = _group(entry.block)
                entry.ready = []
            elif entry.closed and isinstance(entry.block, PromptBlock):
                self._last_group = _group(entry.block)
            if not entry.closed:
                break
            del self._entries[block_id]
        return lines

    @staticmethod
    def _gap(before: str, block: Block) -> list[Line]:
        """One blank line between blocks of different kind, none between tool lines or between notices."""
        return [] if before in ("", _group(block)) else [EMPTY]

    @property
    def _place(self) -> ToolLook:
        return ToolLook(self._width, self._shown.look, self._shown.preview, self._cwd, self._shown.home)

    def _draw(self, block: Block, seconds: Mapping[str, float] = NOTHING_RUNS.seconds) -> list[Line]:
        width, look, place = self._width, self._shown.look, self._place
        match block:
            case SessionBlock(_, event):
                return session_lines(event, width, look, self._shown.home)
            case PromptBlock(_, _, text):
                most = self._shown.prompt_rows
                return prompt_lines(text, width, look, most) if self._shown.prompts else []
            case TextBlock() | ReasoningBlock():
                return []
            case ToolBlock():
                return tool_lines(block, place, seconds.get(block.call_id, 0.0))
            case ShellBlock(_, shell):
                return shell_lines(shell, place)
            case TodoBlock(_, todos):
                return todo_lines(todos, place)
            case NoticeBlock(_, level, text):
                return notice_lines(level, text, width, look)
            case TurnBlock(_, ended):
                return turn_lines(ended, width, look, self._shown.turn_hint)
            case _:
                assert_never(block)


def _group(block: Block) -> str:
    """Blocks of one group stand together without a blank line, except those that are groups by themselves."""
    match block:
        case ToolBlock() | ShellBlock() | TodoBlock():
            return "tool"
        case NoticeBlock():
            return "notice"
        case _:
            return f"{type(block).__name__} {block.id}"

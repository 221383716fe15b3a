"""Session events as finished lines, for dumb terminals, screen readers and pipes: nothing is ever redrawn."""

from __future__ import annotations

import time
from collections.abc import Callable

from grokmini.protocol.events import SessionEvent
from grokmini.render.blocks import ToolBlock
from grokmini.render.figures import seconds_text
from grokmini.render.lines import Line, Span
from grokmini.render.look import DIM, Look
from grokmini.render.toolview import Preview, ToolLook, output_rows, subject_of
from grokmini.render.transcript import Shown, Transcript
from grokmini.text.width import cut_to_width

PROGRESS_SECONDS = 5.0
"""The least time between two lines that only say that something still runs."""


class LinearView:
    """Turns events into complete lines that can be printed at once and never change.

    `prompts` False leaves out prompts that the person has just typed on the same screen. `home` is the home
    folder, shown as `~`. `clock` gives seconds.
    """

    def __init__(
        self,
        *,
        width: int,
        unicode: bool,
        show_reasoning: bool,
        tool_preview: Preview | None = None,
        prompts: bool = True,
        home: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        shown = Shown(
            look=Look(unicode=unicode),
            preview=tool_preview or Preview(),
            reasoning=show_reasoning,
            prompts=prompts,
            home=home,
        )
        self._shown = shown
        self._transcript = Transcript(width, shown)
        self._clock = clock
        self._printed_at = clock()
        self._began: dict[str, float] = {}

    def resize(self, width: int) -> None:
        """Draw at another width from now on."""
        self._transcript.resize(width)

    def apply(self, event: SessionEvent) -> list[Line]:
        """Lines to print now, in order."""
        return self._printed(self._transcript.apply(event))

    def settle(self) -> list[Line]:
        """Close everything that is still open and give what was pending."""
        return self._printed(self._transcript.close())

    def progress(self) -> list[Line]:
        """A line for what has been running for long, if nothing was printed for `PROGRESS_SECONDS`; else none.

        To be called about once a second while a turn runs.
        """
        running, now = self._running(), self._clock()
        if not running or now - self._printed_at < PROGRESS_SECONDS:
            return []
        self._printed_at = now
        return [self._progress_line(running[0], now - self._began[running[0].call_id])]

    def _progress_line(self, block: ToolBlock, seconds: float) -> Line:
        look, width = self._shown.look, self._transcript.width
        place = ToolLook(width, look, self._shown.preview, home=self._shown.home)
        rows = output_rows(block.progress)
        about = rows[-1].strip() if rows else subject_of(block, place)
        text = Span(f"  {look.glyphs.ellipsis} {seconds_text(seconds)}  {about}").text
        return Line((Span(cut_to_width(text, width, look.glyphs.ellipsis), DIM),))

    def _printed(self, lines: list[Line]) -> list[Line]:
        if lines:
            self._printed_at = self._clock()
        if (running := self._running()) or self._began:
            now = self._clock()
            self._began = {block.call_id: self._began.get(block.call_id, now) for block in running}
        return lines

    def _running(self) -> list[ToolBlock]:
        return [block for block in self._transcript.running() if block.state == "running"]

"""Session events as finished lines, for dumb terminals, screen readers and pipes: nothing is ever redrawn."""

from __future__ import annotations

from grokmini.protocol.events import SessionEvent
from grokmini.render.lines import Line
from grokmini.render.look import Look
from grokmini.render.toolview import Preview
from grokmini.render.transcript import Shown, Transcript


class LinearView:
    """Turns events into complete lines that can be printed at once and never change.

    `prompts` False leaves out prompts that the person has just typed on the same screen. `home` is the home
    folder, shown as `~`. `queue` False says nothing of prompts that wait: whoever prints the lines does.
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
        queue: bool = True,
    ) -> None:
        shown = Shown(
            look=Look(unicode=unicode),
            preview=tool_preview or Preview(),
            reasoning=show_reasoning,
            prompts=prompts,
            home=home,
            queue=queue,
        )
        self._transcript = Transcript(width, shown)

    def resize(self, width: int) -> None:
        """Draw at another width from now on."""
        self._transcript.resize(width)

    def apply(self, event: SessionEvent) -> list[Line]:
        """Lines to print now, in order."""
        return self._transcript.apply(event)

    def settle(self) -> list[Line]:
        """Close everything that is still open and give what was pending."""
        return self._transcript.close()

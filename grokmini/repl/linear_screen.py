"""A terminal that is only ever written forward: finished lines, and one line under construction at most."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grokmini.render.lines import Line, ansi, line_of
from grokmini.render.look import Look


class LinearScreen:
    """Finished lines go to `output`, the prompt and what is typed to `prompt` (another one in a pipe).

    `write` takes a descriptor and text. Lines can be held back while a person types; they are never lost and
    never change their order.
    """

    def __init__(
        self,
        write: Callable[[int, str], None],
        *,
        output: int,
        prompt: int,
        colour_level: int,
        look: Look,
    ) -> None:
        self._write = write
        self._output = output
        self._prompt = prompt
        self._colour_level = colour_level
        self._look = look
        self._held: list[Line] = []
        self.line_open = False

    @property
    def holding(self) -> bool:
        """Whether lines wait to be printed."""
        return bool(self._held)

    @property
    def echoes_on_output(self) -> bool:
        """Whether what is typed shows where the lines go."""
        return self._prompt == self._output

    def hold(self, lines: Sequence[Line]) -> None:
        """Accept lines to be printed later."""
        self._held += lines

    def flush(self) -> bool:
        """Print what is held, after ending the open line; whether there was anything."""
        if not self._held:
            return False
        self.end_line()
        text = "".join(ansi(line, self._colour_level) + "\n" for line in self._held)
        self._held.clear()
        self._write(self._output, text)
        return True

    def print(self, lines: Sequence[Line]) -> None:
        """Print what is held, then these lines."""
        self.hold(lines)
        self.flush()

    def say(self, text: str) -> None:
        """Print one plain line of our own words."""
        self.print([line_of(self._look.spelled(text))])

    def show(self, text: str) -> None:
        """Begin the line under construction: prompt and draft. It may hold newlines."""
        self.end_line()
        self._write(self._prompt, text)
        self.line_open = True

    def echo(self, text: str) -> None:
        """Go on with the line under construction."""
        self._write(self._prompt, text)

    def end_line(self) -> None:
        """End the line under construction, if there is one."""
        if self.line_open:
            self._write(self._prompt, "\n")
            self.line_open = False

"""The terminal, taken, with an empty prompt on it while the rest of the program is still being loaded.

Needs neither the editor nor a session. What is typed meanwhile stays in the terminal's queue and becomes the
first keys of the person's draft; Ctrl-C and Ctrl-Z are signals until the application listens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from grokmini.render.look import Look
from grokmini.repl.draft_view import empty_view
from grokmini.repl.keyboard import Keyboard
from grokmini.repl.keys import Press
from grokmini.repl.painter import LiveView, Size
from grokmini.repl.reflow import Reflow, settling_of
from grokmini.repl.screen import Screen


class InlineTerminal(NamedTuple):
    """The terminal's descriptors, and what it can do. `size` reads its size, `stray` takes what others write to
    standard error while the live region is up.
    """

    keyboard: int
    output: int
    unicode: bool
    colour_level: int
    links: bool
    reflow: Reflow
    size: Callable[[], Size]
    env: Mapping[str, str]
    stray: int | None = None


class Stage:
    """Screen and keyboard of one terminal, on the running event loop. Leaving the context gives both back."""

    def __init__(self, terminal: InlineTerminal) -> None:
        self.terminal = terminal
        self.look = Look(unicode=terminal.unicode, links=terminal.links)
        self.screen = Screen(
            terminal.output,
            colour_level=terminal.colour_level,
            links=terminal.links,
            reflow=terminal.reflow,
            settling=settling_of(terminal.env),
            size=terminal.size,
            loop=asyncio.get_running_loop(),
            on_gone=lambda error: self._lose(),
            stray=terminal.stray,
        )
        self.keyboard = Keyboard(terminal.keyboard, lambda presses: self._on_presses(presses), self._lose)
        self._on_presses: Callable[[Sequence[Press]], None] = lambda presses: None
        self._on_gone: Callable[[], None] = lambda: None
        self._gone = False

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold the terminal while inside. Raises `OSError` when the keyboard is no terminal."""
        try:
            self.keyboard.hush()
            self.screen.enter()
            self.screen.show(self._empty)
            yield
        finally:
            self.screen.leave()
            self.keyboard.close()

    def attend(self, on_presses: Callable[[Sequence[Press]], None], on_gone: Callable[[], None]) -> None:
        """From now on these hear of keys, and that the terminal is gone."""
        self._on_presses, self._on_gone = on_presses, on_gone
        if self._gone:
            on_gone()

    @contextmanager
    def stepped_aside(self) -> Iterator[None]:
        """Leave the terminal as a shell has it while inside, for a question in plain lines."""
        with self.screen.hand_over():
            self.keyboard.close()
            try:
                yield
            finally:
                self.keyboard.hush()

    def _lose(self) -> None:
        self._gone = True
        self._on_gone()

    def _empty(self, size: Size) -> LiveView:
        return LiveView(*empty_view(self.look, size.columns))

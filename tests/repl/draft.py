"""A draft without a terminal: bytes in, actions and rows out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from grokmini.render.lines import plain
from grokmini.render.look import Look
from grokmini.repl.commands.table import COMMANDS
from grokmini.repl.decoder import BURST_GAP, LOST_PASTE_GAP, KeyDecoder
from grokmini.repl.history import History
from grokmini.repl.images import Album
from grokmini.repl.input import Input, InputView
from grokmini.repl.input_actions import Action, Signal, Submit
from grokmini.repl.keys import Press
from grokmini.repl.path_search import Found, PathSearch

FILES = ("README.md", "docs/a plan.md", "src/calc.py", "src/calendar.py", "src/main.py", "tests/test_calc.py")

PROFILES = ("off", "workspace", "read-only", "strict", "devbox")

LEFT, RIGHT, UP, DOWN = b"\x1b[D", b"\x1b[C", b"\x1b[A", b"\x1b[B"
ENTER, ESCAPE, TAB, BACKSPACE = b"\r", b"\x1b", b"\t", b"\x7f"
UNDO = b"\x1f"


def pasted(text: str) -> bytes:
    """A paste between marks."""
    return b"\x1b[200~" + text.encode() + b"\x1b[201~"


def at_once(work: Callable[[], Found], done: Callable[[Found], None]) -> None:
    """Work beside the loop that is done before anything else happens."""
    done(work())


class Typist:
    """Somebody at a draft. Each burst is followed by a long silence; `cut` is how many bytes come at once."""

    def __init__(
        self,
        *,
        sent: Sequence[str] = (),
        vi: bool = False,
        files: Sequence[str] = FILES,
        unicode: bool = True,
        cwd: str = "/nowhere",
        blind: str = "",
    ) -> None:
        self.history = History(None, lambda: 0.0)
        for text in sent:
            self.history.remember(text)
        self.changes = 0
        self.paths = PathSearch(lambda cwd: iter(files), at_once, lambda: 0.0)
        self.album = Album(lambda: blind)
        self.input = Input(
            Look(unicode=unicode),
            self.history,
            COMMANDS,
            self.paths,
            album=self.album,
            cwd=lambda: cwd,
            on_change=self._changed,
            vi=vi,
            arguments=lambda command: PROFILES if command == "sandbox" else (),
        )
        self._decoder = KeyDecoder()

    def type(self, *bursts: bytes | str, cut: Iterable[int] = ()) -> list[Action]:
        """Type; what was asked for, without the remarks that something changed."""
        actions: list[Action] = []
        sizes = list(cut)
        for burst in bursts:
            data = burst.encode() if isinstance(burst, str) else burst
            while data:
                size = sizes.pop(0) if sizes else len(data)
                actions += self.input.press(self._decoder.feed(data[:size]))
                data = data[size:]
            for seconds in (BURST_GAP, LOST_PASTE_GAP):
                actions += self.input.press(self._decoder.silence(seconds))
        return [action for action in actions if action is not Signal.CHANGED]

    def sends(self, *bursts: bytes | str) -> list[str]:
        """Type; the texts that were sent."""
        return [action.text for action in self.type(*bursts) if isinstance(action, Submit)]

    @staticmethod
    def presses(data: bytes) -> list[Press]:
        """What a burst is to the decoder."""
        decoder = KeyDecoder()
        return [*decoder.feed(data), *decoder.silence(BURST_GAP), *decoder.silence(LOST_PASTE_GAP)]

    @property
    def draft(self) -> str:
        """The draft in full."""
        return self.input.text

    def view(self, width: int = 40, rows: int = 10) -> InputView:
        """What is drawn."""
        return self.input.view(width, rows)

    def rows(self, width: int = 40, rows: int = 10) -> list[str]:
        """The draft as it is drawn."""
        return [plain(line) for line in self.view(width, rows).rows]

    def menu(self, width: int = 60) -> list[str]:
        """What is drawn below the draft."""
        return [plain(line).rstrip() for line in self.view(width).menu]

    def _changed(self) -> None:
        self.changes += 1

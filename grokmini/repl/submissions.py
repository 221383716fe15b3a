"""What becomes of a text that was submitted, the same in every mode of the REPL: kept, classified, done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Protocol

from grokmini.protocol.commands import Prompt, RunShell
from grokmini.protocol.errors import GrokminiError
from grokmini.protocol.ids import short_id
from grokmini.protocol.items import ContentPart
from grokmini.render.blockview import notice_lines
from grokmini.render.lines import Line, Span, indented, plain
from grokmini.render.look import Look
from grokmini.render.spans import wrap_spans
from grokmini.repl.commands import table
from grokmini.repl.commands.result import CommandContext, Copy, GoOn, Leave, Page, Pick, Result, Say
from grokmini.repl.dispatch import Message, Shell, Slash, classify
from grokmini.repl.history import History
from grokmini.repl.ports import OpenedSession, SessionFactory
from grokmini.repl.session_state import SessionState


class Host(Protocol):
    """The front end around it."""

    @property
    def opened(self) -> OpenedSession:
        """The session that is talked to now."""

    @property
    def width(self) -> int:
        """Cells across the terminal."""

    @property
    def look(self) -> Look:
        """What the terminal can show."""

    @property
    def home(self) -> str:
        """The person's home folder, which is shown as `~`."""

    def print_lines(self, lines: Sequence[Line], typed: str = "") -> None:
        """Print finished lines. `typed` is the command that they answer."""

    def page(self, lines: Sequence[Line]) -> None:
        """Show lines in the pager, or print them where there is none."""

    def start(self, work: Coroutine[object, object, None]) -> None:
        """Run work beside; a failure of it ends the program, seen."""

    def leave(self) -> None:
        """Leave the program."""

    def pick(self, pick: Pick) -> None:
        """Let the person choose a stored session; what is chosen goes to `finish`."""

    async def copy(self, copy: Copy) -> None:
        """Put a text on the clipboard and say where it is."""

    async def go_on_in(self, opened: OpenedSession) -> None:
        """Talk to this session from now on; the former one is shut down."""


class Submissions:
    """Handles submitted texts. `clock` is the monotonic clock that the state is told by; `attachments` gives what
    goes with a prompt of that text.
    """

    def __init__(
        self,
        host: Host,
        factory: SessionFactory,
        state: SessionState,
        history: History,
        clock: Callable[[], float],
        attachments: Callable[[str], tuple[ContentPart, ...]] = lambda text: (),
    ) -> None:
        self._host = host
        self._factory = factory
        self._state = state
        self._history = history
        self._clock = clock
        self._attachments = attachments
        self._running = 0
        self._on_screen: set[str] = set()
        self._history_failed = False

    @property
    def busy(self) -> bool:
        """Whether a slash command is at work."""
        return self._running > 0

    def submit(self, text: str) -> None:
        """Do what a typed text asks for."""
        self._keep(text)
        submission = classify(text)
        match submission:
            case Slash():
                self._command(submission, text.strip())
            case Shell():
                if not self._host.opened.watched:
                    self._state.shell_sent(submission.command, self._clock())
                self._host.opened.handle.send(RunShell(submission.command))
            case Message():
                self.prompt(submission.text.strip("\n").rstrip(), typed=True)

    def command(self, name: str) -> None:
        """Run a slash command that a key stands for."""
        self._command(Slash(name, ""))

    def prompt(self, text: str, *, typed: bool = False) -> None:
        """Send a prompt. `typed` says that it is on the screen already, if its turn starts at once."""
        prompt_id = short_id()
        prompt = Prompt(prompt_id, text, self._attachments(text))
        if self._host.opened.watched:
            self._host.opened.handle.send(prompt)
            return
        if typed and not self._state.turn_running:
            self._on_screen.add(prompt_id)
        self._state.sent(prompt_id, self._clock())
        self._host.opened.handle.send(prompt)

    def is_on_screen(self, prompt_id: str) -> bool:
        """Whether the prompt of a turn that starts now was just typed; asked once for each turn."""
        found = prompt_id in self._on_screen
        self._on_screen.clear()
        return found

    def _keep(self, text: str) -> None:
        try:
            self._history.add(text.strip("\n"), self._host.opened.handle.session_id)
        except OSError as error:
            if not self._history_failed:
                self._warn(f"what you type is not kept for other sessions: {error.strerror}")
            self._history_failed = True

    def _warn(self, text: str, typed: str = "") -> None:
        self._host.print_lines(notice_lines("warning", text, self._host.width, self._host.look), typed)

    def _wrapped(self, lines: Sequence[Line]) -> list[Line]:
        """Sentences broken between words; one that is indented goes on further in."""
        rows: list[Line] = []
        for line in lines:
            text = plain(line)
            lead = Span(" " * (len(text) - len(text.lstrip(" ")) + 2) if text.startswith(" ") else "")
            first, *rest = wrap_spans(line.spans, max(1, self._host.width - len(lead.text)))
            rows += [first, *indented(rest, lead, lead)]
        return rows

    def _command(self, slash: Slash, typed: str = "") -> None:
        row = table.find(slash.name)
        if row is None:
            self._warn(table.unknown(slash.name), typed)
            return
        self._running += 1
        self._host.start(self._run(row, slash.argument, typed))

    async def _run(self, row: table.CommandRow, argument: str, typed: str) -> None:
        host = self._host
        context = CommandContext(host.opened, self._factory, self._state, host.width, host.look, host.home)
        await self._finish(table.load(row)(argument, context), typed)

    def finish(self, work: Awaitable[Result]) -> None:
        """Do what a command went on to ask for once the person had chosen."""
        self._running += 1
        self._host.start(self._finish(work))

    async def _finish(self, work: Awaitable[Result], typed: str = "") -> None:
        try:
            await self._apply(await work, typed)
        except GrokminiError as error:
            self._warn(f"{error.message}: {error.hint}" if error.hint else error.message, typed)
        finally:
            self._running -= 1

    async def _apply(self, result: Result, typed: str) -> None:
        if isinstance(result, Say):
            self._host.print_lines(self._wrapped(result.lines) if result.prose else result.lines, typed)
        elif isinstance(result, Page):
            self._host.page(result.lines)
        elif isinstance(result, Leave):
            self._host.leave()
        elif isinstance(result, GoOn):
            self._host.print_lines(result.lines, typed)
            await self._host.go_on_in(result.opened)
        elif isinstance(result, Pick):
            self._host.pick(result)
        elif isinstance(result, Copy):
            await self._host.copy(result)
        else:
            self._host.opened.handle.send(result)

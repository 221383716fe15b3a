"""`grokmini -p`: start-up and standard input side by side, then one prompt to its end."""

from __future__ import annotations

import asyncio
import os
import sys
import time

from grokmini.cli.choose_model import find_model
from grokmini.cli.faults import fault
from grokmini.cli.options import Options
from grokmini.cli.report import complain, say, say_as_is, tell
from grokmini.cli.root import load_root
from grokmini.cli.wire import Wired, open_session
from grokmini.headless.formats import Format, JsonFormat, PlainFormat, StreamJsonFormat
from grokmini.headless.output import Output
from grokmini.headless.progress import Progress
from grokmini.headless.run import HeadlessRun, Onlooker
from grokmini.headless.run_state import RunState, failed_before_start, stopped_before_start
from grokmini.headless.signals import StopSignals
from grokmini.headless.stdin import StdinReader
from grokmini.protocol.commands import Shutdown
from grokmini.protocol.errors import ExitCode, GrokminiError, SessionError, UsageError, exit_code_of
from grokmini.protocol.events import EventRecord, TurnEnded

STDOUT = 1
ELSEWHERE = "make room there or send it elsewhere; grokmini log has the answer"


class _StoppedError(Exception):
    """A signal came before there was a turn to cancel."""


def run_headless(options: Options) -> int:
    """Answer the prompt of the command line and of standard input. Returns the exit code."""
    started = time.monotonic()

    async def run() -> int:
        stdin = StdinReader(0, started=started, clock=time.monotonic, say=say)
        return await HeadlessProcess(options, _format_of(options.output_format), _progress(), stdin).run()

    return asyncio.run(run())


class HeadlessProcess:
    """One prompt from the start of the process to its exit code. Without `stdin` only the options' prompt counts."""

    def __init__(
        self, options: Options, format_: Format, onlooker: Onlooker, stdin: StdinReader | None
    ) -> None:
        self._options = options
        self._format = format_
        self._onlooker = onlooker
        self._stdin = stdin
        self._stop = StopSignals()
        self._output = Output(STDOUT)

    async def run(self) -> int:
        """Do it. Trouble is said on stderr, and in formats that have a place for it."""
        try:
            code = await self._answer()
        except _StoppedError:
            code = self._stop.exit_code
            self._write_end(stopped_before_start(code))
        except GrokminiError as error:
            code = self._fail(error, _kind_of(error))
        except Exception as error:  # noqa: BLE001 - the outermost frame: formats with a place for it tell it too
            code = self._fail(fault(error), "internal")
        await self._output.close()
        self._stop.release()
        trouble = self._output.error
        if trouble is not None and not isinstance(trouble, BrokenPipeError):
            complain(SessionError(f"standard output cannot be written: {trouble.strerror}", ELSEWHERE))
            return ExitCode.ERROR
        return code

    def _fail(self, error: GrokminiError, kind: str) -> int:
        code = exit_code_of(error)
        complain(error)
        self._write_end(failed_before_start(kind, error.message, error.hint, code))
        return code

    async def _answer(self) -> int:
        prompt, wired = await self._start()
        self._stop.kill_now = wired.kill_now
        run = HeadlessRun(
            wired.handle,
            wired.events,
            format_=self._format,
            output=self._output,
            stop=self._stop,
            onlooker=self._onlooker,
        )
        return await run.answer(prompt)

    async def _start(self) -> tuple[str, Wired]:
        """The prompt and the session. A signal or trouble with one stops the other."""
        reading = asyncio.create_task(self._read_prompt())
        await asyncio.sleep(0)
        if reading.done():
            await reading
        opening = asyncio.create_task(open_session(self._options, interactive=False))
        stopping = asyncio.create_task(self._stop.requested.wait())
        tasks = {reading, opening, stopping}
        try:
            while not (reading.done() and opening.done()):
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                if stopping in done:
                    raise _StoppedError
                for task in done:
                    task.result()
                tasks -= done
            return reading.result(), opening.result()
        except (_StoppedError, GrokminiError) as error:
            await _abandon(opening)
            await asyncio.sleep(0)
            if self._stop.requested.is_set():
                # Ctrl-C ends the producer of a pipe too: its end of file must not be told as a missing prompt.
                raise _StoppedError from error
            raise
        finally:
            reading.cancel()
            stopping.cancel()

    async def _read_prompt(self) -> str:
        typed = self._options.prompt or ""
        if typed.lstrip().startswith("/"):
            _refuse_command(typed)
        if self._stdin is None:
            return typed
        try:
            return await self._stdin.compose(self._options.prompt, wanted=self._options.read_stdin)
        except UsageError:
            await find_model(load_root(self._options))  # without a model that is what to say first
            raise

    def _write_end(self, ended: TurnEnded) -> None:
        """The end of a run that never had a turn, in the formats that have a place for it."""
        record = EventRecord(1, time.time(), "", ended)
        self._output.write(self._format.end(record, ended, RunState()))


def _refuse_command(prompt: str) -> None:
    """A slash command is no prompt. Raises `UsageError`; a path is none."""
    from grokmini.repl.commands.table import find, unknown
    from grokmini.repl.dispatch import Slash, classify

    found = classify(prompt)
    if not isinstance(found, Slash):
        return
    hint = "To send it to the model put a word before it."
    if find(found.name) is None:
        raise UsageError(unknown(found.name), hint)
    raise UsageError(f"/{found.name} is a command of an interactive session, not a prompt", hint)


async def _abandon(opening: asyncio.Task[Wired]) -> None:
    """End a session that is not wanted after all."""
    opening.cancel()
    try:
        wired = await opening
    except (asyncio.CancelledError, GrokminiError):
        return
    wired.handle.send(Shutdown("stopped"))
    await wired.handle.closed()


def _format_of(name: str) -> Format:
    match name:
        case "streaming-json":
            from grokmini.headless.streaming import StreamingJsonFormat

            return StreamingJsonFormat()
        case "stream-json":
            return StreamJsonFormat()
        case "json":
            return JsonFormat()
        case _:
            return PlainFormat()


def _kind_of(error: GrokminiError) -> str:
    """A word for programs: `usage`, `config`, `session`, or the kind of a failed request."""
    kind = getattr(error, "kind", None)
    return str(kind) if kind is not None else type(error).__name__.removesuffix("Error").lower()


def _progress() -> Progress:
    """Steps are shown when stderr is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        return Progress(tell, say, None, 0)
    from grokmini.render.capabilities import detect
    from grokmini.render.linear import LinearView

    width = os.get_terminal_size(sys.stderr.fileno()).columns
    found = detect(os.environ, is_tty=True, width=width, encoding=sys.stderr.encoding)
    view = LinearView(width=found.width, unicode=found.unicode, show_reasoning=False)
    return Progress(tell, say_as_is, view, found.colour_level)

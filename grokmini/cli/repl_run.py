"""`grokmini`: a session with a person at the keyboard, inline or, where a terminal asks for it, in linear lines.

Inline the prompt is drawn as soon as it is known how; what costs time to load comes after.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from grokmini.cli.options import Options
from grokmini.cli.root import Root, load_root
from grokmini.protocol.errors import ExitCode
from grokmini.render.capabilities import Capabilities, detect

if TYPE_CHECKING:  # loading these takes longer than all that is needed for the first frame
    from grokmini.protocol.model import ModelSpec
    from grokmini.repl.painter import Size
    from grokmini.repl.stage import Stage
    from grokmini.sandbox.profile import Profile

STDIN, STDOUT, STDERR = 0, 1, 2
HISTORY_FILE = "history.jsonl"
_MOST_STRAY = 10_000


def run_repl(options: Options) -> int:
    """Talk until the person leaves. Returns the exit code; raises `GrokminiError`."""
    root, found = load_root(options), _capabilities()
    if _is_linear(root, found):
        return _run_in_lines(root, found)
    with _stray_output() as stray:
        return asyncio.run(_talk_inline(root, found, stray))


def _is_linear(root: Root, found: Capabilities) -> bool:
    """Linear lines are for pipes, dumb terminals and screen readers, and for whoever asks for them."""
    linear = root.options.plain or root.settings.ui.accessible or found.accessible or found.dumb
    return linear or not os.isatty(STDOUT)


def _run_in_lines(root: Root, found: Capabilities) -> int:
    from grokmini.cli.choose_model import confirm_model, find_model
    from grokmini.cli.repl_sessions import Sessions
    from grokmini.cli.sandbox_agree import ask_about_profile
    from grokmini.repl.linear import LinearOptions, LinearTerminal, run

    watched = root.options.follow
    model = None
    if watched is None:
        model = confirm_model(root, asyncio.run(find_model(root)), sys.stdin.readline)
    prompt = STDOUT if os.isatty(STDOUT) else STDERR
    terminal = LinearTerminal(STDIN, STDOUT, prompt, found.width, found.unicode, found.colour_level)
    linear = LinearOptions(
        history=_history_file(root),
        first_prompt=root.options.prompt or "",
        show_reasoning=root.settings.ui.show_reasoning,
        resumable=_is_saved(root),
    )

    async def talk() -> int:
        sessions = Sessions(
            root, ask_about_profile=lambda profile, more: ask_about_profile(profile, more, sys.stdin.readline)
        )
        opened = await (sessions.start_watching(watched or "") if model is None else sessions.start(model))
        return await run(opened, sessions, terminal, linear)

    return asyncio.run(talk())


async def _talk_inline(root: Root, found: Capabilities, stray: int) -> int:
    from grokmini.repl.reflow import reflow_of
    from grokmini.repl.signals import handled
    from grokmini.repl.stage import InlineTerminal, Stage

    terminal = InlineTerminal(
        keyboard=STDIN,
        output=STDOUT,
        unicode=found.unicode,
        colour_level=found.colour_level,
        links=False,
        reflow=reflow_of(os.environ),
        size=_size,
        env=os.environ,
        stray=stray,
    )
    stage = Stage(terminal)
    with stage.taken():
        opening = asyncio.ensure_future(_open(root, stage))
        stopped: list[int] = []

        def stop(code: int) -> None:
            stopped.append(code)
            opening.cancel()

        with handled(
            {
                signal.SIGINT: lambda: stop(ExitCode.SIGINT),
                signal.SIGTERM: lambda: stop(ExitCode.SIGTERM),
                signal.SIGHUP: lambda: stop(ExitCode.SIGHUP),
            }
        ):
            await asyncio.wait([opening])
        return stopped[0] if stopped else await opening.result()()


async def _open(root: Root, stage: Stage) -> Callable[[], Awaitable[int]]:
    """Load the program and start the session, once the prompt is on its way to the terminal; how to go on."""
    await asyncio.sleep(0)
    model = await _model(root, stage) if root.options.follow is None else None
    from grokmini.cli.repl_sessions import Sessions
    from grokmini.repl.inline import InlineOptions, run

    sessions = Sessions(root, ask_about_profile=lambda profile, more: _agree(stage, profile, more))
    watching = root.options.follow or ""
    opened = await (sessions.start_watching(watching) if model is None else sessions.start(model))
    options = InlineOptions(
        walk=_files_below,
        history=_history_file(root),
        first_prompt=root.options.prompt or "",
        show_reasoning=root.settings.ui.show_reasoning,
        resumable=_is_saved(root),
        vi=root.settings.ui.vim_mode,
        sees=lambda name: _sees(root, name),
    )
    return lambda: run(opened, sessions, stage, options)


async def _model(root: Root, stage: Stage) -> ModelSpec:
    from grokmini.cli.choose_model import Found, confirm_model, find_model

    chosen = await find_model(root)
    if isinstance(chosen, Found) and not chosen.server:
        return chosen.spec
    with stage.stepped_aside(), _interruptible():
        return confirm_model(root, chosen, sys.stdin.readline)


def _agree(stage: Stage, profile: Profile, more: tuple[str, ...]) -> bool:
    from grokmini.cli.sandbox_agree import ask_about_profile

    with stage.stepped_aside(), _interruptible():
        return ask_about_profile(profile, more, sys.stdin.readline)


def _sees(root: Root, name: str) -> bool:
    """Whether a model takes images; one that is in no list does not, as far as anybody knows."""
    from grokmini.protocol.errors import UsageError

    try:
        return root.catalogue.find(name).supports.images
    except UsageError:
        return False


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end a read that blocks the event loop, as without one."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _stray_output() -> Iterator[int]:
    """A file for what libraries write to standard error while the screen is ours; it goes to the log in the end."""
    with tempfile.TemporaryFile() as file:
        try:
            yield file.fileno()
        finally:
            file.seek(0)
            text = file.read(_MOST_STRAY).decode("utf-8", "replace")
            if text:
                import logging

                logging.getLogger("grokmini.stderr").warning("%s", text)


def _size() -> Size:
    from grokmini.repl.painter import Size

    columns, rows = os.get_terminal_size(STDOUT)
    return Size(columns, rows)


def _files_below(folder: str) -> Iterator[str]:
    from grokmini.workspace.walk import walk_files

    return (entry.relative for entry in walk_files(Path(folder), lambda: None))


def _is_saved(root: Root) -> bool:
    return root.options.save and root.places is not None


def _history_file(root: Root) -> Path | None:
    return root.places.state / HISTORY_FILE if root.places and root.options.save else None


def _capabilities() -> Capabilities:
    """What the terminal can do; its width is that of the one the prompt is shown on."""
    prompt = STDOUT if os.isatty(STDOUT) else STDERR
    try:
        width = os.get_terminal_size(prompt).columns
    except OSError:  # a pipe has no width
        width = 0
    return detect(os.environ, is_tty=os.isatty(STDOUT), width=width, encoding=sys.stdout.encoding)

"""`grokmini`: a session with a person at the keyboard, inline or, where a terminal asks for it, in linear lines."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from grokmini.cli.choose_model import confirm_model, find_model
from grokmini.cli.choose_session import OpenAs
from grokmini.cli.models import usable_names
from grokmini.cli.options import Options
from grokmini.cli.root import Root, load_root
from grokmini.cli.wire import Wired, start_session
from grokmini.protocol.model import ModelSpec
from grokmini.render.capabilities import Capabilities, detect
from grokmini.repl.painter import Size
from grokmini.repl.ports import OpenedSession

STDIN, STDOUT, STDERR = 0, 1, 2
HISTORY_FILE = "history.jsonl"


def run_repl(options: Options) -> int:
    """Talk until the person leaves. Returns the exit code; raises `GrokminiError`."""
    root = load_root(options)
    model = confirm_model(root, asyncio.run(find_model(root)), sys.stdin.readline)
    return asyncio.run(_talk(root, model))


async def _talk(root: Root, model: ModelSpec) -> int:
    wired = await start_session(root, model, OpenAs.from_options(root.options), interactive=True)
    opened, sessions = _opened(wired), Sessions(root, wired)
    found = _capabilities()
    if _is_linear(root, found):
        return await _talk_in_lines(root, found, opened, sessions)
    return await _talk_inline(root, found, opened, sessions)


def _is_linear(root: Root, found: Capabilities) -> bool:
    """Linear lines are for pipes, dumb terminals and screen readers, and for whoever asks for them."""
    linear = root.options.plain or root.settings.ui.accessible or found.accessible or found.dumb
    return linear or not os.isatty(STDOUT)


async def _talk_in_lines(root: Root, found: Capabilities, opened: OpenedSession, sessions: Sessions) -> int:
    from grokmini.repl.linear import LinearOptions, LinearTerminal, run

    prompt = STDOUT if os.isatty(STDOUT) else STDERR
    terminal = LinearTerminal(STDIN, STDOUT, prompt, found.width, found.unicode, found.colour_level)
    linear = LinearOptions(
        history=_history_file(root),
        first_prompt=root.options.prompt or "",
        show_reasoning=root.settings.ui.show_reasoning,
        resumable=_is_saved(root),
    )
    return await run(opened, sessions, terminal, linear)


async def _talk_inline(root: Root, found: Capabilities, opened: OpenedSession, sessions: Sessions) -> int:
    from grokmini.repl.inline import InlineOptions, InlineTerminal, run
    from grokmini.repl.reflow import reflow_of

    terminal = InlineTerminal(
        keyboard=STDIN,
        output=STDOUT,
        unicode=found.unicode,
        colour_level=found.colour_level,
        links=False,
        reflow=reflow_of(os.environ),
        size=_size,
        env=os.environ,
    )
    inline = InlineOptions(
        walk=_files_below,
        history=_history_file(root),
        first_prompt=root.options.prompt or "",
        show_reasoning=root.settings.ui.show_reasoning,
        resumable=_is_saved(root),
    )
    return await run(opened, sessions, terminal, inline)


def _size() -> Size:
    columns, rows = os.get_terminal_size(STDOUT)
    return Size(columns, rows)


def _files_below(folder: str) -> Iterator[str]:
    from grokmini.workspace.walk import walk_files

    return (entry.relative for entry in walk_files(Path(folder), lambda: None))


def _is_saved(root: Root) -> bool:
    return root.options.save and root.places is not None


def _history_file(root: Root) -> Path | None:
    return root.places.state / HISTORY_FILE if root.places and root.options.save else None


class Sessions:
    """Opens further sessions for `/new`: same settings, and the folder, the model and the mode of the last."""

    def __init__(self, root: Root, last: Wired) -> None:
        self._root = root
        self._last = last

    async def new(self) -> OpenedSession:
        """A fresh session."""
        live = self._last.live
        options = self._root.options._replace(permission_mode=live.mode.value)
        root = self._root._replace(cwd=self._last.workspace.root, options=options)
        self._last = await start_session(root, live.model, OpenAs(save=options.save), interactive=True)
        return _opened(self._last)

    def models(self) -> Sequence[str]:
        """Names that `/model` takes and that can be used: no provider without a key."""
        return usable_names(self._root.catalogue)


def _opened(wired: Wired) -> OpenedSession:
    return OpenedSession(
        handle=wired.handle,
        events=wired.events,
        usage=wired.chat.usage,
        diff=lambda: wired.workspace.changes.diff(None),
    )


def _capabilities() -> Capabilities:
    """What the terminal can do; its width is that of the one the prompt is shown on."""
    prompt = STDOUT if os.isatty(STDOUT) else STDERR
    try:
        width = os.get_terminal_size(prompt).columns
    except OSError:  # a pipe has no width
        width = 0
    return detect(os.environ, is_tty=os.isatty(STDOUT), width=width, encoding=sys.stdout.encoding)

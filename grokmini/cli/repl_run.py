"""`grokmini` at a terminal: the REPL over the sessions that the wiring opens."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence

from grokmini.cli.choose_session import OpenAs
from grokmini.cli.options import Options
from grokmini.cli.report import say
from grokmini.cli.wire import Root, Wired, choose_model, load_root, start_session
from grokmini.protocol.errors import UsageError
from grokmini.protocol.model import ModelSpec
from grokmini.render.capabilities import detect
from grokmini.repl.linear import LinearOptions, LinearTerminal, run
from grokmini.repl.ports import OpenedSession


def run_repl(options: Options) -> int:
    """Talk with the person at the terminal until they leave. Returns the exit code."""
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to talk to", "give a prompt with -p, or pipe one in")
    return asyncio.run(_talk(options))


async def _talk(options: Options) -> int:
    root = load_root(options)
    model = await choose_model(root)
    sessions = Sessions(root)
    opened = await sessions.open(root, model, OpenAs.from_options(options))
    terminal = _terminal(root)
    settings = LinearOptions(
        history=root.places.state / "history.jsonl" if root.places else None,
        first_prompt=options.prompt or "",
        show_reasoning=root.settings.ui.show_reasoning,
        resumable=options.save and root.places is not None,
    )
    return await run(opened, sessions, terminal, settings)


class Sessions:
    """Implements `repl.ports.SessionFactory`: every further session is like the one before it."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._current: Wired | None = None

    async def open(self, root: Root, model: ModelSpec, open_as: OpenAs) -> OpenedSession:
        """Open a session and make it the current one. Raises `GrokminiError`."""
        wired = self._current = await start_session(root, model, open_as, interactive=True)
        return OpenedSession(wired.handle, wired.events, wired.chat.usage, wired.workspace.changes.diff)

    async def new(self) -> OpenedSession:
        """A fresh session in the folder, with the model and the mode of the current one."""
        assert self._current is not None
        live, cwd = self._current.live, self._current.workspace.root
        options = self._root.options._replace(permission_mode=live.mode.value)
        return await self.open(
            self._root._replace(options=options, cwd=cwd), live.model, OpenAs(save=options.save)
        )

    def models(self) -> Sequence[str]:
        """Names that `/model` takes."""
        return self._root.catalogue.names


def _terminal(root: Root) -> LinearTerminal:
    """Where keys come from and lines go: prompt and echo on stderr when stdout is no terminal."""
    output = sys.stdout.fileno()
    shown = os.isatty(output)
    prompt = output if shown else sys.stderr.fileno()
    if not os.isatty(prompt):
        say("! neither standard output nor standard error is a terminal: what you type is not shown")
    columns = os.get_terminal_size(prompt).columns if os.isatty(prompt) else 0
    found = detect(root.env, is_tty=shown, width=columns or 80, encoding=sys.stdout.encoding)
    return LinearTerminal(sys.stdin.fileno(), output, prompt, found.width, found.unicode, found.colour_level)

"""`grokmini`: a session with a person at the keyboard, in linear lines."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence

from grokmini.cli.choose_model import confirm_model, find_model
from grokmini.cli.choose_session import OpenAs
from grokmini.cli.models import usable_names
from grokmini.cli.options import Options
from grokmini.cli.root import Root, load_root
from grokmini.cli.wire import Wired, start_session
from grokmini.protocol.model import ModelSpec
from grokmini.render.capabilities import detect
from grokmini.repl.linear import LinearOptions, LinearTerminal, run
from grokmini.repl.ports import OpenedSession

STDIN, STDOUT, STDERR = 0, 1, 2
HISTORY_FILE = "history.jsonl"


def run_repl(options: Options) -> int:
    """Talk until the person leaves. Returns the exit code; raises `GrokminiError`."""
    root = load_root(options)
    model = confirm_model(root, asyncio.run(find_model(root)), sys.stdin.readline)
    return asyncio.run(_talk(root, model))


async def _talk(root: Root, model: ModelSpec) -> int:
    options = root.options
    wired = await start_session(root, model, OpenAs.from_options(options), interactive=True)
    linear = LinearOptions(
        history=root.places.state / HISTORY_FILE if root.places and options.save else None,
        first_prompt=options.prompt or "",
        show_reasoning=root.settings.ui.show_reasoning,
        resumable=options.save and root.places is not None,
    )
    return await run(_opened(wired), Sessions(root, wired), _terminal(), linear)


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


def _terminal() -> LinearTerminal:
    """The keyboard is stdin; lines go to stdout; the prompt goes to stderr when stdout is piped on."""
    prompt = STDOUT if os.isatty(STDOUT) else STDERR
    try:
        width = os.get_terminal_size(prompt).columns
    except OSError:  # a pipe has no width
        width = 0
    found = detect(os.environ, is_tty=os.isatty(STDOUT), width=width, encoding=sys.stdout.encoding)
    return LinearTerminal(STDIN, STDOUT, prompt, found.width, found.unicode, found.colour_level)

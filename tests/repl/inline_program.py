"""The inline REPL as a program of its own, over a scripted session: `python -m tests.repl.inline_program`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator

from grokmini.repl.inline import InlineOptions, run
from grokmini.repl.painter import Size
from grokmini.repl.ports import UsageFigures
from grokmini.repl.reflow import reflow_of
from grokmini.repl.stage import InlineTerminal, Stage
from tests.repl.scripted_session import ScriptedFactory, ScriptedSession


async def main() -> int:
    """Talk on the terminal that this runs on. `/usage` is a bug of the session's."""
    session = ScriptedSession()

    async def broken() -> UsageFigures:
        raise RuntimeError("a bug")

    def nothing(folder: str) -> Iterator[str]:
        return iter(())

    opened = session.opened._replace(usage=broken)
    terminal = InlineTerminal(
        0,
        1,
        unicode=True,
        colour_level=16,
        links=False,
        reflow=reflow_of(os.environ),
        size=lambda: Size(*os.get_terminal_size(1)),
        env=os.environ,
    )
    stage = Stage(terminal)
    with stage.taken():
        return await run(opened, ScriptedFactory(), stage, InlineOptions(walk=nothing))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

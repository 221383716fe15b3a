"""The linear REPL as a program of its own, over a scripted session: `python -m tests.repl.program HISTORY`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from grokmini.repl.linear import LinearOptions, LinearTerminal, run
from grokmini.repl.ports import UsageFigures
from tests.repl.scripted_session import ScriptedFactory, ScriptedSession


async def main() -> int:
    """Talk on the terminal that this runs on. `/usage` is a bug of the session's."""
    session = ScriptedSession()

    async def broken() -> UsageFigures:
        raise RuntimeError("a bug")

    opened = session.opened._replace(usage=broken)
    terminal = LinearTerminal(0, 1, 1, width=80, unicode=True, colour_level=0)
    return await run(opened, ScriptedFactory(), terminal, LinearOptions(history=Path(sys.argv[1])))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

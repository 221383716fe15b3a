"""`grokmini demo`: an ordinary session on a sample project, with answers from a script instead of a model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec

if TYPE_CHECKING:
    from grokmini.cli.options import Options
    from grokmini.cli.parse import Parsed

SPEC = CommandSpec(
    examples=("grokmini demo", "grokmini demo | cat"),
    about="Makes a small project in a temporary folder and lets a session repair it. The answers are a script.",
)


def run(parsed: Parsed) -> int:
    """Make the project, let the session repair it, say where it is. It asks nothing and needs no key."""
    import asyncio

    from grokmini.cli.demo_project import CHECK, PROMPT, make_project
    from grokmini.cli.options import Options

    folder = make_project()
    sys.stdout.write(f"A demo: the answers come from a script, everything else is real.\nFolder: {folder}\n\n")
    sys.stdout.flush()
    options = Options(prompt=PROMPT, cwd=str(folder), model="demo", permission_mode="always-approve")
    code = asyncio.run(_watch(options))
    sys.stdout.write(f"\nThe folder is kept. See for yourself: cd {folder} && {CHECK}\n")
    return code


async def _watch(options: Options) -> int:
    """The session as linear lines, on a terminal and in a pipe alike."""
    import os
    import shutil

    from grokmini.cli.headless_run import HeadlessProcess
    from grokmini.headless.linear_format import LinearFormat, Unwatched
    from grokmini.render.capabilities import detect
    from grokmini.render.linear import LinearView

    width = shutil.get_terminal_size().columns
    found = detect(os.environ, is_tty=sys.stdout.isatty(), width=width, encoding=sys.stdout.encoding)
    view = LinearView(width=found.width, unicode=found.unicode, show_reasoning=True)
    return await HeadlessProcess(options, LinearFormat(view, found.colour_level), Unwatched(), None).run()

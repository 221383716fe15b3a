"""`grokmini sandbox run [--profile P] -- CMD`: run one command as the agent's would be."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec, Option
from grokmini.cli.sandbox_explain import PROFILE

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed
    from grokmini.cli.root import Root

SPEC = CommandSpec(
    options=(
        PROFILE,
        Option(
            ("--best-effort", "--sandbox-best-effort"),
            "best_effort",
            "keep it as far as this machine can",
        ),
    ),
    words="[--] CMD…",
    runs=True,
    examples=(
        "grokmini sandbox run -- make test",
        "grokmini sandbox run --profile read-only -- sh -c 'id; pwd'",
    ),
    about="Runs one command the way the agent's commands run: no terminal, no input, a neutral environment, "
    "nothing left at its end. Its exit code is the command's; 128 and the number for a signal.",
)


def run(parsed: Parsed) -> int:
    """Run it. Raises `UsageError` and `SandboxError`."""
    import asyncio

    from grokmini.cli.options import Options
    from grokmini.cli.root import load_root
    from grokmini.protocol.errors import UsageError

    if not parsed.words:
        raise UsageError("no command to run", "as in: grokmini sandbox run -- make test")
    options = Options(sandbox=parsed.text("profile"), sandbox_best_effort=parsed.flag("best_effort"))
    return asyncio.run(_run(load_root(options), tuple(parsed.words)))


async def _run(root: Root, argv: tuple[str, ...]) -> int:
    import asyncio

    from grokmini.cli.sandboxed import choose, confine
    from grokmini.protocol.errors import UsageError
    from grokmini.sandbox.environment import neutral_environment
    from grokmini.sandbox.runner import CommandSpec as Command

    confinement = await asyncio.to_thread(confine, root, choose(root))
    runner = confinement.runner
    try:
        env = neutral_environment({**root.env, **confinement.env}, root.settings.shell.keep_env)
        try:
            handle = await runner.start(Command(argv, Path(root.cwd), env))
        except OSError as error:
            raise UsageError(f"{argv[0]} cannot be started: {error.strerror}", _advice(argv)) from error
        async for piece in handle.output():
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
        status = await handle.wait()
    finally:
        await runner.close()
    return status.code if status.code is not None else 128 + (status.signal or 0)


def _advice(argv: tuple[str, ...]) -> str:
    if len(argv) == 1 and " " in argv[0]:
        return f"a line for the shell is run as: grokmini sandbox run -- sh -c {shlex.quote(argv[0])}"
    return "check its name"

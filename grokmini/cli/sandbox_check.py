"""`grokmini sandbox check`: try to break out, on this machine, and print what held."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec
from grokmini.cli.sandbox_explain import PROFILE

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed
    from grokmini.cli.root import Root

SPEC = CommandSpec(
    options=(PROFILE,),
    examples=("grokmini sandbox check", "grokmini sandbox check --profile strict"),
    about="Tries known ways out of the sandbox, each harmless, and prints what was stopped. Exit 9 when one was not.",
)


def run(parsed: Parsed) -> int:
    """Print the table. Raises `SandboxError`."""
    import asyncio

    from grokmini.cli.options import Options
    from grokmini.cli.root import load_root

    options = Options(sandbox=parsed.text("profile"), sandbox_best_effort=True)
    return asyncio.run(_run(load_root(options)))


async def _run(root: Root) -> int:
    import asyncio

    from grokmini.cli.sandboxed import choose, confine
    from grokmini.protocol.errors import ExitCode
    from grokmini.sandbox.check import attempts, check
    from grokmini.sandbox.environment import neutral_environment
    from grokmini.text.sanitise import sanitise

    confinement = await asyncio.to_thread(confine, root, choose(root))
    runner, policy = confinement.runner, confinement.policy
    if policy is None:
        sys.stdout.write("the profile off keeps nothing: there is nothing to check; --profile names another\n")
        return 0
    open_ways = 0
    try:
        enforcement = await runner.prepare()
        sys.stdout.write(sanitise(f"profile {enforcement.label}", newlines=False) + "\n")
        for lost in enforcement.lost:
            sys.stdout.write(sanitise(f"  not enforced: {lost}", newlines=False) + "\n")
        env = neutral_environment({**root.env, **confinement.env})
        tries = attempts(policy, str(Path.home()), os.getpid(), sys.executable)
        async for outcome in check(runner, tries, root.cwd, env):
            open_ways += not outcome.stopped
            word = "stopped" if outcome.stopped else "OPEN"
            sys.stdout.write(sanitise(f"{word:<8} {outcome.name}", newlines=False) + "\n")
    finally:
        await runner.close()
    return ExitCode.SANDBOX if open_ways else 0

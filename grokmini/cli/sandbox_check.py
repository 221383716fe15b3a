"""`grokmini sandbox check`: try to break out, on this machine, and print what held."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grokmini.cli.option import CommandSpec
from grokmini.cli.sandbox_explain import PROFILE

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed
    from grokmini.cli.root import Root
    from grokmini.sandbox.check import Outcome

_ROW: Final = "{:<4} {:<57} {:<7} {}"
_PROMISES: Final = {"promised": "yes", "not promised": "no", "lost here": "lost"}
_NOTE: Final = 5
"""Columns before what is said of a row, in a line of its own."""
_KEY: Final = "XAI_API_KEY"
SPEC = CommandSpec(
    options=(PROFILE,),
    examples=("grokmini sandbox check", "grokmini sandbox check --profile strict"),
    about="Tries the ways out of the sandbox on this machine, each harmless, and prints a table: what is promised of "
    "each (yes, no, or lost for want of something on this machine), and what became of it. Exit 9 when one that is "
    "promised to be closed is open.",
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
    from grokmini.sandbox.check import MARKER, attempts, check, effective, site
    from grokmini.sandbox.environment import neutral_environment
    from grokmini.sandbox.probe import probe

    confinement = await asyncio.to_thread(confine, root, choose(root))
    runner, policy = confinement.runner, confinement.runner.policy
    if policy is None:
        sys.stdout.write("the profile off keeps nothing: there is nothing to check; --profile names another\n")
        return 0
    found = []
    try:
        enforcement = await runner.prepare()
        _print(f"profile {enforcement.label}")
        for lost in enforcement.lost:
            _print(f"  not kept: {lost}")
        if enforcement.hint:
            _print(f"  {enforcement.hint}")
        for notice in enforcement.notices:
            _print(f"  {notice}")
        for pattern in policy.idle_globs:
            _print(f"  {pattern} is denied and matches nothing now")
        env = neutral_environment({**root.env, **confinement.env, _KEY: MARKER})
        has = effective(await asyncio.to_thread(probe), enforcement)
        _print(_ROW.format("id", "attack", "closed", "result"))
        with site(policy, root.cwd, Path.home()) as at:
            async for outcome in check(runner, attempts(policy, has, at), at, env):
                found.append(outcome)
                for line in _lines(outcome):
                    _print(line)
    finally:
        await runner.close()
    broken = sum(one.broken for one in found)
    stopped = sum(one.result == "stopped" for one in found)
    untried = sum(one.result == "not tried" for one in found)
    unpromised = len(found) - stopped - untried - broken
    _print(
        f"{len(found)} ways: {stopped} stopped, {unpromised} open and not promised, {untried} not tried; "
        f"{broken} promise{'' if broken == 1 else 's'} broken"
    )
    return ExitCode.SANDBOX if broken else 0


def _lines(outcome: Outcome) -> Iterator[str]:
    """The row, and below it what it is about."""
    attempt = outcome.attempt
    result = "open" if outcome.result == "OPEN" and not outcome.broken else outcome.result
    yield _ROW.format(attempt.way.attack, attempt.way.title, _PROMISES[attempt.promise], result)
    if detail := ": ".join(filter(None, (attempt.about, outcome.why))):
        yield f"{'':<{_NOTE}}{detail}"


def _print(line: str) -> None:
    from grokmini.text.sanitise import sanitise

    sys.stdout.write(sanitise(line, newlines=False) + "\n")
    sys.stdout.flush()

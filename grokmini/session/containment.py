"""What is known of the sandbox when a call is judged."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, NamedTuple

from grokmini.sandbox.runner import CommandRunner
from grokmini.tools.contract import Tool


class Containment(NamedTuple):
    """Whether a real sandbox is active, and the profile that should be: "" where nothing is confined.

    `degraded`: it is active, but does not keep all that the profile promises. `shown` says to a person what a command
    can do in it.
    """

    contained: bool
    profile: str
    degraded: bool = False
    shown: str = ""


async def containment_of(runner: CommandRunner, tool: Tool[Any], folder: Path) -> Containment:
    """What holds for a call, and for a command that starts in `folder`. To know it is worth starting a sandbox, but
    not for a tool that only reads.

    Raises `SandboxError` when the profile in force cannot be kept here: nothing that may change something then runs.
    """
    if tool.read_only:
        return Containment(runner.enforcement.confined, "")
    policy = await asyncio.to_thread(lambda: runner.policy)
    if policy is None:
        return Containment(contained=False, profile="")
    enforcement = await runner.prepare()
    if not enforcement.confined:
        return Containment(contained=False, profile=policy.profile)
    from grokmini.sandbox.degraded import breaks_promises
    from grokmini.sandbox.words import in_short

    shown = await asyncio.to_thread(in_short, policy, enforcement, folder, str(Path.home()))
    return Containment(True, policy.profile, breaks_promises(enforcement.lost), shown)

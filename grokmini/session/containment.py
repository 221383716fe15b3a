"""What is known of the sandbox when a call is judged."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from grokmini.protocol.errors import SandboxError, ToolError, ToolErrorKind
from grokmini.sandbox.runner import CommandRunner
from grokmini.tools.contract import Tool


class Containment(NamedTuple):
    """Whether a real sandbox is active, and the profile that should be: "" where nothing is confined."""

    contained: bool
    profile: str


async def containment_of(runner: CommandRunner, tool: Tool[Any]) -> Containment:
    """What holds for a call. To know it is worth starting a sandbox, but not for a tool that only reads.

    Raises `ToolError` when the profile in force cannot be kept here: nothing that may change something then runs.
    """
    if tool.read_only:
        return Containment(runner.enforcement.confined, "")
    policy = await asyncio.to_thread(lambda: runner.policy)
    if policy is None:
        return Containment(contained=False, profile="")
    try:
        enforcement = await runner.prepare()
    except SandboxError as error:
        raise ToolError(ToolErrorKind.SANDBOX_DENIED, f"Not run: {error.message}. {error.hint}") from error
    return Containment(enforcement.confined, policy.profile)

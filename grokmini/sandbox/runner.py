"""The seam that every command goes through: a spec in, a process handle out.

What confines the child (nothing, the launcher, …) is behind `CommandRunner`; callers never know. Always true,
whatever the runner: no controlling terminal, own session and process group, stdin empty, a neutral
environment, and the whole group gone when the call ends, is cancelled or times out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from grokmini.sandbox.policy import Policy


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command to run. `env` is the whole environment.

    With `side_channel` the child's standard input is the end of a socket to write to, whose bytes come back through
    `CommandHandle.side_output`: it is for the child to move it away, out of reach of what it starts. (A pipe could be
    opened again through /proc.) `outside`: the person allowed this one command to run unconfined.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: dict[str, str] = field(repr=False)
    side_channel: bool = False
    outside: bool = False


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """How a process ended: by `code`, or by `signal` (then `code` is None).

    `left_over` counts processes that were still there when the command ended, and were killed. `lost`: what watched
    over the command died, the command was killed and nothing more is known of it.
    """

    code: int | None
    signal: int | None = None
    left_over: int = 0
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Enforcement:
    """What is really enforced, by proof. `label` is for the status line; `lost` names what is not, and `hint` what
    would bring it back. `notices` are sentences about what was left out, or lets commands do much.
    """

    label: str
    network_blocked: bool = False
    confined: bool = False
    lost: tuple[str, ...] = ()
    hint: str = ""
    notices: tuple[str, ...] = ()


UNCONFINED: Final = Enforcement("off", lost=("file access is not confined", "the network is open"))
"""Nothing is confined, and the status line says so."""


def unproved(profile: str) -> Enforcement:
    """What is known of a profile before its start-up proof: that it is wanted, and nothing more."""
    return Enforcement(f"{profile}, untried")


class CommandHandle(Protocol):
    """A running command. The handle ends with the reap, so a reused pid cannot be signalled."""

    @property
    def pid(self) -> int:
        """The process id of the command."""

    def output(self) -> AsyncIterator[bytes]:
        """Standard output and error, merged, as they come; ends when the command has ended and the rest is
        read (2 s at most when a left-over child keeps the pipe open). One reader; cancelling a pending step
        loses nothing, the next step goes on from there.
        """

    async def side_output(self) -> bytes:
        """What the child wrote to its side channel, whole, once it has ended; empty when it was over 256 KiB."""

    async def wait(self) -> ExitStatus:
        """Wait for the end. What is left of the group is then killed."""

    async def kill(self) -> None:
        """End the whole group: SIGTERM, after 1 s stop all, kill all, reap. Safe to call more than once."""

    def abandon(self) -> None:
        """Begin what `kill` does and return at once; the runner sees it through (its `close` waits for it)."""


class CommandRunner(Protocol):
    """Starts commands."""

    @property
    def policy(self) -> Policy | None:
        """What the next command may do; None where nothing is confined. Reading it may look at the disk."""

    @property
    def enforcement(self) -> Enforcement:
        """What holds for every command started here, as far as it is known: see `prepare`."""

    async def prepare(self) -> Enforcement:
        """What is really enforced: makes the proof if that has not happened yet (70 ms once, then nothing).

        Raises `SandboxError` when the policy cannot be kept here.
        """

    async def start(self, spec: CommandSpec) -> CommandHandle:
        """Start a command. Raises `SandboxError`, or `OSError` when the program or folder is not there."""

    async def close(self) -> None:
        """Kill what still runs and release everything."""

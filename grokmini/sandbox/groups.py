"""Which numbers can be that of a command's process group: a signal to any other would reach somebody else."""

from __future__ import annotations

import os

from grokmini.protocol.errors import SandboxError


def may_be_signalled(group: int) -> bool:
    """Whether it is neither 0, which means our own group, nor 1 and less, which mean everybody, nor our own number."""
    return group > 1 and group not in (os.getpid(), os.getpgrp())


def check_group(group: int) -> None:
    """Raises `SandboxError` for a number that no command can have."""
    if not may_be_signalled(group):
        raise SandboxError(
            f"the command is said to have the process number {group}, which cannot be",
            "It was ended. Please report this.",
        )

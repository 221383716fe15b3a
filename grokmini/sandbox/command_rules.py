"""What a policy lets commands do with a path: the rules of file tools, but for what holds for commands alone."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Final

from grokmini.sandbox.file_rules import FileRules
from grokmini.sandbox.landlock import DEVICES, SHARED_MEMORY, TERMINALS
from grokmini.sandbox.policy import Policy
from grokmini.text.below import is_below_any

_PROCESS: Final = re.compile(r"/proc/(?:\d+|self|thread-self|PID)/")
"""What is there of a process: debuggers try to write it and do without."""


class CommandRules:
    """The rules of one policy. What matched a denied pattern when a command began is among the denied paths; what comes
    to match it later is not kept from that command.
    """

    def __init__(self, policy: Policy) -> None:
        self._files = FileRules(replace(policy, denied_globs=()))
        self._protected = tuple(map(os.path.realpath, policy.protected))

    def protected(self, path: str) -> str:
        """The one of the protected paths that a real path is or lies below; empty when there is none."""
        return next((root for root in self._protected if is_below_any(path, (root,))), "")

    def why_not_read(self, path: str) -> str:
        """The rule that keeps a real path from being read; empty when there is none."""
        if path.startswith(("/proc/", "/dev/")):
            return self._files.why_denied(path)
        return self._files.why_not_read(path)

    def why_not_written(self, path: str) -> str:
        """The rule that keeps a real path from being written; empty when there is none."""
        if protected := self.protected(path):
            return f"{protected} stays read-only"
        if path in DEVICES or path.startswith((f"{SHARED_MEMORY}/", f"{TERMINALS}/")) or _PROCESS.match(path):
            return self._files.why_denied(path)
        return self._files.why_not_written(path)

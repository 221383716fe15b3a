"""What the sandbox profile in force lets our own file tools do, decided on descriptors that are open.

A path can come to mean another file between a look and an access, an open descriptor cannot: so the file or the
folder is opened first, the kernel says where it leads, and only then something is read or written.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from grokmini.files.descriptors import place_of

if TYPE_CHECKING:  # what knows the rules is loaded when there are some
    from grokmini.sandbox.file_rules import FileRules
    from grokmini.sandbox.policy import Policy


class FileRefusedError(PermissionError):
    """The profile does not let a file be read or written. `path` is the real one, `rule` why not, in words."""

    def __init__(self, profile: str, action: str, path: str, rule: str) -> None:
        text = f"the sandbox profile {profile} does not let it be {action}: {rule}"
        super().__init__(errno.EACCES, text, path)
        self.profile = profile
        self.action = action
        self.path = path
        self.rule = rule


class FileGuard:
    """Asks the policy that `policy` gives at the time; None lets everything through.

    The checks raise `FileRefusedError`, or `FileMovedError` for what is moved about while it is looked at.
    """

    def __init__(self, policy: Callable[[], Policy | None]) -> None:
        self._policy = policy
        self._rules: FileRules | None = None

    def check_read(self, fd: int) -> None:
        """Whether an open file may be read, an open folder listed."""
        if rules := self._now():
            path = place_of(fd)
            if rule := rules.why_not_read(path) or rules.hidden_alias(fd):
                raise FileRefusedError(rules.profile, "read", path, rule)

    def check_denied(self, fd: int) -> None:
        """Whether an open file is one that nobody may read, wherever else may be read."""
        if rules := self._now():
            path = place_of(fd)
            if rule := rules.why_denied(path) or rules.hidden_alias(fd):
                raise FileRefusedError(rules.profile, "read", path, rule)

    def check_write(self, folder: int, name: str) -> None:
        """Whether the file of that name in an open folder may be made, replaced or written."""
        if rules := self._now():
            path = path_in(folder, name)
            if (
                rule := rules.why_not_written(path)
                or rules.hidden_alias(folder)
                or rules.alias_of(name, folder)
            ):
                raise FileRefusedError(rules.profile, "written", path, rule)

    def check_make(self, folder: int, name: str) -> None:
        """Whether a folder of that name may be made in an open one."""
        self.check_write(folder, name)

    def check_overwrite(self, fd: int) -> None:
        """Whether an open file, which may have other names, may be written in place."""
        if rules := self._now():
            path = place_of(fd)
            if rule := rules.why_not_written(path) or rules.hidden_alias(fd) or rules.protected_alias(fd):
                raise FileRefusedError(rules.profile, "written", path, rule)

    def why_not_written(self, path: Path) -> str:
        """The rule, in words, that keeps a real path from being written; empty when it may be."""
        rules = self._now()
        if rules is None:
            return ""
        return rules.why_not_written(str(path)) or rules.alias_of(str(path))

    def but_for(self, approved: Iterable[Path]) -> FileGuard:
        """The same guard for one call that a person let write these real paths."""
        return _ApprovedGuard(self._policy, frozenset(map(str, approved)))

    def _now(self) -> FileRules | None:
        policy = self._policy()
        if policy is None:
            return None
        known = self._rules
        if known is None or known.policy != policy:
            from grokmini.sandbox.file_rules import FileRules

            known = self._rules = FileRules(policy)
        return known if known.any else None


class _ApprovedGuard(FileGuard):
    """Lets exactly the approved paths through, wherever the profile ends; all else is as ever."""

    def __init__(self, policy: Callable[[], Policy | None], approved: frozenset[str]) -> None:
        super().__init__(policy)
        self._approved = approved

    def check_read(self, fd: int) -> None:
        if place_of(fd) not in self._approved:
            super().check_read(fd)

    def check_write(self, folder: int, name: str) -> None:
        if path_in(folder, name) not in self._approved:
            super().check_write(folder, name)

    def check_make(self, folder: int, name: str) -> None:
        below = f"{path_in(folder, name)}/"
        if not any(path.startswith(below) for path in self._approved):
            super().check_make(folder, name)

    def check_overwrite(self, fd: int) -> None:
        if place_of(fd) not in self._approved:
            super().check_overwrite(fd)


def path_in(folder: int, name: str) -> str:
    """The real path of a name in an open folder."""
    return f"{place_of(folder).rstrip('/')}/{name}"

"""Files that deny rules keep from being read, as searches need to know them: many paths, quickly."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from grokmini.tools.path_rules import path_pattern
from grokmini.tools.rules import Rule


class ReadDenials:
    """The deny rules with a pattern that are about reading, for one root, as they are now.

    Short-lived: where links lead is remembered.
    """

    def __init__(self, rules: Sequence[Rule], root: Path) -> None:
        self._patterns = [
            (rule, path_pattern(rule.pattern, root, wide=True)) for rule in rules if rule.pattern is not None
        ]
        self._real_folders: dict[str, str] = {}

    @property
    def any(self) -> bool:
        """Whether there is anything that may not be read."""
        return bool(self._patterns)

    def rule_for(self, path: str) -> Rule | None:
        """The rule that keeps an absolute path, as given or with its links resolved, from being read."""
        if not self._patterns:
            return None
        given = os.path.normpath(path)
        real = self._real(given)
        for rule, pattern in self._patterns:
            if pattern.fullmatch(given) or (real != given and pattern.fullmatch(real)):
                return rule
        return None

    def covers(self, path: str) -> bool:
        """Whether there is such a rule."""
        return self.rule_for(path) is not None

    def _real(self, path: str) -> str:
        if os.path.islink(path):
            return os.path.realpath(path)
        folder, name = os.path.split(path)
        if folder not in self._real_folders:
            self._real_folders[folder] = os.path.realpath(folder)
        return os.path.join(self._real_folders[folder], name)  # noqa: PTH118 - once for every file of a search


class HiddenFiles:
    """What searches leave out (a resource of the session). `current` gives the denials of this moment."""

    def __init__(self, current: Callable[[], ReadDenials]) -> None:
        self._current = current

    def now(self) -> ReadDenials:
        """What may not be read now."""
        return self._current()

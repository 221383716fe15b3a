"""What commands leave for git: what leads it elsewhere is taken away, what it would run is told. So is what they leave
for grokmini's next session.

All is about what was not there before the first command: that is the person's own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from grokmini.files.places import PROJECT_FOLDER
from grokmini.sandbox.bwrap import are_below
from grokmini.sandbox.git_folders import steered_folders
from grokmini.sandbox.keeper import Keeper
from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.nested import GitWatch
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.redirections import redirection_notices, redirections, remove_redirections


@dataclass(frozen=True, slots=True)
class GitFolders:
    """Git folders that commands can write, but for what steers git; a keeper is there while there are any."""

    paths: tuple[str, ...] = ()
    keeper: Keeper | None = None

    def close(self) -> None:
        """No command can write them any more."""
        if self.keeper is not None:
            self.keeper.close()


class GitCare:
    """The care of one runner for the git folders of all its policies."""

    def __init__(self) -> None:
        self._spared: frozenset[str] | None = None
        self._watch = GitWatch()
        self._absent: tuple[str, ...] = ()
        self._made: tuple[str, ...] = ()

    @property
    def lost(self) -> tuple[str, ...]:
        """What led git elsewhere before any command, and so is left alone."""
        return redirection_notices(self._spared or frozenset())

    @property
    def notices(self) -> tuple[str, ...]:
        """What commands left for git to run, and made where settings are obeyed."""
        return (*self._watch.told, *self._made)

    def begin(self, policy: Policy) -> GitFolders:
        """Look at what is there before commands run under a policy; what they can write. Raises `OSError`."""
        steered = steered_folders(policy.protected)
        if self._spared is None:
            self._spared = frozenset(redirections(steered))
        self.look(policy)
        self._absent = tuple(path for path in policy.protected if _is_to_come(path))
        paths = are_below(steered, writable_roots(policy))
        return GitFolders(paths, Keeper(paths, self._spared) if paths else None)

    def look(self, policy: Policy) -> bool:
        """Look at settings; whether there is something new to tell."""
        found = self._watch.look(policy.write_roots)
        made = tuple(path for path in self._absent if os.path.lexists(path))
        self._absent = tuple(path for path in self._absent if path not in made)
        self._made += tuple(
            f"{path} is there since a command ran, and what it holds is obeyed outside of the sandbox: "
            f"{'by grokmini, in its next session here' if path.endswith(PROJECT_FOLDER) else 'by git'}. Look at it "
            "before that; from the next command on it is read-only."
            for path in made
        )
        return found or bool(made)

    def tidy(self, folders: GitFolders) -> None:
        """Take away what leads git elsewhere, but for what was there before."""
        remove_redirections(folders.paths, self._spared or ())


def _is_to_come(path: str) -> bool:
    """Whether it is not there yet; of a whole repository that comes to be nothing is told by this."""
    return f"{os.sep}.git{os.sep}" not in path and not os.path.lexists(path)

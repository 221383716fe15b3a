"""Going to work in another folder: the rules of the project there count, files and commands start there."""

from __future__ import annotations

import asyncio
from pathlib import Path

from grokmini.cli.root import Root
from grokmini.cli.session_sandbox import SessionSandbox
from grokmini.files.places import real_path, repository_root
from grokmini.protocol.codec import join_surrogates
from grokmini.protocol.events import Notice
from grokmini.session.ports import Arrival
from grokmini.text.paths import visible_path
from grokmini.text.some import some_of
from grokmini.tools.permission import PermissionPolicy
from grokmini.tools.rules import RuleSet
from grokmini.tools.shell_state import ShellState
from grokmini.workspace.workspace import Workspace

SHOWN = 8
"""Rules or variables that are named when they change."""


class Mover:
    """Moves what has a folder, all of it or nothing."""

    def __init__(
        self,
        root: Root,
        sandbox: SessionSandbox,
        workspace: Workspace,
        shell: ShellState,
        policy: PermissionPolicy,
    ) -> None:
        self._root = root
        self._sandbox = sandbox
        self._workspace = workspace
        self._shell = shell
        self._policy = policy

    async def move_to(self, folder: Path) -> Arrival:
        """Work in that folder, as if the session had been started there; what commands exported stays behind where
        that is another project.

        Raises `ConfigError` or `UsageError` when its settings cannot be read, `SandboxError` when the profile cannot be
        kept there: nothing has changed then.
        """
        here, rules, protection = await asyncio.to_thread(self._look_around, folder)
        another = _project(folder) != _project(self._workspace.root)
        former, self._policy.rules = self._policy.rules, rules
        self._workspace.move_to(folder)
        exported = some_of(self._shell.enter(folder, afresh=another), SHOWN)
        notices = [Notice("info", visible_path(sentence), "sandbox") for sentence in protection]
        notices += [Notice("warning", join_surrogates(warning), "settings") for warning in here.warnings]
        if changes := _changes(former, rules):
            notices.append(Notice("info", changes, "rules"))
        if not exported:
            return Arrival(tuple(notices))
        text = f"What commands exported stays behind; as at the start are: {exported}."
        return Arrival((*notices, Notice("info", text, "exports")), text)

    def _look_around(self, folder: Path) -> tuple[Root, RuleSet, tuple[str, ...]]:
        here = self._root.at(folder)
        return here, here.rules(), self._sandbox.move_to(folder)


def _project(folder: Path) -> Path:
    return repository_root(folder) or real_path(folder)


def _changes(former: RuleSet, now: RuleSet) -> str:
    """Which rules count that did not, and the other way round."""
    before, after = _texts(former), _texts(now)
    parts = (("From now on", after, before), ("No longer", before, after))
    told = [(word, [text for text in these if text not in those]) for word, these, those in parts]
    return " ".join(f"{word}: {some_of(texts, SHOWN)}." for word, texts in told if texts)


def _texts(rules: RuleSet) -> list[str]:
    return [f"{rule.action} {rule.text}" for rule in (*rules.allow, *rules.ask, *rules.deny)]

"""A workspace on disk, a policy over it, and calls to judge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from grokmini.protocol.permission import PermissionAnswer, PermissionMode
from grokmini.protocol.tools import ToolKind, ToolNamespace
from grokmini.tools.contract import Subject, Tool
from grokmini.tools.permission import PermissionPolicy
from grokmini.tools.protected import protect
from grokmini.tools.rules import parse_rules
from grokmini.tools.verdicts import Allow, Ask, Deny, Verdict


class NoArgs(msgspec.Struct):
    """Calls are judged by their subject alone."""


def tool(
    kind: ToolKind, *, read_only: bool = False, namespace: ToolNamespace = ToolNamespace.GROK_BUILD
) -> Tool[NoArgs]:
    """A tool of that kind that does nothing."""

    class Sample(Tool[NoArgs]):
        id = f"{kind.value}_tool"
        wire_name = f"{kind.value}_tool"
        args_type = NoArgs

    Sample.kind, Sample.read_only, Sample.namespace = kind, read_only, namespace
    return Sample()


class MemoryGrants:
    """Grants by repository, kept in a dict."""

    def __init__(self) -> None:
        self.by_repository: dict[Path, list[str]] = {}

    def granted(self, repository: Path) -> tuple[str, ...]:
        return tuple(self.by_repository.get(repository, ()))

    def grant(self, repository: Path, rule: str) -> None:
        self.by_repository.setdefault(repository, []).append(rule)


class Ground:
    """A workspace `root` with our own folders beside it, and a policy."""

    def __init__(
        self,
        base: Path,
        *,
        allow: Sequence[str] = (),
        ask: Sequence[str] = (),
        deny: Sequence[str] = (),
        grants: MemoryGrants | None = None,
    ) -> None:
        self.root = base / "work"
        self.config, self.state = base / "own" / "config", base / "own" / "state"
        for folder in (self.root, self.config, self.state):
            folder.mkdir(parents=True, exist_ok=True)
        self.folder = self.root
        self.grants = grants or MemoryGrants()
        self.policy = PermissionPolicy(
            parse_rules(allow, ask, deny),
            self.grants,
            lambda: self.root,
            shell_folder=lambda: self.folder,
            protected=protect((self.config, self.state), (self.config,)),
        )

    def run(
        self, command: str, mode: PermissionMode = PermissionMode.ASK, *, contained: bool = False
    ) -> Verdict:
        """Judge a shell command."""
        subject = Subject("Bash", command, "Run this?")
        return self.policy.judge(tool(ToolKind.EXECUTE), subject, (), mode, contained=contained)

    def edit(self, path: str | Path, mode: PermissionMode = PermissionMode.ASK) -> Verdict:
        """Judge an edit; like the tools, it hands over the path as given and the real one."""
        given = self.root / path
        subject = Subject("Edit", str(given), f"Edit {path}?")
        return self.policy.judge(tool(ToolKind.EDIT), subject, (given.resolve(),), mode, contained=False)

    def read(
        self, path: str | Path, mode: PermissionMode = PermissionMode.ASK, rule_name: str = "Read"
    ) -> Verdict:
        """Judge a read or a search."""
        subject = Subject(rule_name, str(self.root / path), "Read this?")
        return self.policy.judge(tool(ToolKind.READ, read_only=True), subject, (), mode, contained=False)

    def answer(self, verdict: Verdict, key: str) -> None:
        """Choose an option of a question."""
        assert isinstance(verdict, Ask)
        option = next(option for option in verdict.options if option.key == key)
        self.policy.remember(PermissionAnswer(option.decision, option.scope, option.rule))

    def repository(self) -> Path:
        """Make the root a git repository, as `git init` does; its git folder."""
        folder = self.root / ".git"
        for name in ("objects", "refs/heads"):
            (folder / name).mkdir(parents=True)
        (folder / "HEAD").write_text("ref: refs/heads/main\n")
        (folder / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
        return folder


def word(verdict: Verdict) -> str:
    """The verdict in one word."""
    return {Allow: "allow", Ask: "ask", Deny: "deny"}[type(verdict)]

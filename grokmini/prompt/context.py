"""What a prompt is made from: one versioned value, gathered once, rendered anywhere."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from grokmini.files.places import repository_root
from grokmini.prompt.instructions import InstructionFile, Skipped, discover
from grokmini.prompt.repository import branch_of, shown

CONTEXT_VERSION = 1

Audience = Literal["main", "subagent"]


class Facts(msgspec.Struct, frozen=True):
    """What may change from one session to the next; it goes behind the system prompt, so that this stays the same.

    `branch` is empty outside of a repository, `(detached)` when no branch is checked out. `interactive` says
    whether somebody can answer questions.
    """

    date: str
    cwd: str
    repository: str
    branch: str
    system: str
    shell: str
    interactive: bool


class PromptContext(msgspec.Struct, frozen=True):
    """All that the model is told besides the person's words. `concise` asks for the short templates."""

    facts: Facts
    instructions: tuple[InstructionFile, ...]
    skipped: tuple[Skipped, ...] = ()
    audience: Audience = "main"
    concise: bool = False
    version: int = CONTEXT_VERSION


def gather(
    *,
    cwd: Path,
    env: Mapping[str, str],
    config_folder: Path | None,
    today: datetime.date,
    interactive: bool,
    concise: bool = False,
    shell: str = "bash",
    check: Callable[[int], None] = lambda fd: None,
) -> PromptContext:
    """Look at the folder, the repository around it and the instruction files. Runs no program.

    `config_folder` is our own settings' folder (None without a home); `shell` the one that commands run in;
    `check` keeps the project's instruction files from being read (see `discover`).
    """
    repository = repository_root(cwd)
    home = Path(env["HOME"]) if env.get("HOME", "").startswith("/") else None
    found = discover(cwd, repository=repository, home=home, config_folder=config_folder, check=check)
    facts = Facts(
        date=f"{today.isoformat()} ({today:%A})",
        cwd=shown(cwd),
        repository=shown(repository) if repository else "",
        branch=branch_of(cwd),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        shell=shell,
        interactive=interactive,
    )
    return PromptContext(facts, found.files, found.skipped, concise=concise)

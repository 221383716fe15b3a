"""Everything a session is given: one frozen record, filled by the composition root."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from grokmini.chat.actor import ChatHandle
from grokmini.protocol.events import TitleSource
from grokmini.protocol.model import ModelSpec
from grokmini.protocol.permission import PermissionMode
from grokmini.sandbox.runner import CommandRunner
from grokmini.session.ports import Arrival, EventLog, Models, PromptPrefix, Sampler, Sandbox, SessionRecord
from grokmini.tools.contract import Resources, SpillFiles
from grokmini.tools.permission import PermissionPolicy
from grokmini.tools.registry import ToolRegistry
from grokmini.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Parts:
    """The session's collaborators.

    `move_to` makes another folder the working directory of files and commands, under the rules that hold there, or
    raises `GrokminiError` and has changed nothing; `branch_of` reads the git branch of a folder ("" for none).
    `interactive` says whether a person can be asked. `max_turns` limits the model rounds of a prompt, 0 for no limit.
    `title_source` is where the title so far is from, and `may_title` whether a model may be asked for one. `clock` is
    seconds since the epoch, `monotonic` seconds that only grow.
    """

    session_id: str
    chat: ChatHandle
    sampler: Sampler
    models: Models
    registry: ToolRegistry
    policy: PermissionPolicy
    workspace: Workspace
    resources: Resources
    runner: CommandRunner
    sandbox: Sandbox
    log: EventLog
    record: SessionRecord
    spill: SpillFiles
    prefix: PromptPrefix
    move_to: Callable[[Path], Awaitable[Arrival]]
    branch_of: Callable[[Path], str]
    interactive: bool
    max_turns: int
    title_source: TitleSource
    may_title: Callable[[ModelSpec], bool]
    clock: Callable[[], float]
    monotonic: Callable[[], float]


class Live:
    """What may change while the session runs: the permission mode and the model. Owned by the engine."""

    def __init__(self, mode: PermissionMode, model: ModelSpec) -> None:
        self.mode = mode
        self.model = model

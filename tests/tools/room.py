"""A room to call tools in: a folder, a registry, a runner, spill files."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from grokmini.config.settings import ShellSettings
from grokmini.protocol.errors import ToolError
from grokmini.protocol.tools import TodoEntry
from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.file_guard import FileGuard
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms
from grokmini.sandbox.unconfined import UnconfinedRunner
from grokmini.tools.arguments import decode_arguments
from grokmini.tools.builtin.todo_write import TodoStore
from grokmini.tools.contract import Final, Progress, Resources, ToolCallContext, ToolOutput
from grokmini.tools.read_denials import HiddenFiles, ReadDenials
from grokmini.tools.registry import ToolRegistry
from grokmini.tools.shell_state import ShellState
from grokmini.tools.table import build_tools
from grokmini.workspace.workspace import Workspace

GOLDEN = Path(__file__).parent.parent / "golden" / "tools"


class FolderSpill:
    """Spill files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, name: str, data: bytes) -> str | None:
        path = self.folder / f"{name}.txt"
        path.write_bytes(data)
        return str(path)

    def open_path(self, name: str) -> Path | None:
        return self.folder / f"{name}.txt"

    def holds(self, size: int) -> Callable[[], bool]:
        """Whether so many bytes were put aside: a condition to wait for."""
        return lambda: sum(file.stat().st_size for file in self.folder.iterdir()) > size


class NoSpill:
    """A session that cannot write."""

    def write(self, name: str, data: bytes) -> str | None:
        return None

    def open_path(self, name: str) -> Path | None:
        return None


class Room:
    """Calls tools by name with plain arguments."""

    def __init__(
        self,
        folder: Path,
        env: Mapping[str, str],
        settings: ShellSettings,
        policy: Policy | None,
        mechanisms: Mechanisms | None = None,
    ) -> None:
        self.folder = folder
        self.runner = UnconfinedRunner() if policy is None else SandboxedRunner(policy, mechanisms=mechanisms)
        self.workspace = Workspace(folder, guard=FileGuard(lambda: self.runner.policy))
        self.shell = ShellState(folder, env, settings, self.runner)
        self.todos: list[tuple[TodoEntry, ...]] = []
        self.resources = Resources()
        self.resources.add(Workspace, self.workspace)
        self.resources.add(ShellState, self.shell)
        self.resources.add(TodoStore, TodoStore(self.todos.append))
        self.resources.add(HiddenFiles, HiddenFiles(lambda: ReadDenials((), folder)))
        self.registry = ToolRegistry(build_tools())
        self.spill: FolderSpill | NoSpill = FolderSpill(folder.parent / f"{folder.name}-spill")
        self.approved: tuple[Path, ...] = ()
        self.progress: list[str] = []
        self._calls = 0

    def context(self) -> ToolCallContext:
        """A context for one call."""
        self._calls += 1
        return ToolCallContext(
            call_id="call_x",
            call_name=f"0-{self._calls}",
            prompt_index=0,
            cwd=self.workspace.root,
            resources=self.resources,
            names=self.registry.names,
            spill=self.spill,
            outside=bool(self.approved),
            approved=self.approved,
        )

    async def output(self, name: str, **arguments: Any) -> ToolOutput:
        """Run a call to its output. Raises `ToolError`."""
        tool = self.registry.find(name)
        assert tool is not None
        args = decode_arguments(json.dumps(arguments), tool.args_type).args
        final: ToolOutput | None = None
        async for step in tool.execute(args, self.context()):
            match step:
                case Progress():
                    self.progress.append(step.text)
                case Final():
                    assert final is None
                    final = step.output
        assert final is not None
        return final

    async def call(self, name: str, **arguments: Any) -> str:
        """What the model reads of a call."""
        return (await self.output(name, **arguments)).for_model

    async def error(self, name: str, **arguments: Any) -> ToolError:
        """The error a call ends in."""
        try:
            result = await self.call(name, **arguments)
        except ToolError as error:
            return error
        raise AssertionError(f"no error but: {result}")

    async def preview(self, name: str, **arguments: Any) -> str:
        """What the permission question would show."""
        tool = self.registry.find(name)
        assert tool is not None
        return await tool.preview(decode_arguments(json.dumps(arguments), tool.args_type).args, self.context())


@asynccontextmanager
async def room(
    folder: Path,
    env: Mapping[str, str] | None = None,
    settings: ShellSettings | None = None,
    policy: Policy | None = None,
    mechanisms: Mechanisms | None = None,
) -> AsyncIterator[Room]:
    """A room in a folder, under a sandbox's policy as these mechanisms keep it, cleared of processes at the end."""
    made = Room(folder, os.environ if env is None else env, settings or ShellSettings(), policy, mechanisms)
    try:
        yield made
    finally:
        await made.runner.close()


def check_golden(name: str, text: str) -> None:
    """Compare with the kept text; with UPDATE_GOLDEN set, keep this one. Changing one is a decision."""
    file = GOLDEN / f"{name}.txt"
    if "UPDATE_GOLDEN" in os.environ:
        file.write_text(text + "\n", encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text + "\n"

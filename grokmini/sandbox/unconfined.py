"""Commands without confinement: the runner used where no sandbox is.

One `Popen` a command (no watcher thread): the exit is seen through a pidfd and the output through the loop's own
readers. Every child inherits the write end of a pipe, the lifeline; when it is closed as the command ends,
nothing is left over, else those who hold it are found and killed whatever session they moved to. One guardian
process a session ends what runs when the agent itself dies.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Coroutine
from contextlib import ExitStack, suppress
from typing import Final

from grokmini.sandbox.command import DRAIN_LIMIT, PipedCommand, exit_status
from grokmini.sandbox.guardian import Guardian, kill_groups
from grokmini.sandbox.limits import limits_of, lowered, machine_limits, set_oom_score
from grokmini.sandbox.pipe import MAX_SIDE_OUTPUT, MAX_UNREAD, PipeReader, ends, side_channel
from grokmini.sandbox.runner import UNCONFINED, CommandSpec, Enforcement
from grokmini.sandbox.survivors import descendants, kill_holders, signal_all

TERM_GRACE: Final = 1.0
"""Seconds between asking a group to end and ending it."""
SETTLE: Final = 0.1
"""Seconds that children of an ended command get to write their last words."""


class UnconfinedCommand(PipedCommand):
    """A running command. Made by `UnconfinedRunner.start` alone."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        output: int,
        lifeline: int,
        side: int | None,
        on_end: Callable[[int], None],
    ) -> None:
        super().__init__(process.pid, output, side)
        self._process = process
        self._on_end = on_end
        self._lifeline = PipeReader(lifeline, self._changed.set, MAX_SIDE_OUTPUT, overflow=True)
        self._exited = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._killing: asyncio.Task[None] | None = None
        self._reaped = False
        self._watch_exit()

    @property
    def lifeline_inode(self) -> int:
        """The pipe that everything of this command holds."""
        return self._lifeline.inode

    def abandon(self) -> None:
        """Begin the end of the whole tree and return at once."""
        if self._status.done() or self._killing is not None:
            return
        self._signal_group(signal.SIGTERM)
        self._killing = self._own(self._kill_tree())

    async def settled(self) -> None:
        """Wait for everything begun here, so that no task is left behind."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _own(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _watch_exit(self) -> None:
        loop = asyncio.get_running_loop()
        pidfd = _pidfd(self.pid)
        if pidfd is not None:

            def exited() -> None:
                loop.remove_reader(pidfd)
                os.close(pidfd)
                self._on_exit()

            loop.add_reader(pidfd, exited)
        else:
            threading.Thread(target=self._wait_in_thread, args=(loop,), daemon=True).start()

    def _wait_in_thread(self, loop: asyncio.AbstractEventLoop) -> None:
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        else:
            self._process.wait()
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(self._on_exit)

    def _on_exit(self) -> None:
        self._exited.set()
        self._read_rest()
        self._lifeline.read_all()
        if self._output.ended and self._lifeline.ended:
            self._reap(left_over=0)
        else:
            self._own(self._finish())

    async def _finish(self) -> None:
        """The command is over but something still holds its pipes: let it settle, then kill it.

        The dead command is not yet reaped, so that its group's number is still ours.
        """
        await self._pipes_end(SETTLE if self._killing is None else TERM_GRACE)
        left_over = 0
        if not self._lifeline.ended:
            left_over = await asyncio.to_thread(self._kill_survivors)
        self._signal_group(signal.SIGKILL)
        self._reap(left_over)
        await self._pipes_end(DRAIN_LIMIT)
        self._output.close()
        self._lifeline.close()
        self._changed.set()

    async def _pipes_end(self, seconds: float) -> None:
        """Wait until nothing holds the pipes, as long as someone takes the output, at most that long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not (self._lifeline.ended and (self._output.ended or self._output.unread >= MAX_UNREAD)):
                    self._changed.clear()
                    await self._changed.wait()

    def _kill_survivors(self) -> int:
        """Kill who still holds the lifeline, newcomers included. Returns how many there were."""
        return len(kill_holders((self._lifeline.inode,), spare={self.pid, os.getpid()}))

    async def _kill_tree(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(TERM_GRACE):
                await self._exited.wait()
        if not self._exited.is_set():
            self._signal_group(signal.SIGSTOP)
            tree = await asyncio.to_thread(descendants, self.pid)
            signal_all(tree, signal.SIGSTOP)
            self._signal_group(signal.SIGKILL)
            signal_all(tree, signal.SIGKILL)
        await self.wait()

    def _signal_group(self, number: signal.Signals) -> None:
        if not self._reaped:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def _reap(self, left_over: int) -> None:
        code = self._process.wait()
        self._reaped = True
        self._on_end(self.lifeline_inode)
        if not self._status.done():
            self._status.set_result(exit_status(code, left_over))
        self._changed.set()


def _pidfd(pid: int) -> int | None:
    """A descriptor that tells the end of a child, where the system has such and one is left."""
    with suppress(OSError, AttributeError):
        return os.pidfd_open(pid)
    return None


class UnconfinedRunner:
    """Starts commands with nothing around them (a `CommandRunner`)."""

    def __init__(self) -> None:
        self._commands: set[UnconfinedCommand] = set()
        self.guardian = Guardian()
        """Ends what runs when the agent dies."""
        self._limits: list[tuple[int, int, bool]] | None = None
        self._closed = False

    @property
    def policy(self) -> None:
        """There is none: nothing is confined."""
        return None

    @property
    def enforcement(self) -> Enforcement:
        """Nothing is enforced, and the status line says so."""
        return UNCONFINED

    @property
    def idle(self) -> bool:
        """Whether nothing runs."""
        return all(command.ended for command in self._commands)

    async def prepare(self) -> Enforcement:
        """Nothing has to be proved."""
        return self.enforcement

    async def start(self, spec: CommandSpec) -> UnconfinedCommand:
        """Start a command in a session and group of its own, without a terminal, with empty input.

        Raises `OSError` when the program or the folder is not there.
        """
        if self._closed:
            raise RuntimeError("the runner is closed")
        self._commands = {command for command in self._commands if not command.ended}
        if self._limits is None:
            self._limits = limits_of(machine_limits(), alone=False)
        command = _launch(spec, self.guardian, self._limits)
        self._commands.add(command)
        return command

    async def close(self) -> None:
        """Kill what still runs and wait until it is gone."""
        self._closed = True
        for command in self._commands:
            command.abandon()
        for command in self._commands:
            await command.wait()
            await command.settled()
        self._commands.clear()
        self.guardian.close()

    def kill_now(self) -> None:
        """Kill everything that runs, at once and without waiting: for a signal handler that leaves right after.

        Only sends signals: no lock is taken, no task made, nothing reaped, no terminal touched. Takes some
        milliseconds; nothing can be started afterwards.
        """
        self._closed = True
        running = [command for command in tuple(self._commands) if not command.ended]
        if running:
            kill_groups(command.pid for command in running)
            kill_holders([command.lifeline_inode for command in running], spare={os.getpid()})


def _launch(spec: CommandSpec, guardian: Guardian, limits: list[tuple[int, int, bool]]) -> UnconfinedCommand:
    with ExitStack() as always, ExitStack() as unless_started:
        output_read, output_write = ends(os.pipe(), unless_started, always)
        lifeline_read, lifeline_write = ends(os.pipe(), unless_started, always)
        inode = os.fstat(lifeline_read).st_ino
        side_read, side_write = None, subprocess.DEVNULL
        if spec.side_channel:
            side_read, side_write = ends(side_channel(), unless_started, always)
        unless_started.callback(guardian.ended, inode)
        guardian.expect(inode)
        with lowered(limits):
            process = subprocess.Popen(
                spec.argv,
                cwd=spec.cwd,
                env=spec.env,
                stdin=side_write,
                stdout=output_write,
                stderr=output_write,
                pass_fds=(lifeline_write,),
                start_new_session=True,
            )
        unless_started.callback(_end, process)
        set_oom_score(process.pid)
        guardian.started(inode, process.pid)
        command = UnconfinedCommand(process, output_read, lifeline_read, side_read, guardian.ended)
        unless_started.pop_all()
    return command


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()

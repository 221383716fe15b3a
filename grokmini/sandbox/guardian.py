"""The guardian: a tiny process that outlives the agent and ends the commands that the agent left behind.

It is started with the first command and reads what the agent tells it from a pipe, one line each:

- `+INODE`: a command is about to start whose lifeline is the pipe with that inode number;
- `=INODE PID`: it has started, as the leader of the group PID;
- `-INODE`: it has ended and nothing is left of it.

The end of the pipe is the end of the agent, however that came about (`kill -9` closes it too): whatever is still
noted then is killed, by its group and by who holds its lifeline. It needs the standard library alone, has no
environment, no terminal and a session of its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress

from grokmini.sandbox.groups import may_be_signalled
from grokmini.sandbox.outliving import python_words, start_outliving
from grokmini.sandbox.survivors import kill_holders


class Guardian:
    """The agent's side. Nothing is started before the first command is told of."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._told: dict[int, int | None] = {}
        self._pipe = -1

    @property
    def pid(self) -> int | None:
        """The guardian's process, None before the first command and after the end."""
        return self._process.pid if self._process is not None else None

    def expect(self, inode: int) -> None:
        """A command with that lifeline is about to start. Raises `OSError` when no guardian can be started."""
        self._told[inode] = None
        if self._process is None:
            self._start()
        else:
            self._tell(f"+{inode}\n")

    def started(self, inode: int, pid: int) -> None:
        """It has, as the leader of that group."""
        self._told[inode] = pid
        self._tell(f"={inode} {pid}\n")

    def ended(self, inode: int) -> None:
        """Nothing is left of it."""
        if self._told.pop(inode, self) is not self:
            self._tell(f"-{inode}\n")

    def close(self) -> None:
        """End the guardian itself; it has nothing left to watch."""
        process = self.hang_up()
        if process is not None:
            process.kill()
            process.wait()

    def hang_up(self) -> subprocess.Popen[bytes] | None:
        """What the agent's death does: close the pipe, upon which the guardian kills what it was told of."""
        process, self._process = self._process, None
        if process is not None:
            os.close(self._pipe)
        return process

    def _start(self) -> None:
        self._process, self._pipe = start_outliving(python_words("grokmini.sandbox.guardian"))
        os.set_blocking(self._pipe, False)
        for inode, pid in self._told.items():
            os.write(self._pipe, _line(inode, pid))

    def _tell(self, line: str) -> None:
        """Write a line; a guardian that was killed or stopped is replaced by one that is told everything."""
        if self._process is None:
            return
        try:
            os.write(self._pipe, line.encode())
        except (BrokenPipeError, BlockingIOError):
            self.close()
            self._start()


def _line(inode: int, pid: int | None) -> bytes:
    return f"+{inode}\n".encode() if pid is None else f"={inode} {pid}\n".encode()


def note(noted: dict[int, int | None], line: str) -> None:
    """Take one line into account."""
    inode, _, pid = line[1:].partition(" ")
    if line.startswith("-"):
        noted.pop(int(inode), None)
    else:
        noted[int(inode)] = int(pid) if pid else None


def kill_noted(noted: dict[int, int | None]) -> None:
    """End everything that is still noted."""
    kill_groups(pid for pid in noted.values() if pid is not None)
    kill_holders(noted, spare={os.getpid()})


def kill_groups(leaders: Iterable[int]) -> None:
    """Kill whole groups at once, never everybody or ourselves; those already gone do not matter."""
    for leader in filter(may_be_signalled, leaders):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)


def main() -> None:
    """Watch until the pipe ends, then end what is left."""
    noted: dict[int, int | None] = {}
    for line in sys.stdin:
        note(noted, line.rstrip("\n"))
    if noted:
        kill_noted(noted)

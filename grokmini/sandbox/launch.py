"""The agent's end of a launcher: starting it, its spares, and handing a command to one of them."""

from __future__ import annotations

import asyncio
import errno
import marshal
import os
import socket
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.runner import CommandSpec

LAUNCHER: Final = Path(__file__).with_name("launcher.py")
PYTHON: Final = os.path.realpath(sys.executable)
READY_LIMIT: Final = 30.0
"""Seconds a launcher gets to set itself up."""
SPARE_LIMIT: Final = 15.0
"""Seconds that a launcher gets to make a spare, and a spare to confine itself, before they count as lost."""
REFILL_AFTER: Final = 0.004
"""Seconds after which another spare is made for one that was taken: its making does not contend with the command."""
FIRST_PIECE: Final = 32_768
MAX_MESSAGE: Final = 262_144


class LauncherLostError(Exception):
    """The launcher died before the command was handed over; nothing of it has run."""


class Spare(NamedTuple):
    """A confined child that waits: the socket to its supervisor and the one to itself."""

    job: socket.socket
    channel: socket.socket

    def close(self) -> None:
        """Hang up: the supervisor ends its child and itself."""
        self.job.close()
        self.channel.close()


class Ready(NamedTuple):
    """What the launcher told about itself: what it could do although it must not, as (attempt, path), and paths of
    the rules that were not there."""

    holes: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]


class LauncherProcess:
    """One running launcher. Made by `start_launcher` alone."""

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket, ready: Ready) -> None:
        self._process = process
        self._control = control
        self.ready = ready
        self._spares: deque[Spare] = deque()
        self._waiting: list[asyncio.Future[Spare]] = []
        self._loop = asyncio.get_running_loop()
        self.lost = False
        self._asked = 0
        self._refill: asyncio.TimerHandle | None = None
        self._loop.add_reader(control, self._on_message)
        self._ask_for_spares(kept=1)

    @property
    def pid(self) -> int:
        """The process started: the launcher, or bubblewrap around it."""
        return self._process.pid

    async def take_spare(self) -> Spare:
        """A spare for the next command; another is made soon.

        Raises `LauncherLostError`, and `OSError` when this machine has no room for one more process or descriptor.
        """
        if self.lost:
            raise LauncherLostError
        if self._refill is None:
            self._refill = self._loop.call_later(REFILL_AFTER, self._make_up)
        if self._spares:
            return self._spares.popleft()
        future: asyncio.Future[Spare] = self._loop.create_future()
        self._waiting.append(future)
        self._ask_for_spares(kept=0)
        try:
            async with asyncio.timeout(SPARE_LIMIT):
                return await future
        except TimeoutError:
            self._hang_up()
            raise LauncherLostError from None
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self._keep(future.result())  # it came as the wait was cancelled
            raise
        finally:
            self._waiting.remove(future)

    def _make_up(self) -> None:
        self._refill = None
        self._ask_for_spares(kept=1)

    def _ask_for_spares(self, *, kept: int) -> None:
        """Ask for what is missing: one for each who waits and so many to keep; some may be on their way."""
        wanted = kept + sum(not future.done() for future in self._waiting)
        try:
            while len(self._spares) + self._asked < wanted:
                self._control.send(b"F")
                self._asked += 1
        except OSError:
            self._hang_up()

    def _on_message(self) -> None:
        try:
            data, ancillary, _, _ = self._control.recvmsg(64, socket.CMSG_LEN(8), socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return
        except OSError:
            data, ancillary = b"", []
        if not data:
            self._hang_up()
            return
        self._asked -= 1
        fds = [fd for _, _, packed in ancillary for (fd,) in struct.iter_unpack("=i", packed)]
        waiting = next((future for future in self._waiting if not future.done()), None)
        if data != b"S" or len(fds) != 2:  # too many descriptors are open here: the kernel has dropped some
            for fd in fds:
                os.close(fd)
            number = int(data) if data != b"S" else errno.EMFILE
            if waiting is not None:
                waiting.set_exception(OSError(number, os.strerror(number)))
            return
        spare = Spare(*(_adopt(fd) for fd in fds))
        if waiting is not None:
            waiting.set_result(spare)
        else:
            self._keep(spare)

    def _keep(self, spare: Spare) -> None:
        if self.lost:
            spare.close()
        else:
            self._spares.append(spare)

    def _hang_up(self) -> None:
        """The launcher is gone, or is to go."""
        if not self.lost:
            self.lost = True
            if self._refill is not None:
                self._refill.cancel()
            self._loop.remove_reader(self._control)
            self._control.close()
        while self._spares:
            self._spares.popleft().close()
        for future in self._waiting:
            if not future.done():
                future.set_exception(LauncherLostError())

    def end_now(self) -> None:
        """End it and all that runs in it; `close` is still to be called."""
        self._process.kill()
        self._hang_up()

    async def close(self) -> None:
        """Let it go and wait until it is gone. What it runs should have ended."""
        self._hang_up()
        try:
            await asyncio.to_thread(self._process.wait, 2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)


def _adopt(fd: int) -> socket.socket:
    end = socket.socket(fileno=fd)
    end.setblocking(False)
    return end


async def start_launcher(
    plan: Mapping[str, Any], around: Sequence[str] = (), inherited: Sequence[int] = ()
) -> LauncherProcess:
    """Start a launcher that carries out `plan` (see `plan.py`), inside the command `around` when there is one.

    `inherited` are further descriptors for that command. Raises `SandboxError` with the reason when it does not come
    up, `OSError` when there is no descriptor left for it.
    """
    process, ours, errors = _spawn(plan, around, inherited)
    try:
        ready = await _first_message(ours, errors)
    except BaseException:
        ours.close()
        process.kill()
        process.wait()
        raise
    finally:
        os.close(errors)
    return LauncherProcess(process, ours, ready)


def _spawn(
    plan: Mapping[str, Any], around: Sequence[str], inherited: Sequence[int]
) -> tuple[subprocess.Popen[bytes], socket.socket, int]:
    """Start the process; it, our end of the socket, and the read end of its standard error."""
    with ExitStack() as always, ExitStack() as unless_started:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        unless_started.callback(ours.close)
        always.callback(theirs.close)
        errors, errors_end = os.pipe()
        unless_started.callback(os.close, errors)
        always.callback(os.close, errors_end)
        plan_file = os.memfd_create("plan", os.MFD_CLOEXEC)
        always.callback(os.close, plan_file)
        os.write(plan_file, marshal.dumps(dict(plan)))
        os.lseek(plan_file, 0, os.SEEK_SET)
        try:
            process = subprocess.Popen(
                (*around, PYTHON, "-I", "-S", str(LAUNCHER), str(theirs.fileno())),
                cwd="/",
                env={},
                stdin=plan_file,
                stdout=subprocess.DEVNULL,
                stderr=errors_end,
                pass_fds=(theirs.fileno(), *inherited),
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(
                f"the launcher cannot be started: {error}",
                "Every command needs it, whatever the profile: it ends what a command leaves behind. "
                "Is memory short, or the number of processes?",
            ) from error
        unless_started.pop_all()
    return process, ours, errors


async def _first_message(control: socket.socket, errors: int) -> Ready:
    control.setblocking(False)
    try:
        async with asyncio.timeout(READY_LIMIT):
            data = await asyncio.get_running_loop().sock_recv(control, MAX_MESSAGE)
    except TimeoutError as error:
        raise SandboxError(f"the launcher was not ready after {READY_LIMIT:.0f} s") from error
    except OSError:
        data = b""
    if not data:
        os.set_blocking(errors, False)
        try:
            text = os.read(errors, 4096).decode(errors="replace").strip()
        except BlockingIOError:
            text = ""
        raise SandboxError(
            f"the launcher ended at its start: {text.rpartition(chr(10))[2] or 'no reason given'}"
        )
    told = marshal.loads(data)
    if "failed" in told:
        raise SandboxError(f"confinement could not be set up: {told['failed']}")
    return Ready(tuple(map(tuple, told["holes"])), tuple(told["missing"]))


def encode_request(spec: CommandSpec) -> bytes:
    """A command as its child reads it: a length, then fields ended by NUL. Raises `ValueError` for NULs within."""
    fields = [os.fsencode(spec.cwd), str(len(spec.argv)).encode(), *map(os.fsencode, spec.argv)]
    fields += [os.fsencode(f"{name}={value}") for name, value in spec.env.items()]
    if any(b"\0" in field for field in fields):
        raise ValueError("embedded null byte")
    body = b"\0".join((*fields, b""))
    return len(body).to_bytes(8, "little") + body


async def hand_over(spare: Spare, spec: CommandSpec, fds: Sequence[int]) -> int:
    """Have the spare become the command; returns its process id as we see it.

    Raises `OSError` when the folder or program is not there, `SandboxError` when the child could not confine
    itself or died as it became the command, `LauncherLostError` when it was gone before it had heard of the command:
    then, and only then, the command has not run and may be given to another.
    """
    request = encode_request(spec)
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(SPARE_LIMIT):
            word, pid = await _confirmation(spare.channel)
        if word.startswith(b"0 "):
            raise SandboxError(f"confinement could not be set up: {word[2:].decode(errors='replace')}")
        if word != b"R":
            raise LauncherLostError
        sent = socket.send_fds(spare.channel, [request[:FIRST_PIECE]], list(fds))
        if sent < len(request):
            await loop.sock_sendall(spare.channel, memoryview(request)[sent:])
    except (ConnectionError, TimeoutError) as error:
        raise LauncherLostError from error
    try:
        answer = await loop.sock_recv(spare.channel, 4096)
    except ConnectionError as error:
        raise SandboxError(
            "the launcher of the sandbox died as it started the command",
            "Whether the command ran is not known: look at what it should have done before running it again.",
        ) from error
    if answer:
        number, _, where = answer.partition(b" ")
        if number == b"0":
            raise SandboxError(f"the command could not be started: {where.decode(errors='replace')}")
        raise OSError(int(number), os.strerror(int(number)), os.fsdecode(where))
    return pid


async def _confirmation(channel: socket.socket) -> tuple[bytes, int]:
    """The child's word that it is confined, and who said so, in our own numbers."""
    while True:
        try:
            data, ancillary, _, _ = channel.recvmsg(512, socket.CMSG_SPACE(struct.calcsize("3i")))
        except BlockingIOError:
            await _readable(channel)
            continue
        for _, kind, packed in ancillary:
            if kind == socket.SCM_CREDENTIALS:
                return data, int(struct.unpack("3i", packed)[0])
        return data, 0


async def _readable(channel: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    event = asyncio.Event()
    loop.add_reader(channel, event.set)
    try:
        await event.wait()
    finally:
        loop.remove_reader(channel)

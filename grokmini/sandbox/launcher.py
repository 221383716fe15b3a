"""The launcher: one process a session that makes confined children ahead of time and watches over them.

Run as `python -I -S launcher.py FD`; needs the standard library alone and imports nothing of grokmini. `FD` is a
socket to the agent, and standard input holds the plan (marshalled). It tells the outcome of the proof, and answers
each message `F` with the number of an error or a spare: two sockets, one to a *supervisor* and one to its child, the
*command to be*, which has confined itself and waits for what to run. The agent talks to those two directly.

- To the command: the request (see `launch.py`) with its descriptors; it answers `R` when it is confined,
  nothing when the program has been started, else what went wrong.
- To the supervisor: `T` asks the command to end and ends it a second later, `K` ends it at once, and so does the
  end of the socket or of the launcher. When nothing of the command is left it tells how it ended, and ends too.

A supervisor is the subreaper of what its command starts, so all of it comes to be its own unreaped child in the
end; only such are signalled, and no number can have been given to another process meanwhile. A supervisor that
dies leaves its children to the launcher, which is a subreaper as well and kills them.
"""

from __future__ import annotations

import _socket
import ctypes
import errno
import gc
import marshal
import os
import resource
import select
import signal
import stat
import struct
import sys
import time
from contextlib import suppress
from typing import Any, Final, NoReturn

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 36, 38, 47, 4
SECCOMP_MODE_FILTER, CAPABILITY_VERSION_3, LAST_CAPABILITY = 2, 0x20080522, 63
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF, LANDLOCK_PATH_BENEATH = 444, 445, 446, 1
LANDLOCK_FILE_RIGHTS: Final = 0b1100_0000_0000_0111
"""Rights that make sense for something that is no folder: execute, write, read, truncate, device control."""
CAPSET: Final = {"x86_64": 126, "aarch64": 91}

TERM_GRACE, SETTLE, SETTLE_BUSY, LOOK_AGAIN, POLL = 1.0, 0.1, 0.5, 0.02, 0.004
"""Seconds between asking a command to end and ending it; that what it left behind gets to end by itself, and gets as
long as it is busy; between two looks at that; between two looks for what has to be killed."""
CROWD: Final = 64
"""More processes than these are no program that is ending."""


class RefusedError(Exception):
    """Confinement could not be set up; the text says what failed."""


class Kernel:
    """Calls that the standard library has no names for. Raises `RefusedError` when one fails."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)

    def prctl(self, what: str, option: int, *values: int | ctypes.c_char_p | ctypes.c_void_p) -> None:
        """prctl(2); the values are filled up with zeroes."""
        words = [ctypes.c_ulong(value) if isinstance(value, int) else value for value in values]
        words += [ctypes.c_ulong(0)] * (4 - len(words))
        if self._libc.prctl(ctypes.c_int(option), *words):
            raise RefusedError(f"{what}: {os.strerror(ctypes.get_errno())}")

    def syscall(self, what: str, number: int, *values: int | ctypes.c_void_p | bytes | None) -> int:
        """A system call by its number."""
        words = [ctypes.c_long(value) if isinstance(value, int) else value for value in values]
        result: int = self._libc.syscall(ctypes.c_long(number), *words)
        if result < 0:
            raise RefusedError(f"{what}: {os.strerror(ctypes.get_errno())}")
        return result


def make_ruleset(kernel: Kernel, plan: dict[str, Any]) -> tuple[int, list[str]]:
    """The Landlock ruleset of the plan as a descriptor, and the paths that were not there."""
    attribute = plan["attribute"]
    ruleset = kernel.syscall("landlock ruleset", LANDLOCK_CREATE_RULESET, attribute, len(attribute), 0)
    missing = []
    for path, rights in plan["rules"]:
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            missing.append(path)
            continue
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= LANDLOCK_FILE_RIGHTS
        if rights:
            rule = (LANDLOCK_PATH_BENEATH, struct.pack("=Qi", rights, fd), 0)
            kernel.syscall(f"landlock rule for {path}", LANDLOCK_ADD_RULE, ruleset, *rule)
        os.close(fd)
    return ruleset, missing


class Confinement:
    """What each child does to itself, prepared once."""

    def __init__(self, kernel: Kernel, plan: dict[str, Any]) -> None:
        self.kernel = kernel
        self._ruleset = -1
        self.missing: list[str] = []
        if plan["landlock"] is not None:
            self._ruleset, self.missing = make_ruleset(kernel, plan["landlock"])
        self.descriptors = (self._ruleset,) if self._ruleset >= 0 else ()
        """What a child has to keep open until `apply`."""
        self._plan = plan

    def apply(self) -> None:
        """Give up, for good, all that the plan does not leave. Raises `RefusedError`; then nothing may be run."""
        self._set_oom_score()
        for what, limit, for_good in self._plan["limits"]:
            hard = resource.getrlimit(what)[1]
            value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(what, (value, value if for_good else hard))
        if self._plan["drop_privileges"]:
            self.kernel.prctl("no_new_privs", PR_SET_NO_NEW_PRIVS, 1)
        if self._ruleset >= 0:
            self.kernel.syscall("landlock", LANDLOCK_RESTRICT_SELF, self._ruleset, 0)
            os.close(self._ruleset)
        if self._plan["drop_privileges"]:
            self._drop_capabilities()
        if steps := self._plan["seccomp"]:
            buffer = ctypes.create_string_buffer(steps, len(steps))
            program = struct.pack("@HxxxxxxP", len(steps) // 8, ctypes.addressof(buffer))
            self.kernel.prctl("seccomp", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(program))

    def _set_oom_score(self) -> None:
        # The files of a process that cannot be dumped belong to root; this one holds no secret.
        self.kernel.prctl("dumpable", PR_SET_DUMPABLE, 1)
        with suppress(OSError), open("/proc/self/oom_score_adj", "wb", buffering=0) as file:
            file.write(b"%d" % self._plan["oom_score_adj"])  # fails without /proc, or where it was higher

    def _drop_capabilities(self) -> None:
        with suppress(RefusedError):  # EINVAL: beyond the last one; EPERM: an ordinary user, who has none
            for capability in range(LAST_CAPABILITY + 1):
                self.kernel.prctl("capability", PR_CAPBSET_DROP, capability)
        self.kernel.prctl("ambient capabilities", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
        header = struct.pack("=Ii", CAPABILITY_VERSION_3, 0)
        self.kernel.syscall("capabilities", CAPSET[os.uname().machine], header, bytes(24))


def children(of: int) -> list[int]:
    """The unreaped children of a process, which has one thread."""
    try:
        with open(f"/proc/{of}/task/{of}/children", "rb") as file:
            return [int(word) for word in file.read().split()]
    except OSError:  # a kernel without that file
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(stat_of(name)[1]) == of]


def stat_of(pid: int | str) -> list[bytes]:
    """What the kernel tells of a process: its state, its parent, and so on; of one that is gone, so much."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return [b"X", *[b"0"] * 12]


class Activity:
    """Whether processes do something, from one look to the next."""

    def __init__(self) -> None:
        self._used: set[tuple[int, bytes, bytes]] = set()

    def seen(self, found: list[int]) -> bool:
        """Whether one of these or of what they started runs, waits for a disk, or has run since the look before."""
        for pid in found:  # which grows meanwhile
            found += children(pid)
            if len(found) > CROWD:
                return False
        stats = [(pid, stat_of(pid)) for pid in found]
        before, self._used = self._used, {(pid, now[11], now[12]) for pid, now in stats}
        return any(now[0] in (b"R", b"D") for _, now in stats) or not self._used <= before


def send(pids: list[int] | set[int], *numbers: int) -> None:
    """Send signals to processes that are ours to reap, the first to all of them, then the next."""
    for number in numbers:
        for pid in pids:
            with suppress(ProcessLookupError, PermissionError):  # gone, or of another user
                os.kill(pid, number)


class Events:
    """What a process of ours waits for: something to read from these descriptors, or the end of a child."""

    def __init__(self, *fds: int) -> None:
        self._ended, writing = os.pipe()
        os.set_blocking(writing, False)
        os.set_blocking(self._ended, False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        self._poll = select.poll()
        for fd in (self._ended, *fds):
            self._poll.register(fd, select.POLLIN)

    def wait(self, until: float | None = None) -> set[int]:
        """The descriptors that can be read; none of them when a child has ended, or the time is over."""
        left = -1 if until is None else max(1, int((until - time.monotonic()) * 1000) + 1)
        ready = {fd for fd, _ in self._poll.poll(left)}
        if self._ended in ready:
            with suppress(BlockingIOError):
                while os.read(self._ended, 512):
                    pass
        return ready


def reap() -> tuple[dict[int, int], bool]:
    """The children that have ended, with their statuses, and whether any is left."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended, False
        if not pid:
            return ended, True
        ended[pid] = status


class Supervisor:
    """Watches one command and all it starts, until nothing of it is left."""

    def __init__(self, job: _socket.socket, life: int, child: int) -> None:
        self._job = job
        self._life = life
        self._child = child
        self._status: int | None = None
        self._left = True
        self._deadline: float | None = None
        self._busy_until = 0.0
        self._activity = Activity()
        self._killed: set[int] = set()

    def run(self) -> NoReturn:
        """The supervisor's whole life. A command killed because the launcher is gone is lost: nothing is told."""
        orphaned = False
        events = Events(self._job.fileno(), self._life)
        while True:
            self._reap()
            if not self._left:
                break
            if self._status is not None and self._deadline is None:
                self._deadline = time.monotonic() + SETTLE
                self._busy_until = time.monotonic() + SETTLE_BUSY
                self._activity.seen(children(os.getpid()))
            ready = events.wait(self._deadline)
            orphaned |= self._life in ready
            told_to_kill = self._job.fileno() in ready and self._told_to_kill()
            if orphaned or told_to_kill or self._is_time_over():
                self._kill_all()
        if not orphaned or self._status != signal.SIGKILL:
            self._report()
        os._exit(0)

    def _is_time_over(self) -> bool:
        """Whether what is left is to be killed. What is busy may be ending: it gets some more time."""
        now = time.monotonic()
        if self._deadline is None or now < self._deadline:
            return False
        if now < self._busy_until and self._activity.seen(children(os.getpid())):
            self._deadline = min(now + LOOK_AGAIN, self._busy_until)
            return False
        return True

    def _told_to_kill(self) -> bool:
        """Take a message; whether all is to be killed now. The end of the socket says so too."""
        message = b""
        with suppress(OSError):
            message = self._job.recv(16)
        if message == b"T" and self._deadline is None:
            self._deadline = time.monotonic() + TERM_GRACE
            self._ask_to_end()
        return message != b"T"

    def _ask_to_end(self) -> None:
        """SIGTERM to the command's group, which cannot be another's while the command is not reaped."""
        with suppress(ProcessLookupError, PermissionError):
            is_leader = self._child > 1 and os.getpgid(self._child) == self._child
            (os.killpg if is_leader else os.kill)(self._child, signal.SIGTERM)

    def _reap(self) -> None:
        ended, self._left = reap()
        self._status = ended.get(self._child, self._status)

    def _kill_all(self) -> None:
        """Stop all, kill all, reap, until there is none: what forks meanwhile becomes a child and is next."""
        while self._left:
            found = children(os.getpid())
            send(found, signal.SIGSTOP, signal.SIGKILL)
            self._killed.update(found)
            time.sleep(POLL / 4 if len(found) < 8 else 0)
            self._reap()

    def _report(self) -> None:
        status = self._status if self._status is not None else signal.SIGKILL
        left_over = len(self._killed - {self._child})
        with suppress(OSError):  # the agent is gone
            self._job.send(f"{os.waitstatus_to_exitcode(status)} {left_over}".encode())


def receive_request(channel: _socket.socket) -> tuple[list[bytes], list[int]] | None:
    """What to run and its descriptors, None when the agent wants nothing of us any more.

    A request is its length (8 bytes) and that many bytes: fields, each ended by NUL.
    """
    data, ancillary, _, _ = channel.recvmsg(65_536, _socket.CMSG_SPACE(16), _socket.MSG_CMSG_CLOEXEC)
    fds = [fd for _, _, packed in ancillary for (fd,) in struct.iter_unpack("=i", packed)]
    while len(data) < 8 or len(data) < 8 + int.from_bytes(data[:8], "little"):
        piece = channel.recv(1_048_576)
        if not piece:
            return None
        data += piece
    return data[8:].split(b"\0")[:-1], fds


def become(channel: _socket.socket) -> None:
    """Wait for the request, then be that program. Tells the agent why when that cannot be."""
    request = receive_request(channel)
    if request is None:
        return
    fields, fds = request
    count = int(fields[1])
    cwd, argv, pairs = fields[0], fields[2 : 2 + count], fields[2 + count :]
    env = dict(pair.split(b"=", 1) for pair in pairs)
    os.dup2(fds[0], 1)
    os.dup2(fds[0], 2)
    if len(fds) > 1:
        os.dup2(fds[1], 0)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):  # Python set them up otherwise
        signal.signal(number, signal.SIG_DFL)
    where = cwd
    try:
        os.chdir(cwd)
        where = argv[0]
        os.execvpe(argv[0], argv, env)
    except OSError as error:
        channel.send(b"%d %s" % (error.errno or errno.EIO, where))


def command_to_be(confinement: Confinement, channel: _socket.socket, parent: int) -> NoReturn:
    """The child that confines itself and waits."""
    try:
        os.setsid()
        confinement.apply()
        confinement.kernel.prctl("death signal", PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == parent:
            channel.send(b"R")
            become(channel)
    except (RefusedError, OSError, ValueError) as error:
        channel.send(f"0 {error}".encode())
    os._exit(127)


def close_all_but(*kept: int) -> None:
    """Close every descriptor above 2 but these."""
    low = 3
    for fd in (*sorted(kept), 1_048_576):
        os.closerange(low, fd)
        low = fd + 1


class Launcher:
    """The main loop. `life` is a pipe whose end tells supervisors that the launcher is gone."""

    def __init__(self, agent: _socket.socket, confinement: Confinement) -> None:
        self._agent = agent
        self._confinement = confinement
        self._life, self._writing = os.pipe()
        self._supervisors: set[int] = set()

    def run(self) -> None:
        """Make spares until the agent hangs up."""
        events = Events(self._agent.fileno())
        while True:
            ready = events.wait()
            self._reap()
            if self._agent.fileno() in ready:
                if not self._agent.recv(64):
                    return send(self._supervisors, signal.SIGCONT)  # one that somebody stopped sees the end too
                self._make_spare()

    def _reap(self) -> None:
        """A supervisor that was killed leaves its children to us."""
        self._supervisors.difference_update(reap()[0])
        while strays := set(children(os.getpid())) - self._supervisors:
            send(strays, signal.SIGSTOP, signal.SIGKILL)
            time.sleep(POLL)
            self._supervisors.difference_update(reap()[0])

    def _make_spare(self) -> None:
        job, job_inside = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        channel, channel_inside = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
        channel.setsockopt(_socket.SOL_SOCKET, _socket.SO_PASSCRED, 1)
        try:
            if not (pid := os.fork()):
                try:
                    self._supervise(job_inside, channel_inside)
                finally:
                    os._exit(1)
            self._supervisors.add(pid)
            job_inside.close()  # first: were we stopped here, the agent would never see the end of them
            channel_inside.close()
            fds = struct.pack("=2i", job.fileno(), channel.fileno())
            self._agent.sendmsg([b"S"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, fds)])
        except OSError as error:  # no process or memory left: what runs goes on
            self._agent.send(b"%d" % (error.errno or 0))
        for end in (job, job_inside, channel, channel_inside):
            end.close()

    def _supervise(self, job: _socket.socket, channel: _socket.socket) -> NoReturn:
        signal.set_wakeup_fd(-1)
        me, kernel, kept = os.getpid(), self._confinement.kernel, self._confinement.descriptors
        kernel.prctl("death signal", PR_SET_PDEATHSIG, signal.SIGCONT)  # who is stopped sees no end
        # Before there is a child, whose own may be orphans before we run again.
        kernel.prctl("subreaper", PR_SET_CHILD_SUBREAPER, 1)
        close_all_but(job.fileno(), channel.fileno(), self._life, *kept)
        if not (child := os.fork()):
            close_all_but(channel.fileno(), *kept)
            command_to_be(self._confinement, channel, me)
        close_all_but(job.fileno(), self._life)
        Supervisor(job, self._life, child).run()


def prove(confinement: Confinement, checks: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Try, in a child confined like a command, what must fail. Returns the checks in which it did not."""
    reading, writing = os.pipe()
    if not (pid := os.fork()):
        try:
            confinement.apply()
            holes = [check for check in checks if succeeds(*check)]
        except (RefusedError, OSError, ValueError) as error:
            holes = [("confine", str(error))]
        os.write(writing, marshal.dumps(holes))
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        data = file.read()
    os.waitpid(pid, 0)
    told: list[tuple[str, str]] = marshal.loads(data) if data else [("confine", "the child died")]
    return told


def succeeds(kind: str, path: str) -> bool:
    """Try what must fail: `create in` a folder, `read`, `write`, a `socket`; a path is `not` the file of 2 numbers."""
    try:
        if kind.startswith("not "):
            return kind != "not {0.st_dev} {0.st_ino}".format(os.stat(path))
        if kind == "socket":
            _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM).close()
        elif kind == "bind":
            _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM).bind(("127.0.0.1", 0))
        elif kind == "create in" or (kind == "write" and os.path.isdir(path)):
            name = f"{path}/.grokmini-proof-{os.getpid()}"
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            os.unlink(name)
        elif kind == "read" and os.path.isdir(path):
            os.listdir(path)
        elif kind == "read" and stat.S_ISSOCK(os.stat(path).st_mode):
            return True  # it would be a file if it were masked
        elif kind == "write" and not stat.S_ISREG(os.stat(path).st_mode):
            return False  # a pipe or a device holds nothing that could be changed
        else:
            os.close(os.open(path, (os.O_WRONLY if kind == "write" else os.O_RDONLY) | os.O_NONBLOCK))
    except OSError:
        return kind.startswith("not ")  # it is gone
    return True


def main() -> None:
    """Take the plan, set up, prove, serve."""
    gc.disable()
    agent = _socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(agent.fileno(), False)
    kernel = Kernel()
    try:
        kernel.prctl("dumpable", PR_SET_DUMPABLE, 0)
        kernel.prctl("death signal", PR_SET_PDEATHSIG, signal.SIGCONT)  # as in `_supervise`
        kernel.prctl("subreaper", PR_SET_CHILD_SUBREAPER, 1)
        with open(0, "rb", closefd=False) as file:
            plan = marshal.load(file)
        null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
        for fd in range(3):  # nothing to read and nowhere to write, for us and for all that is forked from here
            os.dup2(null, fd)
        os.close(null)
        confinement = Confinement(kernel, plan)
        holes = prove(confinement, plan["proof"])
        agent.send(marshal.dumps({"holes": holes, "missing": confinement.missing}))
    except (RefusedError, OSError) as error:
        agent.send(marshal.dumps({"failed": str(error)}))
        return
    Launcher(agent, confinement).run()


if __name__ == "__main__":
    main()

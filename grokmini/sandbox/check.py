"""Ways out of the sandbox, tried on this machine by commands under a policy, in a place made for it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from grokmini.files.places import PROJECT_FOLDER
from grokmini.protocol.errors import SandboxError
from grokmini.sandbox import ways
from grokmini.sandbox.degraded import ONLY_MOUNTS
from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms
from grokmini.sandbox.promises import Promise, promise_of
from grokmini.sandbox.runner import CommandRunner, CommandSpec, Enforcement
from grokmini.sandbox.sockets import is_socket
from grokmini.sandbox.ways import Way
from grokmini.text.below import is_below_any

MARKER: Final = "grokmini-check-marker"
"""What the environment of the commands was made from holds in place of a key."""
Result = Literal["stopped", "OPEN", "not tried"]
_LINUX: Final = sys.platform.startswith("linux")
_FILES: Final = ("file", "w06", "w22")


class Attempt(NamedTuple):
    """A way out, what it is about, what is promised of it here, and why it is not tried, if it is not."""

    way: Way
    about: str
    promise: Promise
    untried: str = ""


class Outcome(NamedTuple):
    """What became of an attempt; `why` says why it was not tried."""

    attempt: Attempt
    result: Result
    why: str = ""

    @property
    def broken(self) -> bool:
        """Whether a promise is."""
        return self.result == "OPEN" and self.attempt.promise == "promised"


@dataclass
class Site:
    """Where it is tried: a folder that commands must not write, one that they may, and sockets that listen."""

    cwd: Path
    python: str
    places: dict[str, Any]
    outside: bool
    """Whether there is a folder outside of what can be written."""
    udp: socket.socket
    sockets: list[socket.socket] = field(default_factory=list)

    def close(self) -> None:
        """Stop listening."""
        for end in self.sockets:
            end.close()

    @property
    def shared(self) -> Path:
        """What a command leaves in the memory that programs share."""
        return Path(str(self.places["shared"]))


@contextmanager
def site(policy: Policy, cwd: Path, home: Path) -> Iterator[Site]:
    """Make the place; nothing of it is left afterwards. Raises `OSError`."""
    with ExitStack() as stack:
        roots = tuple(map(os.path.realpath, writable_roots(policy)))
        outside = not is_below_any(os.path.realpath(home), roots) and os.access(home, os.W_OK)
        inside = next(
            (root for root in (policy.scratch, *policy.temp, *roots) if root and os.path.isdir(root)), None
        )
        temp = _folder(stack, inside)
        out = _folder(stack, str(home)) if outside else temp
        for name in _FILES:
            (out / name).touch()
        mark = f"{34_000_000 + os.getpid()}"
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        udp.setblocking(False)
        tcp = socket.create_server(("127.0.0.1", 0))
        places = {"cwd": str(cwd), "out": str(out), "temp": str(temp), "agent": os.getpid(), "mark": mark}
        places |= {"marker": MARKER, "shared": f"/dev/shm/grokmini-check-{os.getpid()}", "tty": _terminal()}
        places |= {
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "abstract": f"grokmini-check-{mark}",
        }
        made = Site(cwd, os.path.realpath(sys.executable), places, outside, udp, [udp, tcp])
        stack.callback(made.close)
        if _LINUX:
            made.sockets.append(_listening("\0" + str(places["abstract"])))
            for folder in dict.fromkeys((out, temp)):
                held = os.open(folder, os.O_PATH | os.O_CLOEXEC)
                made.sockets.append(_listening(f"/proc/self/fd/{held}/socket"))  # its own name can be too long
                os.close(held)
        yield made


def _folder(stack: ExitStack, parent: str | None) -> Path:
    path = Path(tempfile.mkdtemp(prefix=".grokmini-check-", dir=parent))
    stack.callback(shutil.rmtree, path, ignore_errors=True)
    return path


def _listening(address: str) -> socket.socket:
    end = socket.socket(socket.AF_UNIX)
    end.bind(address)
    end.listen()
    return end


def _terminal() -> str:
    for fd in (0, 1, 2):
        with suppress(OSError):
            return os.ttyname(fd)
    return ""


def effective(has: Mechanisms, proved: Enforcement) -> Mechanisms:
    """What is in force: bubblewrap can work in general and fail at the mounts of one policy, which is told."""
    return has._replace(bwrap=None, bwrap_network=False) if ONLY_MOUNTS in proved.lost else has


def attempts(policy: Policy, has: Mechanisms, at: Site) -> tuple[Attempt, ...]:
    """Every row that can be tried by what is installed, in the order of the table."""
    return tuple(
        sorted(_attempts(policy, has, at), key=lambda one: (_ORDER.index(one.way.attack[0]), one.way.attack))
    )


_ORDER: Final = "wrnal"


def _attempts(policy: Policy, has: Mechanisms, at: Site) -> Iterator[Attempt]:
    def attempt(way: Way, path: str = "", untried: str = "") -> Attempt:
        promise = promise_of(way.kind, policy, has, str(at.cwd), path)
        if way.linux and not _LINUX:
            untried = "only on Linux"
        return Attempt(way._replace(code=way.code.format(path) if path else way.code), path, promise, untried)

    no_outside = "" if at.outside else "the home folder can be written, or not by you either"
    for way in ways.OUTSIDE:
        yield attempt(way, untried=no_outside)
    for path in policy.protected:
        row = "w41" if policy.write_all else _protected_row(path, at.cwd)
        if os.path.exists(path):
            yield attempt(Way(row, ways.PROTECTED[row], "protected", ways.CHANGE), path)
    git = at.cwd / ".git"
    if str(git / "config") in policy.protected and os.path.isdir(git):
        found = attempt(ways.RENAME, str(git))
        yield found if found.promise == "promised" else found._replace(untried="it would be renamed")
    for path in policy.denied:
        if not is_socket(path):  # these are connected to, not read
            yield attempt(ways.DENIED, path)
    file = next((path for path in policy.denied if os.path.isfile(path)), None)
    for way in ways.DENIED_FILE if file else ():
        yield attempt(way, file or "")
    for way in (*ways.EVERYWHERE, *ways.DAEMONS):
        missing = "there is no terminal" if way.attack == "a10" and not at.places["tty"] else ""
        yield attempt(
            way, untried=missing or ("no bash" if way.attack == "n02" and not shutil.which("bash") else "")
        )


def _protected_row(path: str, cwd: Path) -> str:
    if "hooks" in Path(path).name and ".git" in path:
        return "w29"
    if path == str(cwd / PROJECT_FOLDER):
        return "w33"
    return "w30" if ".git" in Path(path).parts else "w32"


async def check(
    runner: CommandRunner, tries: tuple[Attempt, ...], at: Site, env: dict[str, str]
) -> AsyncIterator[Outcome]:
    """Make every attempt in turn. Raises `OSError`, and `SandboxError` where even harmless commands fail."""
    if await _code(runner, "pass", at, env) != 0:
        raise SandboxError(f"{at.python} does not even start under this profile", "Nothing can be said of it.")
    for attempt in tries:
        if attempt.untried:
            yield Outcome(attempt, "not tried", attempt.untried)
            continue
        code = await _code(runner, attempt.way.code, at, env)
        through = code == 0 and _is_through(attempt.way, at)
        # killed by the filter, or refused
        known = code in (0, None, ways.STOPPED)
        yield Outcome(
            attempt,
            "OPEN" if through else "stopped" if known else "not tried",
            "" if known else "the try failed",
        )


def _is_through(way: Way, at: Site) -> bool:
    """Whether what reported no error had its effect."""
    if way.kind == "network":
        try:
            return at.udp.recv(64).decode() == way.attack
        except BlockingIOError:
            return False
    if way.kind == "shared":
        there = at.shared.exists()
        at.shared.unlink(missing_ok=True)
        return there
    return bool(_end(str(at.places["mark"]))) if way in ways.DAEMONS else True


def _end(mark: str) -> list[int]:
    """The processes with that argument; they are ended."""
    found = []
    for entry in filter(lambda path: path.name.isdigit(), Path("/proc").iterdir()):
        with suppress(OSError):
            if mark.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                found.append(int(entry.name))
                os.kill(found[-1], signal.SIGKILL)
    return found


async def _code(runner: CommandRunner, code: str, at: Site, env: dict[str, str]) -> int | None:
    body = "\n".join(f"    {line}" for line in code.splitlines())
    program = f"{ways.PRELUDE.rstrip()}\n{body}\n{ways.EPILOGUE}"
    argv = (at.python, "-I", "-S", "-c", program, json.dumps(at.places))
    handle = await runner.start(CommandSpec(argv, at.cwd, env))
    async for _ in handle.output():
        pass
    return (await handle.wait()).code

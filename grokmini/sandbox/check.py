"""Ways out of the sandbox, tried on this machine by commands under a policy. Each leaves nothing behind."""

from __future__ import annotations

import os
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final, NamedTuple

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.bwrap import is_below_any
from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.runner import CommandRunner, CommandSpec

_CALL: Final = "import ctypes; raise SystemExit(ctypes.CDLL(None).{} != 0)"
_LOCAL: Final = "import socket as s; a = s.socket(); a.bind(('127.0.0.1', 0)); a.listen(); "


class Attempt(NamedTuple):
    """A way out: what it tries, and words of a command that succeeds when it does."""

    name: str
    argv: tuple[str, ...]


class Outcome(NamedTuple):
    """Whether an attempt was stopped."""

    name: str
    stopped: bool


def attempts(policy: Policy, home: str, agent: int, python: str) -> tuple[Attempt, ...]:
    """The ways that the policy closes. `agent` is the process id of grokmini."""
    found: list[Attempt] = []

    def shell(name: str, script: str) -> None:
        found.append(Attempt(name, ("/bin/sh", "-c", script)))

    def code(name: str, text: str) -> None:
        found.append(Attempt(name, (python, "-I", "-S", "-c", text)))

    if not policy.write_all and not is_below_any(
        os.path.realpath(home), map(os.path.realpath, writable_roots(policy))
    ):
        probe = shlex.quote(f"{home}/.grokmini-check-{agent}")
        shell("create a file in the home folder", f"(: > {probe}) 2>/dev/null && rm -f {probe}")
        shell("make a folder in the home folder", f"mkdir {probe} 2>/dev/null && rmdir {probe}")
        shell("write through /proc/self/root", f"(: > /proc/self/root{probe}) 2>/dev/null && rm -f {probe}")
        shell(
            "write through a symbolic link",
            f'd=$(mktemp -d) && ln -s {probe} "$d/l" && (: > "$d/l") 2>/dev/null && rm -f {probe}',
        )
        code(
            "change the mode of the home folder",
            f"import os; p={home!r}; os.chmod(p, os.stat(p).st_mode & 0o7777)",
        )
    for path in policy.protected:
        if Path(path).exists():
            code(
                f"change {path}",
                f"import os; p={path!r}; os.utime(p, ns=(os.stat(p).st_atime_ns, os.stat(p).st_mtime_ns))",
            )
    for path in policy.denied:
        quoted = shlex.quote(path)
        shell(f"read {path}", f"if [ -d {quoted} ]; then ls {quoted}; else cat {quoted}; fi >/dev/null 2>&1")
    if policy.network == "blocked":
        code("a TCP connection", _LOCAL + "b = s.create_connection(a.getsockname())")
        code(
            "a UDP packet",
            "import socket as s; s.socket(s.AF_INET, s.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
        )
    found += _always(agent, python)
    return tuple(found)


def _always(agent: int, python: str) -> list[Attempt]:
    """The ways that every profile closes."""
    found: list[Attempt] = []

    def shell(name: str, script: str) -> None:
        found.append(Attempt(name, ("/bin/sh", "-c", script)))

    def code(name: str, text: str) -> None:
        found.append(Attempt(name, (python, "-I", "-S", "-c", text)))

    code("signal grokmini", f"import os; os.kill({agent}, 0)")
    shell("read grokmini's environment", f"cat /proc/{agent}/environ >/dev/null 2>&1")
    code("open grokmini's memory", f"open('/proc/{agent}/mem', 'rb')")
    code("trace grokmini", _CALL.format(f"ptrace(0x4206, {agent}, None, None)"))
    code(
        "limit grokmini's time",
        f"import resource as r; r.prlimit({agent}, r.RLIMIT_CPU, r.prlimit({agent}, r.RLIMIT_CPU))",
    )
    code("a namespace of its own", _CALL.format("unshare(0x10000000)"))
    code(
        "io_uring",
        "import ctypes as c; raise SystemExit(c.CDLL(None).syscall(425, 1, c.create_string_buffer(120)) < 0)",
    )
    code("a raw socket", "import socket as s; s.socket(s.AF_INET, s.SOCK_RAW, 1)")
    code("change the system's settings", "import os; os.open('/proc/sys/vm/swappiness', os.O_WRONLY)")
    code(
        "make a device",
        f"import os, stat; p = '/tmp/.grokmini-check-{agent}'; "
        "os.mknod(p, stat.S_IFBLK | 0o600, os.makedev(7, 0)); os.unlink(p)",
    )
    shell("write on your terminal", "(: >/dev/tty) 2>/dev/null")

    shell("gain rights", "! grep -q '^NoNewPrivs:.1' /proc/self/status")
    return found


async def check(
    runner: CommandRunner, tries: tuple[Attempt, ...], cwd: Path, env: dict[str, str]
) -> AsyncIterator[Outcome]:
    """Make every attempt in turn. Raises `OSError`, and `SandboxError` where even harmless commands fail."""
    for program in dict.fromkeys(attempt.argv[0] for attempt in tries):
        if await _code(runner, (program, "-c", ":" if program == "/bin/sh" else "pass"), cwd, env):
            raise SandboxError(
                f"{program} does not even start under this profile", "Nothing can be said of it."
            )
    for attempt in tries:
        yield Outcome(attempt.name, await _code(runner, attempt.argv, cwd, env) != 0)


async def _code(runner: CommandRunner, argv: tuple[str, ...], cwd: Path, env: dict[str, str]) -> int | None:
    handle = await runner.start(CommandSpec(argv, cwd, env))
    async for _ in handle.output():
        pass
    return (await handle.wait()).code

"""What this machine can confine with, found out by trying each mechanism; once per process."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from grokmini.files.planted import unplanted
from grokmini.sandbox.seccomp import ARCHITECTURES

_LANDLOCK_CREATE_RULESET: Final = 444
_LANDLOCK_VERSION: Final = 1
_PR_SET_SECCOMP: Final = 22
_SECCOMP_FILTER: Final = 2
_EFAULT: Final = 14
_SECONDS: Final = 10.0
_APPARMOR_RESTRICTS: Final = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
SANDBOX_EXEC: Final = "/usr/bin/sandbox-exec"

ISOLATION: Final = (
    "--unshare-user",
    "--disable-userns",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--die-with-parent",
    "--cap-drop",
    "ALL",
)
"""What every bubblewrap of ours is started with."""


class Mechanisms(NamedTuple):
    """What works here. `landlock_abi` is 0 where there is none, `bwrap` the program's path or None where it is
    absent or fails; `bwrap_network` whether it can also take the network away; `seatbelt` the program that confines
    on macOS. `reasons` say, by mechanism (`landlock`, `seccomp`, `bubblewrap`, `network namespace`, `seatbelt`), why
    one does not work, and `AppArmor`, where that may be behind it."""

    landlock_abi: int
    seccomp: bool
    bwrap: str | None
    bwrap_network: bool
    reasons: dict[str, str]
    seatbelt: str | None = None


NO_MECHANISMS: Final = Mechanisms(0, seccomp=False, bwrap=None, bwrap_network=False, reasons={})
"""All that a policy needs which allows everything."""


@cache
def probe(path: str | None = None) -> Mechanisms:
    """Try every mechanism; `path` is where bubblewrap is looked for (default: PATH). Takes about 20 ms, blocks."""
    reasons: dict[str, str] = {}
    if not sys.platform.startswith("linux"):
        reasons["landlock"] = reasons["seccomp"] = reasons["bubblewrap"] = f"{sys.platform} has none"
        seatbelt = try_seatbelt(SANDBOX_EXEC, reasons) if sys.platform == "darwin" else None
        return Mechanisms(0, seccomp=False, bwrap=None, bwrap_network=False, reasons=reasons, seatbelt=seatbelt)
    abi = _landlock_abi(reasons)
    filters = _has_seccomp(reasons)
    bwrap, network = _try_bwrap(path if path is not None else os.environ.get("PATH"), reasons)
    return Mechanisms(abi, filters, bwrap, network, reasons)


def _landlock_abi(reasons: dict[str, str]) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    words = (ctypes.c_long(_LANDLOCK_CREATE_RULESET), None, ctypes.c_long(0), ctypes.c_long(_LANDLOCK_VERSION))
    abi: int = libc.syscall(*words)
    if abi < 1:
        reasons["landlock"] = f"this kernel has no Landlock ({os.strerror(ctypes.get_errno())})"
        return 0
    return abi


def _has_seccomp(reasons: dict[str, str]) -> bool:
    machine = platform.machine()
    if machine not in ARCHITECTURES:
        reasons["seccomp"] = f"no filter for {machine} processors"
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    # Without a program the kernel says EFAULT when it knows filters, EINVAL when it does not.
    libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_FILTER), None, None, None)
    if ctypes.get_errno() != _EFAULT:
        reasons["seccomp"] = f"this kernel has no filters ({os.strerror(ctypes.get_errno())})"
        return False
    return True


def _try_bwrap(path: str | None, reasons: dict[str, str]) -> tuple[str | None, bool]:
    searched = path or os.defpath
    folders = unplanted(searched)
    program = shutil.which("bwrap", path=os.pathsep.join(folders))
    if program is None:
        theirs = shutil.which("bwrap", path=os.pathsep.join(set(searched.split(os.pathsep)) - set(folders)))
        reasons["bubblewrap"] = "bwrap is not installed" + (f" ({theirs} may be a command's)" if theirs else "")
        return None, False
    base = (program, *ISOLATION, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    failure = _failure_of((*base, "--unshare-net", "true"), folders)
    if failure is None:
        return program, True
    reasons["network namespace"] = failure
    failure = _failure_of((*base, "true"), folders)
    if failure is None:
        return program, False
    reasons["bubblewrap"] = failure
    with suppress(OSError):
        if _APPARMOR_RESTRICTS.read_bytes().strip() == b"1":
            reasons["AppArmor"] = "it keeps programs without a profile of it from making user namespaces"
    return None, False


def try_seatbelt(program: str, reasons: dict[str, str]) -> str | None:
    """The program that confines on macOS, None where it fails."""
    failure = _failure_of(
        (program, "-p", "(version 1)(allow default)(deny file-write*)", "--", "/usr/bin/true"), ()
    )
    if failure is None:
        return program
    reasons["seatbelt"] = failure
    return None


def _failure_of(words: tuple[str, ...], folders: Iterable[str]) -> str | None:
    """Why a command fails, None when it does not. `folders` are where it looks for programs."""
    try:
        done = subprocess.run(
            words,
            cwd="/",
            env={"PATH": os.pathsep.join((*folders, os.defpath))},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            start_new_session=True,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if not done.returncode:
        return None
    return (
        done.stderr.decode(errors="replace").strip().partition("\n")[0][:200] or f"exit code {done.returncode}"
    )

"""A kernel that cannot do something, as on file systems that lack it: chosen calls fail for the rest of a process."""

from __future__ import annotations

import ctypes
import os
from typing import Final, Literal

from grokmini.sandbox.seccomp import ALLOW, FAIL, JUMP_EQUAL, LOAD, NUMBER_AT, RETURN, Instruction, packed

Call = Literal["flock", "fsync", "fdatasync"]

_NUMBERS: Final[dict[str, dict[Call, int]]] = {
    "x86_64": {"flock": 73, "fsync": 74, "fdatasync": 75},
    "aarch64": {"flock": 32, "fsync": 82, "fdatasync": 83},
}
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def without(*calls: Call, error: int) -> None:
    """From now on these calls of this process fail with that number. It cannot be undone."""
    steps = [Instruction(LOAD, NUMBER_AT)]
    for call in calls:
        steps += [
            Instruction(JUMP_EQUAL, _NUMBERS[os.uname().machine][call], 0, 1),
            Instruction(RETURN, FAIL | error),
        ]
    steps.append(Instruction(RETURN, ALLOW))
    program = _Program(len(steps), packed(steps))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in (
        (_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0),
    ):
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "prctl")

"""The kernel's packet filter machine, as far as system call filters use it."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from grokmini.sandbox import seccomp
from grokmini.sandbox.seccomp import Instruction


def run(program: Sequence[Instruction], architecture: int, number: int, *arguments: int) -> int:
    """What the filter returns for a call. Arguments that are not given are 0."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, architecture, 0, *padded)
    accumulator = position = 0
    while True:
        step = program[position]
        position += 1
        match step.code:
            case seccomp.LOAD:
                accumulator = struct.unpack_from("<I", data, step.value)[0]
            case seccomp.AND:
                accumulator &= step.value
            case seccomp.JUMP_EQUAL:
                position += step.yes if accumulator == step.value else step.no
            case seccomp.JUMP_GREATER_EQUAL:
                position += step.yes if accumulator >= step.value else step.no
            case seccomp.JUMP_ANY_BIT:
                position += step.yes if accumulator & step.value else step.no
            case seccomp.RETURN:
                return step.value
            case unknown:
                raise AssertionError(f"an instruction the filter should not use: {unknown:#x}")

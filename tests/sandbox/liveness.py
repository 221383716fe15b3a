"""Whether a process still runs."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def alive(pid: int) -> bool:
    """True unless the process is gone or a zombie nobody has reaped yet."""
    try:
        os.kill(pid, 0)
        return b") Z" not in Path(f"/proc/{pid}/stat").read_bytes()
    except (ProcessLookupError, FileNotFoundError):
        return False


def seen_from_here(pid: int, cwd: Path) -> int | None:
    """Our own number for the process that calls itself `pid`, perhaps in a namespace of its own, and works in `cwd`."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                status = (entry / "status").read_text()
                numbers = status.partition("\nNSpid:")[2].partition("\n")[0].split()
                if numbers and int(numbers[-1]) == pid and os.path.samefile(entry / "cwd", cwd):
                    return int(entry.name)
    return None

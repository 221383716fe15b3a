"""Where a session's files are, and that only their owner can read them.

`{root}/sessions/{percent-encoded cwd}/{session_id}/` (spec: persistence.md, "Place and layout"). Directories are
0700 and files 0600 whatever the umask.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

SESSIONS = "sessions"
HISTORY = "chat_history.jsonl"
UPDATES = "updates.jsonl"
SUMMARY = "summary.json"
SUMMARY_LOCK = "summary.json.lock"
DRIVER_LOCK = "driver.lock"
DRIVER_LEASE = "driver.lease"
TOOL_OUTPUT = "tool_output"
PROMPTS = "prompts"
REAL_CWD = ".cwd"
TOKEN_FACTORS = "token_factors.json"
SCRATCH = "scratch"
COMPACTION = "compaction"
COMPACTION_REQUESTS = "compaction_requests"
CAPPED_DIRECTORIES = (TOOL_OUTPUT, COMPACTION_REQUESTS, SCRATCH, "shadow")
"""What of a session may go, oldest first, when everything of the kind takes more room than it may."""
CARRIED_FILES = ("plan.json", "plan.md", "todo.json", "goal.json", "tool_state.json")
"""Sidecars that say where the work stands: a fork takes them along."""

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600

NAME_LIMIT = 255
"""Bytes in one file name on the file systems that matter."""

_CANNOT_SYNC = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP})
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")
_SLUG_LIMIT = 80


def encode_cwd(cwd: Path) -> str:
    """The directory name for the sessions of one working directory; reversible unless it would be too long.

    Over 255 bytes it is a slug of the last folder's name and a hash; `.cwd` inside then holds the real path.
    """
    raw = os.fsencode(cwd)
    encoded = "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in raw)
    if len(encoded) <= NAME_LIMIT:
        return encoded
    from hashlib import sha256

    slug = re.sub(r"[^A-Za-z0-9_-]+", "-", cwd.name)[:_SLUG_LIMIT].strip("-") or "folder"
    return f"{slug}-{sha256(raw).hexdigest()[:32]}"


def decode_cwd(group: Path) -> Path:
    """The working directory whose sessions are in `group`."""
    try:
        return Path(os.fsdecode((group / REAL_CWD).read_bytes()))
    except OSError:
        raw = re.sub(rb"%([0-9A-F]{2})", lambda found: bytes([int(found[1], 16)]), os.fsencode(group.name))
        return Path(os.fsdecode(raw))


def make_private_directory(path: Path) -> None:
    """Create the directory and its missing parents, each readable by its owner alone. Raises `OSError`."""
    if path.is_dir():
        return
    make_private_directory(path.parent)
    try:
        path.mkdir(mode=DIRECTORY_MODE)
    except FileExistsError:
        return
    path.chmod(DIRECTORY_MODE)


def open_private(path: Path, flags: int) -> int:
    """A descriptor of a file that only its owner can read; not inherited by commands. Raises `OSError`."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    try:
        if os.fstat(descriptor).st_mode & 0o777 != FILE_MODE:
            os.fchmod(descriptor, FILE_MODE)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def make_group(root: Path, cwd: Path) -> Path:
    """The directory for the sessions of `cwd`, made if it is missing. Raises `OSError`."""
    name = encode_cwd(cwd)
    group = root / SESSIONS / name
    make_private_directory(group)
    if not name.startswith("%") and not (group / REAL_CWD).exists():
        from grokmini.store.atomic import replace_file

        replace_file(group / REAL_CWD, os.fsencode(cwd))
    return group


def size_of(path: Path) -> int:
    """Bytes of what is there, also of what cannot be read; 0 when there is nothing."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def is_named(descriptor: int, path: Path) -> bool:
    """Whether the path leads to the open file. What cannot be looked at counts as if it did."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def is_missing(path: Path) -> bool:
    """Whether there is surely nothing at the path: what cannot be looked at may be there."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def sync(descriptor: int, *, data_only: bool = False) -> None:
    """Wait until a file or directory is on the disk itself. Raises `OSError`.

    Some file systems have no such wait, for directories above all: what they cannot do keeps nobody from saving.
    """
    wait = getattr(os, "fdatasync", os.fsync) if data_only else os.fsync  # macOS has no fdatasync
    try:
        wait(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise


def sync_directory(path: Path) -> None:
    """Make names created in a directory survive a power cut. Raises `OSError`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def subdirectories(path: str | Path) -> list[os.DirEntry[str]]:
    """The directories in a directory, but for hidden ones; none where it cannot be read (`listing_error` says why)."""
    try:
        with os.scandir(path) as entries:
            return [entry for entry in entries if not entry.name.startswith(".") and _is_directory(entry)]
    except OSError:
        return []


def listing_error(path: Path) -> OSError | None:
    """Why what is in a directory cannot be told; None when it can, or there is no such directory."""
    try:
        os.scandir(path).close()
    except FileNotFoundError:
        return None
    except OSError as error:
        return error
    return None


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link that leads nowhere

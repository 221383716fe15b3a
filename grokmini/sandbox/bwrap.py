"""What a policy becomes on bubblewrap's command line: the mounts that commands see.

Looks at the file system (what exists, what is a link) and starts nothing. Mounts are listed from the top down, so
that a deeper one lies upon a higher one; every folder on the way to a protected or denied path is bound onto
itself, since what is a mount point cannot be renamed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.aliases import other_names
from grokmini.sandbox.closed import closed_by_others, closed_folder
from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.own_folders import replaceable
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import ISOLATION
from grokmini.text.below import is_below_any

MAX_FILE_MASKS: Final = 400
"""Denied files at most: each takes a descriptor and some time at the start."""
RESOLVER: Final = "/etc/resolv.conf"
KERNEL_SETTINGS: Final = tuple(
    f"/proc/{name}" for name in ("sys", "sysrq-trigger", "irq", "bus", "acpi", "fs", "scsi", "mtrr", "driver")
)


class Mount(NamedTuple):
    """One mount. `how`: `write`, `pin` (writable as before, but a mount point), `read` or `mask`."""

    path: str
    how: str


class Mounts(NamedTuple):
    """The mounts of a policy, from the top down, and what could not be covered: paths with the reason."""

    mounts: tuple[Mount, ...]
    uncovered: tuple[str, ...]
    absent: tuple[str, ...]
    """Protected paths that are not there: once they are, the mounts have to be made anew."""
    doors: tuple[str, ...] = ()
    """What of the uncovered leads to our own settings: a profile that a person named is not kept with it."""


_RANK: Final = {"pin": 0, "write": 1, "read": 2, "mask": 3}


def mounts_of(policy: Policy, *, later: bool = False) -> Mounts:
    """What to mount. Raises `SandboxError` for denied paths that cannot be masked safely.

    `later`: commands ran before, and can have given a denied file a second name; that is no reason to run no further
    one, so the names that are found are masked too.
    """
    uncovered: list[str] = []
    absent: list[str] = []
    chosen: dict[str, str] = {}

    def put(path: str, how: str) -> None:
        if _RANK[how] >= _RANK.get(chosen.get(path, ""), -1):
            chosen[path] = how

    roots = ("/",) if policy.write_all else writable_roots(policy)
    readonly = frozenset(map(os.path.realpath, policy.protected))
    for root in () if policy.write_all else roots:
        if os.path.exists(root) and os.path.realpath(root) == root:
            put(root, "write")
            _pin(root, roots, readonly, put)
    for path in policy.protected:
        real = os.path.realpath(path)
        if not os.path.lexists(path):
            absent.append(path)
        real = closed_folder(real) or real
        if os.path.exists(real) and is_below_any(real, roots):
            put(real, "read")
            _pin(real, roots, readonly, put)
    kept = [path for path, how in chosen.items() if how == "read"]
    ours = dict(replaceable(policy.own, roots, kept))
    doors = tuple(
        f"{link} is a symbolic link and can be replaced, and with it grokmini's own {path}"
        for link, path in ours.items()
    )
    links = dict.fromkeys(link for link, _ in replaceable(policy.protected, roots, kept) if link not in ours)
    uncovered += (*doors, *(f"{link} is a symbolic link and can be replaced" for link in links))
    aliased = roots if later else ()
    for path in checked_denials(
        policy.denied, uncovered, strict=policy.explicit and not later, aliased=aliased
    ):
        put(path, "mask")
        _pin(path, roots, readonly, put)
    ordered = sorted(chosen.items(), key=lambda item: (item[0].count("/") if item[0] != "/" else 0, item[0]))
    return Mounts(_without_idle_pins(ordered), tuple(uncovered), tuple(absent), doors)


def _without_idle_pins(ordered: Iterable[tuple[str, str]]) -> tuple[Mount, ...]:
    """The mounts, from the top down, but for pins in what is read-only: a pin would be writable there, and nothing
    can be renamed there anyway.
    """
    kept: dict[str, str] = {}
    for path, how in ordered:
        parents = tuple(map(str, Path(path).parents))
        if how != "write" and any(kept.get(parent) == "mask" for parent in parents):
            continue  # nothing of it is there
        above = (kept.get(parent, "") for parent in parents)
        if how != "pin" or next((one for one in above if one in ("read", "write")), "") != "read":
            kept[path] = how
    return tuple(Mount(*item) for item in kept.items())


def are_below(paths: Iterable[str], roots: Iterable[str]) -> tuple[str, ...]:
    """Those of the paths that really lie below one of the roots."""
    real = tuple(map(os.path.realpath, roots))
    return tuple(path for path in paths if is_below_any(os.path.realpath(path), real))


def _pin(path: str, roots: tuple[str, ...], readonly: Collection[str], put: Callable[[str, str], None]) -> None:
    """Pin every folder above that could be renamed: those below a writable root, but in no read-only folder there."""
    waiting: list[str] = []
    for parent in map(str, Path(path).parents):
        if parent in readonly:
            return
        if parent in roots:
            for folder in waiting:
                put(folder, "pin")
            waiting.clear()
        else:
            waiting.append(parent)


def checked_denials(
    denied: Iterable[str], uncovered: list[str], *, strict: bool, aliased: Collection[str] = ()
) -> Iterator[str]:
    """The real paths of what is denied and exists.

    A file with a second name elsewhere cannot be covered: `strict` refuses it, else it is told in `uncovered`; below
    the folders `aliased` such names are looked for, and come along. Raises `SandboxError`.
    """
    files = 0
    for path in denied:
        real = os.path.realpath(path)
        if any(ord(character) < 32 for character in real):
            raise SandboxError(
                f"the denied path {real!r} holds control characters", "Rename it, or deny its folder."
            )
        real = closed_folder(real) or real
        try:
            info = os.stat(real)
        except OSError:
            continue  # not there, or where nobody of us can look: nothing to read
        if closed_by_others(real):
            continue
        names: tuple[str, ...] = (real,)
        if info.st_nlink > 1 and stat.S_ISREG(info.st_mode):
            if strict:
                raise SandboxError(
                    _second_name(real, info), "Remove the other links, or deny their folders too."
                )
            names = (real, *other_names(real, aliased))
            if len(names) < info.st_nlink:
                uncovered.append(_second_name(real, info))
        files += 0 if stat.S_ISDIR(info.st_mode) else len(names)
        if files > MAX_FILE_MASKS:
            raise SandboxError(
                f"more than {MAX_FILE_MASKS} files are denied", "Deny their folders instead of each file."
            )
        yield from names


def _second_name(path: str, info: os.stat_result) -> str:
    return f"{path} has {info.st_nlink} names (hard links) and could be read by another"


def bwrap_words(
    policy: Policy,
    mounts: Mounts,
    program: str,
    *,
    network: bool,
    needed: Iterable[str],
    mask: Callable[[], int],
) -> list[str]:
    """The command line up to `--`.

    `network` tells whether a namespace of its own can be made for it; `needed` are paths the launcher itself
    must see; `mask` opens an empty file for a denied file and returns its descriptor, which bubblewrap inherits.
    """
    words = [program, *ISOLATION]
    blocked = policy.network == "blocked"
    if blocked and network:
        words.append("--unshare-net")
    everywhere = policy.write_all or "/" in writable_roots(policy)
    listed = not policy.read_all and not everywhere
    if not listed:
        words += ["--bind" if everywhere else "--ro-bind", "/", "/"]
    if everywhere:
        words += ["--ro-bind", "/sys", "/sys"]
    words += ["--dev", "/dev", "--proc", "/proc", *_kernel_settings()]
    if blocked and policy.read_all:
        words += ["--tmpfs", "/run", *_resolver()]
    if listed:
        words += _read_roots((*policy.read_roots, *needed), policy.links)
    for path, how in mounts.mounts:
        if path != "/":  # which has to lie below the devices
            words += _mount_words(path, how, mask)
    if blocked and policy.read_all:
        words += ["--remount-ro", "/run"]
    if listed:
        words += ["--remount-ro", "/"]
    return words


def _mount_words(path: str, how: str, mask: Callable[[], int]) -> list[str]:
    if how == "mask":
        if os.path.isdir(path):
            return ["--perms", "0000", "--tmpfs", path, "--remount-ro", path]
        return ["--perms", "0000", "--ro-bind-data", str(mask()), path]
    return ["--ro-bind" if how == "read" else "--bind", path, path]


def _kernel_settings() -> list[str]:
    """What in /proc belongs to the machine, read-only: root without rights still owns it, and may write it."""
    return [word for path in KERNEL_SETTINGS if os.path.exists(path) for word in ("--ro-bind", path, path)]


def _resolver() -> list[str]:
    """The folder that the resolver's configuration really is in, where that is below /run."""
    folder = str(Path(os.path.realpath(RESOLVER)).parent)
    if not folder.startswith("/run/") or not os.path.exists(folder):
        return []
    return ["--ro-bind", folder, folder]


def _read_roots(roots: Iterable[str], links: Iterable[str]) -> list[str]:
    """The whitelist, links as links (`/bin` may be one) together with where they lead.

    A linked file (settings of git often are) is there under its own name as well. `links` are further ones, as far as
    none of the folders shows them.
    """
    words: list[str] = []
    folders: set[str] = set()
    shown = {link for link in links if os.path.islink(link)}
    for root in dict.fromkeys(roots):
        path = Path(root)
        if os.path.islink(root) and path.parent == Path("/"):
            shown.add(root)
        elif os.path.islink(root) and os.path.isfile(root):
            folders.add(root)
        if os.path.exists(root):
            folders.add(os.path.realpath(root))
    for link in sorted(shown):
        if not is_below_any(link, (*folders, "/dev", "/proc")):
            words += ["--symlink", os.readlink(link), link]
    for folder in sorted(folders):
        if not is_below_any(folder, folders - {folder}) and not is_below_any(folder, ("/dev", "/proc")):
            words += ["--ro-bind", folder, folder]
    return words

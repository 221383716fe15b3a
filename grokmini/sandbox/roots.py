"""The folders that commands can write, held by their real paths: no link that is made later leads elsewhere.

A command may rename a folder of its own and put a link in its place. So a link is followed only where commands cannot
have made it, and once: a root whose path has come to lead through a link is not used. A folder that was made anew at
the same path is used again (as when git or a person replaces it): whoever did that could write there anyway.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable
from dataclasses import replace

from grokmini.files.descriptors import O_PATH, open_straight
from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.own_folders import links_to
from grokmini.sandbox.policy import Policy
from grokmini.text.below import is_below_any


class Following:
    """Follows the links on the way to folders, but for those that lie in a folder commands can write.

    `notices` tell what was left out for that.
    """

    def __init__(self, writable: Iterable[str]) -> None:
        self._writable = tuple(writable)
        self.notices: list[str] = []

    def real(self, path: str, use: str = "") -> str:
        """Where an absolute path leads; empty, and told as left out of that use, where it is not followed."""
        link = next((one for one in links_to(path) if is_below_any(os.path.dirname(one), self._writable)), "")
        if not link:
            return os.path.realpath(path)
        if use:
            self.notices.append(
                f"{path} is left out of {use}: {link} is a link in a folder that commands can write, so it is not "
                "followed. Put a real folder there, or name the one that is meant."
            )
        return ""


def usable(policy: Policy) -> Policy:
    """The policy without the roots whose paths lead elsewhere by now. Raises `SandboxError` when the folder worked in
    is one of them, or its repository.
    """
    roots = () if policy.write_all else writable_roots(policy)
    elsewhere = {root: real for root in roots if (real := os.path.realpath(root)) != root}
    reads = policy.read_roots if policy.read_all else readable_roots(policy)
    if not elsewhere and reads == policy.read_roots:
        return policy
    for root in policy.write_roots:
        if root in elsewhere and root not in policy.extra:
            raise SandboxError(
                f"{root} was replaced: its path leads through a link to {elsewhere[root]} now",
                "No command is run, since it could write there. Put the folder back, go to where the work is with "
                "/cd, or start again there.",
            )
    told = (
        f"{root} is left out of what commands can write: its path leads through a link to {real} now. Put the folder "
        "back, or start again."
        for root, real in elsewhere.items()
    )

    def kept(paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(path for path in paths if path not in elsewhere)

    return replace(
        policy,
        read_roots=reads,
        write_roots=kept(policy.write_roots),
        extra=kept(policy.extra),
        temp=kept(policy.temp),
        caches=kept(policy.caches),
        scratch="" if policy.scratch in elsewhere else policy.scratch,
        notices=(*policy.notices, *told),
    )


def missing_notices(policy: Policy, skipped: Collection[str]) -> tuple[str, ...]:
    """A sentence for each root of the profile's own that is not there, and one for the others of these paths, which
    were skipped, as far as they are roots of the policy: not every device has to be there.
    """
    named = (*policy.write_roots, *(() if policy.read_all else policy.read_roots))
    others = tuple(path for path in dict.fromkeys(named) if path in skipped and path not in policy.extra)
    told = (f"Not there, and so left out of what commands can use: {', '.join(others)}.",) if others else ()
    return told + tuple(
        f"{root} is to be written by commands and is not there: they cannot make it, unless they may write the folder "
        "it belongs in."
        for root in policy.extra
        if not os.path.lexists(root)
    )


def readable_roots(policy: Policy) -> tuple[str, ...]:
    """The roots that may be read besides, but for those that a link leads to which a command may have made."""
    following = Following(writable_roots(policy))
    return tuple(root for root in policy.read_roots if following.real(root))


def open_roots(paths: Iterable[str]) -> dict[str, int]:
    """A descriptor of each folder or file that is there and no link leads to; the caller closes them."""
    opened: dict[str, int] = {}
    try:
        for path in paths:
            held = _opened(path)
            if held is not None:
                opened[path] = held
    except BaseException:
        for held in opened.values():
            os.close(held)
        raise
    return opened


def _opened(path: str) -> int | None:
    try:
        here = open_straight(path, O_PATH | os.O_CLOEXEC)
    except OSError:  # not there, or a link that was passed: no folder
        return None
    if stat.S_ISLNK(os.fstat(here).st_mode):
        os.close(here)
        return None
    return here

"""Our own folders, where commands could make them or lead the way to them elsewhere: settings there are obeyed."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from grokmini.files.private import make_private_folder
from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.policy import Policy
from grokmini.text.below import is_below, is_below_any

PACKAGE: Final = str(Path(__file__).parents[1])
_MOST_LINKS: Final = 40


def links_to(path: str) -> tuple[str, ...]:
    """The links that an absolute path leads through, each by the real folder it is in, in their order."""
    found: list[str] = []
    parts, here = path.split("/"), "/"
    while parts and len(found) < _MOST_LINKS:
        part = parts.pop(0)
        if part in ("", "."):
            continue
        here = str(Path(here).parent) if part == ".." else f"{here.rstrip('/')}/{part}"
        try:
            target = os.readlink(here)
        except OSError:
            continue
        found.append(here)
        parts = target.split("/") + parts
        here = "/" if target.startswith("/") else str(Path(here).parent)
    return tuple(found)


def own_protected(own: Iterable[str], roots: Iterable[str]) -> Iterator[str]:
    """What has to be read-only for these folders to stay what they are: they, and the folders of the links to them.

    A folder that commands are to write, or that holds one, cannot be.
    """
    real = tuple(map(os.path.realpath, roots))
    for path in own:
        for link in links_to(path):
            folder = str(Path(link).parent)
            if is_below_any(folder, real) and not any(is_below(root, folder) for root in real):
                yield folder
            yield link
        yield os.path.realpath(path)


def own_code(roots: Iterable[str], package: str = PACKAGE) -> str:
    """Our own code, where it lies in a folder that commands write: they could have us run theirs, outside, in this very
    session. Empty where it does not, or where the folder worked in is part of it.
    """
    real, writable = os.path.realpath(package), tuple(map(os.path.realpath, roots))
    inside = is_below_any(real, writable) and not any(is_below(root, real) for root in writable)
    return real if inside else ""


def replaceable(
    paths: Iterable[str], roots: Iterable[str], readonly: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """The links on the way to paths that lie in a writable folder, each with the path: who replaces one has it
    lead elsewhere.
    """
    writable, kept = tuple(roots), tuple(readonly)
    for path in paths:
        for link in links_to(path):
            folder = str(Path(link).parent)
            if is_below_any(folder, writable) and not is_below_any(folder, kept):
                yield link, path


def make_own(policy: Policy) -> None:
    """Create what commands could create: what is not there cannot be mounted read-only."""
    roots = tuple(map(os.path.realpath, writable_roots(policy)))
    for path in map(os.path.realpath, policy.own):
        if not is_below_any(path, roots):
            continue
        try:
            make_private_folder(Path(path))
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise  # else we cannot, so commands cannot either

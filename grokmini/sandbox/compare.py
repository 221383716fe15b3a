"""What one policy allows and another does not, in words: whoever loosens a sandbox sees what that grants."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.policy import Limits, Policy
from grokmini.text.below import is_below, is_below_any
from grokmini.text.some import some_of

_SHOWN = 3
EVERYTHING = "do whatever you can: nothing is confined"


def grants_more(new: Policy | None, old: Policy | None) -> tuple[str, ...]:
    """What commands and file tools may do under `new` and may not under `old`, each as the end of "they may …".

    None is no confinement at all. Nothing granted means a tightening, or no change; in doubt something is named.
    """
    if old is None:
        return ()
    if new is None:
        return (EVERYTHING,)
    return tuple(_grants(new, old))


class _Area(NamedTuple):
    """The paths below `roots` that are not below `but`; all are real and absolute."""

    roots: tuple[str, ...]
    but: tuple[str, ...]

    def holds(self, path: str) -> bool:
        return is_below_any(path, self.roots) and not is_below_any(path, self.but)

    def beyond(self, other: _Area) -> Iterator[str]:
        """The tops of what this area holds and the other does not: of each part all, or its exact place."""
        for path in dict.fromkeys((*self.roots, *other.but)):
            if self.holds(path) and not other.holds(path):
                yield path


def _grants(new: Policy, old: Policy) -> Iterator[str]:
    yield from _told("read", _readable(new).beyond(_readable(old)), "the whole disk")
    for pattern in _patterns_lifted(new, old):
        yield f"read what matches {pattern}"
    yield from _told("write in", _writable(new).beyond(_writable(old)), "the whole disk")
    if new.network == "open" and old.network == "blocked":
        yield "use the network"
    elif new.network == "blocked" and new.allow_unix and old.network == "blocked" and not old.allow_unix:
        yield "talk to local programs through sockets"
    yield from _wider(new.limits, old.limits)


def _patterns_lifted(new: Policy, old: Policy) -> Iterator[str]:
    """Patterns of what could not be read whenever it came to be, and now can."""
    area = _readable(new)
    for pattern in old.denied_globs:
        place = os.path.realpath(pattern[: min(map(pattern.find, "*?["), key=_found)].rpartition("/")[0] or "/")
        hidden = pattern in new.denied_globs or is_below_any(place, area.but)
        if not hidden and any(is_below(place, root) or is_below(root, place) for root in area.roots):
            yield pattern


def _found(place: int) -> int:
    """Orders places in a text, those that are none last."""
    return place if place >= 0 else sys.maxsize


def _readable(policy: Policy) -> _Area:
    roots = ("/",) if policy.read_all or policy.write_all else (*policy.read_roots, *_roots(policy))
    return _Area(_real(roots), _real(policy.denied))


def _writable(policy: Policy) -> _Area:
    roots = ("/",) if policy.write_all else _roots(policy)
    return _Area(_real(roots), _real((*policy.protected, *policy.denied)))


def _roots(policy: Policy) -> tuple[str, ...]:
    """The folders that can be written, but for caches: those are ours, and each profile has its own."""
    return tuple(root for root in writable_roots(policy) if root not in policy.caches)


def _real(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(os.path.realpath(path) for path in paths))


def _told(verb: str, paths: Iterable[str], everything: str) -> Iterator[str]:
    """One phrase for all of these; what lies below another of them is not named again."""
    found = list(paths)
    tops = [path for path in found if not any(path != one and is_below(path, one) for one in found)]
    if "/" in tops:
        yield f"{verb} {everything}"
    elif tops:
        yield f"{verb} {some_of(tops, _SHOWN)}"


def _wider(new: Limits, old: Limits) -> Iterator[str]:
    for what, now, before in (
        ("more processes", new.nproc, old.nproc),
        ("larger files", new.fsize, old.fsize),
        ("more memory", new.data, old.data),
    ):
        if before is not None and (now is None or now > before):
            yield f"use {what}"

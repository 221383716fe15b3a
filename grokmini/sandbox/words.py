"""A policy in words: one or two sentences for the model and for notices, a part of a line for questions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from grokmini.sandbox.policy import Policy
from grokmini.sandbox.runner import Enforcement
from grokmini.text.below import is_below_any
from grokmini.text.some import some_of

_SHOWN = 4


def in_words(policy: Policy | None) -> str:
    """What commands and file tools may do."""
    if policy is None:
        return "Commands are not confined: they can do what the user can."
    reads = "read everything" if policy.read_all else f"read only {some_of(policy.read_roots, _SHOWN)}"
    writes = "write everywhere" if policy.write_all else f"write only in {some_of(writable(policy), _SHOWN)}"
    if policy.denied:
        reads += f" but {len(policy.denied)} hidden path{'s' if len(policy.denied) > 1 else ''}"
    if policy.write_all and policy.protected:
        writes += f" but {some_of(policy.protected, _SHOWN)}"
    network = "The network is open." if policy.network == "open" else "The network is blocked."
    return f"Commands and file tools can {reads} and {writes}. {network}"


def read_all_in_words(policy: Policy) -> str:
    """What can be read under a policy that keeps only single paths from being read."""
    return "everything but what is hidden" if policy.denied else "everything"


def hidden(policy: Policy) -> tuple[str, ...]:
    """What cannot be read, and the patterns that hide nothing yet."""
    return (*policy.denied, *(f"{pattern} (matches nothing now)" for pattern in policy.idle_globs))


def writable(policy: Policy) -> tuple[str, ...]:
    """The folders that can be written, caches left out."""
    return tuple(filter(None, (*policy.write_roots, *policy.temp, policy.scratch)))


def in_short(policy: Policy, enforcement: Enforcement, folder: Path, home: str) -> str:
    """What a command that starts in `folder` can write and reach, as far as it is enforced; a part of a line."""
    network = "network open"
    if enforcement.network_blocked:
        network = "only local sockets" if policy.allow_unix else "network blocked"
    return f"sandbox {enforcement.label}: can write {_where(policy, folder, home)}, {network}"


def _where(policy: Policy, folder: Path, home: str) -> str:
    if policy.write_all:
        rest = len(policy.protected) - 1
        more = f" and {rest} more" if rest > 0 else ""
        return f"anywhere but in {policy.protected[0]}{more}" if policy.protected else "anywhere"
    places = list(_places(policy, folder, home))
    if len(places) == 1 and places[0] != "here":
        return f"only {places[0]}"
    return " and ".join(filter(None, (", ".join(places[:-1]), places[-1]))) if places else "nowhere"


def _places(policy: Policy, folder: Path, home: str) -> Iterator[str]:
    here = os.path.realpath(folder)
    kept = is_below_any(here, map(os.path.realpath, policy.protected))
    roots = dict.fromkeys(map(os.path.realpath, policy.write_roots))
    ours = [root for root in roots if is_below_any(here, [root])]
    if ours and not kept:
        yield "here"
    others = [root for root in roots if root not in ours and not is_below_any(root, ours)]
    if len(others) == 1:
        at_home = home != "/" and is_below_any(others[0], [home])
        yield f"in ~{others[0].removeprefix(home)}" if at_home else f"in {others[0]}"
    elif others:
        yield f"in {len(others)} other folders"
    if policy.temp or policy.scratch:
        yield "in temp"

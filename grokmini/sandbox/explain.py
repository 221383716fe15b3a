"""A policy in words: what it allows, what this machine keeps of it, what is in a command's way."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from typing import Final

from grokmini.sandbox.cannot import limits_told
from grokmini.sandbox.degraded import how_to_get, losses, parted, remarks
from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.plan import is_unconfined
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms
from grokmini.sandbox.roots import missing_notices
from grokmini.sandbox.words import hidden, read_all_in_words

_SHOWN: Final = 12
_WIDTH: Final = 78
_INDENT: Final = " " * 10


def explain(policy: Policy, mechanisms: Mechanisms) -> tuple[str, ...]:
    """Every line."""
    return tuple(_lines(policy, mechanisms))


def _lines(policy: Policy, mechanisms: Mechanisms) -> Iterator[str]:
    yield f"profile   {policy.profile}"
    if is_unconfined(policy):
        yield "commands  may do whatever you can"
        return
    yield from _listed("read", (read_all_in_words(policy),) if policy.read_all else policy.read_roots)
    yield from _listed("write", ("everything",) if policy.write_all else writable_roots(policy))
    yield from _listed("but not", policy.protected)
    yield from _listed("hidden", hidden(policy))
    local = ", local sockets allowed" if policy.allow_unix else ""
    yield f"network   {policy.network}{local}"
    if policy.limits.data:
        yield f"memory    {policy.limits.data / 1024**3:.0f} GiB for one process, which `ulimit -d unlimited` lifts"
    missing = losses(policy, mechanisms)
    lost, without = parted((*missing, *remarks(policy, mechanisms, as_root=os.geteuid() == 0)))
    yield from _wrapped("not kept", lost)
    if missing:
        yield from textwrap.wrap(
            how_to_get(mechanisms), _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT
        )
    absent = {root for root in (*policy.write_roots, *policy.read_roots) if not os.path.lexists(root)}
    yield from _wrapped("noticed", (*policy.notices, *missing_notices(policy, absent)))
    yield from _listed("commands", tuple(f"have {text}" for text in without))
    yield ""
    yield "No sandbox keeps all. Under this profile:"
    for text in limits_told(policy, mechanisms):
        yield from textwrap.wrap(f"- {text}", _WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _wrapped(label: str, texts: tuple[str, ...]) -> Iterator[str]:
    for index, text in enumerate(texts):
        yield from textwrap.wrap(
            text,
            _WIDTH,
            initial_indent=f"{label if not index else '':<10}",
            subsequent_indent=f"{_INDENT}  ",
            break_long_words=False,
            break_on_hyphens=False,
        )


def _listed(label: str, values: tuple[str, ...]) -> Iterator[str]:
    for index, value in enumerate(values[:_SHOWN]):
        yield f"{label if not index else '':<10}{value}"
    if len(values) > _SHOWN:
        yield f"{'':<10}and {len(values) - _SHOWN} more"

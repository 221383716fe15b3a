"""What `/sandbox` shows: the profile in force and what of it is really enforced, as label and value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.degraded import DENIED, parted
from grokmini.sandbox.layers import Layer
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.runner import Enforcement
from grokmini.sandbox.words import hidden, read_all_in_words, writable

Rows = Sequence[tuple[str, str]]
_SHOWN = 8


def report(profile: str, policy: Policy | None, proved: Enforcement, machine: Sequence[Layer]) -> Rows:
    """Every row; a label that is empty goes on with the one before. `machine`: the layers that are there."""
    rows = [("profile", profile), ("enforced", _enforced(policy, proved))]
    if policy is None:
        return rows
    lost, without = parted(proved.lost)
    rows += _listed("not kept", lost, len(lost))
    if lost and proved.hint:
        rows.append(("", proved.hint))
    rows += _listed("noticed", proved.notices, len(proved.notices))
    rows += _listed("commands", [f"have {text}" for text in without])
    rows += _listed("layers", tuple(_layers(machine)))
    rows += _listed("read", (read_all_in_words(policy),) if policy.read_all else policy.read_roots)
    rows += _listed("write", ("everything",) if policy.write_all else writable(policy))
    rows += _listed("but not", policy.protected)
    rows += _listed("hidden", hidden(policy) or ("nothing",))
    local = ", local sockets allowed" if policy.network == "blocked" and policy.allow_unix else ""
    rows.append(("network", f"{policy.network}{local}"))
    if policy.caches:
        paths = [Path(path) for path in policy.caches]
        rows.append(("caches", f"{', '.join(path.name for path in paths)} in {paths[0].parent}"))
    return rows


def failed(profile: str, error: SandboxError) -> Rows:
    """The rows for a profile whose proof could not be made."""
    return [
        ("profile", profile),
        ("enforced", f"not known, and no command runs: {error.message}"),
        *((("", error.hint),) if error.hint else ()),
    ]


def _enforced(policy: Policy | None, proved: Enforcement) -> str:
    if policy is None:
        return "nothing: commands can do what you can"
    if not proved.confined:
        return "nothing here: each command and each edit asks"
    how = "tried when the sandbox started: writing outside"
    if policy.denied and not any(text.startswith(DENIED) for text in proved.lost):
        how += ", reading what is hidden"
    if proved.network_blocked:
        how += ", opening a socket"
    return f"{'in part' if proved.hint else 'yes'} ({how} failed, as it should)"


def _layers(machine: Sequence[Layer]) -> Iterator[str]:
    """Those that work in one row, each other one in a row with its reason."""
    if works := [f"{name} ({detail})" if detail != "works" else name for name, ok, detail in machine if ok]:
        yield ", ".join(works)
    yield from (f"no {name}: {detail}" for name, ok, detail in machine if not ok)


def _listed(label: str, values: Sequence[str], most: int = _SHOWN) -> Iterator[tuple[str, str]]:
    for index, value in enumerate(values[:most]):
        yield label if not index else "", value
    if len(values) > most:
        yield "", f"and {len(values) - most} more"

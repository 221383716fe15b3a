"""A policy in words: what it allows, what this machine keeps of it, what is in a command's way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from grokmini.sandbox.degraded import how_to_get, losses
from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.plan import is_unconfined
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms

_SHOWN: Final = 12
CANNOT: Final = (
    "What is readable can be sent away while the network is open; only deny and a blocked network prevent that.",
    "What is left in the project (Makefile, package.json, .venv) runs later outside of the sandbox.",
)
_OBSTACLES: Final = (
    (("sudo", "su", "doas", "pkexec"), "no program gains rights here (no_new_privs), in no profile but off"),
    (
        ("docker", "podman", "nerdctl"),
        "the sockets of container engines are masked: they lead out of any sandbox",
    ),
    (
        ("unshare", "chroot", "bwrap"),
        "namespaces cannot be made here; a browser's own sandbox needs --no-sandbox",
    ),
)
_NETWORK: Final = ("curl", "wget", "ssh", "scp", "rsync", "ping", "nc", "gh")


def explain(policy: Policy, mechanisms: Mechanisms) -> tuple[str, ...]:
    """Every line."""
    return tuple(_lines(policy, mechanisms))


def _lines(policy: Policy, mechanisms: Mechanisms) -> Iterator[str]:
    yield f"profile   {policy.profile}"
    if is_unconfined(policy):
        yield "commands  may do whatever you can"
        return
    yield from _listed("read", ("everything",) if policy.read_all else policy.read_roots)
    yield from _listed("write", ("everything",) if policy.write_all else writable_roots(policy))
    yield from _listed("but not", policy.protected)
    yield from _listed("hidden", policy.denied)
    local = ", local sockets allowed" if policy.allow_unix else ""
    yield f"network   {policy.network}{local}"
    lost = losses(policy, mechanisms)
    yield from _listed("not kept", lost)
    if lost:
        yield f"          {how_to_get(mechanisms)}"
    yield ""
    yield from CANNOT


def _listed(label: str, values: tuple[str, ...]) -> Iterator[str]:
    for index, value in enumerate(values[:_SHOWN]):
        yield f"{label if not index else '':<10}{value}"
    if len(values) > _SHOWN:
        yield f"{'':<10}and {len(values) - _SHOWN} more"


def obstacles(command: str, policy: Policy) -> tuple[str, ...]:
    """What a policy refuses by choice and a command is known to need, going by its first words."""
    return tuple(_obstacles(command.split(), policy)) or ("nothing is known to be in its way",)


def _obstacles(words: list[str], policy: Policy) -> Iterator[str]:
    if is_unconfined(policy) or not words:
        return
    program = os.path.basename(words[0])  # noqa: PTH119 - a word, not a path of ours
    for programs, reason in _OBSTACLES:
        if program in programs:
            yield reason
    if policy.network == "blocked" and (program in _NETWORK or _fetches(program, words)):
        yield f"the profile {policy.profile} blocks the network"
    if program == "git" and _writes_config(words):
        yield "it writes .git/config or a hook, which stay read-only: they run code; let the agent run it outside"


def _fetches(program: str, words: list[str]) -> bool:
    installs = program in ("pip", "pip3", "npm", "yarn", "pnpm", "cargo", "apt") and "install" in words
    return installs or (program == "git" and not {"clone", "fetch", "pull", "push"}.isdisjoint(words))


def _writes_config(words: list[str]) -> bool:
    text = " ".join(words[1:])
    return text.startswith(("config", "remote add", "remote set-url", "branch -m", "lfs install", "push -u"))

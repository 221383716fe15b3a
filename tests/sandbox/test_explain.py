"""What `sandbox explain` says of what is not kept: all that is so under the profile, and nothing that is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grokmini.sandbox.cannot import LIMITS, limits_told
from grokmini.sandbox.explain import explain
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms

ALL = Mechanisms(7, seccomp=True, bwrap="/usr/bin/bwrap", bwrap_network=True, reasons={})
LESS = ALL._replace(bwrap=None, bwrap_network=False, reasons={"bubblewrap": "bwrap is not installed"})
WORKSPACE = Policy(
    "workspace", write_roots=("/w",), protected=("/w/.git/hooks",), temp=("/tmp",), caches=("/c/tools/pip",)
)
READ_ONLY = replace(WORKSPACE, profile="read-only", write_roots=(), network="blocked")
STRICT = replace(WORKSPACE, profile="strict", read_all=False, read_roots=("/usr", "/w"), network="blocked")
CAREFUL = replace(WORKSPACE, profile="careful", denied=("/w/key.pem",))
DEVBOX = Policy("devbox", write_all=True, protected=("/data",), temp=("/tmp",))

SENT, SOCKETS, LATER, NEXT, CACHES, COPIES, OWN, TEMP, NAMES, BOUND = (
    "sent away", "local sockets", "runs later", "makes .git or .grokmini", "in another project", "copies stay readable",
    "not grokmini's own settings", "/tmp is shared", "its name and size", "only a cgroup bounds",
)  # fmt: skip


@pytest.mark.parametrize(
    ("policy", "mechanisms", "told"),
    [
        (WORKSPACE, ALL, (SENT, SOCKETS, LATER, NEXT, CACHES, TEMP, BOUND)),
        (READ_ONLY, ALL, (CACHES, TEMP, BOUND)),
        (STRICT, ALL, (LATER, NEXT, CACHES, TEMP, BOUND)),
        (STRICT, LESS, (LATER, NEXT, CACHES, TEMP, NAMES, BOUND)),
        (CAREFUL, ALL, (SENT, SOCKETS, LATER, NEXT, CACHES, COPIES, TEMP, BOUND)),
        (DEVBOX, ALL, (SENT, SOCKETS, LATER, OWN, BOUND)),
    ],
)
def test_each_profile_is_told_its_own_limits(
    policy: Policy, mechanisms: Mechanisms, told: tuple[str, ...]
) -> None:
    found = limits_told(policy, mechanisms)
    assert len(found) == len(told)
    assert all(words in text for words, text in zip(told, found, strict=True))
    joined = " ".join(" ".join(explain(policy, mechanisms)).split())
    assert all(text in joined for text in found)


def test_each_limit_is_told_under_some_profile() -> None:
    machines = [(policy, has) for policy in (WORKSPACE, STRICT, CAREFUL, DEVBOX) for has in (ALL, LESS)]
    assert {text for pair in machines for text in limits_told(*pair)} == {limit.text for limit in LIMITS}


def test_the_lines_fit_80_columns_and_part_what_is_not_kept_from_what_commands_do_without() -> None:
    long = tuple(f"/home/someone/projects/shop/.git/{name}" for name in ("hooks", "config", "commondir"))
    lines = explain(replace(WORKSPACE, write_roots=("/home/someone",), protected=long), LESS)
    assert max(map(len, lines)) <= 80
    assert "commands  have no pseudo-terminals" in lines
    assert not any("terminal" in line for line in lines if line.startswith("not kept"))

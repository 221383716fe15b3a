"""What is said to be lost, by what a machine has: no more and no less than what is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grokmini.sandbox.degraded import breaks_promises, label_in_part, losses, parted, remarks, remedy
from grokmini.sandbox.landlock import (
    BIND_TCP,
    CONNECT_TCP,
    IOCTL_DEV,
    REFER,
    RESOLVE_UNIX,
    SCOPE_ABSTRACT_UNIX,
    SCOPE_SIGNAL,
    TRUNCATE,
    landlock_plan,
)
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms

WORKSPACE = Policy(
    "workspace",
    write_roots=("/w",),
    protected=("/w/.git/hooks", "/w/.git/config", "/w/.grokmini", "/home/a/.config/grokmini"),
)
BLOCKED = replace(WORKSPACE, profile="read-only", network="blocked")
DEVBOX = Policy("devbox", write_all=True, protected=("/data",))
EVERYTHING = Mechanisms(7, seccomp=True, bwrap="/usr/bin/bwrap", bwrap_network=True, reasons={})
WITHOUT_BWRAP = EVERYTHING._replace(bwrap=None, bwrap_network=False)


def lost(policy: Policy, mechanisms: Mechanisms) -> str:
    return "; ".join(losses(policy, mechanisms))


@pytest.mark.parametrize("policy", [WORKSPACE, BLOCKED, DEVBOX])
def test_nothing_is_lost_where_everything_is_there(policy: Policy) -> None:
    assert losses(policy, EVERYTHING) == ()


@pytest.mark.parametrize("abi", range(1, 8))
def test_each_kernel_without_bubblewrap_names_what_its_landlock_lacks(abi: int) -> None:
    text = lost(WORKSPACE, WITHOUT_BWRAP._replace(landlock_abi=abi))
    assert "chmod, chown, utime and setxattr" in text
    assert "/w/.git/hooks, /w/.git/config, /w/.grokmini can be written" in text
    assert "/dev/shm" in text
    assert "pseudo-terminals" in text
    assert ("can be truncated" in text) is (abi < 3)
    assert ("ioctl" in text) is (abi < 5)
    assert ("can signal grokmini" in text) is (abi < 6)
    assert ("abstract sockets" in text) is (abi < 6)


@pytest.mark.parametrize("abi", range(8))
def test_with_bubblewrap_an_old_landlock_loses_the_abstract_sockets_alone(abi: int) -> None:
    found = losses(WORKSPACE, EVERYTHING._replace(landlock_abi=abi))
    assert found == (("abstract sockets of other programs can be reached",) if abi < 6 else ())
    assert losses(BLOCKED, EVERYTHING._replace(landlock_abi=abi)) == ()


@pytest.mark.parametrize("abi", range(1, 10))
def test_a_kernel_is_asked_for_every_right_it_knows_and_for_no_other(abi: int) -> None:
    plan = landlock_plan(BLOCKED, abi, private_devices=False)
    for right, since in ((REFER, 2), (TRUNCATE, 3), (IOCTL_DEV, 5), (RESOLVE_UNIX, 9)):
        assert bool(plan.handled_files & right) is (abi >= since)
    assert plan.handled_network == (BIND_TCP | CONNECT_TCP if abi >= 4 else 0)
    assert plan.scoped == (SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL if abi >= 6 else 0)
    assert plan.size == {1: 8, 2: 8, 3: 8, 4: 16, 5: 16}.get(abi, 24)
    assert all(rights and not rights & ~plan.handled_files for _, rights in plan.rules)


def test_with_neither_landlock_nor_bubblewrap_everything_is_said_to_be_open() -> None:
    nothing = Mechanisms(0, seccomp=False, bwrap=None, bwrap_network=False, reasons={})
    text = lost(BLOCKED, nothing)
    for word in (
        "write wherever you can",
        "can signal",
        "memory and environment",
        "io_uring",
        "network: it is",
    ):
        assert word in text


def test_only_protected_paths_that_can_really_be_written_are_said_to_be_lost() -> None:
    assert "protected" not in lost(replace(BLOCKED, write_roots=()), WITHOUT_BWRAP)
    assert "protected" not in lost(DEVBOX, WITHOUT_BWRAP)
    assert "/etc/cron.d can be written" in lost(
        replace(DEVBOX, protected=("/data", "/etc/cron.d")), WITHOUT_BWRAP
    )
    assert "/data can be written" in lost(DEVBOX, WITHOUT_BWRAP._replace(landlock_abi=0))


def test_only_denied_paths_that_can_really_be_read_are_said_to_be_lost() -> None:
    strict = Policy("strict", read_all=False, read_roots=("/usr", "/w"), denied=("/w/key", "/home/a/.netrc"))
    assert "denied paths: /w/key can be read" in losses(strict, WITHOUT_BWRAP)
    assert "denied paths: /w/key, /home/a/.netrc can be read" in losses(
        strict, WITHOUT_BWRAP._replace(landlock_abi=0)
    )


def test_local_sockets_of_others_are_lost_without_mounts_unless_the_kernel_hides_them() -> None:
    policy = replace(BLOCKED, allow_unix=True)
    assert "local sockets" in lost(policy, WITHOUT_BWRAP)
    assert "local sockets" not in lost(policy, WITHOUT_BWRAP._replace(landlock_abi=9))
    assert "local sockets" not in lost(policy, EVERYTHING)


def test_what_no_mechanism_bounds_is_remarked() -> None:
    assert any("no limit for root" in text for text in remarks(WORKSPACE, EVERYTHING, as_root=True))
    assert remarks(WORKSPACE, EVERYTHING, as_root=False) == ()
    old = EVERYTHING._replace(landlock_abi=1)
    assert any("only copied" in text for text in remarks(WORKSPACE, old, as_root=False))


def test_remarks_and_lost_conveniences_break_no_promise_and_every_loss_does() -> None:
    for mechanisms in (EVERYTHING, WITHOUT_BWRAP, EVERYTHING._replace(landlock_abi=1)):
        assert not breaks_promises(remarks(WORKSPACE, mechanisms, as_root=True))
    seatbelt = EVERYTHING._replace(seatbelt="/usr/bin/sandbox-exec")
    assert remarks(WORKSPACE, seatbelt, as_root=False) and not breaks_promises(
        remarks(WORKSPACE, seatbelt, as_root=False)
    )
    weaker = (
        WITHOUT_BWRAP,
        EVERYTHING._replace(seccomp=False),
        EVERYTHING._replace(landlock_abi=0),
        EVERYTHING._replace(landlock_abi=5),
    )
    for mechanisms in weaker:
        assert breaks_promises(losses(WORKSPACE, mechanisms)), mechanisms
    assert breaks_promises(("the proof failed: commands can create in /",))


def test_what_commands_do_without_is_told_apart_from_what_is_not_enforced() -> None:
    found = losses(WORKSPACE, WITHOUT_BWRAP)
    lost, without = parted(found)
    assert without == ("no pseudo-terminals",)
    assert len(lost) == len(found) - 1
    assert not any("terminal" in text for text in lost)


@pytest.mark.parametrize(
    ("mechanisms", "label"),
    [
        (WITHOUT_BWRAP, "workspace, no bubblewrap"),
        (WITHOUT_BWRAP._replace(landlock_abi=3), "workspace, no bubblewrap, old Landlock"),
        (EVERYTHING._replace(landlock_abi=0), "workspace, no Landlock"),
        (EVERYTHING._replace(landlock_abi=5), "workspace, old Landlock"),
        (EVERYTHING._replace(seccomp=False), "workspace, no call filter"),
    ],
)
def test_the_label_says_what_is_missing_wherever_something_is_lost(mechanisms: Mechanisms, label: str) -> None:
    assert losses(WORKSPACE, mechanisms)
    assert label_in_part("workspace", mechanisms) == label


def test_the_remedy_is_for_what_is_in_the_way() -> None:
    absent = WITHOUT_BWRAP._replace(reasons={"bubblewrap": "bwrap is not installed"})
    assert remedy(absent) == "To get it: `apt install bubblewrap`."
    failure = {"bubblewrap": "bwrap: setting up uid map: Permission denied"}
    assert "user namespaces" in remedy(WITHOUT_BWRAP._replace(reasons=failure))
    restricted = remedy(WITHOUT_BWRAP._replace(reasons={**failure, "AppArmor": "restricts"}))
    assert "setting up uid map" in restricted
    assert "apt install apparmor-profiles" in restricted
    assert "apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict" in restricted

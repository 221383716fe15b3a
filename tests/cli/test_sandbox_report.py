"""What `/sandbox` shows of the layers."""

from __future__ import annotations

import pytest

from grokmini.cli.sandbox_report import report
from grokmini.sandbox.layers import layers
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms
from grokmini.sandbox.runner import Enforcement

WORKSPACE = Policy("workspace", write_roots=("/w",))
ALL = Mechanisms(7, seccomp=True, bwrap="/usr/bin/bwrap", bwrap_network=True, reasons={})


def shown(mechanisms: Mechanisms) -> list[str]:
    """The rows of the layers."""
    rows = list(report("workspace", WORKSPACE, Enforcement("workspace", confined=True), layers(mechanisms)))
    begin = [label for label, _ in rows].index("layers")
    end = next(number for number, (label, _) in enumerate(rows) if number > begin and label)
    return [value for _, value in rows[begin:end]]


def test_what_works_is_one_row_and_what_does_not_has_its_reason() -> None:
    assert shown(ALL) == [
        "Landlock (ABI 7), system call filter, bubblewrap (/usr/bin/bwrap), network namespace"
    ]
    less = ALL._replace(
        landlock_abi=0,
        bwrap=None,
        bwrap_network=False,
        reasons={"landlock": "this kernel has no Landlock", "bubblewrap": "bwrap is not installed"},
    )
    assert shown(less) == [
        "system call filter",
        "no Landlock: this kernel has no Landlock",
        "no bubblewrap: bwrap is not installed",
        "no network namespace: needs bubblewrap",
    ]


def test_macos_has_one_layer() -> None:
    mac = Mechanisms(
        0, seccomp=False, bwrap=None, bwrap_network=False, reasons={}, seatbelt="/usr/bin/sandbox-exec"
    )
    assert shown(mac) == ["sandbox-exec (/usr/bin/sandbox-exec)"]
    broken = mac._replace(seatbelt=None, reasons={"seatbelt": "it was removed"})
    assert shown(broken) == ["no sandbox-exec: it was removed"]


@pytest.mark.parametrize(("lost", "told"), [((), True), (("denied paths: /x/key can be read",), False)])
def test_what_is_hidden_is_told_as_tried_only_where_it_is_kept_and_by_its_path(
    lost: tuple[str, ...], told: bool
) -> None:
    policy = Policy("workspace", write_roots=("/x",), denied=("/x/key",))
    proved = Enforcement("workspace", confined=True, lost=lost)
    rows = dict(report("workspace", policy, proved, layers(ALL)))
    assert ("reading what is hidden" in rows["enforced"]) is told
    assert rows["hidden"] == "/x/key"

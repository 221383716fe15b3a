"""What a question says of the sandbox: true to policy, enforcement and folder, and short."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.sandbox.policy import Policy
from grokmini.sandbox.runner import Enforcement
from grokmini.sandbox.words import in_short

WORKSPACE = Policy("workspace", write_roots=("/home/a/shop",), temp=("/tmp",), scratch="/s")
READ_ONLY = replace(WORKSPACE, profile="read-only", write_roots=(), network="blocked")
DEVBOX = Policy("devbox", write_all=True, protected=("/data", "/b", "/c"))
OPEN, BLOCKED = Enforcement("x", confined=True), Enforcement("x", network_blocked=True, confined=True)


def said(policy: Policy, now: Enforcement, folder: str = "/home/a/shop/src") -> str:
    return in_short(policy, now, Path(folder), "/home/a")


@pytest.mark.parametrize(
    ("policy", "now", "words"),
    [
        (WORKSPACE, OPEN, "here and in temp, network open"),
        (READ_ONLY, BLOCKED, "only in temp, network blocked"),
        (READ_ONLY, OPEN, "only in temp, network open"),
        (replace(READ_ONLY, allow_unix=True), BLOCKED, "only in temp, only local sockets"),
        (replace(WORKSPACE, write_roots=("/home/a/out",)), OPEN, "in ~/out and in temp, network open"),
        (
            replace(WORKSPACE, write_roots=("/home/a/shop", "/srv/x")),
            OPEN,
            "here, in /srv/x and in temp, network open",
        ),
        (
            replace(WORKSPACE, write_roots=("/home/a/shop", "/x", "/y")),
            OPEN,
            "here, in 2 other folders and in temp, network open",
        ),
        (replace(READ_ONLY, temp=(), scratch=""), BLOCKED, "nowhere, network blocked"),
        (DEVBOX, OPEN, "anywhere but in /data and 2 more, network open"),
        (Policy("own", write_all=True), OPEN, "anywhere, network open"),
    ],
)
def test_where_can_be_written_and_whether_the_network_is_really_blocked(
    policy: Policy, now: Enforcement, words: str
) -> None:
    assert said(policy, now) == f"sandbox x: can write {words}"


def test_here_is_where_the_command_starts() -> None:
    assert said(WORKSPACE, OPEN, "/srv") == "sandbox x: can write in ~/shop and in temp, network open"
    kept = replace(WORKSPACE, protected=("/home/a/shop/.grokmini",))
    assert "here" not in said(kept, OPEN, "/home/a/shop/.grokmini/hooks")


def test_the_label_is_the_status_line_s() -> None:
    assert said(WORKSPACE, replace(OPEN, label="workspace, in part")).startswith("sandbox workspace, in part: ")

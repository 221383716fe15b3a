"""What a profile denies and is not there is told where it is likely a slip, and shown in every case."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grokmini.sandbox.explain import explain
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms
from grokmini.sandbox.profile import Profile
from tests.sandbox.places import said
from tests.sandbox.resolved import around_of, resolved, working

ALL = Mechanisms(7, seccomp=True, bwrap="/usr/bin/bwrap", bwrap_network=True, reasons={})


def told(policy: Policy) -> list[str]:
    return [text for text in policy.notices if "denies what is not there" in text]


def denying(root: Path, *deny: str) -> Policy:
    around = around_of(root)
    (root / "work/cfg").mkdir(exist_ok=True)
    (root / "work/cfg/key").touch()
    return resolved(around, Profile("mine", "workspace", deny=deny))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/nowhere/key", "/nowhere/key"),
        ("~/.keys/main", "{root}/home/.keys/main"),
        ("~/.keys/*.pem", "{root}/home/.keys"),
        ("cfg/kye", "{root}/work/cfg/kye"),
        ("./kye", "{root}/work/kye"),
    ],
)
def test_a_name_that_is_likely_wrong_is_told(tmp_path: Path, text: str, path: str) -> None:
    (one,) = told(denying(tmp_path, text, "cfg/key"))
    assert one.startswith(f"The profile mine denies what is not there: {path.format(root=tmp_path)}. ")


@pytest.mark.parametrize(
    "text", ["*.pem", "**/secret*", "other/key", "later.key", "cfg/*.key", "~/*.kdbx", "cfg/key"]
)
def test_what_is_for_other_folders_or_for_later_is_not_told(tmp_path: Path, text: str) -> None:
    assert told(denying(tmp_path, text)) == []


def test_a_link_that_leads_nowhere_and_a_folder_that_cannot_be_looked_into_are_there(tmp_path: Path) -> None:
    (tmp_path / "home/closed").mkdir(parents=True)
    (tmp_path / "home/link").symlink_to("gone")
    (tmp_path / "home/closed").chmod(0)
    assert told(denying(tmp_path, "~/link", "~/closed")) == []


def test_patterns_that_match_nothing_now_are_listed_and_others_are_not(tmp_path: Path) -> None:
    policy = denying(tmp_path, "*.pem", "cfg/k*")
    listed = [line.strip() for line in explain(policy, ALL) if "matches nothing now" in line]
    assert listed == [f"{tmp_path}/work/**/*.pem (matches nothing now)"]


async def test_it_is_told_at_the_start_and_no_more_when_it_is_there(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    async with working(around, Profile("mine", "workspace", deny=("~/key",))) as runner:
        await said(runner, "true", around.cwd)
        assert [text for text in runner.enforcement.notices if f"{tmp_path}/home/key" in text]
        Path(around.home, "key").write_text("secret")
        assert "secret" not in await said(runner, f"cat {os.path.join(around.home, 'key')}", around.cwd)
        assert not [text for text in runner.enforcement.notices if f"{tmp_path}/home/key" in text]

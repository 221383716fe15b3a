"""Folders of a profile that are not there: commands go without them, and that is told."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from grokmini.cli.sandbox_report import report
from grokmini.sandbox.explain import explain
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import probe
from tests.sandbox.places import running, without_bwrap, workspace

pytestmark = pytest.mark.skipif(
    not probe().landlock_abi, reason="the kernel is asked for folders by Landlock alone"
)


def strict(root: Path, *missing: Path) -> Policy:
    policy = workspace(root)
    there = [path for path in ("/usr", "/bin", "/lib", "/lib64", "/etc") if Path(path).exists()]
    reads = (*there, *map(str, missing))
    return dataclasses.replace(policy, profile="strict", read_all=False, read_roots=reads)


@pytest.mark.parametrize("with_mounts", [True, False])
async def test_a_folder_that_is_not_there_is_told_by_name_wherever_the_profile_is(
    tmp_path: Path, with_mounts: bool
) -> None:
    gone = tmp_path / "toolchain"
    policy = strict(tmp_path, gone)
    async with running(policy, probe() if with_mounts else without_bwrap()) as runner:
        enforcement = await runner.prepare()
    told = f"Not there, and so left out of what commands can use: {gone}."
    assert enforcement.notices == (told,)
    assert ("noticed", told) in report("strict", policy, enforcement, ())
    assert told in " ".join(" ".join(explain(policy, probe())).split())


async def test_nothing_is_told_of_devices_or_where_all_is_there(tmp_path: Path) -> None:
    policy = strict(tmp_path)
    async with running(policy) as runner:
        enforcement = await runner.prepare()
    assert enforcement.notices == ()
    assert not any(label == "noticed" for label, _ in report("strict", policy, enforcement, ()))
    assert not any(line.startswith("noticed") for line in explain(policy, probe()))

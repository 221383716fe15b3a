"""`grokmini sandbox check`: each way out is tried, closed inside the sandbox and open without one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from grokmini.sandbox.check import MARKER, Outcome, attempts, check, site
from grokmini.sandbox.environment import neutral_environment
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms, probe
from grokmini.sandbox.promises import promise_of
from grokmini.sandbox.runner import CommandRunner
from grokmini.sandbox.unconfined import UnconfinedRunner
from grokmini.sandbox.ways import DAEMONS, DENIED, DENIED_FILE, EVERYWHERE, OUTSIDE, PROTECTED, RENAME, Way
from tests.e2e.program import Place
from tests.sandbox.attacks.table import ROWS
from tests.sandbox.places import not_temporary, running, without_bwrap
from tests.sandbox.resolved import around_of, resolved

HYGIENE = {"w12", "n20", "a12", "a13", "l03", "l05"}
"""Closed in whatever profile, `off` too."""
NEEDS_ROOT = {"w35", "w38", "n10"}
KERNEL_LACKS = {"n19"}
PROFILES = ("workspace", "read-only", "strict")


async def outcomes(
    runner: CommandRunner, root: Path, policy: Policy, has: Mechanisms | None = None
) -> list[Outcome]:
    env = neutral_environment({**os.environ, "XAI_API_KEY": MARKER})
    with site(policy, root / "work", root / "home") as at:
        tries = attempts(policy, has or probe(), at)
        return [outcome async for outcome in check(runner, tries, at, env)]


def place_of(root: Path, profile: str) -> Policy:
    """A project with a repository and a folder of ours, and a key in the home folder."""
    around = around_of(root)
    subprocess.run(["git", "init", "-q", around.cwd], check=True)
    (root / "work/.grokmini").mkdir()
    (root / "home/.netrc").write_text("machine a password b")
    return resolved(around, profile)


def everything(root: Path) -> set[Path]:
    return set(root.rglob("*"))


@pytest.mark.parametrize("profile", PROFILES)
async def test_what_is_promised_is_stopped_and_nothing_is_left_behind(tmp_path: Path, profile: str) -> None:
    policy = place_of(tmp_path, profile)
    async with running(policy) as runner:
        await runner.prepare()
        before = everything(tmp_path)
        found = await outcomes(runner, tmp_path, policy)
    assert everything(tmp_path) == before
    assert [one.attempt for one in found if one.broken] == []
    assert {one.attempt.promise for one in found} <= {"promised", "not promised"}
    assert {one.attempt.way.attack[0] for one in found if one.result != "not tried"} == set("wrnal")
    assert {one.attempt.way.attack for one in found if one.result == "not tried"} <= {"a10", "w31"}
    open_ways = {one.attempt.way.attack for one in found if one.result == "OPEN"}
    assert ("n01" in open_ways) is (profile == "workspace")


async def test_without_a_sandbox_the_ways_are_open_and_nothing_is_left_behind(tmp_path: Path) -> None:
    policy = place_of(tmp_path, "strict")
    runner, before = UnconfinedRunner(), everything(tmp_path)
    try:
        found = await outcomes(runner, tmp_path, policy)
    finally:
        await runner.close()
    assert everything(tmp_path) == before
    closed = {one.attempt.way.attack for one in found if one.result == "stopped"}
    assert closed - HYGIENE - KERNEL_LACKS == (NEEDS_ROOT if os.getuid() else set())
    assert any(one.broken for one in found)


@pytest.mark.parametrize("profile", PROFILES)
async def test_what_is_lost_without_bubblewrap_is_told_and_breaks_no_promise(
    tmp_path: Path, profile: str
) -> None:
    policy, has = place_of(tmp_path, profile), without_bwrap()
    async with running(policy, has) as runner:
        before = everything(tmp_path)
        found = await outcomes(runner, tmp_path, policy, has)
    assert everything(tmp_path) == before
    assert [one.attempt for one in found if one.broken] == []
    lost = {one.attempt.way.attack for one in found if one.attempt.promise == "lost here"}
    assert lost >= {"w15", "w16", "w17", "w18"}
    assert {"w29", "w30", "w33"} <= lost or profile == "read-only"
    assert "w15" in {one.attempt.way.attack for one in found if one.result == "OPEN"} or profile == "strict"


def test_rows_are_those_of_the_attack_table() -> None:
    titles = {row.attack: row.title for row in ROWS}
    ways = (*OUTSIDE, *EVERYWHERE, *DAEMONS, DENIED, *DENIED_FILE, RENAME)
    tried = {**{way.attack: way.title for way in ways}, **PROTECTED}
    assert {row: title for row, title in tried.items() if titles[row] != title} == {}


@pytest.mark.parametrize(("column", "profile"), [("W", "workspace"), ("RO", "read-only"), ("S", "strict")])
def test_promises_are_those_of_the_attack_table(tmp_path: Path, column: str, profile: str) -> None:
    policy = place_of(tmp_path, profile)
    marks = {row.attack: row.promise for row in ROWS}
    words = {"promised": "+", "not promised": "-", "lost here": "x"}
    for has, named in ((probe(), column), (without_bwrap(), column.lower())):
        for way in (*OUTSIDE, *EVERYWHERE, *DAEMONS):
            wanted = marks[way.attack].get(named, ".").replace(".", "-")
            told = words[promise_of(way.kind, policy, has, str(tmp_path / "work"))]
            assert (way.attack, told) == (way.attack, wanted)


def test_a_mechanism_that_keeps_a_way_shut_alone_is_enough_for_the_promise() -> None:
    none = Mechanisms(0, seccomp=False, bwrap=None, bwrap_network=False, reasons={})
    devbox = Policy("devbox", write_all=True, protected=("/data", "/etc/cron.d"))
    landlock = none._replace(landlock_abi=7)
    assert promise_of("protected", devbox, landlock, "/w", "/data") == "promised"
    assert promise_of("protected", devbox, landlock, "/w", "/etc/cron.d") == "lost here"
    blocked = Policy("read-only", network="blocked")
    namespace = none._replace(bwrap="/usr/bin/bwrap", bwrap_network=True)
    assert promise_of("abstract", blocked, namespace, "/w") == "promised"
    assert promise_of("abstract", blocked, namespace._replace(bwrap_network=False), "/w") == "lost here"


async def test_a_try_that_fails_by_itself_counts_as_not_tried(tmp_path: Path) -> None:
    policy = place_of(tmp_path, "workspace")
    runner = UnconfinedRunner()
    env = neutral_environment(os.environ)
    try:
        with site(policy, tmp_path / "work", tmp_path / "home") as at:
            first = attempts(policy, probe(), at)[0]
            broken = first._replace(way=Way("w01", "x", "files", "raise ValueError"))
            found = [one async for one in check(runner, (broken,), at, env)]
    finally:
        await runner.close()
    assert [(one.result, one.why) for one in found] == [("not tried", "the try failed")]


@pytest.mark.parametrize("bwrap", [True, False])
def test_the_program_prints_the_table_for_this_machine(tmp_path: Path, bwrap: bool) -> None:
    (tmp_path / "project").mkdir()
    env = {} if bwrap else {"PATH": only(tmp_path, "sh", "bash", "setsid", "sleep", "git")}
    with not_temporary() as home:
        place = Place(home, tmp_path / "project")
        place.run("sandbox", "check", "--profile", "strict", env=env)
        before = everything(home)
        done = place.run("sandbox", "check", "--profile", "strict", env=env)
        assert done.returncode == 0, done.stdout
        assert everything(home) == before
    lines = done.stdout.splitlines()
    assert lines[0] == "profile strict" if bwrap else lines[0].startswith("profile strict, ")
    heads = next(line for line in lines if line.startswith("id "))
    assert heads.split() == ["id", "attack", "closed", "result"]
    rows = {line[:3]: line for line in lines[lines.index(heads) + 1 :] if line[1:3].isdigit()}
    assert "overwrite a file outside" in rows["w01"] and rows["w01"].split()[-2:] == ["yes", "stopped"]
    assert (rows["w15"].split()[-2] == "lost") is not bwrap
    assert {row[0] for row in rows} >= set("wnal")
    assert lines[-1].endswith("; 0 promises broken")


def only(root: Path, *names: str) -> str:
    """A search path with these programs alone."""
    folder = root / "bin"
    folder.mkdir()
    for name in names:
        done = subprocess.run(["which", name], check=True, capture_output=True, text=True)
        (folder / name).symlink_to(done.stdout.strip())
    return str(folder)

"""The mounts that a policy becomes: what is pinned, what lies upon what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox import bwrap
from grokmini.sandbox.bwrap import KERNEL_SETTINGS, bwrap_words, mounts_of
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import ISOLATION


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("outer/work/.git/hooks", "outer/work/a/b", "data"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("outer/work/.git/config", "outer/work/a/b/key"):
        (tmp_path / name).touch()
    return tmp_path


def how(policy: Policy, root: Path) -> dict[str, str]:
    """The mounts by their paths below `root`, in their order."""
    mounts = mounts_of(policy).mounts
    return {path.removeprefix(f"{root}/"): kind for path, kind in mounts if path.startswith(f"{root}/")}


def policy_in(root: Path) -> Policy:
    work = f"{root}/outer/work"
    return Policy(
        "workspace",
        write_roots=(work,),
        temp=(f"{root}/outer",),
        protected=(f"{work}/.git/hooks", f"{work}/.git/config", f"{work}/.grokmini"),
        denied=(f"{work}/a/b/key",),
    )


def test_every_folder_on_the_way_to_what_is_kept_is_pinned_and_deeper_mounts_come_later(root: Path) -> None:
    assert list(how(policy_in(root), root).items()) == [
        ("outer", "write"),
        ("outer/work", "write"),
        ("outer/work/.git", "pin"),
        ("outer/work/a", "pin"),
        ("outer/work/.git/config", "read"),
        ("outer/work/.git/hooks", "read"),
        ("outer/work/a/b", "pin"),
        ("outer/work/a/b/key", "mask"),
    ]


def test_a_folder_between_two_writable_ones_is_pinned_too(root: Path) -> None:
    policy = replace(policy_in(root), temp=(str(root),), denied=())
    assert how(policy, root)["outer"] == "pin"


def test_nothing_in_a_read_only_folder_is_made_writable_by_a_pin(root: Path) -> None:
    """As where read-only works in a folder below a temporary one."""
    policy = policy_in(root)
    policy = replace(policy, write_roots=(), protected=(f"{root}/outer/work", *policy.protected))
    kinds = how(policy, root)
    assert kinds["outer/work"] == "read"
    assert [path for path, kind in kinds.items() if kind in ("pin", "write")] == ["outer"]


def test_what_is_not_there_is_waited_for_and_a_link_is_told(root: Path) -> None:
    mounts = mounts_of(policy_in(root))
    assert mounts.absent == (f"{root}/outer/work/.grokmini",)
    assert mounts.uncovered == ()
    (root / "outer/work/.grokmini").symlink_to(root / "data")
    assert "symbolic link" in mounts_of(policy_in(root)).uncovered[0]


def test_denied_paths_that_cannot_be_covered_are_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = root / "outer/a\nb"
    odd.touch()
    with pytest.raises(SandboxError, match="control characters"):
        mounts_of(Policy("a", denied=(str(odd),)))
    monkeypatch.setattr(bwrap, "MAX_FILE_MASKS", 1)
    other = root / "outer/c"
    other.touch()
    with pytest.raises(SandboxError, match="more than 1 files"):
        mounts_of(Policy("a", denied=(f"{root}/outer/work/a/b/key", str(other))))


@pytest.mark.parametrize("network", ["open", "blocked"])
def test_every_sandbox_is_isolated_and_keeps_the_systems_settings(root: Path, network: str) -> None:
    policy = replace(policy_in(root), network=network)  # type: ignore[arg-type]
    words = bwrap_words(policy, mounts_of(policy), "bwrap", network=True, needed=(), mask=lambda: 9)
    assert words[: len(ISOLATION) + 1] == ["bwrap", *ISOLATION]
    assert ("--unshare-net" in words) is (network == "blocked")
    text = " ".join(words)
    assert "--ro-bind / / --dev /dev --proc /proc" in text
    for path in KERNEL_SETTINGS:
        assert (f"--ro-bind {path} {path}" in text) is Path(path).exists()
    assert f"--perms 0000 --ro-bind-data 9 {root}/outer/work/a/b/key" in text
    devbox = Policy("devbox", write_all=True, protected=(f"{root}/data",))
    text = " ".join(bwrap_words(devbox, mounts_of(devbox), "bwrap", network=True, needed=(), mask=lambda: 9))
    assert "--bind / / --ro-bind /sys /sys" in text
    assert f"--ro-bind {root}/data {root}/data" in text


def test_strict_shows_its_folders_alone_and_they_cannot_be_added_to(root: Path) -> None:
    policy = replace(policy_in(root), read_all=False, read_roots=("/usr", "/usr/bin", "/bin"))
    words = bwrap_words(policy, mounts_of(policy), "bwrap", network=True, needed=("/opt",), mask=lambda: 9)
    text = " ".join(words)
    assert "--ro-bind / /" not in text
    assert "--ro-bind /usr /usr" in text and "--ro-bind /usr/bin" not in text
    assert words[-2:] == ["--remount-ro", "/"]

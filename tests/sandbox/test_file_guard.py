"""What a policy lets the file tools do, asked about open descriptors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.files.descriptors import FOLDER, FileMovedError, place_of
from grokmini.sandbox.file_guard import FileGuard, FileRefusedError
from grokmini.sandbox.policy import Policy
from tests.sandbox.places import workspace


@contextmanager
def _open(path: Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    fd = os.open(path, flags)
    try:
        yield fd
    finally:
        os.close(fd)


def _refused_read(policy: Policy | None, path: Path) -> str:
    """The rule that keeps it from being read; empty when it may be."""
    with _open(path) as fd:
        try:
            FileGuard(lambda: policy).check_read(fd)
        except FileRefusedError as error:
            assert error.path == place_of(fd)
            return error.rule
    return ""


def _refused_write(policy: Policy | None, path: Path) -> str:
    """The rule that keeps it from being written; empty when it may be."""
    with _open(path.parent, FOLDER) as folder:
        try:
            FileGuard(lambda: policy).check_write(folder, path.name)
        except FileRefusedError as error:
            return error.rule
    return ""


def _with_denied(root: Path) -> tuple[Policy, Path]:
    """A policy that denies one file and one folder in the folder worked in."""
    policy = workspace(root)
    cwd = root / "cwd"
    (cwd / "cfg" / "safe").mkdir(parents=True)
    for name in ("key", "other", "safe/deep"):
        (cwd / "cfg" / name).write_text(name)
    return replace(policy, denied=(str(cwd / "cfg" / "key"), str(cwd / "cfg" / "safe"))), cwd


def test_without_a_policy_or_with_one_that_allows_everything_nothing_is_refused(tmp_path: Path) -> None:
    for policy in (None, Policy("off", write_all=True)):
        assert not _refused_write(policy, tmp_path / "f")
        assert not _refused_write(policy, Path("/dev/null"))
        assert not _refused_read(policy, Path("/proc/self/status"))


def test_what_is_outside_of_the_writable_folders_is_refused_with_the_rule(tmp_path: Path) -> None:
    policy = workspace(tmp_path)
    assert not _refused_write(policy, tmp_path / "cwd" / "f")
    assert not _refused_write(policy, tmp_path / "scratch" / "f")
    assert not _refused_write(policy, tmp_path / "temp" / "f")
    rule = _refused_write(policy, tmp_path / "outside" / "f")
    assert rule.startswith(f"only {tmp_path / 'cwd'}, ") and rule.endswith("can be written")


def test_a_folder_link_counts_as_the_folder_it_leads_to(tmp_path: Path) -> None:
    policy = workspace(tmp_path)
    (tmp_path / "cwd" / "box").symlink_to("../outside")
    (tmp_path / "outside" / "back").symlink_to("../cwd")
    assert _refused_write(policy, tmp_path / "cwd" / "box" / "n.txt")
    assert not _refused_write(policy, tmp_path / "outside" / "back" / "n.txt")


@pytest.mark.parametrize("alias", ["/proc/self/root", "/proc/self/cwd/..", "/proc/thread-self/root"])
def test_aliases_of_the_kernel_lead_where_they_lead(tmp_path: Path, alias: str) -> None:
    policy = workspace(tmp_path)
    place = Path(alias) if alias.endswith("root") else Path("/proc/self/cwd/../../../../../../../../..")
    outside = place / str(tmp_path / "outside").lstrip("/") / "f"
    assert _refused_write(policy, outside)


def test_denied_files_and_what_is_in_denied_folders_is_not_read_or_written(tmp_path: Path) -> None:
    policy, cwd = _with_denied(tmp_path)
    assert _refused_read(policy, cwd / "cfg" / "key") == f"{cwd}/cfg/key is denied"
    assert _refused_read(policy, cwd / "cfg" / "safe" / "deep") == f"{cwd}/cfg/safe is denied"
    assert _refused_read(policy, cwd / "cfg" / "safe") == f"{cwd}/cfg/safe is denied"
    assert not _refused_read(policy, cwd / "cfg" / "other")
    assert not _refused_read(policy, cwd / "cfg")
    for name in ("key", "safe/deep", "safe/new"):
        assert "is denied" in _refused_write(policy, cwd / "cfg" / name)
    assert not _refused_write(policy, cwd / "cfg" / "other")


def test_what_matches_a_denied_glob_later_is_denied_with_what_is_below(tmp_path: Path) -> None:
    policy = replace(workspace(tmp_path), denied_globs=(f"{tmp_path}/cwd/**/*.key",))
    guard = FileGuard(lambda: policy)
    cwd = tmp_path / "cwd"
    assert not guard.why_not_written(cwd / "key")
    (cwd / "sub" / "ring.key").mkdir(parents=True)
    (cwd / "sub" / "ring.key" / "one").touch()
    (cwd / "late.key").touch()
    assert _refused_read(policy, cwd / "late.key") == f"{cwd}/**/*.key is denied"
    assert _refused_read(policy, cwd / "sub" / "ring.key" / "one")
    assert _refused_write(policy, cwd / "new.key")


def test_another_name_of_a_denied_file_is_refused_also_one_given_later(tmp_path: Path) -> None:
    policy, cwd = _with_denied(tmp_path)
    key, alias = cwd / "cfg" / "key", cwd / "alias"
    guard = FileGuard(lambda: policy)
    alias.hardlink_to(key)
    with _open(alias) as fd, pytest.raises(FileRefusedError, match="by another name"):
        guard.check_read(fd)
    with _open(alias) as fd, pytest.raises(FileRefusedError, match="by another name"):
        guard.check_overwrite(fd)
    assert "by another name" in guard.why_not_written(alias)
    alias.unlink()
    key.unlink()
    (cwd / "fresh").write_text("another key")
    (cwd / "fresh").rename(key)
    alias.hardlink_to(key)
    with _open(alias) as fd, pytest.raises(FileRefusedError, match="by another name"):
        guard.check_read(fd)


def test_a_denied_file_or_folder_that_was_moved_away_stays_denied(tmp_path: Path) -> None:
    policy, cwd = _with_denied(tmp_path)
    guard = FileGuard(lambda: policy)
    guard.why_not_written(cwd)  # the policy is known from here on
    (cwd / "cfg" / "key").rename(cwd / "moved")
    (cwd / "cfg" / "safe").rename(cwd / "elsewhere")
    for path in (cwd / "moved", cwd / "elsewhere", cwd / "elsewhere" / "deep"):
        with _open(path) as fd, pytest.raises(FileRefusedError, match="is denied"):
            guard.check_read(fd)
    with _open(cwd / "elsewhere", FOLDER) as folder, pytest.raises(FileRefusedError, match="is denied"):
        guard.check_write(folder, "new")


def test_a_new_file_with_the_number_of_a_denied_one_that_is_gone_may_be_read(tmp_path: Path) -> None:
    policy, cwd = _with_denied(tmp_path)
    key = cwd / "cfg" / "key"
    guard = FileGuard(lambda: policy)
    guard.why_not_written(key)
    key.rename(cwd / "reused")
    (cwd / "reused").write_text("the file system gave its number to what is no secret")
    with _open(cwd / "reused") as fd:
        guard.check_read(fd)


def test_protected_places_are_not_written_but_git_config_is(tmp_path: Path) -> None:
    cwd = tmp_path / "cwd"
    protected = tuple(
        str(cwd / name) for name in (".git/hooks", ".git/config", ".git/modules/m/config", ".grokmini")
    )
    policy = replace(workspace(tmp_path), protected=protected)
    for name in (".git/hooks", ".git/modules/m", ".grokmini"):
        (cwd / name).mkdir(parents=True)
    assert _refused_write(policy, cwd / ".git/hooks/pre-commit") == f"{cwd}/.git/hooks stays read-only"
    assert _refused_write(policy, cwd / ".grokmini/sandbox.toml")
    assert _refused_write(policy, cwd / ".grokmini")
    assert _refused_write(policy, cwd / ".git/modules/m/config")
    assert not _refused_write(policy, cwd / ".git/config")
    assert not _refused_write(policy, cwd / ".git/info")


def test_what_is_private_to_the_session_is_writable_inside_of_our_own_folders(tmp_path: Path) -> None:
    state = tmp_path / "cwd" / "state"
    (state / "s" / "scratch").mkdir(parents=True)
    policy = replace(workspace(tmp_path), protected=(str(state),), scratch=str(state / "s" / "scratch"))
    assert not _refused_write(policy, state / "s" / "scratch" / "f")
    assert _refused_write(policy, state / "s" / "summary.json")


def test_a_protected_file_is_not_overwritten_by_another_name(tmp_path: Path) -> None:
    own = tmp_path / "cwd" / "own"
    policy = replace(workspace(tmp_path), protected=(str(own),))
    own.mkdir()
    (own / "sandbox.toml").write_text("")
    (tmp_path / "cwd" / "alias").hardlink_to(own / "sandbox.toml")
    with _open(tmp_path / "cwd" / "alias", os.O_RDWR) as fd, pytest.raises(FileRefusedError, match="read-only"):
        FileGuard(lambda: policy).check_overwrite(fd)


def test_with_a_list_of_readable_folders_nothing_else_is_read(tmp_path: Path) -> None:
    policy = replace(workspace(tmp_path), read_all=False, read_roots=("/usr", str(tmp_path / "cwd")))
    (tmp_path / "outside" / "f").write_text("x")
    (tmp_path / "temp" / "f").write_text("x")
    assert _refused_read(policy, tmp_path / "outside" / "f").endswith("can be read")
    assert _refused_read(policy, tmp_path / "outside")
    assert not _refused_read(policy, tmp_path / "temp" / "f")
    assert not _refused_read(policy, Path("/usr"))
    assert not _refused_read(policy, Path("/proc/cpuinfo"))


def test_memory_and_environment_of_programs_are_not_read(tmp_path: Path) -> None:
    policy = workspace(tmp_path)
    assert "keys" in _refused_read(policy, Path("/proc/self/environ"))
    assert "keys" in _refused_read(policy, Path(f"/proc/{os.getppid()}/cmdline"))
    assert not _refused_read(policy, Path("/proc/meminfo"))


def test_where_everything_is_writable_the_protected_and_the_kernels_folders_are_not(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    policy = Policy("devbox", write_all=True, protected=(str(data),))
    guard = FileGuard(lambda: policy)
    assert not _refused_write(policy, tmp_path / "f")
    assert _refused_write(policy, data / "f") == f"{data} stays read-only"
    assert guard.why_not_written(Path("/proc/sys/kernel/core_pattern"))
    assert guard.why_not_written(Path("/sys/x")) and guard.why_not_written(Path("/dev/sda"))


def test_what_was_deleted_or_replaced_after_it_was_opened_has_no_place(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("x")
    (tmp_path / "g (deleted)").write_text("a name like the kernel's word")
    with _open(file) as fd:
        file.unlink()
        with pytest.raises(FileMovedError):
            place_of(fd)
    with _open(tmp_path / "g (deleted)") as fd:
        assert place_of(fd) == str(tmp_path / "g (deleted)")
    pipe = os.pipe()
    for fd in pipe:
        with pytest.raises(FileMovedError):
            place_of(fd)
        os.close(fd)


def test_a_changed_policy_counts_from_the_next_question_on(tmp_path: Path) -> None:
    policies = [workspace(tmp_path)]
    guard = FileGuard(lambda: policies[-1])
    assert guard.why_not_written(tmp_path / "outside" / "f")
    policies.append(replace(policies[0], write_roots=(str(tmp_path / "outside"),)))
    assert not guard.why_not_written(tmp_path / "outside" / "f")


def test_an_approved_path_is_let_through_and_nothing_beside_it(tmp_path: Path) -> None:
    policy = workspace(tmp_path)
    outside = tmp_path / "outside"
    (outside / "f").write_text("x")
    guard = FileGuard(lambda: policy).but_for((outside / "new" / "f", outside / "f"))
    with _open(outside, FOLDER) as folder:
        guard.check_write(folder, "f")
        guard.check_make(folder, "new")
        for check, name in ((guard.check_write, "g"), (guard.check_write, "new"), (guard.check_make, "newer")):
            with pytest.raises(FileRefusedError):
                check(folder, name)
    with _open(outside / "f") as fd:
        guard.check_overwrite(fd)

"""What `grokmini sandbox explain CMD` says would be stopped, and why."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.cli.sandbox_explain import parts_of
from grokmini.sandbox.explain import explain
from grokmini.sandbox.obstacles import obstacles
from grokmini.sandbox.probe import Mechanisms
from grokmini.sandbox.profile import Profile
from grokmini.sandbox.resolve import Around
from tests.sandbox.resolved import around_of, resolved

NOTHING = ("nothing is known to be in its way",)
EVERYTHING = Mechanisms(7, seccomp=True, bwrap="/usr/bin/bwrap", bwrap_network=True, reasons={})


@pytest.fixture
def around(tmp_path: Path) -> Around:
    """A project that is a repository, another one beside it, a secret in the home folder."""
    found = around_of(tmp_path)
    for name in ("work", "other"):
        (tmp_path / name).mkdir(exist_ok=True)
        subprocess.run(["git", "init", "-q"], cwd=tmp_path / name, check=True)
    (tmp_path / "home/.netrc").write_text("machine a password b")
    return found


def told(around: Around, command: str, profile: str | Profile = "workspace") -> tuple[str, ...]:
    return obstacles(parts_of(command), resolved(around, profile), around.cwd, around.home)


@pytest.mark.parametrize(
    "command",
    ["make", "git commit -m 'a b'", "git status | head", "git config --get user.name", "echo x > build/x.txt",
     "touch a && rm a", "ls /etc", "cat < README", "git -C sub log", "dd if=/dev/zero of=disk",
     "sed s/a/b/ /etc/passwd", "cp /etc/passwd .", "echo x >/dev/null 2>&1", "git branch", "git remote -v",
     "chmod 644 a", "echo x >/dev/shm/a", "echo x >/dev/pts/0"],
)  # fmt: skip
def test_ordinary_commands_have_nothing_in_their_way(around: Around, command: str) -> None:
    assert told(around, command) == NOTHING


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("sudo make install", ("sudo:", "no_new_privs")),
        ("cat x | sudo tee y", ("sudo:", "no_new_privs")),
        ("bash -c 'sudo ls'", ("sudo:", "no_new_privs")),
        ("unshare -Ur id", ("unshare:", "namespaces")),
        ("chromium https://x", ("chromium:", "--no-sandbox")),
        ("crontab -e", ("crontab:", "outside")),
        ("git config user.name x", ("git config user.name:", "work/.git/config stays read-only")),
        ("cd sub; git remote add o x", ("git remote add:", "work/.git/config stays read-only")),
        ("git push -u o main", ("git push -u:", "work/.git/config stays read-only")),
        ("git -C ../other config user.name x", ("other/.git/config cannot be written", "outside of what")),
        ("git -C ../other commit -m x", ("git commit:", "other/.git cannot be written")),
        ("git config --global user.name x", ("home/.gitconfig cannot be written",)),
        ("echo x >.git/hooks/pre-commit", ("work/.git/hooks/pre-commit stays read-only",)),
        ("make > /etc/x", ("/etc/x cannot be written", "the profile workspace")),
        ("ls | tee ~/x", ("home/x cannot be written",)),
        ("rm -rf ../other", ("other cannot be written",)),
        ("cp a b /usr/local/bin", ("/usr/local/bin cannot be written",)),
        ("dd if=a of=/dev/sda", ("/dev/sda cannot be written",)),
        ("echo 1 >/proc/sys/vm/swappiness", ("/proc/sys/vm/swappiness cannot be written",)),
        ("cat ~/.netrc", ("home/.netrc is hidden",)),
        ("wc -l < ~/.netrc", ("home/.netrc is hidden",)),
    ],
)
def test_what_would_be_stopped_is_told_with_its_reason(
    around: Around, command: str, words: tuple[str, ...]
) -> None:
    text = "\n".join(told(around, command))
    assert [word for word in words if word not in text] == []
    assert "nothing is known" not in text


@pytest.mark.parametrize(
    "command",
    ["curl x", "git clone x", "pip install x", "npm ci", "ls && curl x", "python3 -m http.server", "apt-get install x"],
)  # fmt: skip
def test_a_blocked_network_is_in_the_way_of_what_needs_it(around: Around, command: str) -> None:
    assert any("blocks the network" in line for line in told(around, command, "strict"))
    assert told(around, command) == NOTHING


def test_under_strict_what_lies_outside_cannot_be_read(around: Around, tmp_path: Path) -> None:
    (tmp_path / "home/notes").write_text("x")
    assert "home/notes cannot be read" in told(around, "cat ~/notes", "strict")[0]
    assert told(around, "cat ~/notes") == NOTHING


def test_denied_files_are_told_also_below_a_denied_folder(around: Around) -> None:
    Path(around.cwd, "keys").mkdir()
    profile = Profile("a", "workspace", deny=("keys",))
    assert "keys/a is hidden" in told(around, "cat keys/a", profile)[0]
    assert "cannot be written" in told(around, "touch keys/a", profile)[0]


def test_off_stops_nothing(around: Around) -> None:
    assert told(around, "sudo rm -rf /etc", "off") == ("nothing: it may do whatever you can",)


def test_a_profile_is_told_whole_with_what_the_machine_does_not_keep(around: Around) -> None:
    policy = resolved(around, "read-only")
    text = "\n".join(explain(policy, EVERYTHING))
    assert "network   blocked" in text
    assert ("not kept" in text) == (os.getuid() == 0)  # the kernel counts no processes for root
    assert f"write     {around.scratch}" in text
    assert "GiB for one process" in text
    poor = EVERYTHING._replace(bwrap=None, reasons={"bubblewrap": "bwrap is not installed"})
    text = "\n".join(explain(policy, poor))
    assert "not kept" in text and "apt install bubblewrap" in text
    assert "commands  may do whatever you can" in explain(resolved(around, "off"), EVERYTHING)


def test_a_policy_without_a_scratch_folder_names_no_empty_path(around: Around) -> None:
    from grokmini.sandbox.bwrap import mounts_of

    policy = replace(resolved(around, "read-only"), scratch="")
    assert str(Path.cwd()) not in [mount.path for mount in mounts_of(policy).mounts if mount.how == "write"]
    assert "" not in [line[10:] for line in explain(policy, EVERYTHING) if line.startswith("write")]

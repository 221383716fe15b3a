"""For which commands "always exactly this command" may be offered: what nothing inside the sandbox can change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grokmini.sandbox.policy import Policy
from grokmini.sandbox.runner import CommandSpec
from grokmini.tools.always import why_not_always
from tests.sandbox.places import workspace


def why(root: Path, command: str, policy: Policy | None = None, path: str = "/usr/bin:/bin") -> str:
    policy = policy or workspace(root)
    spec = CommandSpec(("bash",), root / "cwd", {"PATH": path.format(root=root)})
    return why_not_always(command.format(root=root), spec, policy)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


@pytest.mark.parametrize(
    "command",
    [
        "touch {root}/outside/x",
        "echo 'a; b' >> {root}/outside/log",
        "mkdir -p {root}/outside/a && touch {root}/outside/a/b",
        "touch ../outside/x",
        "chmod -R 755 {root}/outside",
        "cp /etc/passwd {root}/outside/",
        "cat /etc/hostname | tee {root}/outside/x",
        "/usr/bin/touch {root}/outside/x",
    ],
)
def test_a_plain_command_about_what_lies_outside_may_be_let_out_for_good(root: Path, command: str) -> None:
    assert why(root, command) == ""


@pytest.mark.parametrize(
    "command",
    [
        "./build.sh", "build.sh", "bash build.sh", "sh -c 'touch /x'", "{root}/cwd/build.sh", "python3 setup.py",
        "make", "make install", "npm run build", "pytest", "node x.js", "cargo build", "go generate", "git push", "tox",
        "docker compose up", "pip install -e .", "ansible-playbook x.yml", "env touch /x", "sudo touch /x",
        "xargs touch", "find / -exec touch x", ". ./env.sh", "source env.sh", "eval touch", "some-unknown-program",
        "command touch /x", "PATH=. touch /x", "awk -f x.awk", "sed -i s/a/b/ /x", "tar xf /x.tar", "rsync a b",
    ],
)  # fmt: skip
def test_what_runs_or_may_read_a_project_is_let_out_only_once(root: Path, command: str) -> None:
    assert "may depend on files that commands can change" in why(root, command)


@pytest.mark.parametrize(
    "command",
    [
        "cp build/tool {root}/outside/tool",
        "cat x > {root}/outside/x",
        "cat < x > {root}/outside/x",
        "mv {root}/cwd/x {root}/outside/x",
        "cp {root}/temp/x {root}/outside/x",
        "cp --target-directory={root}/cwd/link {root}/outside/x",
        "touch link/x",
        "touch sub/../../outside/x",
        "touch {root}/cwd/../outside/x",
        "ln -s . {root}/outside/x",
        "echo x > link",
    ],
)
def test_a_path_that_commands_can_change_or_lead_elsewhere_is_let_out_only_once(
    root: Path, command: str
) -> None:
    assert why(root, command).startswith("commands can change ")


def test_of_a_path_from_home_it_is_said_to_write_it_whole(root: Path) -> None:
    assert why(root, "touch ~/x").endswith("another path next time: write it whole")


def test_a_link_outside_that_leads_inside_is_seen_through(root: Path) -> None:
    workspace(root)
    (root / "outside/link").symlink_to(root / "cwd/x")
    assert why(root, "cp {root}/outside/link {root}/outside/y").startswith("commands can change ")


@pytest.mark.parametrize(
    "command",
    [
        "touch $X",
        "touch $(cat x)",
        "touch {root}/outside/*",
        "$X /x",
        "(touch /x)",
        "touch /x &",
        "x() {{ touch; }}",
    ],
)
def test_what_the_shell_may_make_something_else_of_is_let_out_only_once(root: Path, command: str) -> None:
    assert why(root, command)


def test_a_plain_program_that_commands_can_replace_is_let_out_only_once(root: Path) -> None:
    workspace(root)
    mine = root / "cwd/touch"
    mine.write_text("#!/bin/sh\n")
    mine.chmod(0o755)
    for command, path in (("touch /x", "{root}/cwd:/usr/bin"), ("./touch /x", "/usr/bin")):
        assert why(root, command, path=path).startswith("commands can change ")
    (root / "outside/touch").symlink_to(mine)
    assert why(root, "touch /x", path="{root}/outside").startswith("commands can change ")


def test_where_everything_can_be_written_nothing_is_let_out_for_good(root: Path) -> None:
    everywhere = Policy("devbox", write_all=True)
    assert why(root, "touch /x", everywhere) == "under devbox commands can change what it uses"

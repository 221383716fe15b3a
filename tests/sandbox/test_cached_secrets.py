"""Passwords and keys that a program outside holds for whoever asks are out of reach, in the folders of today too."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.sandbox.refusals import refusals
from grokmini.sandbox.resolve import Around
from grokmini.sandbox.secrets import secret_paths
from tests.sandbox.places import ENV, running, said
from tests.sandbox.resolved import around_of, resolved

PASSWORD = "s3cr3t"
ASKED = "printf 'protocol=https\\nhost=example.com\\n\\n'"


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a short name: a socket's path has little room."""
    with tempfile.TemporaryDirectory(prefix="gs-", dir="/var/tmp") as name:
        yield Path(name)


@pytest.fixture(params=["usual", "XDG_CACHE_HOME", "old"])
def around(short: Path, request: pytest.FixtureRequest) -> Iterator[Around]:
    """A home of which git's own cache of passwords runs, with one in it."""
    found = around_of(
        short, {"XDG_CACHE_HOME": str(short / "xdg")} if request.param == "XDG_CACHE_HOME" else {}
    )
    if request.param == "old":
        Path(found.home, ".git-credential-cache").mkdir(mode=0o700)
    env = {**ENV, **found.env}
    words = ["git", "credential-cache", "store"]
    entry = f"protocol=https\nhost=example.com\nusername=u\npassword={PASSWORD}\n\n"
    try:
        subprocess.run(words, input=entry, env=env, check=True, text=True, stdout=subprocess.DEVNULL)
        yield found
    finally:
        subprocess.run(["git", "credential-cache", "exit"], env=env, check=False)


async def test_a_password_in_the_cache_of_git_is_given_to_no_command(around: Around) -> None:
    home = " ".join(f"{name}={value}" for name, value in around.env.items())
    command = f"{ASKED} | env {home} git credential-cache get 2>&1; echo on"
    async with running(resolved(around)) as runner:
        output = await said(runner, command, around.cwd)
        assert PASSWORD not in output and output.endswith("on\n")
    async with running(resolved(replace(around, protect_secrets=False))) as runner:
        assert PASSWORD in await said(runner, command, around.cwd), "it is there to be had"


async def test_a_command_that_did_without_it_is_told(around: Around) -> None:
    line = "fatal: could not read Username for 'https://example.com': terminal prompts disabled"
    (one,) = refusals(f"{line}\n", resolved(around), around.cwd)
    assert "credential" in one.path


@pytest.mark.parametrize(
    "name",
    [".git-credential-cache", ".cache/git/credential", ".1password/agent.sock", ".bitwarden-ssh-agent.sock",
     ".rd/docker.sock", ".orbstack/run/docker.sock", ".librewolf", ".thunderbird", ".config/mozilla/firefox"],
)  # fmt: skip
def test_what_is_in_the_home_is_hidden(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir(parents=True)
    assert str(tmp_path / name) in secret_paths(str(tmp_path), {}, ())


@pytest.mark.parametrize(
    "name", ["gcr", "openssh_agent", "ssh-agent", "ssh-agent.socket", "libvirt", "buildkit/buildkitd.sock"]
)
def test_what_is_in_the_folder_of_the_running_session_is_hidden(tmp_path: Path, name: str) -> None:
    (tmp_path / "run" / name).mkdir(parents=True)
    found = secret_paths(str(tmp_path), {"XDG_RUNTIME_DIR": f"{tmp_path}/run"}, ())
    assert f"{tmp_path}/run/{name}" in found


def test_tokens_for_registries_are_hidden_where_there_are_some(tmp_path: Path) -> None:
    file = tmp_path / ".config/containers/auth.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"auths": {}}')
    assert str(file) not in secret_paths(str(tmp_path), {}, ())
    file.write_text('{"auths": {"quay.io": {"auth": "eDp5"}}}')
    assert str(file) in secret_paths(str(tmp_path), {}, ())

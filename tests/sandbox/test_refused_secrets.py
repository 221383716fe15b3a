"""A command that did without a hidden key or token is told as stopped, although programs name no file then."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from grokmini.sandbox.policy import Policy
from grokmini.sandbox.profile import built_in
from grokmini.sandbox.refusals import Refusal, refusals
from grokmini.sandbox.resolve import resolve
from tests.sandbox.places import ENV, not_temporary, read, running, shell
from tests.sandbox.resolved import around_of
from tests.sandbox.test_git_protected import repository

HOME = "/home/someone"
SAID = (
    ("error: gpg failed to sign the data", ".gnupg/private-keys-v1.d"),
    ("gpg: signing failed: No secret key", ".gnupg/private-keys-v1.d"),
    ('gpg: skipped "a@b": No secret key', ".gnupg/secring.gpg"),
    ("gpg: decryption failed: No secret key", ".gnupg/S.gpg-agent"),
    ("git@github.com: Permission denied (publickey).", ".ssh/id_rsa"),
    ("me@host: Permission denied (publickey,password).", "agents/ssh-Xy12/agent.77"),
    ("Could not open a connection to your authentication agent.", "agents/ssh-Xy12/agent.77"),
    ('error: No private key found for "/home/someone/.ssh/work"?', ".ssh/work"),
    ("fatal: could not read Username for 'https://github.com': terminal prompts disabled", ".git-credentials"),
    ("fatal: Authentication failed for 'https://github.com/a/b'", ".netrc"),
    ("To get started with GitHub CLI, please run:  gh auth login", ".config/gh/hosts.yml"),
    ("Unable to locate credentials. You can configure them by running aws configure", ".aws/credentials"),
    ("ERROR: run: gcloud auth login", ".config/gcloud/credentials.db"),
    ("npm error code ENEEDAUTH", ".npmrc"),
    ("no basic auth credentials", ".docker/config.json"),
    ("error: no token found, please run `cargo login`", ".cargo/credentials.toml"),
)


def denying(*names: str) -> Policy:
    return Policy("workspace", write_roots=("/srv/project",), denied=tuple(f"{HOME}/{name}" for name in names))


@pytest.mark.parametrize(("line", "name"), SAID)
def test_what_a_program_says_without_a_hidden_secret_names_it(line: str, name: str) -> None:
    (one,) = refusals(f"working\n{line}\nfatal: gave up\n", denying("unrelated", name), "/srv/project")
    assert (one.path, one.kind, one.said) == (f"{HOME}/{name}", "read", line)
    assert one.rule == f"{HOME}/{name} is denied (sandbox profile workspace)" and "tell the user" in one.hint


@pytest.mark.parametrize("line", [line for line, _ in SAID])
def test_nothing_is_told_where_nothing_of_the_kind_is_hidden(line: str) -> None:
    assert refusals(f"{line}\n", denying(), "/srv/project") == ()
    assert refusals(f"{line}\n", denying("key.pem", "notes/private", "run/tmux"), "/srv/project") == ()


@pytest.fixture
def home() -> Iterator[Path]:
    """A home with a repository whose commits are signed, by the keys of `around_of`'s home."""
    with not_temporary() as base:
        yield base


async def signed(base: Path, settings: str) -> tuple[str, tuple[Refusal, ...]]:
    """A commit in a sandbox under the settings; what it printed, and what was told as stopped."""
    around = around_of(base)
    work = repository(Path(around.cwd))
    Path(around.home, ".gitconfig").write_text(f"[user]\n\tname = a\n\temail = a@b\n{settings}")
    policy = dataclasses.replace(
        resolve(built_in("workspace"), around, explicit=False), temp=(str(base / "temp"),)
    )
    (base / "temp").mkdir()
    command = "git commit --allow-empty -m two"
    env = {**ENV, "HOME": around.home, "TMPDIR": str(base / "temp")}
    async with running(policy) as runner:
        spec = dataclasses.replace(shell(command, work), env=env)
        handle = await runner.start(spec)
        output = (await read(handle)).decode()
        await handle.wait()
    return output, refusals(output, policy, str(work), command=command)


async def test_a_commit_that_cannot_be_signed_says_why_and_what_to_do(home: Path) -> None:
    (home / "home").mkdir()
    keys = home / "home/.gnupg"
    keys.mkdir(mode=0o700)
    env = {**os.environ, "GNUPGHOME": str(keys)}
    words = ["gpg", "--batch", "--passphrase", "", "--quick-gen-key", "a <a@b>", "default", "default", "never"]
    try:
        subprocess.run(words, env=env, check=True, capture_output=True)
    finally:
        subprocess.run(["gpgconf", "--kill", "all"], env=env, check=False, capture_output=True)
    output, (one,) = await signed(home, "[commit]\n\tgpgsign = true\n")
    assert "failed to write commit object" in output
    assert one.path == f"{keys}/private-keys-v1.d" and "--no-gpg-sign" in one.hint


async def test_a_commit_that_cannot_be_signed_with_a_key_of_ssh_says_why(home: Path) -> None:
    key = home / "home/.ssh/work"
    key.parent.mkdir(parents=True, mode=0o700)
    assert shutil.which("ssh-keygen")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    output, (one,) = await signed(
        home, f"\tsigningkey = {key}\n[gpg]\n\tformat = ssh\n[commit]\n\tgpgsign = true\n"
    )
    assert "failed to write commit object" in output
    assert one.path == str(key) and "--no-gpg-sign" in one.hint

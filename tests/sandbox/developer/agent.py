"""A developer at work: every command of the table in one folder, under one profile.

`python -m tests.sandbox.developer.agent BASE COLUMN` prints one JSON object: by row, the exit code and the output.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.environment import neutral_environment, profile_environment
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms, probe
from grokmini.sandbox.profile import OFF, built_in
from grokmini.sandbox.resolve import Around, make_folders, resolve
from grokmini.sandbox.runner import CommandSpec
from tests.sandbox.developer.files import FILES
from tests.sandbox.developer.table import ROWS

PROFILES = {"W": "workspace", "RO": "read-only", "S": "strict"}
CACHES = ("PIP_CACHE_DIR", "npm_config_cache", "CARGO_HOME", "GOCACHE")
SECONDS = 120.0


def prepare(base: Path, env: dict[str, str]) -> None:
    """A home, a repository with its files and branches, another one, and a program to debug."""
    for name in (
        "cwd/left",
        "cwd/.grokmini",
        "home/notes",
        "home/dotfiles",
        "temp",
        "scratch",
        "other",
        "config",
        "state",
    ):
        (base / name).mkdir(parents=True)
    for name, text in FILES.items():
        (base / name).write_text(text)
    (base / "home/.gitconfig").symlink_to("dotfiles/gitconfig")
    for repository in (base / "cwd", base / "other"):
        (repository / "f").write_text("one\n")
        for words in ("init -q", "add .", "commit -qm one", "branch old", "branch side"):
            subprocess.run(["git", *words.split()], cwd=repository, env=env, check=True)
    subprocess.run(["gcc", "-g", base / "cwd/main.c", "-o", base / "other/main"], env=env, check=True)


def policy_of(column: str, base: Path, env: dict[str, str]) -> tuple[Policy, dict[str, str]]:
    """The policy of a built-in profile, its temporary folder away from everybody's; and what it sets besides."""
    profile = built_in(PROFILES.get(column.upper(), OFF))
    around = Around(
        cwd=str(base / "cwd"),
        home=str(base / "home"),
        env=env,
        config=str(base / "config"),
        state=str(base / "state"),
        cache=str(base / "cache"),
        scratch=str(base / "scratch"),
    )
    policy = replace(resolve(profile, around, explicit=False), temp=(str(base / "temp"),))
    if profile.base == OFF:
        return policy, {name: str(base / "temp") for name in CACHES}
    if not policy.read_all:  # the other repository is what a person would list under `read`
        policy = replace(policy, read_roots=(*policy.read_roots, str(base / "other")))
    if column.upper() != "RO":
        policy = replace(policy, write_roots=(*policy.write_roots, str(base / "other")))
    make_folders(policy)
    return policy, profile_environment(profile, around.cache)


async def work(base: Path, column: str, mechanisms: Mechanisms, env: dict[str, str]) -> dict[str, object]:
    """Run every row, one after the other."""
    policy, more = policy_of(column, base, env)
    runner = SandboxedRunner(policy, mechanisms=mechanisms)
    found: dict[str, object] = {}
    for row in ROWS:
        words = ("/bin/bash", "--noprofile", "--norc", "-c", row.command)
        handle = await runner.start(CommandSpec(words, base / "cwd", {**neutral_environment(env), **more}))
        try:
            async with asyncio.timeout(SECONDS):
                text = b"".join([chunk async for chunk in handle.output()]).decode(errors="replace")
        except TimeoutError:
            text = "timed out"
            await handle.kill()
        found[row.title] = ((await handle.wait()).code, text[-2000:])
    await runner.close()
    return found


def main() -> None:
    """The arguments: the folder and the column."""
    base, column = Path(sys.argv[1]), sys.argv[2]
    found = probe()
    if column.islower():
        found = found._replace(bwrap=None, bwrap_network=False, reasons={"bubblewrap": "left out"})
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(base / "home"),
        "TMPDIR": str(base / "temp"),
        "PY": sys.executable,
        "OTHER": str(base / "other"),
        "DOCKER_HOST": f"unix://{base}/docker.sock",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    prepare(base, env)
    with socket.socket(socket.AF_UNIX) as docker:
        docker.bind(str(base / "docker.sock"))
        docker.listen(64)
        print(json.dumps(asyncio.run(work(base, column, found, env))))


if __name__ == "__main__":
    main()

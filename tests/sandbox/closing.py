"""A command closes folders of its own user's, so that the next command's sandbox cannot look into them.

`python -m tests.sandbox.closing BASE` prints one JSON object: what commands printed then, by what was closed; with a
folder that the user may not look into behind it, what is made of paths below that one.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from grokmini.sandbox.bwrap import mounts_of
from grokmini.sandbox.profile import Profile, built_in
from grokmini.sandbox.resolve import resolve
from grokmini.sandbox.sockets import bound_sockets
from grokmini.text.below import is_below
from tests.sandbox.places import said
from tests.sandbox.resolved import around_of, working

KEY = "the-key"
FIRST = "first"
"""What every command says before it tries anything."""
CASES: Final[dict[str, tuple[str, str, tuple[str, ...]]]] = {
    "the repository": (
        "chmod 000 .git",
        "chmod 755 .git; echo x >>.git/config; echo x >.git/hooks/pre-commit",
        (),
    ),
    "the folder of submodules": (
        "chmod 000 .git/modules",
        "chmod 755 .git/modules; echo x >>.git/modules/one/config; echo x >.git/modules/one/hooks/post-checkout",
        (),
    ),
    "one submodule": (
        "mkdir .git/modules/a; chmod 400 .git/modules/a",
        "chmod 755 .git/modules/a; echo x >>.git/modules/one/config; echo x >.git/modules/one/hooks/post-checkout",
        (),
    ),
    "what holds a denied file": ("chmod 000 named", "chmod 755 named; cat named/key", ("named/key",)),
    "what holds a file of a denied pattern": (
        "chmod 300 wild",
        "cat wild/a.pem; chmod 755 wild; cat wild/a.pem",
        ("*.pem",),
    ),
}


def prepare(work: Path) -> None:
    """A repository with a submodule's folder and with keys."""
    for name in ("named/key", "wild/a.pem"):
        (work / name).parent.mkdir()
        (work / name).write_text(KEY)
    subprocess.run(["git", "init", "-q"], cwd=work, check=True)
    (work / ".git/modules/one/hooks").mkdir(parents=True)
    (work / ".git/modules/one/config").write_text("")


def state(work: Path) -> dict[str, str]:
    """What steers git there, opened again."""
    subprocess.run(["chmod", "-R", "u+rwX", work], check=True)
    return {
        str(path.relative_to(work)): path.read_text()
        for top in (work / ".git", work / ".git/modules/one")
        for path in (top / "config", *(top / "hooks").glob("[!.]*"))
        if not path.name.endswith(".sample")
    }


async def run(base: Path) -> dict[str, object]:
    """Each case in a project of its own."""
    found: dict[str, object] = {}
    for number, (title, (closing, attack, denied)) in enumerate(CASES.items()):
        around = around_of(base / str(number), {"PATH": os.environ["PATH"]})
        work = Path(around.cwd)
        prepare(work)
        before = state(work)
        async with working(around, Profile("mine", "workspace", deny=denied)) as runner:
            await said(runner, closing, work)
            printed = await said(runner, f"exec 2>&1; echo {FIRST}; {attack}", work)
            told = [text for text in runner.enforcement.notices if "cannot be looked into" in text]
        found[title] = {"printed": printed, "changed": before != state(work), "told": told}
    return found


def looks(base: Path, closed: str) -> dict[str, object]:
    """What is made of paths below a folder that the user may not look into."""
    env = {"PATH": f"{closed}/bin:/usr/bin", "TMPDIR": f"{closed}/t", "SSH_AUTH_SOCK": f"{closed}/socket"}
    around = around_of(base, env)
    (Path(around.cwd) / ".git").symlink_to(f"{closed}/git")
    policy = resolve(built_in("strict"), around, explicit=False)
    named = (*policy.read_roots, *policy.write_roots, *policy.temp, *policy.denied)
    mounted = mounts_of(policy).mounts
    return {
        "below": [path for path in (*named, *(mount.path for mount in mounted)) if is_below(path, closed)],
        "sockets": [path for path in bound_sockets() if is_below(path, closed)],
    }


def main() -> None:
    """The arguments: the folder, and one that may not be looked into."""
    base, *closed = sys.argv[1:]
    found = looks(Path(base), *closed) if closed else asyncio.run(run(Path(base)))
    print(json.dumps(found))


if __name__ == "__main__":
    main()

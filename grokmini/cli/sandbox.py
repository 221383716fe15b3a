"""`grokmini sandbox`: what a profile allows, a command run in it, what this machine can keep."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandRow, CommandSpec

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed

SPEC = CommandSpec(
    examples=(
        "grokmini sandbox explain",
        "grokmini sandbox run --profile strict -- make test",
        "grokmini sandbox check",
    ),
    about="Lists the profiles that can be named here with what each allows, the one in force marked, and the layers "
    "that work on this machine. On macOS sandboxes are by design and untested.\n\n"
    "Your own are in sandbox.toml beside config.toml, a project's in its .grokmini/sandbox.toml: tables "
    '[profiles.NAME] with extends, read, write, deny, network ("open" or "blocked"), allow_unix and env. A '
    "project's may add names, not redefine any; one that grants more than workspace needs `grokmini sandbox trust "
    "NAME`. All keys and an example: grokmini-config(5).",
    commands=(
        CommandRow("explain", "grokmini.cli.sandbox_explain", "what a profile allows here"),
        CommandRow("run", "grokmini.cli.sandbox_run", "run a command in it"),
        CommandRow("check", "grokmini.cli.sandbox_check", "try to break out of it"),
        CommandRow("trust", "grokmini.cli.sandbox_trust", "agree to a project's own"),
    ),
)


def run(parsed: Parsed) -> int:
    """Print the list. Raises `SandboxError` and `ConfigError`."""
    from grokmini.cli.options import Options
    from grokmini.cli.root import load_root
    from grokmini.cli.sandboxed import choose, profiles_of
    from grokmini.text.sanitise import sanitise

    root = load_root(Options())
    profiles, current = profiles_of(root), choose(root).profile.name
    for name in profiles.names:
        profile = profiles.find(name)
        base = "" if profile.base == name else f"  from {profile.base}"
        network = "network blocked" if profile.blocks_network else "network open"
        mark = "*" if name == current else " "
        sys.stdout.write(sanitise(f"{mark} {name:<14} {network}{base}", newlines=False) + "\n")
    return 0

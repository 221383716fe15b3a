"""`grokmini sandbox`: what a profile allows, a command run in it, what this machine can keep."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandRow, CommandSpec

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed
    from grokmini.cli.root import Root
    from grokmini.cli.sandbox_table import Row
    from grokmini.sandbox.profile_file import Profiles

SPEC = CommandSpec(
    examples=(
        "grokmini sandbox explain",
        "grokmini sandbox run --profile strict -- make test",
        "grokmini sandbox check",
    ),
    about="Lists the profiles that can be named here with what each allows, the one in force marked, and the layers "
    "that work on this machine. On macOS the sandbox is untested.\n\n"
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
    """Print the list, then the layers. Raises `SandboxError` and `ConfigError`."""
    from grokmini.cli.options import Options
    from grokmini.cli.root import load_root
    from grokmini.cli.sandbox_table import table
    from grokmini.cli.sandboxed import UNASKED_PROFILE, choose, profiles_of
    from grokmini.protocol.errors import SandboxError
    from grokmini.sandbox.layers import layers
    from grokmini.sandbox.probe import probe

    root = load_root(Options())
    profiles = profiles_of(root)
    rows = tuple(_row(root, profiles, name) for name in profiles.names)
    named = root.settings.sandbox.profile
    current = named or UNASKED_PROFILE
    refused: SandboxError | None = None
    try:
        choose(root)
    except SandboxError as error:
        current, refused = "", error
    mechanisms = probe()
    hides = bool(mechanisms.bwrap or mechanisms.seatbelt) and root.settings.sandbox.protect_secrets
    _print(*table(rows, current, secrets=hides))
    _print("here: this folder but .git/hooks, .git/config and .grokmini")
    why = "as your settings say" if named else "where nothing else is named"
    _print("", f"in force: {current}, {why}" if current else f"in force: none, for {named} cannot be used")
    _print("", "layers of this machine:")
    for name, works, detail in layers(mechanisms):
        _print(f"  {name:<20}{'' if works else 'no: '}{detail}")
    if refused is not None:
        raise refused
    return 0


def _row(root: Root, profiles: Profiles, name: str) -> Row:
    from grokmini.cli.sandbox_table import Row
    from grokmini.cli.sandboxed import is_agreed
    from grokmini.protocol.errors import SandboxError

    try:
        profile = profiles.find(name)
    except SandboxError as error:
        return Row(name, None, wrong=error.message)
    return Row(name, profile, is_agreed(root, profile))


def _print(*lines: str) -> None:
    from grokmini.text.sanitise import sanitise

    for line in lines:
        sys.stdout.write(sanitise(line, newlines=False) + "\n")

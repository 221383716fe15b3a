"""`grokmini sandbox explain [CMD]`: what a profile comes to on this machine and in this folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec, Option
from grokmini.cli.options import SANDBOX_PROFILES

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed
    from grokmini.sandbox.obstacles import Parts

PROFILE = Option(
    ("--profile", "--sandbox"),
    "profile",
    "the profile, else the one in force",
    kind="value",
    value="NAME",
    suggestions=SANDBOX_PROFILES,
    about="In force is what your settings name, else workspace.",
)

SPEC = CommandSpec(
    options=(PROFILE,),
    words="[CMD]",
    examples=("grokmini sandbox explain", "grokmini sandbox explain --profile strict 'git push'"),
    about="Shows what commands may read, write and reach, what of it this machine keeps, and what stands in the "
    "way of a command.",
)


def run(parsed: Parsed) -> int:
    """Print it; starts nothing but the tries that find out what works here. Raises `SandboxError`."""
    from grokmini.cli.options import Options
    from grokmini.cli.root import load_root
    from grokmini.cli.sandboxed import Choice, around_of, choose, profiles_of
    from grokmini.sandbox.explain import explain
    from grokmini.sandbox.obstacles import obstacles
    from grokmini.sandbox.probe import probe
    from grokmini.sandbox.resolve import resolve
    from grokmini.text.sanitise import sanitise

    root = load_root(Options())
    named = parsed.text("profile")
    choice = Choice(profiles_of(root).find(named), explicit=True) if named else choose(root)
    policy = resolve(choice.profile, around_of(root, None), explicit=choice.explicit)
    lines = explain(policy, probe())
    command = " ".join(parsed.words)
    if command:
        found = obstacles(
            parts_of(command), policy, str(root.cwd), root.env.get("HOME", "") or str(Path.home())
        )
        lines = (*lines, "", f"{command}:", *(f"  {line}" for line in found))
    for line in lines:
        sys.stdout.write(sanitise(line, newlines=False) + "\n")
    return 0


def parts_of(text: str) -> Parts:
    """A command text taken apart as a shell would."""
    from grokmini.sandbox.obstacles import Parts
    from grokmini.tools.invocations import Invocations
    from grokmini.tools.shell_parse import parse

    script = parse(text)
    commands = (*script.commands, *script.nested)
    return Parts(
        tuple(Invocations(script).found),
        tuple(word.text for command in commands for word in command.writes),
        tuple(word.text for command in commands for word in command.reads),
    )

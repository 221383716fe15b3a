"""`grokmini sandbox explain [CMD]`: what a profile comes to on this machine and in this folder."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
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
    about="Shows what commands may read, write and reach, and what of it this machine keeps; of a command, what stands "
    "in its way.",
)


def run(parsed: Parsed) -> int:
    """Print it; starts nothing but the tries that find out what works here. Raises `SandboxError`."""
    from grokmini.cli.options import Options
    from grokmini.cli.root import load_root
    from grokmini.cli.sandboxed import Choice, around_of, choose, is_agreed, profiles_of
    from grokmini.sandbox.explain import explain
    from grokmini.sandbox.obstacles import obstacles
    from grokmini.sandbox.probe import probe
    from grokmini.sandbox.resolve import resolve
    from grokmini.text.sanitise import sanitise

    named = parsed.text("profile")
    root = load_root(Options(sandbox=named))
    choice = Choice(profiles_of(root).find(named), explicit=True) if named else choose(root)
    policy = resolve(choice.profile, around_of(root, None), explicit=choice.explicit)
    command = " ".join(parsed.words)
    if command:
        home = root.env.get("HOME", "") or str(Path.home())
        found = obstacles(parts_of(command), policy, str(root.cwd), home)
        lines = tuple(_about(command, found, choice.profile.name))
    else:
        lines = explain(policy, probe())
    if not is_agreed(root, choice.profile):
        name = choice.profile.name
        lines = (*lines, "", f"Not agreed to yet, it grants more than workspace: grokmini sandbox trust {name}")
    for line in lines:
        sys.stdout.write(sanitise(line, newlines=False) + "\n")
    return 0


def _about(command: str, found: tuple[str, ...], profile: str) -> Iterator[str]:
    yield f"{command}:"
    for text in (*found, *_doubts(command)):
        yield from textwrap.wrap(
            text,
            78,
            initial_indent="  ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    yield f"All that {profile} allows: grokmini sandbox explain --profile {profile}"


def _doubts(command: str) -> tuple[str, ...]:
    from grokmini.tools.shell_parse import parse

    doubts = parse(command).doubts
    return (f"{doubts[0]}, so it may do more than its words tell",) if doubts else ()


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

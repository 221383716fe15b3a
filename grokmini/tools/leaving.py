"""Leaving the sandbox: what a person let out in this session, and how they are asked.

It is asked about in every mode, once for each call unless the person says "always" to exactly this one; an "always"
ends with the session, and holds only under the profile it was said under.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from grokmini.files.places import real_path
from grokmini.protocol.permission import PermissionOption
from grokmini.sandbox.runner import CommandSpec
from grokmini.text.paths import visible_path
from grokmini.tools.contract import NOTHING_STOPPED, Stopped
from grokmini.tools.protected import named_paths
from grokmini.tools.questions import once_options, short_path
from grokmini.tools.went_on import went_on

if TYPE_CHECKING:  # loaded when something is confined
    from grokmini.sandbox.policy import Policy
    from grokmini.sandbox.refusals import Refusal

_Key: TypeAlias = tuple[object, ...]
MAX_NOTES: Final = 3


class LetOut:
    """What was answered with "always" in this session. Nothing of it is kept anywhere else.

    A command is known by its text, the folder it starts in and its environment: a variable that goes along could make
    the same text do another thing.
    """

    def __init__(self) -> None:
        self._known: set[_Key] = set()

    def add_command(self, profile: str, spec: CommandSpec) -> None:
        """Let exactly this command out from now on."""
        self._known.add(_command_key(profile, spec))

    def has_command(self, profile: str, spec: CommandSpec) -> bool:
        """Whether exactly this command was let out."""
        return _command_key(profile, spec) in self._known

    def add_files(self, profile: str, paths: Sequence[Path]) -> None:
        """Let exactly these real paths be written from now on."""
        self._known.update((profile, path) for path in paths)

    def has_file(self, profile: str, path: Path) -> bool:
        """Whether exactly this real path was let out."""
        return (profile, path) in self._known


def _command_key(profile: str, spec: CommandSpec) -> _Key:
    return profile, spec.argv, spec.cwd, frozenset(spec.env.items())


def leave_options(what: str, *, always: bool = True) -> tuple[PermissionOption, ...]:
    """Once, exactly this in this session (unless `always` is false), no, no with a reason. Never for a repository."""
    yes, *no = once_options()
    if not always:
        return yes, *no
    return yes, PermissionOption("2", f"always exactly this {what} in this session", "allow", "session"), *no


async def what_was_stopped(
    output: str, policy: Policy | None, command: str, folders: Sequence[Path], code: int | None = None
) -> Stopped:
    """What the sandbox stopped of a command, by what it printed. `folders` are where it began and where it ended,
    `code` is its exit code.

    A command that only reads cannot have been kept from writing: then the words are somebody else's, such as a log's.
    And where it looks through many files, those it was not shown are told to the model, but are nobody's aim: there is
    no sentence then, so that nobody is asked.
    """
    if policy is None or not output:
        return NOTHING_STOPPED
    places = tuple(dict.fromkeys(map(str, folders)))
    found, meant, advice = await asyncio.to_thread(_found, output, policy, command, places)
    if not found:
        return Stopped("", advice)
    done = await asyncio.to_thread(went_on, command, code, output, tuple(one.path for one in found))
    told = [_ruled(visible_path(one.path), visible_path(one.rule)) for one in found[:MAX_NOTES]]
    notes = advice + tuple(
        f"stopped by the sandbox: {text}; {done or one.hint}" for text, one in zip(told, found, strict=False)
    )
    if not meant:
        return Stopped("", notes)
    sentence = await asyncio.to_thread(lambda: "; ".join(map(_in_words, found[:MAX_NOTES])))
    return Stopped(sentence, notes, _in_brief(found, policy.profile), bool(done), found[0].said)


def _in_words(one: Refusal) -> str:
    """What was stopped, for a person. Output can name any path: one that is not there, nor its folder, is not shown as
    if it were.
    """
    there = not one.path.startswith("/") or os.path.lexists(one.path) or os.path.lexists(Path(one.path).parent)
    return _ruled(visible_path(one.path) if there else "a path that is not there", visible_path(one.rule))


def _ruled(what: str, rule: str) -> str:
    return rule if rule.startswith(f"{what} ") else f"{what}: {rule}"


def _in_brief(found: tuple[Refusal, ...], profile: str) -> str:
    first, rest = found[0], len(found) - 1
    about = {"write": "a write to ", "read": "a read of ", "network": "a connection to ", "power": ""}[
        first.kind
    ]
    path = short_path(Path(first.path)) if first.path.startswith("/") else visible_path(first.path)
    more = f" and {rest} more" if rest else ""
    return f"{about}{path}{more} (profile {visible_path(profile)})"


def _found(
    output: str, policy: Policy, command: str, folders: tuple[str, ...]
) -> tuple[tuple[Refusal, ...], bool, tuple[str, ...]]:
    """What was refused, whether the command was about that, and what else to tell the model."""
    from grokmini.sandbox.refusals import refusals
    from grokmini.sandbox.refused_powers import memory_notes
    from grokmini.tools.read_only import only_reads
    from grokmini.tools.shell_parse import parse

    found = refusals(output, policy, folders[0], command=command, folders=folders[1:])
    advice = memory_notes(output, policy)
    if not (found or advice):
        return (), False, ()
    script = parse(command)
    if not only_reads(script):
        return found, True, advice
    words = [word for one in script.commands for word in (*one.words, *one.reads)]
    named = set(map(str, map(real_path, named_paths(words, tuple(map(Path, folders))))))
    hidden = tuple(one for one in found if one.kind == "read")
    return hidden, any(one.path in named for one in hidden), ()

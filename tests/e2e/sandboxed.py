"""Shell commands as the model's tool calls in one headless session, under a sandbox profile."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from tests.e2e.program import Place
from tests.fakes.model_server import ModelServer, call, reply
from tests.sandbox.places import not_temporary

PYTHON = sys.executable
SECONDS = 110.0
"""What a session may take on a machine that is busy with other tests; each call a little less."""
SAID = ("[commands now start in ", "[processes left running ")
GIT_CONFIG = """\
[user]
    name = Someone
    email = someone@example.com
[init]
    defaultBranch = main
"""


class Result(NamedTuple):
    """What the model read of one command."""

    command: str
    head: str
    """`exit: 0`, `exit: killed (timeout)`, or whatever else the first line says."""
    text: str
    """All after the first line."""

    @property
    def notes(self) -> list[str]:
        """What grokmini says of it besides, in square brackets below the first line, as far as it is bad news."""
        lines = itertools.takewhile(lambda line: line.startswith("["), self.text.splitlines())
        return [line for line in lines if "left running" in line or "sandbox" in line]

    @property
    def printed(self) -> str:
        """What the command printed, without what is said of the folder and of processes that end too late."""
        lines = self.text.rstrip("\n").splitlines()
        return "\n".join(line for line in lines if not line.startswith(SAID))


@contextmanager
def not_in_temporary(place: Place) -> Iterator[Place]:
    """The place with a home that is in no temporary folder, where commands could write, and with git's settings."""
    with not_temporary() as home:
        place = Place(home, place.project)
        add_git_config(place)
        yield place


def session(
    place: Place,
    *commands: str,
    profile: str = "workspace",
    options: Sequence[str] = ("--yolo",),
    env: Mapping[str, str] | None = None,
) -> list[Result]:
    """Run the commands, one call after the other. They see an ordinary environment, with warnings as usual."""
    words = ("unset PYTHONWARNINGS", *commands)
    script = [
        reply(
            calls=[call("run_terminal_command", call_id=f"c{number}", command=text, timeout=int(SECONDS * 900))]
        )
        for number, text in enumerate(words)
    ]
    with ModelServer([*script, reply("done")], strict=True) as server:
        done = place.run("-p", "go", "--sandbox", profile, *options, server=server, env=env, seconds=SECONDS)
    assert len(server.bodies) == len(words) + 1, done.stderr
    messages = server.bodies[-1]["messages"]
    texts = {each["tool_call_id"]: each["content"] for each in messages if each["role"] == "tool"}
    results = []
    for number, command in enumerate(words):
        head, _, rest = texts[f"c{number}"].partition("\n")
        results.append(Result(command, head, rest))
    return results[1:]


def works(
    place: Place, *commands: str, profile: str = "workspace", env: Mapping[str, str] | None = None
) -> list[str]:
    """Run commands that must succeed without the sandbox being in the way; what they printed."""
    results = session(place, *commands, profile=profile, env=env)
    failed = [
        each for each in results if each.head != "exit: 0" or any("sandbox" in note for note in each.notes)
    ]
    assert not failed, failed
    return [each.printed for each in results]


def add_git_config(place: Place, more: str = "") -> None:
    """The person's own settings of git, in their home folder."""
    (place.home / ".gitconfig").write_text(GIT_CONFIG + more)

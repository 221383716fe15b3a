"""The question whether a command that the sandbox stopped may run again outside.

What was stopped is concluded from what the command printed, and a command can print anything. So the question tells
apart what is known (the rule, the folder, the variables) and what the command said: its own words are quoted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from grokmini.protocol.events import PermissionAsked
from grokmini.protocol.ids import short_id
from grokmini.session.call_runner import CallResult
from grokmini.text.sanitise import sanitise, strip_ansi
from grokmini.text.width import cut_to_width
from grokmini.tools.leaving import leave_options
from grokmini.tools.questions import MAX_DETAIL, short_path
from grokmini.tools.shell_state import Leaving

MAX_OUTPUT_LINES: Final = 5
"""Lines of the first run's output that are shown, the last ones."""
MAX_PROGRAMS: Final = 3
MAX_SAID: Final = 150
"""Columns of the line that tells of the refusal."""


def leave_question(
    call_id: str,
    leaving: Leaving,
    first: CallResult,
    *,
    sandbox: str,
    why_once: str,
    changeable: Sequence[str] = (),
) -> PermissionAsked:
    """The question about a command after its `first` run; `why_once` is why "always" is not offered, if it is not;
    `changeable` are the programs of it that commands can change.
    """
    return PermissionAsked(
        request_id=short_id(),
        call_id=call_id,
        title="Run it outside of the sandbox?",
        subject=sanitise(leaving.spec.env["GROKMINI_COMMAND"]),
        options=leave_options("command", always=not why_once),
        details=tuple(
            sanitise(line, newlines=False) for line in _details(leaving, first, sandbox, why_once, changeable)
        ),
    )


def _details(
    leaving: Leaving, first: CallResult, sandbox: str, why_once: str, changeable: Sequence[str]
) -> Iterator[str]:
    yield f"stopped: {first.stopped.sentence}"
    yield f"in {short_path(leaving.spec.cwd)} · sandbox {sandbox}"
    if first.stopped.said:
        yield f"it printed: “{_bounded(first.stopped.said, MAX_SAID)}”"
    for program in changeable[:MAX_PROGRAMS]:
        yield f"runs {short_path(Path(program))}, which commands can change"
    for variable in leaving.variables:
        yield f"with {variable}"
    lines = [line for line in first.output.splitlines() if line.strip()]
    if lines[-MAX_OUTPUT_LINES:] != [first.stopped.said]:
        for line in lines[-MAX_OUTPUT_LINES:]:
            yield f"│ {_bounded(line, MAX_DETAIL - 2)}"
    yield "it has run once as far as it got; a yes runs all of it again, and it can then do what you can"
    yield "what it printed is its own word, and outside it may do something else"
    if why_once:
        yield f"no “always” for it: {why_once}"


def _bounded(line: str, columns: int) -> str:
    return cut_to_width(sanitise(strip_ansi(line).strip(), newlines=False), columns)

"""`grokmini sessions repair`: the index entry of a session made again from what its files hold."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from grokmini.protocol.codec import encode_stored
from grokmini.protocol.errors import SessionError
from grokmini.protocol.events import (
    DirectoryChanged,
    SandboxChanged,
    SessionEvent,
    SessionStarted,
    TitleChanged,
    TitleSource,
    TurnEnded,
    TurnStarted,
)
from grokmini.protocol.ids import time_of
from grokmini.protocol.items import AssistantItem, Stored, UserItem
from grokmini.protocol.model import Usage
from grokmini.protocol.turns import turn_starts
from grokmini.store.atomic import replace_file
from grokmini.store.driver_lock import DriverLock
from grokmini.store.jsonl import quarantine
from grokmini.store.layout import HISTORY, SUMMARY, UPDATES, decode_cwd, is_missing
from grokmini.store.lost_prompts import read_history
from grokmini.store.session_files import PROMPT_LIMIT, reason_of
from grokmini.store.set_aside import refusal
from grokmini.store.summary import Summary, change_summary, read_summary
from grokmini.store.updates import read_updates
from grokmini.text.title import title_of


class Repaired(NamedTuple):
    """What was done: whether the summary was made again, how many damaged lines the history lost, and how many
    prompts it got back from the events.

    The damaged lines are in `chat_history.jsonl.corrupt`.
    """

    summary_rebuilt: bool
    lines_skipped: int
    prompts_restored: int


def repair_session(directory: Path) -> Repaired:
    """Rebuild a missing or damaged summary, take damaged lines out of the history, and give back the prompts that it
    lost. Blocks.

    Nothing is thrown away: what cannot be read is kept beside it as `*.corrupt`. Raises `SessionBusyError` when a
    process drives the session, `SessionError` when there is nothing to make one of or the disk refuses.
    """
    try:
        lock = DriverLock.acquire(directory)
    except OSError as error:
        raise _refused(directory, error) from error
    try:
        read = read_history(directory, read_summary(directory))
        if not read.kept:
            raise _no_copy(directory)
        if read.skipped or read.restored:
            replace_file(directory / HISTORY, (encode_stored(stored) + b"\n" for stored in read.values))
        return Repaired(_rebuild(directory, read.values), read.skipped, read.restored)
    except OSError as error:
        raise _refused(directory, error) from error
    finally:
        lock.release()


def _rebuild(directory: Path, history: list[Stored]) -> bool:
    if read_summary(directory) is not None:
        return False
    made = summary_from(directory, history)
    if not history and not made.turns:
        raise SessionError(
            f"Session {directory.name} has neither a summary nor a conversation.",
            f"There is nothing to resume; `grokmini sessions delete {directory.name}` removes it.",
        )
    path = directory / SUMMARY
    if not is_missing(path):
        data = path.read_bytes()
        if not quarantine(path, [data], data.splitlines()):
            raise _no_copy(directory)
    change_summary(directory, {}, made)
    return True


def summary_from(directory: Path, history: list[Stored]) -> Summary:
    """A summary made from a session's history and events; one of no turns when both are empty."""
    items = [stored.item for stored in history]
    told = _told(directory)
    prompts = [
        item.text for item in items if isinstance(item, UserItem) and item.is_real_prompt
    ] or told.prompts
    models = tuple(
        dict.fromkeys(item.model for item in items if isinstance(item, AssistantItem) and item.model)
    )
    changed = _changed(directory)
    return Summary(
        session_id=directory.name,
        cwd=str(decode_cwd(directory.parent)),
        current_cwd=told.cwd,
        sandbox_profile=told.sandbox,
        title=told.title or (title_of(prompts[0]) if prompts else ""),
        title_source=told.title_source,
        model=models[-1] if models else "",
        models=models,
        created_at=time_of(directory.name) or changed,
        updated_at=changed,
        turns=max(len(turn_starts(items)), told.turns),
        messages=len(items),
        last_prompt=prompts[-1][:PROMPT_LIMIT] if prompts else "",
        usage=told.bill,
    )


class _Told:
    """What the events say of a session: who asked what, what it is called, where it works, what was spent."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.turns = 0
        self.title = ""
        self.title_source: TitleSource = "prompt"
        self.cwd = ""
        self.sandbox = ""
        self.bill: dict[str, Usage] = {}

    def hear(self, event: SessionEvent) -> None:
        """Take in one more event."""
        if isinstance(event, TurnStarted):
            self.prompts.append(event.text[:PROMPT_LIMIT])
            self.turns = max(self.turns, event.prompt_index + 1)
        elif isinstance(event, TitleChanged):
            self.title, self.title_source = event.title, event.source
        elif isinstance(event, DirectoryChanged):
            self.cwd = event.cwd
        elif isinstance(event, SandboxChanged) and event.cause == "chosen":
            self.sandbox = event.profile
        elif isinstance(event, SessionStarted):
            self._started_under(event.sandbox)
        elif isinstance(event, TurnEnded):
            for model, usage in event.model_usage.items():
                self.bill[model] = self.bill[model] + usage if model in self.bill else usage

    def _started_under(self, label: str) -> None:
        """A profile that was named was proved at the start; of the default, nothing had been tried then."""
        name, _, state = label.partition(", ")
        if name != "none" and state != "untried":
            self.sandbox = name


def _told(directory: Path) -> _Told:
    told = _Told()
    if refusal(directory / UPDATES) is None:  # else the history alone has to tell
        for record in read_updates(directory):
            told.hear(record.event)
    return told


def _changed(directory: Path) -> float:
    """When the session was written last."""
    times = [path.stat().st_mtime for name in (HISTORY, UPDATES) if (path := directory / name).exists()]
    return max(times, default=directory.stat().st_mtime)


def _no_copy(directory: Path) -> SessionError:
    return SessionError(
        f"Session {directory.name} is left as it is: no copy of its damaged file could be kept.",
        f"Make room and check the permissions of {directory}.",
    )


def _refused(directory: Path, error: OSError) -> SessionError:
    return SessionError(
        f"Session {directory.name} cannot be repaired: {reason_of(error)}.",
        f"Check the disk and the permissions of {directory}.",
    )

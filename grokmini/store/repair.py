"""`grokmini sessions repair`: the index entry of a session made again from what its files hold."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from grokmini.protocol.codec import encode_stored
from grokmini.protocol.errors import SessionError
from grokmini.protocol.events import TurnEnded
from grokmini.protocol.ids import time_of
from grokmini.protocol.items import AssistantItem, Stored, UserItem
from grokmini.protocol.model import Usage
from grokmini.protocol.turns import turn_starts
from grokmini.store.atomic import replace_file
from grokmini.store.driver_lock import DriverLock
from grokmini.store.jsonl import quarantine, read_jsonl
from grokmini.store.layout import HISTORY, SUMMARY, decode_cwd
from grokmini.store.lines import read_item
from grokmini.store.session_files import PROMPT_LIMIT, reason_of
from grokmini.store.summary import Summary, change_summary, read_summary
from grokmini.store.updates import read_updates
from grokmini.text.title import title_of


class Repaired(NamedTuple):
    """What was done: whether the summary was made again, and how many damaged lines the history lost.

    The damaged lines are in `chat_history.jsonl.corrupt`.
    """

    summary_rebuilt: bool
    lines_skipped: int


def repair_session(directory: Path) -> Repaired:
    """Rebuild a missing or damaged summary and take damaged lines out of the history. Blocks.

    Nothing is thrown away: what cannot be read is kept beside it as `*.corrupt`. Raises `SessionBusyError` when a
    process drives the session, `SessionError` when there is nothing to make one of or the disk refuses.
    """
    try:
        lock = DriverLock.acquire(directory)
    except OSError as error:
        raise _refused(directory, error) from error
    try:
        read = read_jsonl(directory / HISTORY, read_item)
        if read.skipped:
            replace_file(directory / HISTORY, (encode_stored(stored) + b"\n" for stored in read.values))
        return Repaired(_rebuild(directory, read.values), read.skipped)
    except OSError as error:
        raise _refused(directory, error) from error
    finally:
        lock.release()


def _rebuild(directory: Path, history: list[Stored]) -> bool:
    if read_summary(directory) is not None:
        return False
    if not history:
        raise SessionError(
            f"Session {directory.name} has neither a summary nor a conversation.",
            f"There is nothing to resume; `grokmini sessions delete {directory.name}` removes it.",
        )
    path = directory / SUMMARY
    if path.exists():
        quarantine(path, path.read_bytes())
        path.unlink()
    change_summary(directory, {}, summary_from(directory, history))
    return True


def summary_from(directory: Path, history: list[Stored]) -> Summary:
    """A summary made from a session's history and events."""
    items = [stored.item for stored in history]
    prompts = [item.text for item in items if isinstance(item, UserItem) and item.is_real_prompt]
    models = tuple(
        dict.fromkeys(item.model for item in items if isinstance(item, AssistantItem) and item.model)
    )
    changed = (directory / HISTORY).stat().st_mtime
    return Summary(
        session_id=directory.name,
        cwd=str(decode_cwd(directory.parent)),
        title=title_of(prompts[0]) if prompts else "",
        model=models[-1] if models else "",
        models=models,
        created_at=time_of(directory.name) or changed,
        updated_at=changed,
        turns=len(turn_starts(items)),
        messages=len(items),
        last_prompt=prompts[-1][:PROMPT_LIMIT] if prompts else "",
        usage=_bill(directory),
    )


def _bill(directory: Path) -> dict[str, Usage]:
    """What the ends of turns say was spent, by model."""
    bill: dict[str, Usage] = {}
    for record in read_updates(directory):
        if isinstance(record.event, TurnEnded):
            for model, usage in record.event.model_usage.items():
                bill[model] = bill[model] + usage if model in bill else usage
    return bill


def _refused(directory: Path, error: OSError) -> SessionError:
    return SessionError(
        f"Session {directory.name} cannot be repaired: {reason_of(error)}.",
        f"Check the disk and the permissions of {directory}.",
    )

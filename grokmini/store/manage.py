"""What a person does to a stored session: call it something, keep it, delete it. Everything here blocks."""

from __future__ import annotations

import shutil
from pathlib import Path

from grokmini.protocol.errors import SessionError
from grokmini.protocol.events import TurnStarted
from grokmini.protocol.items import UserItem
from grokmini.store.atomic import replace_file
from grokmini.store.driver_lock import DriverLock
from grokmini.store.jsonl import read_jsonl
from grokmini.store.layout import HISTORY, REAL_CWD, SUMMARY, is_missing
from grokmini.store.lines import read_item
from grokmini.store.session_files import reason_of
from grokmini.store.summary import Summary, change_summary, read_summary
from grokmini.store.updates import read_updates
from grokmini.text.title import title_of

DELETED = ".deleted-"
"""How the name of a directory begins that is being removed: hidden, so in no list."""


def rename(directory: Path, title: str) -> str:
    """Give the session a title of the person's own, which no later one replaces; the title as it is kept.

    An empty one gives the session back to titles that are made for it: its first prompt's line, until then.
    Raises `SessionError`.
    """
    summary = _summary_of(directory)
    kept, source = title_of(title), "manual"
    if not kept:
        kept, source = title_of(_first_prompt(directory)), "prompt"
    _change(directory, summary, {"title": kept, "title_source": source})
    return kept


def pin(directory: Path, pinned: bool) -> None:
    """Keep the session from every clean-up, or no longer. Raises `SessionError`."""
    _change(directory, _summary_of(directory), {"pinned": pinned})


def delete(directory: Path) -> None:
    """Remove a session with all that belongs to it; its folder's directory goes when nothing is left in it.

    Nobody can drive the session while it goes: its lock is held. Raises `SessionBusyError` when a process drives
    it, `SessionError` when it is not there or cannot be removed.
    """
    if is_missing(directory):
        raise SessionError(f"There is no session {directory.name} any more.", "`grokmini sessions` lists them.")
    try:
        lock = DriverLock.acquire(directory)
    except OSError as error:
        raise _refused(directory, error) from error
    try:
        remove_held(directory)
    except OSError as error:
        raise _refused(directory, error) from error
    finally:
        lock.release()
    remove_empty_group(directory.parent)


def remove_held(directory: Path) -> None:
    """Remove a session whose lock is held. It loses its name first: whoever asks for it meanwhile finds nothing,
    and puts nothing into it. Raises `OSError`; what could not be removed then has its name again, but no summary.
    """
    doomed = directory.with_name(f"{DELETED}{directory.name}")
    directory.rename(doomed)
    try:
        (doomed / SUMMARY).unlink(missing_ok=True)  # first: half a session is none to go on with
        _remove_tree(doomed)
    except OSError:
        doomed.rename(directory)
        raise


def _remove_tree(path: Path) -> None:
    while path.exists():
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            continue  # another process removes it too, taking it for what a killed one left


def remove_empty_group(group: Path) -> None:
    """Remove the directory of a working directory's sessions if it holds none any more."""
    try:
        for entry in group.glob(f"{DELETED}*"):
            _remove_tree(entry)  # whoever began to remove it may have been killed
        if any(entry.name != REAL_CWD for entry in group.iterdir()):
            return
        name = group / REAL_CWD
        cwd = name.read_bytes() if name.exists() else None
        name.unlink(missing_ok=True)
        try:
            group.rmdir()
        except OSError:  # another process has just made a session there
            if cwd is not None:
                replace_file(name, cwd)
    except OSError:
        pass  # it is gone already, or cannot be removed: it does no harm


def _first_prompt(directory: Path) -> str:
    """What the person asked first, "" when nothing of it is left. The events know it best: a history is compacted."""
    try:
        for record in read_updates(directory):
            if isinstance(record.event, TurnStarted) and record.event.text.strip():
                return record.event.text
    except OSError:
        pass  # the history may know it
    try:
        history = read_jsonl(directory / HISTORY, read_item, keep_damaged=False).values
    except OSError:
        return ""
    prompts = (stored.item for stored in history if isinstance(stored.item, UserItem))
    return next((item.text for item in prompts if item.is_real_prompt), "")


def _summary_of(directory: Path) -> Summary:
    summary = read_summary(directory)
    if summary is None:
        raise SessionError(
            f"Session {directory.name} has no {SUMMARY} that can be read.",
            f"Rebuild it: grokmini sessions repair {directory.name}",
        )
    return summary


def _change(directory: Path, summary: Summary, changes: dict[str, object]) -> None:
    try:
        change_summary(directory, changes, summary)
    except OSError as error:
        raise SessionError(
            f"{directory / SUMMARY} cannot be written: {reason_of(error)}.",
            "Check its permissions and the disk.",
        ) from error


def _refused(directory: Path, error: OSError) -> SessionError:
    return SessionError(
        f"Session {directory.name} cannot be removed: {reason_of(error)}.",
        f"Check the permissions of {directory}.",
    )

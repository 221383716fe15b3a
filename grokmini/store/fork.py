"""A session copied to go on in another direction; what it is copied from stays as it is (spec: persistence.md)."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

import msgspec

from grokmini.protocol.codec import encode_stored
from grokmini.protocol.errors import SessionError
from grokmini.protocol.events import TurnStarted
from grokmini.protocol.ids import uuid7
from grokmini.protocol.items import Stored, UserItem
from grokmini.protocol.turns import cut_before, turn_starts
from grokmini.store.atomic import replace_file
from grokmini.store.copying import copy_file, copy_private, copy_tree
from grokmini.store.layout import (
    CARRIED_FILES,
    COMPACTION,
    HISTORY,
    UPDATES,
    make_group,
    make_private_directory,
)
from grokmini.store.lost_prompts import read_history
from grokmini.store.manage import remove_empty_group
from grokmini.store.session_files import PROMPT_LIMIT, reason_of
from grokmini.store.sessions import SessionInfo, SessionStore
from grokmini.store.set_aside import refusal
from grokmini.store.summary import Summary, change_summary, read_summary
from grokmini.store.updates import TURN_STARTED, read_event
from grokmini.text.title import TITLE_LIMIT

FORK_MARK = " (fork)"
_BLOCK = 1 << 16


def fork_session(
    store: SessionStore,
    session_id: str,
    *,
    cwd: Path | None = None,
    model: str | None = None,
    before_prompt: int | None = None,
    now: Callable[[], float] = time.time,
) -> SessionInfo:
    """Copy a session, whole or up to where a prompt begins, also one that another process drives.

    History, events, plan state and compaction segments go with it; its bill begins at nothing. `cwd` files it
    under another folder. It is listed once it is complete. Blocks. Raises `SessionError`.
    """
    source = store.directory_of(session_id)
    known = read_summary(source)
    if known is None:
        raise SessionError(
            f"Session {session_id} has no summary that can be read.",
            f"Rebuild it: grokmini sessions repair {session_id}",
        )
    try:
        history = read_history(source, known, keep_damaged=False).values
        if before_prompt is not None:
            history = _before(source, history, before_prompt)
        summary = _summary_of_fork(known, history, uuid7(now), cwd, model, now(), cut=before_prompt is not None)
        target = make_group(store.root, Path(summary.cwd)) / summary.session_id
        make_private_directory(target)
        try:
            _copy(source, target, history, before_prompt)
            change_summary(target, {}, summary)
        except BaseException:
            shutil.rmtree(target, ignore_errors=True)
            remove_empty_group(target.parent)
            raise
    except OSError as error:
        raise SessionError(
            f"Session {session_id} cannot be copied: {reason_of(error)}.", "Make room or check the permissions."
        ) from error
    return SessionInfo(summary.session_id, target, now(), summary)


def _before(source: Path, history: list[Stored], prompt_index: int) -> list[Stored]:
    """The history up to that prompt. People count prompts from 1."""
    items = [stored.item for stored in history]
    try:
        return history[: cut_before(items, prompt_index)]
    except ValueError as error:
        starts = turn_starts(items)
        there = f"{starts[0].prompt_index + 1} to {starts[-1].prompt_index + 1}" if starts else "none"
        raise SessionError(
            f"Session {source.name} has no prompt {prompt_index + 1} to be cut before; there is {there}.",
            "Choose another prompt.",
        ) from error


def _copy(source: Path, target: Path, history: list[Stored], before_prompt: int | None) -> None:
    """A whole copy shares the files' blocks where it can. Whoever drives the session may be in the midst of a
    line: the copy ends with the last whole one. A record of events that cannot be read stays behind.
    """
    if before_prompt is None:
        _copy_lines(source / HISTORY, target / HISTORY, _end_of_lines)
    else:
        replace_file(target / HISTORY, (encode_stored(stored) + b"\n" for stored in history))
    if refusal(source / UPDATES) is None:
        end = _end_of_lines if before_prompt is None else partial(_start_of_turn, prompt_index=before_prompt)
        _copy_lines(source / UPDATES, target / UPDATES, end)
    for name in CARRIED_FILES:
        if (source / name).is_file():
            copy_file(source / name, target / name)
    if (source / COMPACTION).is_dir():
        copy_tree(source / COMPACTION, target / COMPACTION)


def _copy_lines(source: Path, target: Path, measure: Callable[[BinaryIO], int]) -> None:
    """Copy as many bytes as `measure` finds in the file, which may be replaced meanwhile: it is opened once."""
    try:
        file = source.open("rb")
    except FileNotFoundError:
        return
    with file:
        if size := measure(file):
            copy_private(file, target, size=size)


def _end_of_lines(file: BinaryIO) -> int:
    """The size of a file without a torn last line."""
    end = file.seek(0, os.SEEK_END)
    while end:
        start = max(0, end - _BLOCK)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _start_of_turn(file: BinaryIO, prompt_index: int) -> int:
    """The byte at which the last turn of that prompt begins; the end where it left no event."""
    found = _end_of_lines(file)
    file.seek(0)
    offset = 0
    for line in file:
        if TURN_STARTED in line and (record := read_event(line)) is not None:
            event = record.event
            if isinstance(event, TurnStarted) and event.prompt_index == prompt_index:
                found = offset
        offset += len(line)
    return found


def _summary_of_fork(
    known: Summary,
    history: list[Stored],
    session_id: str,
    cwd: Path | None,
    model: str | None,
    now: float,
    *,
    cut: bool,
) -> Summary:
    folder = str(cwd) if cwd is not None else known.cwd
    prompts = [stored.item for stored in history if isinstance(stored.item, UserItem)]
    asked = [item.text for item in prompts if item.is_real_prompt]
    return msgspec.structs.replace(
        known,
        session_id=session_id,
        cwd=folder,
        current_cwd="" if cwd is not None else known.current_cwd,
        title=f"{known.title[: TITLE_LIMIT - len(FORK_MARK)]}{FORK_MARK}" if known.title else "",
        title_source="prompt" if known.title_source == "prompt" else "generated",
        model=model or known.model,
        created_at=now,
        updated_at=now,
        forked_at=now,
        parent_session_id=known.session_id,
        turns=len(turn_starts([stored.item for stored in history])),
        messages=len(history),
        tokens=0 if cut else known.tokens,
        last_prompt=asked[-1][:PROMPT_LIMIT] if asked else "",
        pinned=False,
        usage={},
        usage_rows={},
    )

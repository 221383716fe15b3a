"""The files of one open session, as the chat state, the engine and the tools see them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from grokmini.protocol.errors import SessionError
from grokmini.protocol.events import EventRecord, Notice, TitleSource
from grokmini.protocol.items import Stored
from grokmini.protocol.model import Usage
from grokmini.protocol.permission import PermissionMode
from grokmini.store.session_disk import SessionDisk
from grokmini.store.session_writer import (
    EVENT_SECONDS,
    RETRY_SECONDS,
    ChangeSummary,
    Flush,
    LearnFactor,
    ReplaceHistory,
    SessionWriter,
    Trouble,
    answer_on,
)
from grokmini.store.spill import SessionSpill
from grokmini.store.summary import Summary
from grokmini.text.title import title_of

PROMPT_LIMIT = 2_000
"""Characters of the last prompt that the summary keeps."""


class SessionFiles(SessionSpill):
    """Implements `chat.ports.ChatPersistence`, `session.ports.EventLog` and `SessionRecord`, and
    `tools.contract.SpillFiles`. Everything but `flush` and `close` returns at once.

    `on_trouble` is called in the event loop with one notice when nothing can be saved any more, and with one
    when saving works again. What happened before it was set is in `OpenSession.notices`.
    """

    def __init__(
        self,
        disk: SessionDisk | None,
        summary: Summary,
        *,
        failing: bool = False,
        now: Callable[[], float] = time.time,
        retry_seconds: float = RETRY_SECONDS,
        event_seconds: float = EVENT_SECONDS,
    ) -> None:
        """`disk` None keeps everything in memory."""
        super().__init__(disk.directory if disk is not None else None)
        self._disk = disk
        self._summary = summary
        self._failing = failing
        self._now = now
        self._retry_seconds = retry_seconds
        self._event_seconds = event_seconds
        self._writer: SessionWriter | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self.on_trouble: Callable[[Notice], None] | None = None

    def append(self, stored: Stored) -> None:
        """Add one item at the end of the history."""
        self._put(stored)

    def replace(self, items: Sequence[Stored]) -> None:
        """Write the whole history anew."""
        self._put(ReplaceHistory(tuple(items)))

    async def flush(self, *, durable: bool = False) -> bool:
        """Wait until all before it is written; False when it could not be, or there is no place to write."""
        return await self._flush(durable=durable)

    def record(self, record: EventRecord) -> None:
        """Accept an event."""
        writer = self._started()
        if writer is not None:
            writer.put_event(record)

    def prompt_started(self, text: str, prompt_index: int) -> None:
        """A prompt was accepted. The first one gives the session its title."""
        changes: dict[str, object] = {
            "last_prompt": text[:PROMPT_LIMIT],
            "turns": prompt_index + 1,
            "updated_at": self._now(),
        }
        if not self._summary.title and (title := title_of(text)):
            self._summary = msgspec.structs.replace(self._summary, title=title)
            changes["title"] = title
        self._put(ChangeSummary(changes))

    def turn_ended(self, *, model: str, tokens: int, messages: int) -> None:
        """A turn is over; figures are totals of the session."""
        models = self._summary.models
        if model not in models:
            models = (*models, model)
            self._summary = msgspec.structs.replace(self._summary, models=models)
        changes: dict[str, object] = {
            "model": model,
            "models": models,
            "tokens": tokens,
            "messages": messages,
            "updated_at": self._now(),
        }
        self._put(ChangeSummary(changes))

    def spent(self, usage: Mapping[str, Usage], rows: Mapping[str, Mapping[str, Usage]]) -> None:
        """The session's bill by model, and by kind of work and model."""
        self._put(
            ChangeSummary({"usage": dict(usage), "usage_rows": {work: dict(rows[work]) for work in rows}})
        )

    def title_changed(self, title: str, source: TitleSource) -> None:
        """What the session is called."""
        self._summary = msgspec.structs.replace(self._summary, title=title, title_source=source)
        self._put(ChangeSummary({"title": title, "title_source": source}))

    def runs_with(self, model: str, mode: PermissionMode) -> None:
        """The model and the permission mode that going on with the session starts with."""
        self._put(ChangeSummary({"model": model, "mode": mode.value}))

    def runs_under(self, profile: str, digest: str) -> None:
        """The sandbox profile that going on with the session starts with, and the digest of one that is a project's."""
        self._put(ChangeSummary({"sandbox_profile": profile, "sandbox_digest": digest}))

    def directory_changed(self, cwd: str) -> None:
        """The session works elsewhere from now on; its files stay where they are."""
        self._put(ChangeSummary({"current_cwd": cwd, "updated_at": self._now()}))

    def factor_learnt(self, model: str, factor: float) -> None:
        """Keep what was learnt of a model's tokens (`start_chat`'s `on_factor`)."""
        writer = self._started()
        if writer is not None:
            writer.put_later(LearnFactor(model, factor))

    async def close(self) -> None:
        """Write what is pending, release the lock, end. Calling it again does nothing."""
        if self._closed:
            return
        writer = self._started()
        if writer is not None:
            await self._flush(last=True)
            writer.join()
        self._closed = True

    def _started(self) -> SessionWriter | None:
        if self._disk is None or self._closed:
            return None
        if self._writer is None:
            self._loop = asyncio.get_running_loop()
            self._writer = SessionWriter(
                self._disk,
                self._report,
                failing=self._failing,
                retry_seconds=self._retry_seconds,
                event_seconds=self._event_seconds,
            )
        return self._writer

    def _put(self, work: Stored | ReplaceHistory | ChangeSummary) -> None:
        writer = self._started()
        if writer is not None:
            writer.put(work)

    async def _flush(self, *, durable: bool = False, last: bool = False) -> bool:
        writer = self._started()
        if writer is None:
            return False
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[bool] = loop.create_future()
        writer.put(Flush(answer_on(loop, answered), durable, last))
        return await answered

    def _report(self, trouble: Trouble) -> None:
        """From the writer's thread into the loop."""
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(self._tell, trouble_notice(trouble))
        except RuntimeError:
            pass  # the loop is closed: there is nobody left to tell

    def _tell(self, notice: Notice) -> None:
        if self.on_trouble is not None:
            self.on_trouble(notice)


def trouble_notice(trouble: Trouble) -> Notice:
    """What the user is told when saving stops working, and when it works again."""
    if isinstance(trouble.error, SessionError):
        return Notice(
            "error",
            f"Nothing is being saved any more: {str(trouble.error).rstrip('.')}. The session goes on in memory alone; "
            "copy what you need of it and start grokmini anew.",
            "not_saving",
        )
    if trouble.error is not None:
        return Notice(
            "error",
            f"Nothing is being saved: {reason_of(trouble.error)}. The session goes on in memory and saving is "
            "tried again every few seconds; once it works, everything is written.",
            "not_saving",
        )
    if trouble.log_refused is not None:
        return Notice(
            "error",
            f"Events are not being recorded: {reason_of(trouble.log_refused)}. The conversation itself is saved; "
            "`grokmini log` and search lack what happens from now on, until that file can be written.",
            "not_recording",
        )
    lost = f" {trouble.events_lost} old events of the log are missing." if trouble.events_lost else ""
    if trouble.log_deleted:
        lost += (
            " The record of earlier events is gone or could not be used: `grokmini log` and search begin here."
        )
    return Notice("info", f"Saving works again; the whole conversation has been written.{lost}", "saving_again")


def reason_of(error: Exception) -> str:
    """An operating system's refusal in words, with the file it is about."""
    if not isinstance(error, OSError):
        return str(error)
    text = error.strerror or str(error)
    return f"{text} ({error.filename})" if error.filename else text

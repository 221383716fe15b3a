"""`summary.json`: the index entry of a session, changed field by field so that nobody's fields are lost."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from grokmini.files.regular import read_start
from grokmini.protocol.codec import clean_surrogates
from grokmini.protocol.events import TitleSource
from grokmini.protocol.model import Usage
from grokmini.store.atomic import remove_leftovers, replace_file
from grokmini.store.jsonl import quarantine
from grokmini.store.layout import SUMMARY, SUMMARY_LOCK, open_private
from grokmini.store.locked import NO_LOCKS
from grokmini.store.set_aside import refusal, set_aside

FORMAT_VERSION = 1
LARGEST: Final = 1 << 24
"""Bytes of a summary; what is longer is none."""
_IN_DOUBT: Final[dict[str, object]] = {"pinned": True, "title_source": "manual"}
"""What is taken where another version wrote something that cannot be understood: what loses nothing."""

_GENERATED, _MANUAL = msgspec.Raw(b'"generated"'), msgspec.Raw(b'"manual"')


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What lists and resuming need to know of a session. Times are seconds since the epoch.

    `cwd` is where the session is filed and never changes; `current_cwd` is where it works now. `tokens` is the
    estimated size of the next request, `messages` the number of items, `usage` the session's bill by model and
    `usage_rows` the same by kind of work, then model.
    `pinned` keeps it from clean-up; `mode` and `sandbox_profile` are what it ran under last, `sandbox_digest` tells a
    project's profile from what the project made of it since.
    """

    session_id: str
    cwd: str
    format_version: int = FORMAT_VERSION
    current_cwd: str = ""
    title: str = ""
    branch: str = ""
    model: str = ""
    models: tuple[str, ...] = ()
    created_at: float = 0.0
    updated_at: float = 0.0
    turns: int = 0
    tokens: int = 0
    messages: int = 0
    last_prompt: str = ""
    parent_session_id: str | None = None
    forked_at: float = 0.0
    title_source: TitleSource = "prompt"
    pinned: bool = False
    mode: str = ""
    sandbox_profile: str = ""
    sandbox_digest: str = ""
    usage: dict[str, Usage] = {}
    usage_rows: dict[str, dict[str, Usage]] = {}

    @property
    def working_directory(self) -> Path:
        """Where the session worked last."""
        return Path(self.current_cwd or self.cwd)


def read_summary(directory: Path) -> Summary | None:
    """The summary of a session; None when it is missing or damaged."""
    try:
        return _decode(_bytes_of(directory))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _bytes_of(directory: Path) -> bytes:
    return read_start(directory / SUMMARY, LARGEST)


def _decode(data: bytes) -> Summary:
    """A summary of any version: fields that are of another shape there are as in a new session, or as is safe.

    Raises `msgspec.DecodeError` for what is no summary.
    """
    try:
        return msgspec.json.decode(data, type=Summary)
    except msgspec.ValidationError:
        fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    types = {field.name: field.type for field in msgspec.structs.fields(Summary)}
    fitting = {name: data for name, data in fields.items() if name in types and _fits(data, types[name])}
    doubtful = {name: _IN_DOUBT[name] for name in _IN_DOUBT if name in fields and name not in fitting}
    return msgspec.json.decode(msgspec.json.encode(fitting | doubtful), type=Summary)


def _fits(data: msgspec.Raw, type_: Any) -> bool:
    try:
        msgspec.json.decode(data, type=type_)
    except msgspec.DecodeError:
        return False
    return True


def change_summary(directory: Path, changes: Mapping[str, object], start: Summary) -> None:
    """Read, change, write whole, under the summary's lock. Fields of a newer version stay as they are.

    `start` is used where there is no summary yet, or a damaged one, which is kept as `summary.json.corrupt`; what is
    in its place and is no file of ours is moved aside. Raises `OSError`.
    """
    lock = open_private(directory / SUMMARY_LOCK, os.O_RDWR)
    try:
        _lock(lock)
        remove_leftovers(directory / SUMMARY)
        fields = _read_fields(directory)
        if fields is None:
            fields = _encode_fields(msgspec.structs.asdict(start))
        changed = _encode_fields(changes)
        _keep_manual_title(fields, changed)
        fields.update(changed)
        data = msgspec.json.format(msgspec.json.encode(fields), indent=2)
        replace_file(directory / SUMMARY, data + b"\n")
    finally:
        os.close(lock)


def _keep_manual_title(fields: Mapping[str, msgspec.Raw], changes: dict[str, msgspec.Raw]) -> None:
    """A title that was made takes nobody's own away, given by another process, say."""
    if changes.get("title_source") == _GENERATED and fields.get("title_source") == _MANUAL:
        del changes["title_source"], changes["title"]


def _lock(descriptor: int) -> None:
    """Wait for the lock; where there are no locks, it goes without."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise


def _read_fields(directory: Path) -> dict[str, msgspec.Raw] | None:
    path = directory / SUMMARY
    if refusal(path) is not None:
        set_aside(path)
        return None
    try:
        data = _bytes_of(directory)
    except FileNotFoundError:
        return None
    try:
        fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        quarantine(path, [data], data.splitlines())
        return None
    return fields


def _encode_fields(values: Mapping[str, object]) -> dict[str, msgspec.Raw]:
    plain: dict[str, Any] = clean_surrogates(msgspec.to_builtins(dict(values)))
    return {key: msgspec.Raw(msgspec.json.encode(value)) for key, value in plain.items()}

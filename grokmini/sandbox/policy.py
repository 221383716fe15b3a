"""What a sandbox profile comes to on one machine and in one folder: plain data for the mechanisms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of each command; None leaves one as it is.

    `nproc` counts what commands may have besides what the person runs already. `fsize` and `data` (bytes of one file,
    of one process's memory) guard against accidents: they are per file and process, and a command that needs more
    (`ulimit -d unlimited` before a program with an address sanitizer) may raise them for itself.
    """

    nproc: int | None = 2_000
    fsize: int | None = None
    data: int | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """What commands may do. All paths are absolute, those of writable folders real ones: see `roots`.

    `read_roots` count only without `read_all`, as do `links`, the links on the way to what may be used; `protected`
    paths are read-only inside the writable ones, `denied` ones cannot be read, nor can what matches `denied_globs`
    later (`denied` holds what matches them now; `idle_globs` are those that match nothing). `own` are our own folders
    as the environment names them, there or not.
    `extra` are those of `write_roots` that the profile adds. `notices` are sentences for the person to know.
    `explicit`: the person named the profile, so what is missing stops the start.
    """

    profile: str
    read_all: bool = True
    read_roots: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    write_all: bool = False
    write_roots: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    denied_globs: tuple[str, ...] = ()
    idle_globs: tuple[str, ...] = ()
    network: Literal["open", "blocked"] = "open"
    allow_unix: bool = False
    scratch: str = ""
    temp: tuple[str, ...] = ()
    caches: tuple[str, ...] = ()
    limits: Limits = Limits()
    explicit: bool = False
    notices: tuple[str, ...] = ()

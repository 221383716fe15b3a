"""Every sandbox profile that can be named in a folder, each in one line of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from grokmini.sandbox.profile import Profile
from grokmini.text.sanitise import sanitise
from grokmini.text.width import cut_to_width

WIDTH: Final = 80
UNTRUSTED: Final = "untrusted"
_LONGEST: Final = 13
_WRITES: Final = {
    "off": "all",
    "workspace": "here, temp",
    "read-only": "temp",
    "strict": "here, temp",
    "devbox": "all but /data, cron",
}


class Row(NamedTuple):
    """A profile, or why the one of that name cannot be used. `trusted`: it needs no agreement, or has it."""

    name: str
    profile: Profile | None
    trusted: bool = True
    wrong: str = ""


def table(rows: tuple[Row, ...], current: str, *, secrets: bool) -> Iterator[str]:
    """The lines; `current` is marked. `secrets`: whether keys and tokens are kept from being read."""
    wide = min(max(len(row.name) for row in rows), _LONGEST)
    yield _line("", wide, "profile", "may read", "may write", "network")
    for row in rows:
        mark = "*" if row.name == current else ""
        if row.profile is None:
            wrong = f"{mark:<2}{cut_to_width(row.name, wide, '…'):<{wide}}  unusable: {row.wrong}"
            yield cut_to_width(sanitise(wrong, newlines=False), WIDTH, "…")
            continue
        yield _line(
            mark,
            wide,
            row.name,
            _reads(row.profile, secrets=secrets),
            _writes(row.profile),
            f"{_network(row.profile):<9}{_whose(row)}".rstrip(),
        )
    if any(_whose(row) == UNTRUSTED for row in rows):
        yield "untrusted: the project's, grants more than workspace, and you have not agreed:"
        yield "first `grokmini sandbox explain --profile NAME`, then `… trust NAME`"


def _line(mark: str, wide: int, name: str, reads: str, writes: str, network: str) -> str:
    return f"{mark:<2}{cut_to_width(name, wide, '…'):<{wide}}  {reads:<24} {writes:<19} {network}"


def _reads(profile: Profile, *, secrets: bool) -> str:
    kept = ["secrets"] if secrets and profile.base not in ("off", "devbox", "strict") else []
    kept += [f"{len(profile.deny)} denied" if not kept else f"{len(profile.deny)} more"] if profile.deny else []
    begin = "all" if profile.base != "strict" else f"system, here{_more(profile.read)}"
    return f"{begin} but {', '.join(kept)}" if kept else begin


def _writes(profile: Profile) -> str:
    every = profile.base in ("off", "devbox")
    return _WRITES[profile.base] + ("" if every else _more(profile.write))


def _more(paths: tuple[str, ...]) -> str:
    return f", {len(paths)} more" if paths else ""


def _network(profile: Profile) -> str:
    if not profile.blocks_network:
        return "open"
    return "local" if profile.allow_unix else "blocked"


def _whose(row: Row) -> str:
    if row.profile is None or not row.profile.digest:
        return ""
    return "project's" if row.trusted else UNTRUSTED

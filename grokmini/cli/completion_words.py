"""`grokmini completions words KIND [PREFIX]`: what a shell offers for a word that begins so.

Somebody waits at the Tab key, so this loads no part of the program that takes time to load: it reads names and
titles where the store and the settings keep them. One candidate a line; a tab and what it is may follow.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec
from grokmini.config.paths import Places, find_places
from grokmini.protocol.errors import UsageError
from grokmini.store.layout import DRIVER_LOCK, SESSIONS, SUMMARY, encode_cwd
from grokmini.store.locked import is_locked

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed

SPEC = CommandSpec(
    words="KIND [PREFIX]",
    examples=("grokmini completions words sessions 0193", "grokmini completions words models"),
    about="What the completion scripts look up. KIND is sessions, live-sessions or models.",
)

MOST = 50
"""Sessions that are offered: nobody reads more."""

MOST_READ = 200
"""Sessions that are looked into for a title: the newest."""

_OF_IDS = frozenset("0123456789abcdef-")

_Entry = tuple[str, str]
"""A session's id and the directory that it is in, as plain text: there may be 12,000."""

Find = Callable[[str, Places], Iterable[str]]


def run(parsed: Parsed) -> int:
    """See `answer`, which `main` calls without this detour."""
    return answer(parsed.words)


def answer(words: list[str]) -> int:
    """Print the candidates. Whatever is wrong means none: a message would land in somebody's command line."""
    kind, prefix = (*words, "", "")[:2]
    if kind not in KINDS:
        return 2
    try:
        places = find_places(os.environ)
        found = KINDS[kind](prefix, places) if places else ()
        sys.stdout.write("".join(f"{line}\n" for line in found if line.replace("\t", "", 1).isprintable()))
        sys.stdout.flush()
    except (OSError, ValueError, UsageError):
        return 1
    return 0


def sessions(prefix: str, places: Places) -> Iterator[str]:
    """Ids with their titles, this folder's and the newest first; where no id begins so, titles that do."""
    return _named(prefix, lambda: _newest(places))


def live_sessions(prefix: str, places: Places) -> Iterator[str]:
    """The same of the sessions that run now."""
    return _named(prefix, lambda: filter(_runs, islice(_newest(places), MOST_READ)))


def models(prefix: str, places: Places) -> Iterator[str]:
    """The person's own models, the providers whose key is there, and the demo."""
    import tomllib

    import grokmini.sampler

    names = list(_own_models(places.config / "config.toml"))
    rows = tomllib.loads((Path(grokmini.sampler.__path__[0]) / "catalogue.toml").read_text(encoding="utf-8"))
    names += [
        f"{name}\t{row['title']}"
        for name, row in rows.items()
        if row.get("model") and any(os.environ.get(key, "").strip() for key in row.get("keys", ()))
    ]
    return (name for name in (*names, "demo\tanswers from a script") if name.startswith(prefix))


KINDS: dict[str, Find] = {"sessions": sessions, "live-sessions": live_sessions, "models": models}


def _named(prefix: str, entries: Callable[[], Iterable[_Entry]]) -> Iterator[str]:
    found = False
    if set(prefix) <= _OF_IDS:
        for entry in islice((entry for entry in entries() if entry[0].startswith(prefix)), MOST):
            found = True
            yield f"{entry[0]}\t{_title(entry)}"
    if not found:
        wanted = prefix.casefold()
        titles = dict.fromkeys(map(_title, islice(entries(), MOST_READ)))
        yield from islice((title for title in titles if title.casefold().startswith(wanted)), MOST)


def _runs(entry: _Entry) -> bool:
    """Whether the session's lock is held. (Leases on network file systems would take longer to look at.)"""
    return is_locked(f"{entry[1]}/{entry[0]}/{DRIVER_LOCK}")


def _newest(places: Places) -> Iterator[_Entry]:
    """This folder's sessions, then the others. Ids sort by time, so no file need be looked at."""
    root = places.state / SESSIONS
    here = root / encode_cwd(Path.cwd())
    yield from _below([str(here)])
    yield from _below(f"{root}/{name}" for name in _names(str(root)) if name != here.name)


def _below(groups: Iterable[str]) -> list[_Entry]:
    return sorted(((name, group) for group in groups for name in _names(group)), reverse=True)


def _names(group: str) -> list[str]:
    try:
        with os.scandir(group) as entries:
            return [entry.name for entry in entries if not entry.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _title(entry: _Entry) -> str:
    try:
        with open(f"{entry[1]}/{entry[0]}/{SUMMARY}", "rb") as file:  # noqa: PTH123 - hundreds of paths take their time
            return " ".join(str(json.loads(file.read()).get("title", "")).split())
    except (OSError, ValueError, AttributeError):
        return ""


def _own_models(path: Path) -> Iterator[str]:
    import tomllib

    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")).get("model", {})
    except FileNotFoundError:
        return
    if isinstance(table, dict):
        yield from (str(name) for name in table)

"""The sessions that one REPL talks to, one after another, and those that are stored."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from grokmini import __version__
from grokmini.cli.choose_model import choose_model
from grokmini.cli.choose_session import OpenAs
from grokmini.cli.find_session import find_session, session_to_follow
from grokmini.cli.model_choice import ModelChoice
from grokmini.cli.root import Root
from grokmini.cli.sandboxed import Agree, profiles_of
from grokmini.cli.search_place import search_index
from grokmini.cli.session_rows import row_of
from grokmini.cli.start_cleanup import start_cleanup
from grokmini.cli.watched_session import WatchedSession
from grokmini.cli.wire import Wired, start_session
from grokmini.protocol.errors import SandboxError, SessionError, UsageError
from grokmini.protocol.events import EventRecord, SessionEvent
from grokmini.protocol.model import ModelSpec, Price
from grokmini.protocol.permission import PermissionMode
from grokmini.render.figures import plural, short_path
from grokmini.render.session_list import Row
from grokmini.repl.ports import FoundSession, OpenedSession
from grokmini.sandbox.profile import BUILT_IN
from grokmini.session.turn import CONCISE_WINDOW
from grokmini.store.driver_lock import is_driven
from grokmini.store.fork import fork_session
from grokmini.store.manage import delete, pin
from grokmini.store.session_files import reason_of
from grokmini.store.sessions import SessionInfo, SessionStore
from grokmini.store.summary import Summary, read_summary
from grokmini.store.updates import read_last_turns, read_updates

LISTED = 1_000
"""Sessions that a list holds at most: the newest."""

SEARCH_SECONDS = 2.0
"""How long `/search` brings its index up to date before it answers with what it has."""


class Sessions:
    """The first session, and further ones for `/new`, `/resume`, `/fork` and `/follow`: same settings, and the
    folder, the model and the mode of the last that ran here. Implements `repl.ports.SessionFactory`.
    """

    def __init__(self, root: Root, last: Wired | None = None, ask_about_profile: Agree | None = None) -> None:
        """`last` is a session that runs here already. `ask_about_profile` is for the first one: see `start_session`."""
        self._root = root
        self._ask = ask_about_profile
        self._last = last
        self._choice = ModelChoice(root)
        self._looking: asyncio.Task[object] | None = None

    async def start(self, model: ModelSpec) -> OpenedSession:
        """Make or open the session that the options ask for. Raises `GrokminiError`."""
        opened = await self._open(self._root, model, OpenAs.from_options(self._root.options))
        if self._root.places is not None:
            start_cleanup(self._root.places, self._root.settings.storage.cleanup_ttl_days)
        return opened

    async def start_watching(self, text: str) -> OpenedSession:
        """Watch the session that the options name, no model needed. Raises `SessionError`."""
        info = await asyncio.to_thread(session_to_follow, self._store(), text, self._root.cwd)
        return await self.follow(info.session_id)

    async def new(self) -> OpenedSession:
        """See `SessionFactory`."""
        return await self._open(self._as_now(), await self._model(), OpenAs(save=self._root.options.save))

    async def resume(self, session_id: str) -> OpenedSession:
        """See `SessionFactory`."""
        options = self._root.options._replace(permission_mode=None, model=None)
        root = self._as_now()._replace(options=options)
        return await self._open(root, await self._model(), OpenAs(resume=session_id))

    async def fork(self, session_id: str, before_prompt: int | None) -> OpenedSession:
        """See `SessionFactory`."""
        store, cwd = self._store(), self._as_now().cwd
        made = await asyncio.to_thread(
            lambda: fork_session(store, session_id, cwd=cwd, before_prompt=before_prompt)
        )
        return await self.resume(made.session_id)

    async def follow(self, session_id: str) -> OpenedSession:
        """See `SessionFactory`."""
        directory = await asyncio.to_thread(self._store().directory_of, session_id)
        watched = WatchedSession(directory)
        return OpenedSession(
            handle=watched,
            events=watched.events,
            usage=watched.usage,
            diff=lambda: "",
            records=lambda: _records(directory),
            last_turns=lambda turns: (),
            context=watched.context,
            facts=lambda: facts_of(directory, watched.driver or ""),
            sandbox=lambda: _watched_sandbox(directory),
            watched=True,
        )

    async def models(self) -> Sequence[str]:
        """See `SessionFactory`: no provider without a key."""
        self._remember_model()
        return await self._choice.look()

    async def model_meant(self, name: str) -> tuple[str, str]:
        """See `SessionFactory`."""
        self._remember_model()
        return await self._choice.meant(name)

    def arguments(self, command: str) -> Sequence[str]:
        """See `SessionFactory`."""
        if command == "sandbox":
            try:
                return profiles_of(self._as_now()).names
            except SandboxError:
                return BUILT_IN
        if command == "mode":
            return [mode.value for mode in PermissionMode]
        return self._model_names() if command == "model" else ()

    def price(self, model: str) -> Price | None:
        """See `SessionFactory`: a model that is in no list has no price."""
        try:
            return self._root.catalogue.find(model).price
        except UsageError:
            return None

    def stored(self, *, everywhere: bool) -> Sequence[Row]:
        """See `SessionFactory`."""
        infos = self._store().list(LISTED, None if everywhere else self._as_now().cwd)
        return [self._row(info, folder=everywhere) for info in infos]

    def find(self, text: str) -> Row:
        """See `SessionFactory`."""
        return self._row(find_session(self._store(), text, self._as_now().cwd), folder=False)

    def search(self, words: str) -> Sequence[FoundSession]:
        """See `SessionFactory`."""
        if self._root.places is None:
            raise _not_kept()
        with search_index(self._root.places) as index:
            index.refresh(time.monotonic() + SEARCH_SECONDS)
            hits = index.search(words)
        infos = {hit.directory: read_summary(hit.directory) for hit in hits}
        return [
            FoundSession(
                self._row(SessionInfo(hit.session_id, hit.directory, hit.updated, summary), folder=True),
                "" if hit.kind == "title" else f"prompt {hit.prompt_index + 1}",
                hit.snippet,
            )
            for hit in hits
            if (summary := infos[hit.directory]) is not None
        ]

    def pin(self, session_id: str, pinned: bool) -> None:
        """See `SessionFactory`."""
        pin(self._store().directory_of(session_id), pinned)

    def delete(self, session_id: str) -> None:
        """See `SessionFactory`."""
        delete(self._store().directory_of(session_id))

    async def _open(self, root: Root, model: ModelSpec, open_as: OpenAs) -> OpenedSession:
        ask, self._ask = self._ask, None
        self._last = await start_session(root, model, open_as, interactive=True, ask_about_profile=ask)
        self._remember_model()
        return opened_of(self._last)

    def _as_now(self) -> Root:
        """The root as the session that runs or ran here last has changed it."""
        if self._last is None:
            return self._root
        sandbox = self._last.sandbox
        options = self._root.options._replace(
            permission_mode=self._last.live.mode.value,
            sandbox=sandbox.profile if sandbox.explicit else self._root.options.sandbox,
        )
        root, cwd = self._root._replace(options=options), self._last.workspace.root
        return root if cwd == root.cwd else root.at(cwd)

    async def _model(self) -> ModelSpec:
        return self._last.live.model if self._last is not None else await choose_model(self._root)

    def _remember_model(self) -> None:
        if self._last is not None:
            self._choice.had(self._last.live.model.name)

    def _model_names(self) -> Sequence[str]:
        """What is known now; what servers have comes for the next time."""
        self._remember_model()
        if self._looking is None:
            with suppress(RuntimeError):  # not on the event loop: nothing can be asked beside
                self._looking = asyncio.get_running_loop().create_task(self._choice.look())
        return self._choice.names()

    def _store(self) -> SessionStore:
        if self._root.places is None:
            raise _not_kept()
        return SessionStore(self._root.places.state)

    def _row(self, info: SessionInfo, *, folder: bool) -> Row:
        home = self._root.env.get("HOME", "")
        shown = short_path(str(info.summary.working_directory), home=home) if folder else ""
        return row_of(info, now=time.time(), live=is_driven(info.directory), folder=shown)


def opened_of(wired: Wired) -> OpenedSession:
    """A session that runs here, as the REPL talks to it."""
    directory, registry, live = wired.directory, wired.registry, wired.live
    return OpenedSession(
        handle=wired.handle,
        events=wired.events,
        usage=wired.chat.usage,
        diff=lambda: wired.workspace.changes.diff(None),
        records=lambda: _records(directory),
        last_turns=lambda turns: _last_turns(directory, turns),
        context=lambda: wired.chat.context(
            live.model, registry.specs(concise=live.model.context_window <= CONCISE_WINDOW)
        ),
        facts=lambda: facts_of(directory, "", live.model),
        sandbox=wired.sandbox.report,
    )


def _records(directory: Path) -> Iterator[EventRecord]:
    """Every event that is kept. Raises `SessionError`."""
    try:
        yield from read_updates(directory)
    except OSError as error:
        raise SessionError(
            f"the record of this session cannot be read: {reason_of(error)}",
            "check its permissions and the disk",
        ) from error


def _last_turns(directory: Path, turns: int) -> Iterator[SessionEvent]:
    """What there was before, as far as it can be read: going on does not need it."""
    with suppress(OSError):
        for record in read_last_turns(directory, turns):
            yield record.event


async def _watched_sandbox(directory: Path) -> Sequence[tuple[str, str]]:
    """What is known of the sandbox of a session that another process drives."""
    summary = await asyncio.to_thread(read_summary, directory)
    profile = summary.sandbox_profile if summary else ""
    return [("profile", profile or "the default"), ("enforced", "known to the process that drives it")]


def facts_of(directory: Path, driver: str, model: ModelSpec | None = None) -> list[tuple[str, str]]:
    """What there is to know of a session besides what its events tell. Blocks."""
    summary = read_summary(directory) or Summary(session_id=directory.name, cwd="")
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(summary.created_at)) if summary.created_at else ""
    spoken = f"{model.name} by {model.api_backend} at {model.base_url}" if model is not None else summary.model
    return [
        ("title", summary.title + {"manual": " (yours)", "generated": "", "prompt": ""}[summary.title_source]),
        ("id", summary.session_id),
        ("files", str(directory) if directory.is_dir() else "kept in memory"),
        ("folder", str(summary.working_directory) if summary.cwd else ""),
        ("branch", summary.branch),
        ("model", spoken),
        ("begun", when),
        ("prompts", plural(summary.turns, "prompt") if summary.turns else ""),
        ("copy of", summary.parent_session_id or ""),
        ("pinned", "yes" if summary.pinned else ""),
        ("driven by", driver),
        ("version", f"grokmini {__version__}"),
    ]


def _not_kept() -> SessionError:
    return SessionError("there is no home folder, so no session is kept", "set GROKMINI_HOME to a folder")

"""The sessions that one REPL talks to, one after another."""

from __future__ import annotations

from collections.abc import Sequence

from grokmini.cli.choose_session import OpenAs
from grokmini.cli.models import usable_names
from grokmini.cli.root import Root
from grokmini.cli.start_cleanup import start_cleanup
from grokmini.cli.wire import Wired, start_session
from grokmini.protocol.model import ModelSpec
from grokmini.repl.ports import OpenedSession
from grokmini.store.updates import read_updates


class Sessions:
    """The first session, and further ones for `/new`: same settings, and the folder, the model and the mode of the
    last.
    """

    def __init__(self, root: Root, last: Wired) -> None:
        self._root = root
        self._last = last

    @classmethod
    async def start(cls, root: Root, model: ModelSpec) -> Sessions:
        """Make or open the session that the options ask for. Raises `GrokminiError`."""
        open_as = OpenAs.from_options(root.options)
        wired = await start_session(root, model, open_as, interactive=True)
        if root.places is not None:
            start_cleanup(root.places, root.settings.storage.cleanup_ttl_days)
        return cls(root, wired)

    @property
    def opened(self) -> OpenedSession:
        """The newest session."""
        wired = self._last
        return OpenedSession(
            handle=wired.handle,
            events=wired.events,
            usage=wired.chat.usage,
            diff=lambda: wired.workspace.changes.diff(None),
            past=lambda: (record.event for record in read_updates(wired.directory)),
        )

    async def new(self) -> OpenedSession:
        """A fresh session."""
        live = self._last.live
        options = self._root.options._replace(permission_mode=live.mode.value)
        root = self._root._replace(cwd=self._last.workspace.root, options=options)
        self._last = await start_session(root, live.model, OpenAs(save=options.save), interactive=True)
        return self.opened

    def models(self) -> Sequence[str]:
        """Names that `/model` takes and that can be used: no provider without a key."""
        return usable_names(self._root.catalogue)

"""What a session that goes on starts with: its own model and permission mode, unless the command line names others."""

from __future__ import annotations

from typing import NamedTuple

from grokmini.cli.choose_model import as_it_runs
from grokmini.cli.root import Root
from grokmini.protocol.errors import UsageError
from grokmini.protocol.events import Notice
from grokmini.protocol.model import ModelSpec
from grokmini.protocol.permission import PermissionMode
from grokmini.store.summary import Summary


class Setup(NamedTuple):
    """Model and mode to start with, and what of the session's own could not be had."""

    model: ModelSpec
    mode: PermissionMode
    notices: tuple[Notice, ...] = ()


def new_setup(root: Root, model: ModelSpec) -> Setup:
    """What options and settings ask for."""
    asked = root.options.permission_mode
    return Setup(model, PermissionMode(asked) if asked else root.settings.permission.mode)


async def setup_of(root: Root, summary: Summary, model: ModelSpec) -> Setup:
    """What the session ran with, where the command line is silent. `model` is the one that was chosen without it.

    `always-approve` is never taken up again by itself: whoever wants it says so each time.
    """
    wanted = new_setup(root, model)
    notices: list[Notice] = []
    if not root.options.model and summary.model not in ("", model.name):
        try:
            wanted = wanted._replace(model=await as_it_runs(root, _usable(root, summary.model)))
        except UsageError as error:
            text = f"This session ran with {summary.model}, which cannot be used: {error.message}."
            notices.append(Notice("warning", f"{text} It goes on with {model.name}.", "model"))
    if not root.options.permission_mode and summary.mode in tuple(PermissionMode):
        if summary.mode != PermissionMode.ALWAYS_APPROVE:
            wanted = wanted._replace(mode=PermissionMode(summary.mode))
        elif wanted.mode is not PermissionMode.ALWAYS_APPROVE:
            text = f"This session ran with {summary.mode}; it goes on with {wanted.mode}."
            notices.append(Notice("info", text, "mode"))
    return wanted._replace(notices=tuple(notices))


def _usable(root: Root, name: str) -> ModelSpec:
    """The model of that name. Raises `UsageError` also when its provider's key is missing."""
    spec = root.catalogue.find(name)
    row = root.catalogue.providers.get(spec.provider)
    if (
        row is not None
        and not row.local
        and spec.base_url == row.base_url
        and not root.catalogue.has_key(spec.provider)
    ):
        raise UsageError(f"there is no key for {spec.provider}")
    return spec

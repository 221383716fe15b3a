"""The settings in force, as one frozen value with a place for every part's own small record."""

from __future__ import annotations

from typing import Annotated

import msgspec

from grokmini.protocol.permission import PermissionMode

LONGEST = 31_536_000
"""A year in seconds: more than anybody waits."""


class ModelsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[models]`: the default model's name, empty to choose by what is there."""

    default: str = ""


class PermissionSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[permission]`: the mode and the rules `Tool(pattern)`; deny beats ask beats allow.

    `never_ask` is what the mode `dontAsk` adds to `ask`: every question is answered with No.
    """

    mode: PermissionMode = PermissionMode.ASK
    never_ask: bool = False
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


class ShellSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[shell]`: limits of commands, in seconds and characters.

    `keep_env` names the variables that commands get although they look like secrets.
    """

    timeout_secs: Annotated[float, msgspec.Meta(gt=0, le=LONGEST)] = 120.0
    max_timeout_secs: Annotated[float, msgspec.Meta(gt=0, le=LONGEST)] = 36_000.0
    output_limit: Annotated[int, msgspec.Meta(ge=1, le=10_000_000)] = 20_000
    keep_env: tuple[str, ...] = ()


class ToolsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[tools]`: `skip_read_before_edit` lets files be changed that the model has not read as they are now."""

    skip_read_before_edit: bool = False


class UiSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[ui]`: `accessible` asks for linear output without anything that ticks or repaints, `vim_mode` for vi keys in
    the prompt.
    """

    accessible: bool = False
    show_reasoning: bool = True
    vim_mode: bool = False


class SessionSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[session]`: `max_turns` 0 means no limit on model rounds."""

    max_turns: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0


class StorageSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[storage]`: `cleanup_ttl_days` removes sessions that nobody touched for so long; 0 keeps them all."""

    cleanup_ttl_days: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0


class SandboxSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[sandbox]`: the profile commands run under, empty for the default; `protect_secrets` masks key files and
    the like from them, `protect_env_files` the project's `.env*` files as well.
    """

    profile: str = ""
    protect_secrets: bool = True
    protect_env_files: bool = False


class PruningSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[compaction.pruning]`: results of tools older than so many of the person's turns are dropped."""

    hard_clear_age_turns: Annotated[int, msgspec.Meta(ge=3, le=1_000_000)] = 10


class CompactionSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[compaction]`: how a long conversation is kept short."""

    pruning: PruningSettings = PruningSettings()


class Settings(msgspec.Struct, frozen=True):
    """All of it. Models of the user (`[model.NAME]`) are in the catalogue, not here."""

    models: ModelsSettings = ModelsSettings()
    permission: PermissionSettings = PermissionSettings()
    shell: ShellSettings = ShellSettings()
    sandbox: SandboxSettings = SandboxSettings()
    tools: ToolsSettings = ToolsSettings()
    ui: UiSettings = UiSettings()
    session: SessionSettings = SessionSettings()
    storage: StorageSettings = StorageSettings()
    compaction: CompactionSettings = CompactionSettings()

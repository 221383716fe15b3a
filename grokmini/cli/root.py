"""What a process has once: the options, the folder to work in, places, settings and models."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from grokmini.cli.folder import working_folder
from grokmini.cli.options import Options
from grokmini.config.load import load_settings
from grokmini.config.paths import Places, find_places
from grokmini.config.settings import Settings
from grokmini.sampler.catalogue import ModelCatalogue
from grokmini.tools.rules import RuleSet, parse_rules


class Root(NamedTuple):
    """What a process has once. `cwd` is the real path of the folder to work in."""

    options: Options
    env: Mapping[str, str]
    cwd: Path
    places: Places | None
    settings: Settings
    catalogue: ModelCatalogue
    warnings: tuple[str, ...]

    def at(self, cwd: Path) -> Root:
        """The same for another folder, by the settings that hold there now. Raises `ConfigError`."""
        loaded = load_settings(self.places, cwd, self.env)
        models = ModelCatalogue(loaded.models, self.env)
        return self._replace(cwd=cwd, settings=loaded.settings, catalogue=models, warnings=loaded.warnings)

    def rules(self) -> RuleSet:
        """The permission rules of settings and command line. Raises `UsageError` at one that cannot be read."""
        permission = self.settings.permission
        return parse_rules(
            allow=(*permission.allow, *self.options.allow),
            ask=permission.ask,
            deny=(*permission.deny, *self.options.deny),
        )


def load_root(options: Options, env: Mapping[str, str] = os.environ) -> Root:
    """Read settings and models. Raises `ConfigError` and `UsageError`."""
    cwd = working_folder(options.cwd)
    places = find_places(env)
    loaded = load_settings(places, cwd, env)
    return Root(options, env, cwd, places, loaded.settings, ModelCatalogue(loaded.models, env), loaded.warnings)

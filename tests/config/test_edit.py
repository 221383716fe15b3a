"""Changing the user's file without spoiling it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.config.edit import remember_default_model
from grokmini.config.load import load_settings
from grokmini.config.paths import Places
from grokmini.protocol.errors import ConfigError


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(*(tmp_path / name for name in ("config", "state", "cache", "data")))


def test_comments_and_order_stay(places: Places) -> None:
    places.config.mkdir()
    file = places.config / "config.toml"
    file.write_text(
        '# mine\n[shell] # limits\ntimeout_secs = 5\n\n[models]\n# the big one\ndefault = "a" # why\n'
    )
    remember_default_model(places, "b")
    assert file.read_text() == (
        '# mine\n[shell] # limits\ntimeout_secs = 5\n\n[models]\n# the big one\ndefault = "b" # why\n'
    )


def test_a_missing_file_is_made_for_its_owner_alone(places: Places, tmp_path: Path) -> None:
    file = remember_default_model(places, 'odd "name"')
    assert load_settings(places, tmp_path, {}).settings.models.default == 'odd "name"'
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_broken_file_is_left_as_it_is(places: Places) -> None:
    places.config.mkdir()
    file = places.config / "config.toml"
    for text in ("[models\n", "models = 5\n"):
        file.write_text(text)
        with pytest.raises(ConfigError):
            remember_default_model(places, "b")
        assert file.read_text() == text

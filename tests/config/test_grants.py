"""Grants on disk."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from grokmini.config.grants import GrantFile
from grokmini.protocol.errors import ConfigError


def test_a_grant_is_there_for_the_next_session(tmp_path: Path) -> None:
    file = tmp_path / "state" / "grants.json"
    GrantFile(file).grant(Path("/r"), "Bash(a)")
    GrantFile(file).grant(Path("/r"), "Bash(a)")
    GrantFile(file).grant(Path("/r"), "Bash(b)")
    assert GrantFile(file).granted(Path("/r")) == ("Bash(a)", "Bash(b)")
    assert GrantFile(file).granted(Path("/other")) == ()
    assert file.stat().st_mode & 0o777 == 0o600


def test_sessions_beside_one_another_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "grants.json"

    def grant(number: int) -> None:
        for step in range(5):
            GrantFile(file).grant(Path("/r"), f"Bash({number} {step})")

    threads = [threading.Thread(target=grant, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(GrantFile(file).granted(Path("/r"))) == 20


@pytest.mark.parametrize("content", ["{", "[]", '{"version": 2, "repositories": {}}', '{"other": 1}', "\x00"])
def test_a_file_that_is_not_understood_grants_nothing_and_is_kept(tmp_path: Path, content: str) -> None:
    file = tmp_path / "grants.json"
    file.write_text(content)
    assert GrantFile(file).granted(Path("/r")) == ()
    GrantFile(file).grant(Path("/r"), "Bash(a)")
    assert GrantFile(file).granted(Path("/r")) == ("Bash(a)",)
    assert (tmp_path / "grants.damaged").read_text() == content


def test_without_a_home_grants_hold_in_memory() -> None:
    grants = GrantFile(None)
    grants.grant(Path("/r"), "Bash(a)")
    assert grants.granted(Path("/r")) == ("Bash(a)",)


def test_a_place_that_cannot_be_written_is_an_error_with_a_way_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError) as caught:
        GrantFile(tmp_path / "file" / "grants.json").grant(Path("/r"), "Bash(a)")
    assert "this session only" in caught.value.hint

"""The question about a project's profile, as it is printed."""

from __future__ import annotations

import pytest

from grokmini.cli.sandbox_agree import ask_about_profile
from grokmini.sandbox.profile import built_in


@pytest.mark.parametrize(
    ("typed", "agreed"), [("y\n", True), ("Yes\n", True), ("\n", False), ("no\n", False), ("", False)]
)
def test_it_fits_the_terminal_and_only_a_yes_agrees(
    typed: str, agreed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    grants = ("write in /home/somebody/out and in /opt/another/place",)
    assert ask_about_profile(built_in("workspace"), grants, lambda: typed) is agreed
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= 40
    assert lines[-4:-2] == ["  write in /home/somebody/out and in", "    /opt/another/place"]

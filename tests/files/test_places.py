"""Where paths lead."""

from __future__ import annotations

from pathlib import Path

from grokmini.files.places import real_path


def test_a_link_that_leads_to_itself_leads_nowhere_and_raises_nothing(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "link").symlink_to("there")
    root = real_path(tmp_path)
    assert real_path(tmp_path / "loop" / "below") == root / "loop" / "below"
    assert real_path(tmp_path / "link") == root / "there"

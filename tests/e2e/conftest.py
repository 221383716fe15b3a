"""Fixtures of the end-to-end tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.program import Place


@pytest.fixture
def place(tmp_path: Path, fresh_home: Path) -> Place:
    """A fresh home and a fresh project folder."""
    project = tmp_path / "project"
    project.mkdir()
    return Place(fresh_home, project)

"""Manual pages and completions are made from the tables, and the files in the repository are what is made."""

from __future__ import annotations

import pytest

from tests.house.shipped import SHIPPED
from tests.house.sources import ROOT


@pytest.mark.parametrize("name", SHIPPED)
def test_the_generated_file_is_current(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == SHIPPED[name](), (
        "python -m tests.house.shipped writes it"
    )


def test_there_are_no_other_files_beside_them() -> None:
    found = {f"{folder}/{path.name}" for folder in ("man", "completions") for path in (ROOT / folder).iterdir()}
    assert found == set(SHIPPED)

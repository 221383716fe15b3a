"""Who may import what from outside, and that everything that is installed is used."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.house.sources import (
    PARSED_ONCE,
    ROOT,
    imported_names,
    sources,
    third_party_imports,
)

pytestmark = PARSED_ONCE

IMPORT_NAMES = {"prompt-toolkit": "prompt_toolkit"}
"""Distributions that are imported under another name."""

BORDERS = [
    ("httpx", "grokmini/net/"),
    ("prompt_toolkit", "grokmini/repl/"),
    ("wcwidth", "grokmini/text/width.py"),
]

PATCHES_PER_TEST = 0.05


def dependencies() -> list[str]:
    """The names under which the dependencies of the program are imported."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.match(r"[\w-]+", line) for line in project["dependencies"]]
    return [IMPORT_NAMES.get(name[0], name[0]) for name in names if name]


@pytest.mark.parametrize("name", dependencies())
def test_every_dependency_is_imported_somewhere(name: str) -> None:
    assert any(name in third_party_imports(source) for source in sources())


def test_nothing_is_imported_that_is_no_dependency() -> None:
    used = {name for source in sources() for name in third_party_imports(source)}
    assert used - set(dependencies()) == set()


@pytest.mark.parametrize("room", ["protocol", "text", "files"])
def test_the_ground_floor_needs_the_standard_library_and_msgspec_alone(room: str) -> None:
    """But for the one authority on character width."""
    found = {
        (source.path, name)
        for source in sources()
        if source.path.startswith(f"grokmini/{room}/")
        for name in third_party_imports(source)
    }
    assert found - {("grokmini/text/width.py", "wcwidth")} <= {(path, "msgspec") for path, _ in found}


def test_functions_on_text_know_nothing_of_files_and_processes() -> None:
    outside = {"io", "os", "shutil", "socket", "stat", "subprocess", "tempfile"}
    texts = [source for source in sources() if source.path.startswith("grokmini/text/")]
    assert [source.path for source in texts if outside & imported_names(source)] == []


@pytest.mark.parametrize(("name", "place"), BORDERS)
def test_a_package_is_used_in_its_own_place_only(name: str, place: str) -> None:
    users = [source.path for source in sources() if name in third_party_imports(source)]
    assert [path for path in users if not path.startswith(place)] == []


def test_tests_rarely_patch_anything() -> None:
    """A test that replaces parts of the program tests something else."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    tests = sum(len(re.findall(r"^ *(?:async )?def test_", text, re.MULTILINE)) for text in texts)
    patches = sum(len(re.findall(r"\bmonkeypatch\.", text)) for text in texts)
    assert tests > 500
    assert patches / tests < PATCHES_PER_TEST

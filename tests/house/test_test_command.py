"""The one test command: its stages, where it stops, and that skipping counts as failing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.__main__ import environment, main, stages
from tests.house.sources import ROOT


def pytest_run(folder: Path, body: str) -> int:
    (folder / "test_it.py").write_text(body)
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.nothing_skipped",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-p",
        "no:hypothesispytest",
        "-c",
        "/dev/null",
    ]
    done = subprocess.run([*words, str(folder / "test_it.py")], cwd=ROOT, capture_output=True, check=False)
    return done.returncode


@pytest.mark.xdist_group("those that belong together")
def test_the_runner_sees_which_tests_belong_together(request: pytest.FixtureRequest) -> None:
    """Else what several share is made once for each process; so it was with a pytest that the runner did not know."""
    if request.config.getoption("loadgroup", default=False):
        assert request.node.nodeid.endswith("@those that belong together"), "install again: sh tests/setup"


def test_a_skipped_test_fails_the_run(tmp_path: Path) -> None:
    assert pytest_run(tmp_path, "def test_it(): pass\n") == 0
    assert pytest_run(tmp_path, "import pytest\ndef test_it(): pytest.skip('not here')\n") == 1


def test_the_stages_are_format_lint_types_floors_and_tests_in_that_order() -> None:
    assert [name for name, _ in stages([])] == ["format", "lint", "types", "floors", "tests"]


def test_further_words_go_to_pytest() -> None:
    assert stages(["--full", "-x"])[-1][1][-2:] == ["--full", "-x"]


def test_the_unit_tests_are_all_but_those_of_the_installed_program_and_of_the_sandbox() -> None:
    """Looked at with one folder for all the others, which takes less time."""
    folders = {path.relative_to(ROOT).parts[1] for path in (ROOT / "tests").glob("*/**/test_*.py")}
    ignored = [f"--ignore=tests/{name}" for name in folders - {"e2e", "sandbox", "protocol"}]
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--collect-only",
        "-q",
        "--unit",
        *ignored,
    ]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    found = re.findall(r"^tests/(\w+)/", done.stdout, re.MULTILINE)
    assert set(found) == {"protocol"}


def test_byte_code_is_kept_also_where_the_environment_says_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert environment() == {name: os.environ[name] for name in os.environ if name != "PYTHONDONTWRITEBYTECODE"}


def test_it_stops_at_the_first_stage_that_fails_with_its_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """With a tool that always fails in the place of the first stage's."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 7\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert main([]) == 7
    out = capfd.readouterr().out
    assert "-- format: failed (7)" in out
    assert "-- lint" not in out

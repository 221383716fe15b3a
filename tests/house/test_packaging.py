"""What is built, and that it starts fast when the pip that a fresh `venv` brings installs it. No network."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from grokmini import __version__
from tests.house.sources import PACKAGE, ROOT


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), "-t", "wheel", "-t", "sdist"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


def shipped_files() -> set[str]:
    """Every file of the package, below the repository."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_the_package_the_script_and_the_licence_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    info, data = f"grokmini-{__version__}.dist-info", f"grokmini-{__version__}.data"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert names == shipped_files() | {
        f"{data}/scripts/grokmini",
        f"{info}/METADATA",
        f"{info}/WHEEL",
        f"{info}/RECORD",
        f"{info}/licenses/LICENSE",
    }


def test_the_sdist_holds_sources_tests_and_readme_and_no_leftovers(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert shipped_files() <= names
    assert {
        "README.md",
        "LICENSE",
        "pyproject.toml",
        "cli-script/grokmini",
        "tests/__main__.py",
        "tests/setup",
    } <= names
    tops = {name.partition("/")[0] for name in names}
    assert tops <= {
        "grokmini",
        "tests",
        "cli-script",
        "README.md",
        "LICENSE",
        "pyproject.toml",
        "PKG-INFO",
        ".gitignore",
    }
    assert not any(name.endswith(".pyc") for name in names)


def test_installed_by_the_pip_of_a_fresh_venv_the_version_costs_no_import(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "v")], check=True, capture_output=True)
    python, program = tmp_path / "v/bin/python", tmp_path / "v/bin/grokmini"
    install = [
        str(python),
        "-m",
        "pip",
        "install",
        "-q",
        "--no-index",
        "--no-deps",
        "--disable-pip-version-check",
    ]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    plain = subprocess.run(
        [str(program), "--version"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert plain.stdout == f"grokmini {__version__}\n"
    traced = subprocess.run(
        [str(python), "-X", "importtime", str(program), "--version"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in traced.stderr.splitlines()}
    assert {"grokmini", "grokmini.__main__", "grokmini.cli.main"} <= imported
    assert not imported & {"re", "typing", "enum", "argparse", "importlib.metadata"}

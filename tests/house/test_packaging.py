"""What is built, and that it starts fast when the pip that a fresh `venv` brings installs it. No network."""

from __future__ import annotations

import ensurepip
import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from grokmini import __version__
from tests.house.shipped import SHIPPED
from tests.house.sources import PACKAGE, ROOT

pytestmark = pytest.mark.xdist_group("packaging")
"""In one process, so that it is built and installed once."""


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


SHARED = {
    "share/man/man1/grokmini.1",
    "share/man/man5/grokmini-config.5",
    "share/bash-completion/completions/grokmini",
    "share/zsh/site-functions/_grokmini",
    "share/fish/vendor_completions.d/grokmini.fish",
}
"""Where `man` and the shells look, below the folder that a program is installed into."""


def test_the_wheel_holds_the_package_the_script_the_shared_files_and_the_licence_and_nothing_else(
    built: Path,
) -> None:
    (wheel,) = built.glob("*.whl")
    info, data = f"grokmini-{__version__}.dist-info", f"grokmini-{__version__}.data"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert names == shipped_files() | {
        f"{data}/scripts/grokmini",
        *(f"{data}/data/{name}" for name in SHARED),
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
        *SHIPPED,
    } <= names
    tops = {name.partition("/")[0] for name in names}
    assert tops <= {
        "grokmini",
        "tests",
        "cli-script",
        "man",
        "completions",
        "README.md",
        "LICENSE",
        "pyproject.toml",
        "PKG-INFO",
        ".gitignore",
    }
    assert not any(name.endswith(".pyc") for name in names)


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs' folder of a fresh venv into which the pip it would bring has installed the wheel, nothing else.

    That pip runs out of its own wheel: to unpack and compile it takes longer than all else here.
    """
    folder = tmp_path_factory.mktemp("installed") / "v"
    (wheel,) = built.glob("*.whl")
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, capture_output=True
    )
    python = folder / "bin/python"
    wheels = Path(sysconfig.get_config_var("WHEEL_PKG_DIR") or Path(ensurepip.__file__).parent / "_bundled")
    (pip,) = wheels.glob("pip-*.whl")
    options = ["-q", "--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check"]
    install = [str(python), "-m", "pip", "install", *options, str(wheel)]
    subprocess.run(install, env={**os.environ, "PYTHONPATH": str(pip)}, check=True, capture_output=True)
    return python.parent


def test_installed_the_manual_and_the_completions_lie_where_they_are_looked_for(installed: Path) -> None:
    assert {name for name in SHARED if (installed.parent / name).is_file()} == SHARED


def test_installed_by_the_pip_of_a_fresh_venv_the_version_costs_no_import(
    installed: Path, tmp_path: Path
) -> None:
    program = str(installed / "grokmini")
    plain = subprocess.run([program, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert plain.stdout == f"grokmini {__version__}\n"
    traced = subprocess.run(
        [str(installed / "python"), "-X", "importtime", program, "--version"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in traced.stderr.splitlines()}
    assert {"grokmini", "grokmini.__main__", "grokmini.cli.main"} <= imported
    assert not imported & {"re", "typing", "enum", "argparse", "importlib.metadata"}


def test_the_installed_wheel_runs_the_demo(installed: Path, tmp_path: Path, fresh_home: Path) -> None:
    """The last piece of the README's first command; the dependencies are lent, for want of a network."""
    lent = sysconfig.get_path("purelib")
    script = f"import sys; sys.path.append({lent!r}); sys.argv[0] = 'grokmini'; import grokmini.__main__"
    done = subprocess.run(
        [str(installed / "python"), "-c", script, "demo"],
        cwd=tmp_path,
        env={"HOME": str(fresh_home), "PATH": os.environ["PATH"], "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    (folder,) = tmp_path.glob("grokmini-demo-*")
    assert "return a + b" in (folder / "calc.py").read_text()

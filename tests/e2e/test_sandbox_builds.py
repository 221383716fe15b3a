"""Everyday building and testing under the profile `workspace`, in the installed program: Python, npm, C."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.e2e.program import Place
from tests.e2e.sandboxed import PYTHON, works
from tests.sandbox.developer.files import PARALLEL

FORK = """\
const { fork } = require("child_process");
if (process.argv[2] === "child") {
  process.send({ answer: 6 * 7 });
  process.disconnect();
} else {
  fork(__filename, ["child"]).on("message", (message) => console.log("the child says", message.answer));
}
"""

ADD = """\
#include <stdio.h>
#include "add.h"
int main(void) { printf("%d\\n", add(40, 2)); return 0; }
"""

MAKEFILE = """\
sum: main.o add.o
\t$(CC) -o $@ $^
%.o: %.c
\t$(CC) -g -c -o $@ $<
check: sum
\ttest "$$(./sum)" = 42
"""


def add_files(place: Place, **files: str) -> None:
    """Files of the project; `__` in a name stands for a dot."""
    for name, text in files.items():
        (place.project / name.replace("__", ".")).write_text(text)


def add_package(folder: Path) -> None:
    """A Python package as source."""
    (folder / "demo").mkdir(parents=True)
    (folder / "demo/__init__.py").write_text("ANSWER = 42\n")
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "demo"\nversion = "1.0"\n'
    )


def add_wheel(folder: Path) -> None:
    """A Python package as a wheel."""
    about = "tiny-1.0.dist-info"
    with zipfile.ZipFile(folder / "tiny-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny.py", "ANSWER = 43\n")
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", f"tiny.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")


QUIET = "--no-index --disable-pip-version-check --quiet"


def test_a_virtual_environment_is_made_and_pip_installs_into_it(place: Place) -> None:
    add_wheel(place.project)
    *_, found, cache = works(
        place,
        f"{PYTHON} -m venv venv",
        f"venv/bin/pip install {QUIET} ./tiny-1.0-py3-none-any.whl",
        ". venv/bin/activate && python -c 'import tiny; print(tiny.ANSWER, tiny.__file__)'",
        "pip cache dir",
    )
    assert found.startswith(f"43 {place.project}/venv/")
    assert cache == str(place.home / ".cache/grokmini/tools/pip"), "kept for the next session"
    assert not (place.home / ".cache/pip").exists()


def test_pip_builds_and_installs_a_package_of_the_project(place: Place) -> None:
    add_package(place.project / "package")
    _, found = works(
        place,
        f"{PYTHON} -m pip install {QUIET} --no-build-isolation --no-deps --target installed ./package",
        f"cd / && PYTHONPATH={place.project}/installed {PYTHON} -c 'import demo; print(demo.ANSWER, demo.__file__)'",
    )
    assert found.startswith(f"42 {place.project}/installed/")


@pytest.mark.parametrize("runner", ["-m pytest -q -p no:cacheprovider", "-m unittest -q", ""])
def test_tests_that_use_many_processes_pass(place: Place, runner: str) -> None:
    add_files(place, test_parallel__py=PARALLEL)
    (printed,) = works(place, f"{PYTHON} {runner} test_parallel.py 2>&1")
    assert "6 passed" in printed or "Ran 6 tests" in printed


def test_npm_installs_and_runs_and_node_forks(place: Place) -> None:
    scripts = {"hello": 'node -e "console.log(40 + 2)"', "test": "node fork.js"}
    add_files(
        place,
        package__json=json.dumps({"name": "project", "version": "1.0.0", "scripts": scripts}),
        fork__js=FORK,
    )
    (place.project / "left").mkdir()
    (place.project / "left/package.json").write_text('{"name": "left", "version": "1.0.0", "main": "left.js"}')
    (place.project / "left/left.js").write_text("module.exports = 'left here'\n")
    installed, used, hello, tested, cache = works(
        place,
        "npm install --offline --no-audit --no-fund ./left",
        "node -e 'console.log(require(\"left\"))'",
        "npm run hello",
        "npm test",
        "npm config get cache",
    )
    assert "added 1 package" in installed
    assert used == "left here"
    assert hello.endswith("\n42")
    assert tested.endswith("the child says 42")
    assert cache == str(place.home / ".cache/grokmini/tools/npm"), "kept for the next session"
    assert not (place.home / ".npm").exists()


def test_c_is_compiled_linked_and_run_by_hand_and_by_make(place: Place) -> None:
    add_files(
        place,
        main__c=ADD,
        add__c='#include "add.h"\nint add(int a, int b) { return a + b; }\n',
        add__h="int add(int, int);\n",
        Makefile=MAKEFILE,
    )
    by_hand, made, again, library = works(
        place,
        "gcc -Wall -O1 -pipe main.c add.c -o by-hand && ./by-hand",
        "make -s -j2 check && ./sum",
        "make sum",
        "gcc -shared -fPIC add.c -o libadd.so && gcc main.c -L. -ladd -o dynamic && LD_LIBRARY_PATH=. ./dynamic",
    )
    assert (by_hand, made, library) == ("42", "42", "42")
    assert "up to date" in again


DEBUG = "-batch -nx -ex 'break add' -ex run -ex 'print a + b' -ex 'set var a = 100' -ex continue"


def test_what_was_built_is_debugged_and_traced(place: Place) -> None:
    add_files(
        place,
        main__c=ADD,
        add__c='#include "add.h"\nint add(int a, int b) { return a + b; }\n',
        add__h="int add(int, int);\n",
    )
    _, debugged, traced = works(
        place,
        "gcc -g -O0 main.c add.c -o sum",
        f"gdb {DEBUG} ./sum 2>&1",
        "strace -f -o trace sh -c './sum; exit 0' && grep -c execve trace",
    )
    assert "$1 = 42" in debugged
    assert "102" in debugged, "a variable of the child was set"
    assert int(traced.splitlines()[-1]) >= 2

"""Finding paths among very many, beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.repl.path_match import MAX_MATCHES, PathList
from grokmini.repl.path_search import FRESH, STEP, Found, PathSearch, in_a_thread
from tests.repl.draft import Typist

NAMES = st.text(st.sampled_from("ab/cÄß."), min_size=1, max_size=8)


def listed(*paths: str) -> PathList:
    known = PathList()
    known.add(paths)
    return known


class Later:
    """Work beside the loop that is done when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Callable[[], Found], Callable[[Found], None]]] = []

    def __call__(self, work: Callable[[], Found], done: Callable[[Found], None]) -> None:
        self.waiting.append((work, done))

    def run(self) -> None:
        """Do the step that waits; there is never more than one."""
        ((work, done),) = self.waiting
        self.waiting.clear()
        done(work())

    def run_all(self) -> None:
        while self.waiting:
            self.run()


@pytest.mark.parametrize(
    ("typed", "best"),
    [
        ("", ["README.md", "lib/", "src/", "lib/calc.c", "src/calc/", "src/calc/a.py"]),
        ("CALC", ["src/calc/", "lib/calc.c", "src/calc/a.py"]),
        ("alc", ["src/calc/", "lib/calc.c", "src/calc/a.py"]),
        ("src/", ["src/calc/", "src/calc/a.py"]),
        ("sa", ["src/calc/", "src/calc/a.py"]),
        ("md", ["README.md"]),
        ("zz", []),
        ("*", []),
    ],
)
def test_the_best_matches_come_first(typed: str, best: list[str]) -> None:
    assert listed("src/calc/a.py", "lib/calc.c", "README.md").best(typed) == best


@given(st.lists(NAMES, max_size=20), st.lists(NAMES, max_size=20), NAMES)
@settings(max_examples=100)
def test_typing_on_finds_the_same_as_typing_at_once(first: list[str], second: list[str], typed: str) -> None:
    stepwise, at_once = PathList(), listed(*first, *second)
    stepwise.add(first)
    for end in range(1, len(typed)):
        stepwise.best(typed[:end])
    stepwise.add(second)
    assert stepwise.best(typed) == at_once.best(typed)
    assert stepwise.best("") == at_once.best("")


def test_no_pattern_makes_the_search_slow() -> None:
    known = listed("a" * 4_000 + "b")
    assert known.best("a" * 60 + "c") == []


def test_first_matches_show_while_a_large_folder_is_still_read() -> None:
    later, found = Later(), list[Found]()
    files = [f"file{number}.py" for number in range(2 * STEP + 1)]
    search = PathSearch(lambda cwd: iter(files), later, lambda: 0.0)
    search.search("/a", f"file{2 * STEP}", found.append)
    later.run()
    assert found[-1].paths == []
    search.search("/a", "file99.", found.append)
    later.run()
    later.run()
    assert later.waiting and found[-1].paths[0] == "file99.py"
    assert [one.typed for one in found] == [f"file{2 * STEP}"] + ["file99."] * (len(found) - 1)
    later.run_all()
    search.search("/a", f"file{2 * STEP}", found.append)
    later.run_all()
    assert found[-1].paths == [f"file{2 * STEP}.py"]


def test_a_result_nobody_wants_any_more_is_dropped_and_walking_rests() -> None:
    later, found = Later(), list[Found]()
    search = PathSearch(lambda cwd: iter(["file"] * 3 * STEP), later, lambda: 0.0)
    search.search("/a", "file", found.append)
    search.forget()
    later.run_all()
    assert found == []


def test_another_folder_forgets_the_former_one() -> None:
    later, found = Later(), list[Found]()
    search = PathSearch(lambda cwd: iter([f"in{cwd[1:]}"]), later, lambda: 0.0)
    search.search("/a", "in", found.append)
    search.search("/b", "in", found.append)
    later.run_all()
    assert found[-1] == Found("/b", "in", ["inb"])
    assert all(one.cwd == "/b" for one in found)


def test_a_walk_is_repeated_only_when_it_is_no_longer_fresh() -> None:
    later, now, walks = Later(), [0.0], list[str]()

    def walk(cwd: str) -> Iterator[str]:
        walks.append(cwd)
        return iter(["new" if len(walks) > 1 else "old"])

    def best() -> list[str]:
        found: list[Found] = []
        search.search("/a", "", found.append)
        later.run_all()
        return list(found[-1].paths)

    search = PathSearch(walk, later, lambda: now[0])
    assert best() == best() == ["old"]
    now[0] = FRESH
    assert best() == ["new"]
    assert len(walks) == 2


def test_a_folder_that_cannot_be_read_is_known_as_far_as_it_could() -> None:
    def walk(cwd: str) -> Iterator[str]:
        yield "readable"
        raise PermissionError(cwd)

    later, found = Later(), list[Found]()
    PathSearch(walk, later, lambda: 0.0).search("/a", "", found.append)
    later.run_all()
    assert found[-1].paths == ["readable"]


def test_paths_outside_and_hidden_ones_are_listed_folder_by_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("one.txt", "sub/two.txt", ".hidden", "evil\x1b"):
        (tmp_path / name).write_text("")

    def best(cwd: Path, typed: str) -> list[str]:
        later, found = Later(), list[Found]()
        PathSearch(lambda cwd: iter(["walked"]), later, lambda: 0.0).search(str(cwd), typed, found.append)
        later.run_all()
        return list(found[-1].paths)

    assert best(tmp_path, "./") == ["./one.txt", "./sub/"]
    assert best(tmp_path, ".h") == [".hidden"]
    assert best(tmp_path / "sub", "../one") == ["../one.txt"]
    assert best(tmp_path, f"{tmp_path}/sub/t") == [f"{tmp_path}/sub/two.txt"]
    assert best(tmp_path, "~nobody-of-that-name/") == []


async def test_a_thread_brings_its_result_to_the_loop() -> None:
    loop = asyncio.get_running_loop()
    result: asyncio.Future[Found] = loop.create_future()
    in_a_thread(loop)(lambda: Found("/a", "", ["path"]), result.set_result)
    assert await result == Found("/a", "", ["path"])


def test_no_more_matches_than_anyone_looks_at() -> None:
    assert len(listed(*(f"f{number}" for number in range(1_000))).best("f")) == MAX_MATCHES


def test_tab_completes_the_path_of_a_shell_command(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name in ("src/calc.py", "src/calendar.py", "README.md"):
        (tmp_path / name).write_text("")
    typist = Typist(cwd=str(tmp_path))
    typist.type("!cat R", b"\t")
    assert typist.draft == "!cat README.md"
    typist.input.clear()
    typist.type("/cd sr", b"\t")
    assert typist.draft == "/cd src/"
    assert typist.changes == 2
    typist.input.clear()
    typist.type("!cat src/c", b"\t")
    assert typist.menu() == ["› src/calc.py", "  src/calendar.py"]
    typist.type(b"\t")
    assert typist.draft == "!cat src/calc.py"

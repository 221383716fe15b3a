"""Paths that change their meaning while the file tools read, write and list: nothing outside is ever reached."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from grokmini.sandbox.file_guard import FileGuard, FileRefusedError
from grokmini.sandbox.policy import Policy
from grokmini.workspace.file_writes import write_bytes
from grokmini.workspace.files import listing, read_bytes
from grokmini.workspace.search import SearchQuery, search_files
from tests.waiting import SECONDS
from tests.workspace.flipping import flipping

SECRET = b"secret"
SOME = 10


class Grounds:
    """A folder to work in, with a denied file and a denied folder, and one outside that must not be reached."""

    def __init__(self, root: Path) -> None:
        self.cwd, self.outside = root / "cwd", root / "outside"
        self.cfg, self.box, self.file = self.cwd / "cfg", self.cwd / "box", self.cwd / "f"
        for folder in (self.outside, self.box, self.cfg / "safe", self.cfg / "free"):
            folder.mkdir(parents=True)
        for path in (self.box / "f", self.cfg / "free" / "f", self.cfg / "open", self.cwd / "plain"):
            path.write_bytes(b"public")
        self.secrets = (self.outside / "f", self.cfg / "safe" / "f", self.cfg / "key")
        for path in self.secrets:
            path.write_bytes(SECRET)
        (self.outside / "hidden name").touch()
        (self.cfg / "safe" / "hidden name").touch()
        self.link = self.cwd / "link"
        self.link.symlink_to(self.outside)
        policy = Policy(
            "custom",
            read_all=False,
            read_roots=(str(self.cwd),),
            write_roots=(str(self.cwd),),
            denied=(str(self.cfg / "key"), str(self.cfg / "safe")),
        )
        self.gate = FileGuard(lambda: policy)
        self.gate.why_not_written(self.cwd)  # the policy is known before anything is moved
        self._files = [os.open(path, os.O_RDONLY) for path in self.secrets]
        self._folders = [os.open(path.parent, os.O_RDONLY) for path in self.secrets[:2]]

    def untouched(self) -> bool:
        """Whether what must not be written is as it was, wherever it is now."""
        held = all(os.pread(fd, 100, 0) == SECRET for fd in self._files)
        return held and all(sorted(os.listdir(fd)) == ["f", "hidden name"] for fd in self._folders)

    def close(self) -> None:
        """Let go of what was kept open."""
        for fd in (*self._files, *self._folders):
            os.close(fd)


@pytest.fixture
def grounds(tmp_path: Path) -> Iterator[Grounds]:
    made = Grounds(tmp_path)
    yield made
    made.close()


@pytest.fixture
def tries(full: bool) -> int:
    return 20_000 if full else 400


def _flips(grounds: Grounds, name: str) -> tuple[str | Path, ...]:
    plain, key = f"copy:{grounds.cwd}/plain", f"hard:{grounds.cfg}/key"
    return {
        "folder and link": ("exchange", grounds.box, grounds.link),
        "file and link": ("replace", grounds.file, plain, f"link:{grounds.outside}/f"),
        "file and denied file": ("exchange", grounds.cfg / "open", grounds.cfg / "key"),
        "folder and denied folder": ("exchange", grounds.cfg / "free", grounds.cfg / "safe"),
        "file and another name of a denied one": ("replace", grounds.file, plain, key),
        "two names": ("replace", grounds.file, f"hard:{grounds.cwd}/plain", key),
        "folder and no folder": ("come_and_go", grounds.link, grounds.cwd / "away"),
    }[name]


def _several(tries: int, attempt: Callable[[int], None], *, refused: int = SOME) -> None:
    """So often, and until some were done and some were refused, which shows that it was really changed."""
    ends: Counter[str] = Counter()
    until = time.monotonic() + SECONDS
    while ends.total() < tries or ends["done"] < SOME or ends["refused"] < refused:
        try:
            attempt(ends.total())
            ends["done"] += 1
        except FileRefusedError:
            ends["refused"] += 1
        except OSError:
            ends["failed"] += 1
        assert ends.total() < tries or time.monotonic() < until, ends


@pytest.mark.parametrize(
    ("flip", "path"),
    [
        ("folder and link", "box/f"),
        ("file and link", "f"),
        ("file and denied file", "cfg/open"),
        ("folder and denied folder", "cfg/free/f"),
        ("file and another name of a denied one", "f"),
    ],
)
def test_no_read_gets_what_may_not_be_read(grounds: Grounds, tries: int, flip: str, path: str) -> None:
    def attempt(number: int) -> None:
        assert read_bytes(grounds.cwd / path, gate=grounds.gate) == b"public"

    with flipping(*map(str, _flips(grounds, flip))):
        _several(tries, attempt)


@pytest.mark.parametrize(
    ("flip", "path"),
    [
        ("folder and link", "box/{}"),
        ("folder and link", "box/f"),
        ("file and link", "f"),
        ("folder and denied folder", "cfg/free/{}"),
        ("file and another name of a denied one", "f"),
        ("two names", "f"),
        ("folder and no folder", "link/new/{}"),
    ],
)
def test_no_write_reaches_what_may_not_be_written(grounds: Grounds, tries: int, flip: str, path: str) -> None:
    def attempt(number: int) -> None:
        write_bytes(grounds.cwd / path.format(number % 20), b"written", grounds.gate)

    with flipping(*map(str, _flips(grounds, flip))):
        _several(tries, attempt)
    assert grounds.untouched()


@pytest.mark.parametrize(
    ("flip", "path"), [("folder and link", "box"), ("folder and denied folder", "cfg/free")]
)
def test_no_listing_shows_what_may_not_be_listed(grounds: Grounds, tries: int, flip: str, path: str) -> None:
    def attempt(number: int) -> None:
        with listing(grounds.cwd / path, grounds.gate) as entries:
            assert [entry.name for entry in entries] == ["f"]

    with flipping(*map(str, _flips(grounds, flip))):
        _several(tries, attempt)


@pytest.mark.parametrize("flip", ["folder and link", "folder and denied folder", "file and denied file"])
def test_no_search_finds_what_may_not_be_read(grounds: Grounds, tries: int, flip: str) -> None:
    query = SearchQuery("secret|public", grounds.cwd)

    def attempt(number: int) -> None:
        found = "".join(search_files(query, str, lambda: None, gate=grounds.gate))
        assert "secret" not in found.replace(str(grounds.cwd), "") and "public" in found

    with flipping(*map(str, _flips(grounds, flip))):
        _several(tries // 10, attempt, refused=0)


def _naive(grounds: Grounds, path: Path) -> None:
    if not os.path.realpath(path).startswith(f"{grounds.cwd}/"):
        raise PermissionError(path)


@pytest.mark.parametrize("action", ["read", "write", "list"])
def test_looking_at_the_path_first_would_not_do(grounds: Grounds, action: str) -> None:
    """The control: the same flips, the path checked and then used; ever later, for where one processor does it all."""

    def escapes(number: int) -> bool:
        path = grounds.box if action == "list" else grounds.box / "f"
        _naive(grounds, path)
        time.sleep(min(number * 1e-6, 0.001))
        if action == "write":
            path.write_bytes(b"written")
            return not grounds.untouched()
        if action == "list":
            return "hidden name" in os.listdir(path)
        return path.read_bytes() == SECRET

    until = time.monotonic() + SECONDS
    with flipping(*map(str, _flips(grounds, "folder and link"))):
        for number in count():
            if time.monotonic() >= until:
                break
            try:
                if escapes(number):
                    return
            except OSError:
                continue
    raise AssertionError("it never escaped, so the tests of this file show nothing")

"""A process that changes what a path means as fast as it can, while something else goes by that path."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PROGRAM = """
import ctypes, os, random, sys
how, *words = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)

def pause():
    for _ in range(random.randrange(20_000)):
        pass

def exchange(a, b):
    if libc.renameat2(-100, a.encode(), -100, b.encode(), 2):
        raise OSError(ctypes.get_errno(), "exchange", a)

def come_and_go(a, b):
    os.rename(a, b)
    pause()
    while True:
        try:
            return os.rename(b, a)
        except IsADirectoryError:  # something was made in its place
            os.rename(a, f"{b}.{random.random()}")

def replace(name, *kinds):
    for number, kind in enumerate(kinds):
        if number:
            pause()  # each is there for as long, so that each is met also where one processor does it all
        make, _, source = kind.partition(":")
        temporary = name + ".made"
        if make == "copy":
            with open(source, "rb") as old, open(temporary, "wb") as new:
                new.write(old.read())
        else:
            {"link": os.symlink, "hard": os.link}[make](source, temporary)
        if os.path.lexists(name) and os.path.lexists(temporary) and os.path.samefile(name, temporary):
            os.unlink(temporary)  # renaming a file over itself does nothing
        else:
            os.rename(temporary, name)

step = {"exchange": exchange, "come_and_go": come_and_go, "replace": replace}[how]
step(*words)
print("begun", flush=True)
while True:
    step(*words)
    pause()
"""


@contextmanager
def flipping(how: str, *words: str | Path) -> Iterator[None]:
    """Change it all the time: `exchange A B`, `come_and_go A AWAY`, `replace NAME KIND:SOURCE ...`.

    The kinds are `copy`, `link` (symbolic) and `hard`.
    """
    argv = [sys.executable, "-I", "-S", "-c", _PROGRAM, how, *map(str, words)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"begun\n"
            yield
            assert process.poll() is None, "it ended by itself"
        finally:
            process.kill()

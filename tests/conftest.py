"""What every test gets: coroutine tests run to their end, and nothing of the real home folder is touched."""

from __future__ import annotations

import asyncio
import gc
import inspect
import itertools
import re
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.sandbox.attacks import printed as attacks
from tests.sandbox.developer import printed as developer

ASYNC_TEST_SECONDS = 60.0
FULL_TEST_SECONDS = 1_800.0

HERE = Path(__file__).resolve().parent
BEYOND_UNITS = (HERE / "e2e", HERE / "sandbox")
"""What `--unit` leaves out: the installed program on real terminals, and the real sandbox."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The tables of the sandbox, as far as their tests ran."""
    attacks.print_table(terminalreporter)
    developer.print_table(terminalreporter)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run `async def` tests, each in a loop of its own with a time limit."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}

    limit = FULL_TEST_SECONDS if pyfuncitem.config.getoption("--full") else ASYNC_TEST_SECONDS

    async def bounded() -> None:
        async with asyncio.timeout(limit):
            await pyfuncitem.obj(**arguments)

    asyncio.run(bounded())
    return True


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--full` runs the counts that specs and issues name; without it about a fiftieth of them."""
    parser.addoption("--full", action="store_true", help="run the full counts instead of the small ones")
    parser.addoption("--unit", action="store_true", help="leave out tests/e2e and tests/sandbox")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `--unit` neither the end-to-end tests nor those of the sandbox are even read."""
    return True if config.getoption("--unit") and collection_path in BEYOND_UNITS else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected lives as long as the run; that it is garbage is asked neither meanwhile nor at any test."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """Take nothing over from what starts the tests, and choose the examples of the properties.

    What runs in the background of a script, or under `nohup`, is born deaf to the signals that the tests send.
    Properties see the same examples each time, so that a change alone turns a test red; `--full` looks for new ones.
    """
    from hypothesis import HealthCheck, settings

    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

    common = settings(deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("same", common, derandomize=True)
    settings.register_profile("new", common, print_blob=True)
    settings.load_profile("new" if config.getoption("--full") else "same")


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether the full counts were asked for."""
    return bool(request.config.getoption("--full"))


@pytest.fixture(scope="session")
def numbers() -> Iterator[int]:
    """Each given once: what makes the name of a folder its own."""
    return itertools.count()


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where home folders lie."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def tmp_path(
    tmp_path_factory: pytest.TempPathFactory, numbers: Iterator[int], request: pytest.FixtureRequest
) -> Path:
    """A folder of its own, as pytest's, which however looks at those of all tests before to find it a name."""
    name = re.sub(r"\W", "_", request.node.name)[:27]
    folder = tmp_path_factory.getbasetemp() / f"{name}{next(numbers)}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(autouse=True)
def fresh_home(homes: Path, numbers: Iterator[int], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder; no key, model or place of the person who runs the tests leaks in."""
    import os

    home = homes / str(next(numbers))
    home.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(home))
    for name in list(os.environ):
        if name.startswith(("GROKMINI_", "XDG_")) or name.lower().endswith(("_api_key", "_proxy")):
            monkeypatch.delenv(name)
    return home

"""Two windows on one session: watching, taking over after a good end and after a kill, choosing from the list."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.inline_pty import inline_pty
from tests.e2e.inline_terminal import InlineTerminal, inline_terminal
from tests.e2e.program import Place
from tests.e2e.test_inline_keys import PARAGRAPHS, held
from tests.fakes.model_server import ModelServer, call, reply
from tests.waiting import until_now

SEVERAL_LOOKS = 2.5
"""Seconds in which a window that watches looks at the file more than once, however quiet it is."""


def driver_pid(place: Place) -> int:
    """The process that drives the one session there is."""
    return int((place.sessions[0] / "driver.lock").read_text().split()[0])


@contextmanager
def two_windows(
    place: Place, server: ModelServer, folder: Path
) -> Iterator[tuple[InlineTerminal, InlineTerminal]]:
    """Two terminals in the same project."""
    folders = folder / "a", folder / "b"
    for each in folders:
        each.mkdir()
    with (
        inline_terminal(place, server, folders[0]) as first,
        inline_terminal(place, server, folders[1]) as second,
    ):
        yield first, second


def test_a_second_window_watches_and_takes_over_when_the_first_leaves(place: Place, tmp_path: Path) -> None:
    gate = threading.Event()
    answers = [reply("one is done"), held(reply(PARAGRAPHS), gate, left=12), reply("three is done")]
    with ModelServer(answers) as server, two_windows(place, server, tmp_path) as (first, second):
        first.start()
        first.prompt("question one")
        first.see("one is done")
        second.start("--follow")
        second.see("one is done")
        second.see_on_screen("watching")
        first.prompt("question two")
        second.see("P20")
        assert not second.shows("P29")
        gate.set()
        second.see("P29")
        first.see_idle()
        second.prompt("not for me to send")
        second.see("nothing is sent")
        assert first.leave() == 0
        second.see("nobody drives this session now: /takeover goes on here")
        second.prompt("/takeover")
        second.see("going on with")
        second.see_on_screen("· ask ·")
        second.prompt("question three")
        second.see("three is done")
        second.see_idle()
        lines = second.lines
        assert second.leave() == 0
    assert len(place.sessions) == 1
    for number in range(30):
        assert sum(f"P{number:02} goes on." in line for line in lines) == 1, number
    asked = [message["content"] for message in server.bodies[-1]["messages"] if message["role"] == "user"]
    assert asked[-3:] == ["question one", "question two", "question three"]


def test_a_session_that_was_taken_up_again_elsewhere_is_watched_as_any_other(
    place: Place, tmp_path: Path
) -> None:
    answers = [reply("one is done"), reply("two is done"), reply("three is done")]
    with ModelServer(answers) as server, two_windows(place, server, tmp_path) as (first, second):
        assert place.run("-p", "question one", server=server).returncode == 0
        first.start("-c")
        first.prompt("question two")
        first.see("two is done")
        second.start("--follow")
        second.see("two is done")
        second.see_on_screen("watching")
        first.prompt("question three")
        second.see("three is done")
        assert second.leave() == 0


def test_what_is_asked_in_the_other_window_is_seen_and_not_answered_here(place: Place, tmp_path: Path) -> None:
    answers = [reply(calls=[call("run_terminal_command", command="touch made")]), reply("it is made")]
    with ModelServer(answers) as server, two_windows(place, server, tmp_path) as (first, second):
        first.start()
        first.prompt("make it")
        first.see_on_screen("1 yes")
        second.start("--follow")
        second.see("asked in the other window: Run this? touch made")
        assert not second.shows("1 yes")
        first.answer("1")
        second.see("it is made")
        os.kill(driver_pid(place), signal.SIGKILL)
        second.see("/takeover goes on here")
        assert second.leave() == 0


def test_a_driver_killed_in_the_midst_of_a_turn_leaves_a_session_to_take_over(
    place: Place, tmp_path: Path
) -> None:
    gate = threading.Event()
    with (
        ModelServer([held(reply(PARAGRAPHS), gate), reply("after the kill")]) as server,
        two_windows(place, server, tmp_path) as (first, second),
    ):
        first.start()
        first.prompt("question one")
        first.see("P20")
        second.start("--follow")
        second.see("question one")
        os.kill(driver_pid(place), signal.SIGKILL)
        second.see("its process ended")
        second.see("/takeover goes on here")
        second.see_idle()
        second.prompt("/takeover")
        second.see("going on with")
        second.prompt("question two")
        second.see("after the kill")
        gate.set()
        assert second.leave() == 0


def test_a_stored_session_is_chosen_from_the_list_by_words(place: Place, tmp_path: Path) -> None:
    with (
        ModelServer([reply("about the login"), reply("about the readme"), reply("more login")]) as server,
        inline_terminal(place, server, tmp_path) as terminal,
    ):
        terminal.start()
        terminal.prompt("why is the login flaky")
        terminal.see("about the login")
        terminal.see_idle()
        terminal.prompt("/new")
        terminal.see("/ commands · @ files", at_least=1)
        until_now(lambda: terminal.count("grokmini 0.1.0") >= 2)
        terminal.prompt("write the readme")
        terminal.see("about the readme")
        terminal.see_idle()
        terminal.prompt("/resume")
        terminal.see_on_screen("1 prompt  why is the login flaky", "Esc leaves")
        terminal.type("Escape")
        terminal.see_gone("Esc leaves")
        terminal.prompt("/resume")
        terminal.see_on_screen("1 prompt  why is the login flaky", "Esc leaves")
        terminal.write("login")
        terminal.see_on_screen("go on with login")
        terminal.type("Enter")
        terminal.see('going on with "why is the login flaky"')
        terminal.prompt("and now?")
        terminal.see("more login")
        assert terminal.leave() == 0
    asked = [message["content"] for message in server.bodies[-1]["messages"] if message["role"] == "user"]
    assert asked[-2:] == ["why is the login flaky", "and now?"]
    assert len(place.sessions) == 2


def test_a_window_that_watches_an_idle_session_writes_nothing(place: Place) -> None:
    with (
        ModelServer([reply("one is done"), reply("two is done")]) as server,
        inline_pty(place, server) as driver,
    ):
        driver.see("/ commands")
        driver.type("question one\r")
        driver.see("one is done")
        until_now(lambda: "sandbox_changed" in [event["type"] for event in place.events()])
        with inline_pty(place, server, 40, 10, "--follow") as watcher:
            watcher.see("one is done")
            watcher.see("watching")
            watcher.see_quiet(SEVERAL_LOOKS)
            driver.type("question two\r")
            watcher.see("two is done")
            assert watcher.count("one is done") == watcher.count("two is done") == 1


def test_without_a_live_region_a_watcher_sees_and_takes_over_as_well(place: Place) -> None:
    answers = [reply("one is done"), reply("two is done"), reply("three is done")]
    with ModelServer(answers) as server, inline_pty(place, server) as driver:
        driver.see("/ commands")
        driver.type("question one\r")
        driver.see("one is done")
        with inline_pty(place, server, 80, 24, "--plain", "--follow") as watcher:
            watcher.see("one is done")
            driver.type("question two\r")
            watcher.see("two is done")
            until_now(lambda: [event["type"] for event in place.events()].count("turn_ended") == 2)
            os.kill(driver_pid(place), signal.SIGKILL)
            watcher.see("/takeover goes on here")
            watcher.type("/takeover\r")
            watcher.see("going on with")
            watcher.type("question three\r")
            watcher.see("three is done")
    asked = [message["content"] for message in server.bodies[-1]["messages"] if message["role"] == "user"]
    assert asked[-3:] == ["question one", "question two", "question three"]

"""What is left after a call, after a session and after the program, under the profile `workspace`; what is asked."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests.e2e.program import PROGRAM, Place
from tests.e2e.sandboxed import add_git_config, session
from tests.fakes.model_server import ModelServer, call, reply
from tests.sandbox.attacks.agent import ended_all, marked
from tests.waiting import until_now


@pytest.fixture
def job() -> Iterator[str]:
    """How long a job sleeps: a number that only this test's processes have among their words."""
    number = f"{40_000_000 + os.getpid()}"
    yield number
    ended_all(number)


def jobs(job: str) -> tuple[str, str]:
    """A command with a job in the background, and one with two of them that hide and a third in front."""
    hidden = f"setsid sleep {job} & (trap '' TERM HUP; nohup sleep {job} >/dev/null &)"
    return f"sleep {job} & echo ok", f"{hidden}; touch started; sleep {job}"


def test_a_job_in_the_background_ends_with_its_call_and_that_is_said(place: Place, job: str) -> None:
    """H58"""
    left, after = session(place, jobs(job)[0], "ps ax | grep -c '[s]leep'")
    assert (left.head, left.printed.splitlines()[-1]) == ("exit: 0", "ok")
    assert any("left running" in note and "(1)" in note for note in left.notes)
    assert after.printed == "0"
    assert marked(job) == []


def assert_all_end(job: str) -> None:
    """Every process of the job ends, soon."""
    until_now(lambda: not marked(job))


def talk(place: Place, server: ModelServer, prompt: str) -> pexpect.spawn[str]:
    """A session at a terminal that has been told something."""
    child = place.talk("--plain", "--yolo", "--sandbox", "workspace", server=server)
    child.expect("grokmini 0")
    child.send(f"{prompt}\r")
    return child


def test_nothing_is_left_when_the_session_is_left(place: Place, job: str) -> None:
    """H58"""
    script = [reply(calls=[call("run_terminal_command", command=jobs(job)[0])]), reply("all said")]
    with ModelServer(script, strict=True) as server:
        child = talk(place, server, "go")
        child.expect("all said")
        child.expect("steps")
        child.send("\x04")
        child.expect(pexpect.EOF)
        child.close()
    assert marked(job) == []


def test_nothing_is_left_after_ctrl_c_during_a_call(place: Place, job: str) -> None:
    """H58"""
    with ModelServer([reply(calls=[call("run_terminal_command", command=jobs(job)[1])])]) as server:
        child = talk(place, server, "go")
        until_now(lambda: (place.project / "started").exists() and len(marked(job)) >= 3)
        child.send("\x03")
        child.expect("stopped")
        assert_all_end(job)
        child.send("/quit\r")
        child.expect(pexpect.EOF)
        child.close()


def test_nothing_is_left_when_the_program_is_killed(place: Place, job: str) -> None:
    with ModelServer([reply(calls=[call("run_terminal_command", command=jobs(job)[1])])]) as server:
        process = subprocess.Popen(
            [str(PROGRAM), "-p", "go", "--yolo", "--sandbox", "workspace"],
            cwd=place.project,
            env=place.environment(server),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until_now(lambda: (place.project / "started").exists() and len(marked(job)) >= 3)
        process.kill()
        process.wait()
        assert_all_end(job)


def add_history(place: Place) -> Path:
    """A repository of two commits with work that is not committed; the file that holds it."""
    add_git_config(place)
    work = place.project / "a"
    for words in ("init -q", "add .", "commit -q -m one", "commit -q --allow-empty -m two"):
        work.write_text("committed\n")
        subprocess.run(["git", *words.split()], cwd=place.project, env=place.environment(), check=True)
    work.write_text("work of an afternoon\n")
    return work


RESET = "git reset --hard HEAD~1"


def test_a_hard_reset_is_asked_about_in_auto_mode_inside_the_sandbox_too(place: Place) -> None:
    """H48: first refused for want of somebody to ask, then asked and denied, then asked and allowed."""
    work = add_history(place)
    (refused,) = session(place, RESET, options=("--permission-mode", "auto", "--allow", "Bash(unset *)"))
    assert refused.head.startswith("Not run")
    script = [reply(calls=[call("run_terminal_command", command=RESET)]), reply("all said")]
    for answer, kept in (("n", "work of an afternoon\n"), ("1", "committed\n")):
        with ModelServer(script) as server:
            child = place.talk("--plain", "--permission-mode", "auto", "--sandbox", "workspace", server=server)
            child.expect("grokmini 0")
            child.send("go\r")
            child.expect("answer: ")
            assert work.read_text() == "work of an afternoon\n"
            child.send(f"{answer}\r")
            child.expect("all said" if answer == "1" else ["all said", "steps", "stopped"])
            child.send("/quit\r")
            child.expect(pexpect.EOF)
            child.close()
        assert work.read_text() == kept

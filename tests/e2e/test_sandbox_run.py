"""`grokmini sandbox run` beside its command: what reaches the terminal, and an end that nobody meant."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pexpect

from tests.e2e.program import PROGRAM, SECONDS, Place

DRIVES = r"printf 'a\033]52;c;aGk=\007\033[31mred\033[0m gr\303\266\303\237er\n'"


def test_a_command_cannot_drive_the_terminal_and_a_pipe_gets_its_bytes(place: Place) -> None:
    script = place.project / "script"
    script.write_text(DRIVES)
    person = pexpect.spawn(
        str(PROGRAM),
        ["sandbox", "run", "--", "sh", "script"],
        cwd=str(place.project),
        env=place.environment(),
        encoding="utf-8",
        timeout=SECONDS,
    )
    said = person.read()
    person.close()
    assert (person.exitstatus, said) == (0, "ared größer\r\n")
    piped = subprocess.run(
        [PROGRAM, "sandbox", "run", "--", "sh", "script"],
        cwd=place.project,
        env=place.environment(),
        capture_output=True,
        timeout=SECONDS,
        check=True,
    )
    assert piped.stdout == b"a\x1b]52;c;aGk=\x07\x1b[31mred\x1b[0m gr\xc3\xb6\xc3\x9fer\n"


def test_a_command_whose_launcher_died_is_told_as_killed_with_it(place: Place) -> None:
    with subprocess.Popen(
        [PROGRAM, "sandbox", "run", "--", "sh", "-c", "echo up; sleep 300"],
        cwd=place.project,
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "up\n"
        for child in children_of(process.pid):
            with suppress(ProcessLookupError):  # one of them ends with the other
                os.kill(child, signal.SIGKILL)
        _, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 128 + signal.SIGKILL
    assert "what watches over it died" in stderr and "not known" in stderr


def test_what_is_not_kept_is_told_once_before_the_command_and_nothing_where_all_is(place: Place) -> None:
    stub = place.home / "bin/bwrap"
    stub.parent.mkdir()
    stub.write_text("#!/bin/sh\nexit 1\n")
    stub.chmod(0o755)
    words = ("sandbox", "run", "--", "echo", "ran")
    assert place.run(*words).stderr == ""
    done = place.run(*words, env={"PATH": f"{stub.parent}:/usr/bin:/bin"})
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert done.stderr.count("Not enforced by the sandbox here") == 1 and "chmod, chown" in done.stderr


def children_of(pid: int) -> list[int]:
    """The processes that it started itself."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # a thread that has just ended
            found += map(int, task.read_text().split())
    return found


def test_what_the_sandbox_stopped_is_told_with_its_rule_after_the_output(place: Place) -> None:
    subprocess.run(["git", "init", "-q"], cwd=place.project, check=True)
    done = place.run("sandbox", "run", "--", "sh", "-c", "git config a.b c; echo done")
    assert (done.returncode, done.stdout.rpartition("\n")[0].endswith("done")) == (0, True)
    assert f"! The sandbox stopped {place.project}/.git/config stays read-only" in done.stderr
    assert place.run("sandbox", "run", "--", "git", "status", "-s").stderr == ""

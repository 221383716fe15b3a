"""Names that are no UTF-8, and standard streams that are not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.program import PROGRAM, Place
from tests.fakes.model_server import ModelServer, call, reply

ODD = b"caf\xe9"


@pytest.fixture
def odd(place: Place) -> Place:
    """A project in a folder, and with a file, whose names are no UTF-8."""
    folder = os.fsencode(place.project) + b"/" + ODD
    os.mkdir(folder)
    with open(folder + b"/\xe9tude.txt", "w", encoding="ascii") as file:
        file.write("TOKEN\n")
    return Place(place.home, Path(os.fsdecode(folder)))


def test_a_prompt_that_is_no_utf_8_is_sent_with_marks(place: Place) -> None:
    with ModelServer([reply("ok")], strict=True) as server:
        done = place.run("-p", os.fsdecode(ODD), "--output-format", "stream-json", server=server)
    assert (done.returncode, done.stderr) == (0, "")
    assert "caf\ufffd" in server.requests[-1].raw.decode()
    assert json.loads(done.stdout.splitlines()[-1])["exit_code"] == 0


@pytest.mark.parametrize("format_", ["plain", "json", "stream-json", "streaming-json"])
def test_a_folder_that_is_no_utf_8_is_worked_in_and_gone_on_in(odd: Place, format_: str) -> None:
    with ModelServer([reply("one"), reply("two")], strict=True) as server:
        first = odd.run("-p", "hi", "--output-format", format_, server=server)
        again = odd.run("-p", "go on", "-c", "--output-format", format_, server=server)
    for done in (first, again):
        assert (done.returncode, done.stderr) == (0, "")
        assert format_ == "plain" or [json.loads(line) for line in done.stdout.splitlines()]
    assert len(odd.sessions) == 1
    assert odd.sessions[0].parent.name.endswith("caf%E9"), "the true bytes"
    assert "This session worked in" not in again.stdout


def test_a_failure_about_such_a_folder_is_told_in_json_too(place: Place) -> None:
    done = place.run("-p", "hi", "--cwd", os.fsdecode(ODD), "--output-format", "json")
    assert done.returncode == 2
    assert "caf\ufffd" in json.loads(done.stdout)["error"]["message"]
    assert "Traceback" not in done.stderr


def test_tools_show_such_names_and_the_session_goes_on(odd: Place) -> None:
    calls = [
        call("list_dir", target_directory="."),
        call("glob", pattern="*"),
        call("grep", pattern="TOKEN"),
        call("run_terminal_command", command="ls; pwd"),
    ]
    with ModelServer([reply(calls=calls), reply("done"), reply("next")], strict=True) as server:
        done = odd.run("-p", "hi", "--yolo", server=server)
        again = odd.run("-p", "go on", "-c", server=server)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert (again.returncode, again.stdout) == (0, "next\n")


SHELLS = {
    "no input": "<&-",
    "no output": ">&-",
    "no errors": "2>&-",
    "nothing": "<&- >&- 2>&-",
}


@pytest.mark.parametrize("closed", SHELLS.values(), ids=SHELLS)
def test_streams_that_are_closed_are_the_null_device(place: Place, closed: str) -> None:
    """Not a file of the session, nor the connection to the model, that got the number."""
    with ModelServer([reply("the answer")]) as server:
        done = place.shell(f"grokmini -p hi {closed}; echo $?", server)
        body = server.requests[0].raw.decode()
    assert done.stdout == ("0\n" if ">&-" in closed.replace("2>&-", "") else "the answer\n0\n")
    assert done.stderr == ""
    assert len(server.requests) == 1
    assert body.startswith("{")
    for path in place.sessions[0].rglob("*"):
        assert not path.is_file() or not path.read_bytes().startswith(b"the answer")
    for line in (place.sessions[0] / "updates.jsonl").read_bytes().splitlines():
        json.loads(line)


@pytest.mark.parametrize("closed", SHELLS.values(), ids=SHELLS)
@pytest.mark.parametrize("words", ["--help", "--version", "completions bash", "--nonsense"])
def test_closed_streams_are_no_trouble_for_short_commands(place: Place, words: str, closed: str) -> None:
    with ModelServer() as server:
        done = place.shell(f"grokmini {words} {closed}; echo $?", server)
    assert done.stdout.splitlines()[-1] == ("2" if words == "--nonsense" else "0")
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["config"]], ids=lambda words: words[0])
def test_an_output_that_is_full_is_told(place: Place, words: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [str(PROGRAM), *words],
            env=place.environment(),
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    said, advice = done.stderr.splitlines()
    assert said == b"grokmini: standard output cannot be written: No space left on device"
    assert b"elsewhere" in advice


def test_the_package_of_the_command_line_is_no_second_program() -> None:
    done = subprocess.run([sys.executable, "-m", "grokmini.cli", "--version"], capture_output=True, check=False)
    assert done.returncode != 0
    assert b"Traceback" not in done.stderr


def test_a_file_of_the_project_is_never_taken_for_a_library(place: Place) -> None:
    for name in ("calendar", "msgspec", "httpx"):
        (place.project / f"{name}.py").write_text("raise SystemExit('the project ran its own code')\n")
    for program in ([str(PROGRAM)], [sys.executable, "-m", "grokmini"]):
        done = subprocess.run(
            [*program, "models"],
            cwd=place.project,
            env=place.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "its own code" not in done.stdout + done.stderr
        assert done.returncode == 0, done.stderr

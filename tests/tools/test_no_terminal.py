"""A program that wants a terminal: the model is told that there is none anywhere, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.tools.no_terminal import terminal_notes
from tests.fakes.model_server import ModelServer, call, reply
from tests.session.sessions import session

SAID = [
    "bash: line 2: /dev/tty: No such device or address",
    "OSError: [Errno 6] No such device or address: '/dev/tty'",
    "Error: ENXIO: no such device or address, open '/dev/tty'",
    "open /dev/tty: no such device or address",
    "sudo: a terminal is required to read the password; either use the -S option to read from standard input",
    "sudo: no tty present and no askpass program specified",
    "sudo: a password is required",
    "sudo: sorry, you must have a tty to run sudo",
    "su: must be run from a terminal",
    "Host key verification failed.",
    "fatal: could not read Username for 'https://github.com': terminal prompts disabled",
    "fatal: could not read Password for 'https://a@b.c': No such device or address",
    "the input device is not a TTY",
    "gpg: signing failed: Inappropriate ioctl for device",
    "EOFError: EOF when reading a line",
]


@pytest.mark.parametrize("line", SAID, ids=[line[:30] for line in SAID])
def test_a_program_that_could_not_ask_is_understood(line: str) -> None:
    (note,) = terminal_notes(f"before\n{line}\nafter\n", "make install")
    assert "no terminal, in the sandbox or outside of it" in note
    assert "an option" in note and "standard input" in note and "tell the user" in note
    assert terminal_notes(f"before\n{line}\n", "cat log | tail -3") == (), "somebody else's words"


@pytest.mark.parametrize(
    "line", ["/dev/tty", "cat: /dev/null0: No such device or address", "stdin is not a terminal", "Password:"]
)
def test_other_words_are_no_sign_of_it(line: str) -> None:
    assert terminal_notes(line, "make install") == ()


@pytest.mark.parametrize("profile", ["off", "workspace"])
async def test_nobody_is_asked_to_let_it_out_for_there_is_none_outside_either(
    tmp_path: Path, profile: str
) -> None:
    wants = call("run_terminal_command", command="echo $((1 + 1)) > /dev/tty")
    with ModelServer([reply(calls=[wants]), reply("done")], strict=True) as server:
        async with session(tmp_path, server, mode="always-approve", sandbox=profile) as driver:
            ended = await driver.ask("go")
        told = server.bodies[-1]["messages"][-1]["content"]
    assert ended.outcome == "completed"
    assert "[commands have no terminal, in the sandbox or outside of it" in told
    assert "stopped by the sandbox" not in told

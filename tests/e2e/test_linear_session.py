"""Cases H07, H09, H13 to H15, H17, H19 and H63 of the public reports: the whole program on a real pty."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pexpect

from tests.e2e.program import PROGRAM, SECONDS, Place
from tests.fakes.model_server import ModelServer, Reply, call, reply
from tests.sandbox.liveness import alive
from tests.waiting import until_now


@contextmanager
def grokmini(place: Place, server: ModelServer, *words: str, **environment: str) -> Iterator[Any]:
    """The program at its prompt."""
    child = pexpect.spawn(
        str(PROGRAM),
        ["--plain", "--yolo", *words],
        cwd=str(place.project),
        env=place.environment(server, LANG="C.UTF-8", **environment),
        encoding="utf-8",
        timeout=SECONDS,
        dimensions=(24, 80),
    )
    child.delaybeforesend = None
    try:
        child.expect("\n› ")
        yield child
    finally:
        child.close(force=True)


def prompts(server: ModelServer) -> list[str]:
    """The texts of the last request that the person typed, in order."""
    messages = server.bodies[-1]["messages"]
    return [str(message["content"]) for message in messages if message["role"] == "user"]


def last_prompt(server: ModelServer) -> str:
    return prompts(server)[-1]


def test_h13_h15_several_lines_are_sent_once_by_the_last_enter(place: Place) -> None:
    cases = {
        "one\ntwo\nthree\nfour": [b"\x1b[200~one\ntwo\r\nthree\rfour\n\x1b[201~", b"\r"],
        "by\nCtrl-J": [b"by\nCtrl-J", b"\r"],
        "by\nCtrl-J at once": [b"by\nCtrl-J at once\r"],
        "by\nAlt-Enter": [b"by\x1b\rAlt-Enter", b"\r"],
    }
    with ModelServer([reply("good")] * len(cases)) as server, grokmini(place, server) as child:
        for bursts in cases.values():
            for burst in bursts:
                os.write(child.child_fd, burst)
            child.expect("good")
            child.expect("\n› ")
    assert len(server.requests) == len(cases)
    assert [text for text in prompts(server) if "\n" in text][-len(cases) :] == list(cases)


def test_h14_a_paste_of_thirty_lines_in_single_bytes_is_one_prompt(place: Place) -> None:
    body = "".join(f"line {number}\n" for number in range(30))
    with ModelServer([reply("good")]) as server, grokmini(place, server) as child:
        os.write(child.child_fd, b"\x1b[200~")  # in one piece: an ESC that stays alone for a moment is a key
        for byte in f"{body}\x1b[201~\r".encode():
            os.write(child.child_fd, bytes((byte,)))
            threading.Event().wait(0.0005)
        child.expect("good")
        child.expect("\n› ")
    assert len(server.requests) == 1
    assert last_prompt(server).endswith(body.rstrip())


def test_h07_h09_nothing_of_the_models_drives_a_terminal_that_answers_nothing(place: Place) -> None:
    answer = "ok\x1b]52;c;aGk=\x07 a\x1b[2Jb\x1b[5Ac\x1b]8;;http://x.test\x07d\x1b]8;;\x07e\x1bcf"
    with (
        ModelServer([reply(answer, piece=3)]) as server,
        grokmini(place, server, TERM="xterm-256color", TERM_PROGRAM="unheard-of") as child,
    ):
        child.send("hi\r")
        child.expect("steps?")
        written = child.before
    assert not re.search(r"\x1b(?!\[[0-9;]*m)", written)
    visible = re.sub(r"\x1b\[[0-9;]*m", "", written)
    assert re.search("ok.*a.*b.*c.*d.*e.*f", visible.replace("\r\n", ""))


def test_ctrl_c_right_behind_enter_stops_the_turn(place: Place) -> None:
    gate = threading.Event()
    with ModelServer([reply("late", gate=gate)]) as server, grokmini(place, server) as child:
        os.write(child.child_fd, b"go\r\x03")
        child.expect("stopped")
        child.expect("\n› ")
        gate.set()


def test_h17_ctrl_c_during_a_stubborn_command_gives_the_prompt_back_with_the_draft(
    place: Place, full: bool
) -> None:
    """H17. The report's time holds in the full run, alone on a machine; else only the order of things."""
    command = "trap '' INT TERM; echo $$ > pid; sleep 1000"
    script = [reply(calls=[call("run_terminal_command", command=command)]), reply("good")]
    with ModelServer(script) as server, grokmini(place, server) as child:
        child.send("go\r")
        pid = place.pid_in("pid")
        child.send("next")
        child.expect("next")
        pressed = time.monotonic()
        child.send("\x03")
        child.expect("\n› next")
        assert not full or time.monotonic() - pressed < 0.5
        until_now(lambda: not alive(pid))
        child.send("\r")
        child.expect("good")
    results = [message["content"] for message in server.bodies[-1]["messages"] if message["role"] == "tool"]
    assert len(results) == 1 and "The user stopped the turn" in results[0]


def test_h19_what_is_typed_while_the_model_writes_is_queued_and_nothing_is_lost(place: Place) -> None:
    typed = "".join(chr(ord("a") + number % 26) for number in range(60))
    lines = "".join(f"line {number}\n\n" for number in range(200))
    gate = threading.Event()
    first = reply(lines, piece=16)
    slow = Reply(chunks=first.chunks, gates={len(first.chunks) - 3: gate})
    with ModelServer([slow, reply("second answer")]) as server, grokmini(place, server) as child:
        child.send("go\r")
        child.expect("line 3")
        for character in typed:
            child.send(character)
            threading.Event().wait(0.005)
        child.send("\r")
        child.expect(f'queued: "{typed[:40]}')
        child.send("later")
        child.expect("› later")
        gate.set()
        child.expect("second answer")
        child.expect("\n› later")
    assert [text for text in prompts(server) if typed in text] == [prompts(server)[-1]]


def test_h63_a_turn_with_calls_writes_whole_lines_and_moves_no_cursor(place: Place) -> None:
    waits = call("run_terminal_command", command="until [ -e go ]; do sleep 0.1; done")
    script = [reply(calls=[waits]), reply("good")]
    with ModelServer(script) as server, grokmini(place, server, ACCESSIBLE="1", TERM="dumb") as child:
        child.send("go\r")
        child.expect("still running")
        written = child.before + child.after
        (place.project / "go").touch()
        child.expect("good")
        written += child.before
        child.expect("\n› ")
        written += child.before + "\n"
    told = re.findall(r"\n… still running: until \[ -e go \]; do sleep 0\.1; done \((\d+) s\)\r\n", written)
    assert written.count("still running") == len(told) >= 1
    assert told == sorted(set(told), key=int), "each after more seconds than the one before"
    assert not re.search(r"\r(?!\n)|\x1b|\x08", written)

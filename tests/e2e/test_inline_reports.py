"""Faults that users of other terminal agents reported, tried on the inline REPL."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from grokmini.repl.decoder import PASTE_GAP
from tests.e2e.inline_pty import InlinePty, inline_pty
from tests.e2e.inline_terminal import forbidden, inline_terminal
from tests.e2e.program import Place
from tests.fakes.emulator import Emulator
from tests.fakes.model_server import ModelServer, Reply, call, reply
from tests.sandbox.liveness import alive
from tests.waiting import until_now

LINES = "".join(f"L{number:03}\n" for number in range(1, 301))


def held(whole: Reply, gate: threading.Event, *, left: int = 4) -> Reply:
    """The reply, waiting for the gate before its last pieces."""
    return Reply(chunks=whole.chunks, gates={len(whole.chunks) - left: gate})


def sent(server: ModelServer, request: int = -1) -> str:
    """What the person said last in that request."""
    messages: Sequence[dict[str, Any]] = server.bodies[request]["messages"]
    return str([message["content"] for message in messages if message["role"] == "user"][-1])


def idle(person: InlinePty) -> None:
    """Wait until nothing runs and nothing is drawn any more."""
    person.wait_until(lambda: is_idle(person), "an idle prompt")
    person.rest()


def is_idle(person: InlinePty) -> bool:
    """Whether a whole frame stands there, with a prompt and nothing that runs."""
    screen = person.emulator.screen
    return person.emulator.at_rest and "›" in screen and not any("Ctrl-C stops" in row for row in screen)


def started(person: InlinePty) -> InlinePty:
    """Wait for the prompt of a session that has begun."""
    person.see("/ commands")
    return person


@pytest.mark.parametrize("form", ["{}", "```\n{}```\n"], ids=["prose", "code"])
def test_h01_a_long_answer_is_in_the_scrollback_line_by_line(place: Place, form: str) -> None:
    """H01."""
    text = form.format(LINES if "`" in form else LINES.replace("\n", "\n\n"))
    with ModelServer([reply(text, piece=7)]) as server, inline_pty(place, server) as person:
        started(person).type("tell\r")
        person.see("L300")
        idle(person)
        found = [line.strip() for line in person.emulator.lines if re.fullmatch(r"\s*L\d{3}", line)]
        assert found == LINES.split()
        assert forbidden(person.raw) == []


def test_h02_a_code_block_taller_than_the_screen_is_not_drawn_again_and_again(place: Place) -> None:
    """H02."""
    code = "".join(f"    value_{number:02} = compute({number})\n" for number in range(90))
    chunks = reply(f"```python\n{code}```\n", piece=26)
    with ModelServer([Reply(chunks=chunks.chunks, delay=0.01)]) as server, inline_pty(place, server) as person:
        started(person)
        idle(person)
        before = len(person.raw)
        person.type("tell\r")
        person.see("value_89")
        idle(person)
        assert max(person.emulator.moves_up, default=0) <= 22
        assert len(person.raw) - before < 6 * len(code)
        assert [person.count(f"value_{number:02} =") for number in range(90)] == [1] * 90


def test_h03_resizing_prints_no_finished_line_again(place: Place) -> None:
    """H03."""
    script = [reply(f"T{number} " + "words and words " * 20) for number in (1, 2, 3)]
    with ModelServer(script) as server, inline_pty(place, server, 120, 24) as person:
        started(person)
        for number in (1, 2, 3):
            person.type("go\r")
            person.see(f"T{number}")
            idle(person)
        before = len(person.raw)
        for columns in (80, 60, 120):
            person.resize(columns, 24)
            person.rest(0.1)
        idle(person)
        assert len(person.raw) - before < 4096
        assert [person.count(f"T{number} ") for number in (1, 2, 3)] == [1, 1, 1]
        assert person.emulator.screen.count("›") == 1


def test_h04_any_narrow_window_goes_on(place: Place, tmp_path: Path) -> None:
    """H04."""
    place.add_calc()
    edit = call("search_replace", file_path="calc.py", old_string="a - b", new_string="a + b")
    script = [
        reply(calls=[call("read_file", target_file="calc.py"), edit]),
        reply("changed it"),
        reply("narrow"),
    ]
    with ModelServer(script) as server, inline_terminal(place, server, tmp_path) as terminal:
        terminal.start("--yolo")
        terminal.prompt("fix it")
        terminal.see("changed it")
        terminal.see_idle()
        for columns in (26, 22, 10):
            terminal.tmux.resize(columns, 24)
            terminal.see_idle()
        terminal.write("go")
        terminal.wait_until(lambda: terminal.draft == "go", "typing goes on")
        terminal.type("Enter")
        terminal.see("narrow")
        terminal.tmux.resize(80, 24)
        terminal.see_idle()
        assert terminal.leave() == 0
        assert terminal.count("changed it") == 1


@pytest.mark.parametrize("by_cluster", [True, False])
def test_h05_characters_of_doubtful_width_lose_and_double_nothing(place: Place, by_cluster: bool) -> None:
    """H05."""
    table = "| sign | what |\n|---|---|\n| \u26a0\ufe0f warn | `code` |\n| \u2139\ufe0f info | `more` |\n\nthe end\n"
    with ModelServer([reply(table)]) as server:
        emulator = Emulator(80, 24, by_cluster=by_cluster)
        with inline_pty(place, server, emulator=emulator) as person:
            started(person).type("tell\r")
            person.see("the end")
            idle(person)
            person.see_quiet(2.0)
            assert [person.count(text) for text in ("warn", "info", "the end", "›")] == [1, 1, 1, 2]


def test_h07_a_terminal_that_answers_nothing_is_asked_nothing(place: Place) -> None:
    """H07. The 0.3 s are the benchmark's (`prompt ready`): no clock can be trusted where tests run side by side.

    What the report is about is stated exactly: nothing is sent that a terminal would answer.
    """
    with ModelServer([reply("an answer")]) as server:
        with inline_pty(place, server, TERM_PROGRAM="unknown") as person:
            person.wait_until(lambda: any("›" in row for row in person.emulator.screen), "the prompt")
            person.type("hello\r")
            person.see("an answer")
            idle(person)
            assert forbidden(person.raw) == []
        assert sent(server).endswith("hello")


def test_h13_a_paste_with_all_kinds_of_line_ends_is_one_message(place: Place) -> None:
    """H13."""
    with ModelServer([reply("an answer")]) as server, inline_pty(place, server) as person:
        started(person).type(b"\x1b[200~one\ntwo\r\nthree\rfour\n\x1b[201~")
        person.see("four")
        idle_draft(person)
        assert server.bodies == []
        person.type("\r")
        person.see("an answer")
        assert sent(server).endswith("one\ntwo\nthree\nfour")
        assert len(server.bodies) == 1


def idle_draft(person: InlinePty) -> None:
    """Wait until the burst of what was typed is over."""
    person.rest(PASTE_GAP)


def test_h14_a_paste_that_comes_byte_by_byte_is_one_paste(place: Place) -> None:
    """H14."""
    text = "\n".join(f"row {number}" for number in range(30))
    with ModelServer([reply("an answer")]) as server, inline_pty(place, server) as person:
        started(person)
        person.type(b"\x1b[200~")  # in one piece: an ESC that stays alone for a moment is a key
        for byte in text.encode() + b"\x1b[201~":
            person.type(bytes([byte]))
            person.rest(0.002)
        person.type("\r")
        person.see("an answer")
        assert text in sent(server)
        assert len(server.bodies) == 1


@pytest.mark.parametrize("newline", [b"\n", b"\x1b\r", b"\x1b[13;2u", b"\x1b[27;2;13~", b"\\\r"])
def test_h15_newline_keys_make_a_newline(place: Place, newline: bytes) -> None:
    """H15."""
    with ModelServer([reply("an answer")]) as server, inline_pty(place, server) as person:
        started(person)
        person.type(b"a")
        person.see("› a")
        row = person.emulator.cursor.row
        person.type(newline)
        person.wait_until(lambda: person.emulator.at_rest and person.emulator.cursor.row > row, "a new line")
        person.type(b"b")
        person.see("  b")
        person.type(b"\r")
        person.see("an answer")
        assert sent(server).endswith("a\nb")
        assert len(server.bodies) == 1


def test_h16_the_cursor_stands_where_the_wide_text_ends(place: Place, tmp_path: Path) -> None:
    """H16."""
    with ModelServer() as server, inline_terminal(place, server, tmp_path) as terminal:
        terminal.start()
        terminal.see_idle()
        start, _ = terminal.cursor
        terminal.write("日本語入力")
        terminal.wait_until(lambda: "日本語入力" in terminal.draft, "the text")
        terminal.wait_until(lambda: terminal.cursor[0] == start + 10, "behind the text")
        assert terminal.cursor_shown
        terminal.type("Left")
        terminal.wait_until(lambda: terminal.cursor[0] == start + 8, "two columns left")
        terminal.type("End", "C-u")
        assert terminal.leave() == 0


def test_h17_ctrl_c_ends_a_command_that_ignores_it(place: Place, tmp_path: Path, full: bool) -> None:
    """H17. The report's times hold in the full run, alone on a machine; else only the order of things."""
    stubborn = "sh -c \"trap '' INT TERM; echo \\$\\$ > pid; while :; do sleep 30; done\""
    script = [reply(calls=[call("run_terminal_command", command=stubborn)]), reply("going on")]
    with ModelServer(script, strict=True) as server, inline_terminal(place, server, tmp_path) as terminal:
        terminal.start("--yolo")
        terminal.prompt("run")
        pid = place.pid_in("pid")
        terminal.write("next")
        terminal.wait_until(lambda: terminal.draft == "next", "the draft")
        pressed = time.monotonic()
        terminal.type("C-c")
        terminal.see("! stopped")
        stopped = time.monotonic()
        until_now(lambda: not alive(pid))
        assert not full or (stopped - pressed < 0.5 and time.monotonic() - pressed < 1.5)
        terminal.wait_until(lambda: terminal.draft == "next", "the draft is kept")
        terminal.type("Enter")
        terminal.see("going on")
        assert terminal.leave() == 0
        (result,) = [message for message in server.bodies[-1]["messages"] if message["role"] == "tool"]
        assert "stopped" in result["content"]


def test_h18_escape_closes_the_menu_and_not_the_turn(place: Place, tmp_path: Path) -> None:
    """H18."""
    gate = threading.Event()
    with (
        ModelServer([held(reply("begun. " * 8 + "\n\nthe end"), gate)]) as server,
        inline_terminal(place, server, tmp_path) as terminal,
    ):
        terminal.start()
        terminal.prompt("tell")
        terminal.see("begun.")
        terminal.write("/")
        terminal.see_on_screen("/help")
        terminal.type("Escape")
        terminal.see_gone("/help")
        gate.set()
        terminal.see("the end")
        assert terminal.count("stopped") == 0
        terminal.type("C-u")
        assert terminal.leave() == 0


def test_h19_keys_typed_while_a_reply_streams_are_not_lost(place: Place, full: bool) -> None:
    """H19. In the full run 20 ms between keys as in the report, else 2."""
    typed = "".join(chr(ord("a") + number % 26) for number in range(200))
    gate = threading.Event()
    slow = held(reply("".join(f"line {number}\n\n" for number in range(150)), piece=5), gate)
    script = [Reply(chunks=slow.chunks, gates=slow.gates, delay=0.002), reply("the second answer")]
    with ModelServer(script) as server, inline_pty(place, server) as person:
        started(person).type("go\r")
        person.see("line 3")
        for character in typed:
            person.type(character)
            person.pause(0.02 if full else 0.002)
        person.see(typed[-60:])
        person.type("\r")
        person.see('queued: "abc')
        person.type("later text")
        person.see("later text")
        gate.set()
        person.see("the second answer")
        person.wait_until(lambda: "› later text" in person.emulator.screen, "the later text is the draft")
        assert sent(server).endswith(typed)
        assert len(server.bodies) == 2


def test_h20_an_empty_clipboard_is_said_and_the_draft_stays(place: Place, tmp_path: Path) -> None:
    """H20."""
    helpers = tmp_path / "helpers"
    helpers.mkdir()
    for name in ("xclip", "tmux-none"):
        (helpers / name).write_text("#!/bin/sh\nexit 0\n")
        (helpers / name).chmod(0o755)
    path = f"{helpers}:/usr/bin:/bin"
    with ModelServer() as server, inline_pty(place, server, DISPLAY=":9", PATH=path) as person:
        started(person).type("a draft")
        person.see("› a draft")
        person.type("\x16")
        person.see("clipboard is empty")
        assert person.count("› a draft") == 1
        person.process.send_signal(signal.SIGTERM)
        assert person.ended() == 143

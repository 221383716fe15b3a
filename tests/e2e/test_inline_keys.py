"""Keys of the inline REPL in a real terminal, against the fake model server."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grokmini.repl.decoder import PASTE_GAP
from tests.e2e.inline_terminal import InlineTerminal, inline_terminal
from tests.e2e.program import Place
from tests.fakes.model_server import ModelServer, Reply, call, reply
from tests.sandbox.liveness import alive
from tests.waiting import until_now

PARAGRAPHS = "".join(f"P{number:02} goes on.\n\n" for number in range(30))


def held(whole: Reply, gate: threading.Event, *, left: int = 4) -> Reply:
    """The reply, waiting for the gate before its last pieces."""
    return Reply(chunks=whole.chunks, gates={len(whole.chunks) - left: gate})


def prompts(server: ModelServer) -> list[str]:
    """What the person said last in each request."""
    return [_said(body["messages"])[-1] for body in server.bodies]


def _said(messages: Sequence[dict[str, Any]]) -> list[str]:
    return [message["content"] for message in messages if message["role"] == "user"]


def test_prompts_are_queued_taken_back_and_sent_now(place: Place, tmp_path: Path) -> None:
    gate = threading.Event()
    with (
        ModelServer([held(reply(PARAGRAPHS), gate), reply("to the second"), reply("to the third")]) as server,
        inline_terminal(place, server, tmp_path) as terminal,
    ):
        terminal.start()
        terminal.prompt("first")
        terminal.see("P20")
        terminal.prompt("second")
        terminal.see('queued: "second" · Enter on an empty line sends it now')
        terminal.prompt("taken back")
        terminal.see('queued: "second" +1')
        terminal.type("Up")
        terminal.wait_until(lambda: terminal.draft == "taken back", "the newest is the draft again")
        terminal.type("C-u")
        terminal.wait_until(lambda: terminal.draft == "", "no draft")
        terminal.type("Enter")
        terminal.see_gone("queued:")
        terminal.prompt("third")
        terminal.see('queued: "third"')
        gate.set()
        terminal.see("to the second")
        terminal.see("to the third")
        terminal.see_idle()
        assert terminal.leave() == 0
        assert [terminal.count(f"› {text}") for text in ("first", "second", "third", "taken")] == [
            1,
            1,
            1,
            0,
        ]
        assert ["second" in text for text in prompts(server)] == [False, True, False]
        assert prompts(server)[-1].endswith("third")


def test_escape_and_ctrl_c_stop_a_reply_and_what_was_said_stays(place: Place, tmp_path: Path) -> None:
    gates = threading.Event(), threading.Event()
    with (
        ModelServer([held(reply(PARAGRAPHS), gate) for gate in gates]) as server,
        inline_terminal(place, server, tmp_path) as terminal,
    ):
        terminal.start()
        for number, key in enumerate(("Escape", "C-c"), 1):
            terminal.prompt(f"tell {number}")
            terminal.see("P27", at_least=number)
            terminal.write("a draft")
            terminal.wait_until(lambda: terminal.draft == "a draft", "the draft")
            terminal.type(key)
            terminal.see("! stopped", at_least=number)
            terminal.wait_until(lambda: terminal.draft == "a draft", "the draft is kept")
            terminal.type("C-u")
        assert terminal.leave() == 0
        assert [terminal.count(f"P{number:02}") for number in range(28)] == [2] * 28
        for gate in gates:
            gate.set()


def test_shell_modes_menus_and_files_by_key(place: Place, tmp_path: Path) -> None:
    (place.project / "calculator.py").write_text("x = 1\n")
    (place.project / "other.txt").write_text("y\n")
    with ModelServer([reply("it is seen")]) as server, inline_terminal(place, server, tmp_path) as terminal:
        terminal.start()
        for mode in ("accept-edits", "plan", "auto", "ask"):
            terminal.type("BTab")
            terminal.see_on_screen(f"fake-model · {mode} ·")
        terminal.prompt("!echo from-the-$((40 + 2))")
        terminal.see("from-the-42")
        terminal.write("/mod")
        terminal.see_on_screen("/model")
        terminal.type("Escape")
        terminal.see_gone("/model ")
        terminal.type("C-u")
        terminal.write("look at @calcu")
        terminal.wait_until(lambda: any("calculator.py" in row for row in below(terminal)), "the file")
        terminal.type("Tab")
        terminal.wait_until(lambda: "calculator.py" in terminal.draft, "the path is completed")
        terminal.type("Enter")
        terminal.see("it is seen")
        assert terminal.leave() == 0
        (asked,) = prompts(server)
        assert "calculator.py" in asked
        assert "from-the-42" in str(server.bodies[0]["messages"])


def test_what_a_command_answers_stands_below_it_and_apart_from_the_rest(place: Place, tmp_path: Path) -> None:
    with ModelServer([reply("the answer")]) as server, inline_terminal(place, server, tmp_path) as terminal:
        terminal.start()
        terminal.prompt("ask")
        terminal.see_idle()
        terminal.write("/model")
        terminal.see("show the models")
        terminal.type("Escape")
        terminal.see_gone("show the models")
        terminal.type("Enter")
        terminal.see("/model demo")
        terminal.prompt("/nonsense")
        terminal.see("/help lists them")
        shown = "\n\n› /model\nmodel: fake-model\n"
        unknown = "\n\n› /nonsense\n! there is no command /nonsense: /help lists them\n\n"
        terminal.wait_until(lambda: shown in "\n".join(terminal.lines), shown)
        terminal.wait_until(lambda: unknown in "\n".join(terminal.lines), unknown)
        assert terminal.leave() == 0


def test_the_editor_gets_the_draft_and_gives_it_back(place: Place, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(
        '#!/bin/sh\nstty -g > "$HOME/in-editor"\necho on-the-screen\nprintf " and more\\n" >> "$1"\n'
    )
    editor.chmod(0o755)
    with ModelServer([reply("edited answer")]) as server:
        with inline_terminal(place, server, tmp_path, VISUAL=str(editor)) as terminal:
            terminal.start()
            terminal.write("a draft")
            terminal.wait_until(lambda: terminal.draft == "a draft", "the draft")
            terminal.type("C-g")
            terminal.wait_until(lambda: terminal.draft == "a draft and more", "the edited draft")
            terminal.type("Enter")
            terminal.see("edited answer")
            assert terminal.leave() == 0
            assert terminal.count("on-the-screen") == 1
            assert (place.home / "in-editor").read_text() == (tmp_path / "terminal" / "before").read_text()
        assert prompts(server)[0].endswith("a draft and more")


def test_a_paste_with_marks_is_one_message_and_a_long_one_is_a_chip(place: Place, tmp_path: Path) -> None:
    many = "\n".join(f"row {number}" for number in range(30))
    with ModelServer([reply("first answer"), reply("second answer")]) as server:
        with inline_terminal(place, server, tmp_path) as terminal:
            terminal.start()
            terminal.send(b"\x1b[200~one\rtwo\x1b[201~")
            terminal.see_on_screen("› one", "  two")
            terminal.type("Enter")
            terminal.see("first answer")
            terminal.send(b"\x1b[200~" + many.encode() + b"\x1b[201~")
            terminal.see_on_screen("30 lines")
            assert not terminal.shows("row 29")
            terminal.type("Enter")
            terminal.see("second answer")
            assert terminal.leave() == 0
        assert prompts(server)[0].endswith("one\ntwo")
        assert many in prompts(server)[1]


def test_lines_that_come_in_a_burst_do_not_send_by_themselves(place: Place, tmp_path: Path) -> None:
    with ModelServer([reply("an answer")]) as server, inline_terminal(place, server, tmp_path) as terminal:
        terminal.start()
        terminal.send(b"one\rtwo\rthree\r")
        terminal.see_on_screen("› one", "  three")
        until_now(lambda: b"Enter to send" in terminal.raw)  # it stands there for a moment only
        seen = time.monotonic()
        until_now(lambda: time.monotonic() > seen + PASTE_GAP)
        assert server.bodies == []
        terminal.type("Enter")
        terminal.see("an answer")
        assert terminal.leave() == 0
        assert prompts(server)[0].endswith("one\ntwo\nthree")


def test_suspended_and_continued_everything_is_as_before(place: Place, tmp_path: Path) -> None:
    gate = threading.Event()
    with (
        ModelServer([held(reply(PARAGRAPHS), gate)]) as server,
        inline_terminal(place, server, tmp_path) as terminal,
    ):
        terminal.start()
        terminal.prompt("tell")
        terminal.see("P27")
        terminal.write("a draft")
        terminal.wait_until(lambda: terminal.draft == "a draft", "the draft")
        terminal.type("C-z")
        terminal.see("Stopped")
        assert terminal.cursor_shown
        gate.set()
        terminal.write("echo at-the-$((1 + 1))\n")
        terminal.see("at-the-2")
        terminal.type("fg", "Enter")
        terminal.see("P29")
        terminal.wait_until(lambda: terminal.draft == "a draft", "the draft is kept")
        terminal.type("C-u")
        assert terminal.leave() == 0
        assert [terminal.count(f"P{number:02}") for number in range(30)] == [1] * 30
        assert terminal.count("fake-model · ask") == 0, "the live rows are gone"


def test_what_is_typed_while_the_program_starts_is_the_draft(place: Place, tmp_path: Path) -> None:
    with ModelServer([reply("an answer")]) as server, inline_terminal(place, server, tmp_path) as terminal:
        terminal.write("run\nquick question\nand a draft")
        terminal.see("an answer")
        terminal.wait_until(lambda: terminal.draft == "and a draft", "the rest is the draft")
        terminal.type("C-u")
        assert terminal.leave() == 0
        assert prompts(server)[0].endswith("quick question")


def test_a_running_command_is_stopped_with_all_it_started(place: Place, tmp_path: Path) -> None:
    script = [reply(calls=[call("run_terminal_command", command="echo $$ > pid; sleep 1000 & wait")])]
    with ModelServer(script) as server, inline_terminal(place, server, tmp_path) as terminal:
        terminal.start("--yolo")
        terminal.prompt("wait")
        pid = place.pid_in("pid")
        terminal.type("Escape")
        terminal.see("! stopped")
        terminal.wait_until(lambda: not alive(pid), "the command is gone")
        assert terminal.leave() == 0


def below(terminal: InlineTerminal) -> list[str]:
    """The rows under the prompt's."""
    rows = terminal.tmux.screen()
    return rows[terminal.cursor[1] + 1 :]

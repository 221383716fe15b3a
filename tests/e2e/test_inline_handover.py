"""An editor or pager has the terminal: its keys are its own, and the program goes on and ends as ever."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from grokmini.repl.question import GUARD
from tests.e2e.inline_terminal import ANNOUNCED, InlineTerminal, inline_terminal
from tests.e2e.program import PROGRAM, Place
from tests.fakes.model_server import ModelServer, Reply, call, reply
from tests.sandbox.liveness import alive
from tests.waiting import until_now

STORY = "".join(f"S{number:02} of the story.\n\n" for number in range(30))


def held(whole: Reply, gate: threading.Event) -> Reply:
    """The reply, stopping in the middle until the gate opens."""
    return Reply(chunks=whole.chunks, gates={len(whole.chunks) // 2: gate})


class Script:
    """A script as the person's editor or pager: it says that it runs, does as it is told, and waits to be let go.

    It waits in a program of its own, which keys that are signals end.
    """

    def __init__(self, folder: Path, first: str = "", wait: str = "cat") -> None:
        self.gate = folder / "gate"
        os.mkfifo(self.gate)
        self._pid = folder / "script-pid"
        self.path = folder / "script"
        self.path.write_text(f"#!/bin/sh\n{first}\necho $$ > {self._pid}\n{wait} {self.gate}\ntrue\n")
        self.path.chmod(0o755)

    @property
    def pid(self) -> int:
        """Its process, once it has the terminal."""
        until_now(lambda: self._pid.exists() and self._pid.read_text().endswith("\n"))
        return int(self._pid.read_text())

    def see_waiting(self) -> None:
        """Wait until it waits to be let go."""
        pid = self.pid
        until_now(lambda: "cat" in map(name_of, (pid, *children_of(pid))))

    def close(self) -> None:
        """Let it end."""
        self.gate.write_text("")


def name_of(pid: int) -> str:
    """What a process is called by its program; empty when it is gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def children_of(pid: int) -> list[int]:
    """What a process has started and not seen the end of."""
    with suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


class Sourced:
    """The program, run by the shell itself: no script around it hears the keys that are signals.

    Other programs write to this terminal, too, so that what was written says nothing about ours.
    """

    def __init__(self, terminal: InlineTerminal, folder: Path) -> None:
        self._terminal = terminal
        self._folder = folder
        (folder / "go").write_text(
            f"stty -g > {folder}/before\nsh -c 'echo $$ > {folder}/pid; exec {PROGRAM}'\n"
            f"echo $? > {folder}/code\nstty -g > {folder}/after\n"
        )
        terminal.type(f". {folder}/go", "Enter")
        terminal.see(ANNOUNCED)

    @property
    def pid(self) -> int:
        """The program's process."""
        return int((self._folder / "pid").read_text())

    def ended(self) -> int:
        """Wait for the end; the exit code. The terminal must be as it was."""
        after = self._folder / "after"
        until_now(lambda: after.exists() and after.read_text().endswith("\n"))
        self._terminal.see_shell()
        assert after.read_text() == (self._folder / "before").read_text()
        return int((self._folder / "code").read_text())


@pytest.mark.parametrize(("key", "name"), [("C-c", "INT"), ("C-\\", "QUIT")])
def test_keys_that_are_signals_are_the_editor_s(place: Place, tmp_path: Path, key: str, name: str) -> None:
    editor = Script(tmp_path, f'trap \'printf " {name}" >> "$1"\' {name}')
    gate = threading.Event()
    with (
        ModelServer([held(reply(STORY), gate)]) as server,
        inline_terminal(place, server, tmp_path, EDITOR=str(editor.path)) as terminal,
    ):
        program = Sourced(terminal, tmp_path)
        terminal.prompt("tell")
        terminal.see("S10")
        terminal.write("draft")
        terminal.see_on_screen("› draft")
        terminal.type("C-g")
        editor.see_waiting()
        terminal.type(key)
        terminal.see_on_screen(f"› draft {name}")
        gate.set()
        terminal.see("S29")
        terminal.type("C-u")
        terminal.see_idle()
        terminal.type("C-d")
        assert program.ended() == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("away", ["less", "stubborn"])
def test_a_signal_ends_us_and_who_has_the_terminal(
    place: Place, tmp_path: Path, number: signal.Signals, code: int, away: str
) -> None:
    editor = Script(tmp_path, "trap '' TERM HUP; stty raw -echo", "exec cat")
    with (
        ModelServer([reply("an answer")]) as server,
        inline_terminal(place, server, tmp_path, EDITOR=str(editor.path)) as terminal,
    ):
        program = Sourced(terminal, tmp_path)
        terminal.prompt("ask")
        terminal.see("an answer")
        terminal.see_idle()
        if away == "less":
            terminal.type("C-o")
            terminal.see_on_screen("(END)")
        else:
            terminal.type("C-g")
            editor.see_waiting()
        os.kill(program.pid, number)
        assert program.ended() == code
        assert terminal.count("goes on") == 1
        assert not (away == "stubborn" and alive(editor.pid))


def test_less_lets_colours_through_whatever_the_person_s_own_options(place: Place, tmp_path: Path) -> None:
    with (
        ModelServer([reply("an **answer**")]) as server,
        inline_terminal(place, server, tmp_path, LESS="-X") as terminal,
    ):
        program = Sourced(terminal, tmp_path)
        terminal.prompt("ask")
        terminal.see("an answer")
        terminal.see_idle()
        terminal.type("C-o")
        terminal.see_on_screen("an answer", "(END)")
        assert not terminal.shows("ESC[")
        terminal.type("q")
        terminal.see_gone("(END)")
        terminal.see_idle()
        terminal.type("C-d")
        assert program.ended() == 0


def test_what_is_typed_under_the_editor_answers_no_question_that_came_meanwhile(
    place: Place, tmp_path: Path
) -> None:
    gate = threading.Event()
    editor = Script(tmp_path)
    ask = reply("asking", calls=[call("run_terminal_command", command="touch blind")])
    with (
        ModelServer([held(ask, gate), reply("the end")]) as server,
        inline_terminal(place, server, tmp_path, EDITOR=str(editor.path)) as terminal,
    ):
        program = Sourced(terminal, tmp_path)
        terminal.prompt("go")
        terminal.type("C-g")
        editor.see_waiting()
        gate.set()
        until_now(lambda: any(event["type"] == "permission_asked" for event in place.events()))
        asked = time.monotonic()
        until_now(lambda: time.monotonic() > asked + 1.5 * GUARD)
        terminal.write("1")
        terminal.wait_until(lambda: terminal.draft == "1", "the terminal's own echo")
        editor.close()
        terminal.see_on_screen("1 yes", "› 1")
        terminal.answer("3", "Run this?")
        terminal.see_gone("Ctrl-C stops")
        terminal.wait_until(lambda: terminal.draft == "1", "the draft")
        terminal.type("C-u")
        terminal.see_idle()
        terminal.type("C-d")
        assert program.ended() == 0
    assert list(place.project.iterdir()) == []


def test_what_is_typed_behind_fg_answers_no_question(place: Place, tmp_path: Path) -> None:
    ask = reply(calls=[call("run_terminal_command", command="touch blind")])
    with ModelServer([ask]) as server, inline_terminal(place, server, tmp_path) as terminal:
        Sourced(terminal, tmp_path)
        terminal.prompt("go")
        terminal.press_in_question("C-z")
        terminal.see("Stopped")
        terminal.see("shell$", at_least=2)
        terminal.send(b"fg\r1")
        terminal.see_on_screen("1 yes", "› 1")
        terminal.answer("3", "Run this?")
        terminal.see_gone("Ctrl-C stops")
        terminal.type("C-u")
        terminal.see_idle()
        terminal.type("C-d")
        terminal.see("goes on")
    assert list(place.project.iterdir()) == []


def test_ctrl_c_in_the_pager_denies_no_question(place: Place, tmp_path: Path) -> None:
    (place.project / "note").write_text("old\n")
    script = [
        reply(calls=[call("read_file", target_file="note")]),
        reply(calls=[call("search_replace", file_path="note", old_string="old", new_string="new")]),
        reply("edited"),
    ]
    pager = Script(tmp_path, "trap : INT")
    with (
        ModelServer(script) as server,
        inline_terminal(place, server, tmp_path, PAGER=str(pager.path)) as terminal,
    ):
        program = Sourced(terminal, tmp_path)
        terminal.prompt("go")
        terminal.press_in_question("d")
        pager.see_waiting()
        terminal.see_gone("1 yes")
        terminal.type("C-c")
        until_now(lambda: not alive(pager.pid))
        terminal.answer("1")
        terminal.see("edited")
        terminal.see_idle()
        terminal.type("C-d")
        assert program.ended() == 0
    assert (place.project / "note").read_text() == "new\n"

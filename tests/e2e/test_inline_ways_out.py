"""Every way out of the inline REPL leaves the terminal as it was found."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from pathlib import Path

import pytest

from tests.e2e.inline_pty import inline_pty
from tests.e2e.inline_terminal import inline_terminal
from tests.e2e.program import Place
from tests.fakes.model_server import ModelServer, Reply, reply
from tests.sandbox.liveness import alive
from tests.waiting import until_now

STORY = "".join(f"S{number:02} of the story.\n\n" for number in range(30))


def endless(gate: threading.Event) -> Reply:
    """A reply that stops in the middle until the gate opens."""
    whole = reply(STORY)
    return Reply(chunks=whole.chunks, gates={len(whole.chunks) // 2: gate})


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, 137)]
)
def test_h06_a_signal_while_a_reply_streams_leaves_the_terminal_sane(
    place: Place, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """H06. After `kill -9` only the shell can put the mode back; with it nothing more than the mode is lost."""
    gate = threading.Event()
    with ModelServer([endless(gate)]) as server, inline_terminal(place, server, tmp_path) as terminal:
        terminal.start()
        terminal.prompt("tell")
        terminal.see("S10")
        os.kill(terminal.pid, number)
        if number is signal.SIGKILL:
            terminal.see("shell$", at_least=2)
            assert not alive(terminal.pid)
        else:
            assert terminal.ended() == code
            raw = terminal.raw
            for sequence in (b"\x1b[?2004l", b"\x1b[?25h", b"\x1b[0m"):
                assert raw.rindex(sequence) > raw.rindex(b"S10"), sequence
            assert terminal.count("fake-model · ask") == 0, "the live rows are gone"
            assert terminal.count("S10 of the story") == 1
        gate.set()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_us_also_while_we_are_suspended(
    place: Place, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """As `kill %1` does: the signal, then SIGCONT, while the shell has the terminal."""
    with ModelServer() as server, inline_terminal(place, server, tmp_path) as terminal:
        terminal.start()
        pid = terminal.pid
        terminal.type("C-z")
        terminal.see("Stopped")
        os.kill(pid, number)
        os.kill(pid, signal.SIGCONT)
        until_now(lambda: not alive(pid))
        terminal.write("fg")
        terminal.type("Enter")
        assert terminal.ended() == code
        assert terminal.count("fake-model · ask") == 0


def test_continued_without_the_terminal_we_wait_for_it(place: Place, tmp_path: Path) -> None:
    with ModelServer([reply("an answer")]) as server, inline_terminal(place, server, tmp_path) as terminal:
        terminal.start()
        terminal.write("draft")
        terminal.see_on_screen("› draft")
        terminal.type("C-z")
        terminal.see("Stopped")
        os.kill(terminal.pid, signal.SIGCONT)
        terminal.write("echo the-$((40 + 2))")
        terminal.type("Enter")
        terminal.see("the-42")
        terminal.write("fg")
        terminal.type("Enter")
        terminal.see_on_screen("› draft", "fake-model · ask")
        terminal.type("Enter")
        terminal.see("an answer")
        assert terminal.leave() == 0


def test_leaving_by_command_and_by_key(place: Place, tmp_path: Path) -> None:
    with ModelServer() as server, inline_terminal(place, server, tmp_path) as terminal:
        terminal.start()
        terminal.prompt("/quit")
        assert terminal.ended() == 0
        terminal.start()
        terminal.type("C-c")
        terminal.see("Ctrl-D leaves", at_least=2)
        assert terminal.leave() == 0


def test_a_bug_inside_leaves_the_terminal_sane(place: Place, tmp_path: Path) -> None:
    command = (sys.executable, "-m", "tests.repl.inline_program")
    root = str(Path(__file__).resolve().parent.parent.parent)
    with inline_terminal(place, None, tmp_path, command=command, PYTHONPATH=root) as terminal:
        terminal.start()
        terminal.prompt("/usage")
        terminal.see("RuntimeError: a bug")
        assert terminal.ended() == 1


def test_stopped_while_it_starts_it_leaves_no_trace(place: Place, tmp_path: Path) -> None:
    with ModelServer() as server, inline_pty(place, server) as person:
        person.wait_until(lambda: "›" in person.emulator.screen[0], "the first prompt")
        person.process.send_signal(signal.SIGTERM)
        assert person.ended() == 143
        assert person.settings == person.found
        assert person.emulator.at_rest and "2004" not in person.emulator.modes


def test_h08_a_window_closed_while_idle_ends_the_program(place: Place, full: bool) -> None:
    """H08. The report's time of the processor holds in the full run; else it is told from going round and round."""
    with ModelServer([reply("an answer"), reply("another")]) as server:
        with inline_pty(place, server) as person:
            person.see("/ commands")
            person.type("hello\r")
            person.see("an answer")
            person.wait_until(lambda: "›" in person.emulator.screen, "an idle prompt")
            person.rest()
            used = _cpu(person.process.pid)
            person.close()
            usage = usage_at_end(person.process.pid)
            person.process.returncode = 129
            assert usage.ru_utime + usage.ru_stime - used < (0.2 + 0.02 if full else 1.0)
        done = place.run("-p", "go on", "--continue", server=server)
        assert done.stdout == "another\n"
        assert "hello" in str(server.bodies[-1]["messages"])


def usage_at_end(pid: int) -> resource.struct_rusage:
    """What a child has used, once it has ended."""
    found: list[resource.struct_rusage] = []

    def ended() -> bool:
        number, _, usage = os.wait4(pid, os.WNOHANG)
        found.append(usage)
        return number == pid

    until_now(ended)
    return found[-1]


def _cpu(pid: int) -> float:
    """Processor seconds that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

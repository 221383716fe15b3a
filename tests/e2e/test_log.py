"""`grokmini log`: in pipes, in the pager, in every form, and while the session runs."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pexpect
import pytest

from tests.e2e.program import PROGRAM, SECONDS, Place, fixing
from tests.fakes.model_server import ModelServer, Reply, reply
from tests.waiting import until_now

STORY = "".join(f"S{number:02} of the story.\n\n" for number in range(30))
FEW = 5
"""Lines of a long log that a reader takes before it leaves."""


@pytest.fixture(scope="module")
def talked_once(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A place with one session of two prompts, the first of which ran commands and edited a file."""
    place = Place(tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("project"))
    place.add_calc()
    with ModelServer([*fixing(), reply("You are **welcome**.")]) as server:
        assert place.run("-p", "fix the test", "--yolo", server=server).returncode == 0
        assert place.run("-c", "-p", "thank you", server=server).returncode == 0
    return place


@pytest.fixture
def talked(talked_once: Place) -> Iterator[Place]:
    """The same; what a test changes in the events is put back."""
    (folder,) = talked_once.sessions
    events = (folder / "updates.jsonl").read_bytes()
    yield talked_once
    (folder / "updates.jsonl").write_bytes(events)


def half_told(gate: threading.Event) -> Reply:
    """A reply that stops in the middle until the gate opens."""
    whole = reply(STORY)
    return Reply(chunks=whole.chunks, gates={len(whole.chunks) // 2: gate})


@contextmanager
def started(place: Place, *words: str, server: ModelServer | None = None) -> Iterator[subprocess.Popen[str]]:
    """The program with its output in a pipe; it does not outlive the block."""
    with subprocess.Popen(
        [str(PROGRAM), *words],
        cwd=place.project,
        env=place.environment(server),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def telling(place: Place, gate: threading.Event) -> Iterator[subprocess.Popen[str]]:
    """A session that has saved the first half of a story and waits for the gate."""
    with ModelServer([half_told(gate)]) as server, started(place, "-p", "tell", server=server) as talk:
        until_now(lambda: "S10" in json.dumps(place.events()))
        yield talk


def test_in_a_pipe_it_is_the_whole_session_as_plain_text(talked: Place) -> None:
    done = talked.run("log")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    order = ["› fix the test", "• Run", "-1 != 5", "• Edit  calc.py  +1 -1", "the test is green", "› thank you"]
    places = [done.stdout.index(text) for text in order]
    assert places == sorted(places)


@pytest.mark.parametrize("words", [("--format", "ansi"), ("--color", "always"), ("--colour=always",)])
def test_colours_come_in_a_pipe_when_asked_for(talked: Place, words: tuple[str, ...]) -> None:
    assert "\x1b[1;36m› \x1b[0m" in talked.run("log", *words).stdout
    assert "\x1b" not in talked.run("log", env={"FORCE_COLOR": "1"}).stdout


def test_markdown_has_prompts_as_headings_and_output_in_fences(talked: Place) -> None:
    text = talked.run("log", "--format", "markdown").stdout
    assert "## Prompt 1\n\n> fix the test\n" in text
    assert "**Edit** `calc.py` · +1 -1\n\n```diff\n" in text
    assert "You are **welcome**.\n" in text


def test_json_is_the_stored_lines_byte_for_byte(talked: Place) -> None:
    (folder,) = talked.sessions
    stored = (folder / "updates.jsonl").read_text()
    (folder / "updates.jsonl").write_text('{"v":9,"type":"of tomorrow"}\n' + stored + '{"torn')
    done = talked.run("log", "--format", "json")
    assert done.stdout == '{"v":9,"type":"of tomorrow"}\n' + stored
    tail = talked.run("log", "--format", "json", "--tail", "1").stdout
    assert stored.endswith(tail)
    assert json.loads(tail.splitlines()[0])["text"] == "thank you"


def test_a_tail_begins_with_a_prompt(talked: Place) -> None:
    text = talked.run("log", "--tail", "1").stdout
    assert text.startswith("› thank you")
    assert "fix the test" not in text
    assert talked.run("log", "--tail", "99").stdout == talked.run("log").stdout


def test_a_session_is_named_by_id_or_title_from_anywhere(talked: Place, tmp_path: Path) -> None:
    (folder,) = talked.sessions
    elsewhere = Place(talked.home, tmp_path)
    assert elsewhere.run("log", folder.name).stdout == talked.run("log").stdout
    assert "› thank you" in elsewhere.run("log", "FIX the test").stdout
    nothing = elsewhere.run("log")
    assert (nothing.returncode, nothing.stdout) == (1, "")
    assert "there is no session in" in nothing.stderr


def test_a_reader_who_leaves_ends_it_quietly_and_has_what_it_took(talked: Place) -> None:
    """The session is far longer than a pipe holds: it is read no further than somebody reads."""
    (folder,) = talked.sessions
    lines = (folder / "updates.jsonl").read_text()
    with (folder / "updates.jsonl").open("a") as file:
        for _ in range(300):
            file.write(lines)
    script = f'grokmini log | head -{FEW}; echo "${{PIPESTATUS[0]}}"'
    with ModelServer() as server:
        done = talked.shell(script, server)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == FEW + 1
    assert done.stdout.splitlines()[-1] == "0"


def test_it_streams_the_first_lines_are_there_when_most_of_the_file_is_unread(talked: Place) -> None:
    (folder,) = talked.sessions
    lines = (folder / "updates.jsonl").read_bytes()
    with (folder / "updates.jsonl").open("ab") as file:
        for _ in range(300):
            file.write(lines)
    size = (folder / "updates.jsonl").stat().st_size
    with started(talked, "log") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("grokmini ")
        (number,) = descriptors_of(process.pid, "updates.jsonl")
        position = int(Path(f"/proc/{process.pid}/fdinfo/{number}").read_text().split()[1])
        assert position < size / 2, "the pipe is full and nobody reads on"


def descriptors_of(pid: int, name: str) -> list[str]:
    """The descriptors by which a process holds open a file of that name."""
    found = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # it was just closed
            if str(link.readlink()).endswith(name):
                found.append(link.name)
    return found


def on_terminal(place: Place, *words: str, **more: str) -> pexpect.spawn[str]:
    """The program on a terminal, without a model server."""
    return pexpect.spawn(
        str(PROGRAM),
        list(words),
        cwd=str(place.project),
        env=place.environment(None, **more),
        encoding="utf-8",
        timeout=SECONDS,
        dimensions=(24, 80),
    )


def test_at_a_terminal_it_opens_the_pager_with_colours(talked: Place, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\necho "$LESS $#" > "$0.args"\ncat > "$0.text"\n')
    pager.chmod(0o755)
    screen = on_terminal(talked, "log", PAGER=str(pager))
    assert screen.read().strip() == ""
    screen.close()
    assert screen.exitstatus == 0
    assert (tmp_path / "pager.args").read_text() == "-R 0\n"
    assert "\x1b[1;36m› \x1b[0m" in (tmp_path / "pager.text").read_text()


def test_a_pager_that_is_left_early_ends_it_quietly(talked: Place) -> None:
    screen = on_terminal(talked, "log", PAGER="true")
    assert screen.read().strip() == ""
    screen.close()
    assert screen.exitstatus == 0


def test_the_pager_keeps_ctrl_c_to_itself(talked: Place, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text(
        '#!/bin/sh\ntrap "echo taken" INT\necho ready\nread -r line < /dev/tty\necho "got $line"\n'
    )
    pager.chmod(0o755)
    screen = on_terminal(talked, "log", PAGER=str(pager))
    screen.expect_exact("ready")
    screen.sendintr()
    screen.expect_exact("taken")
    screen.sendline("on")
    screen.expect(pexpect.EOF)
    screen.close()
    assert screen.exitstatus == 0


def test_a_pager_that_is_not_there_is_told_and_the_log_printed(talked: Place) -> None:
    screen = on_terminal(talked, "log", PAGER="no-such-pager")
    shown = screen.read()
    assert "no-such-pager cannot be started" in shown
    assert "thank you" in shown


def test_on_a_dumb_terminal_there_is_no_pager_and_no_escape(talked: Place) -> None:
    shown = on_terminal(talked, "log", TERM="dumb", PAGER="false").read()
    assert "thank you" in shown
    assert "\x1b" not in shown


def test_following_shows_what_is_said_while_it_is_said_and_ends_with_the_session(place: Place) -> None:
    gate = threading.Event()
    with telling(place, gate) as talk, started(place, "log", "--follow") as log:
        assert log.stdout is not None
        while "S10" not in log.stdout.readline():
            assert log.poll() is None
        gate.set()
        rest, trouble = log.communicate(timeout=SECONDS)
        talk.communicate(timeout=SECONDS)
    assert (log.returncode, trouble) == (0, "")
    assert "S29 of the story." in rest
    assert "1 step" in rest


def test_following_ends_when_the_driver_is_killed(place: Place) -> None:
    gate = threading.Event()
    with telling(place, gate) as talk, started(place, "log", "-f", "--format", "json") as log:
        assert log.stdout is not None
        assert json.loads(log.stdout.readline())["type"] == "session_started"
        talk.kill()
        talk.communicate(timeout=SECONDS)
        log.communicate(timeout=SECONDS)
        gate.set()
    assert log.returncode == 0


@pytest.mark.parametrize(("way", "code"), [("reader leaves", 0), ("Ctrl-C", 130)])
def test_following_ends_while_the_session_goes_on(place: Place, way: str, code: int) -> None:
    gate = threading.Event()
    with telling(place, gate) as talk, started(place, "log", "--follow") as log:
        assert log.stdout is not None
        while "S10" not in log.stdout.readline():
            assert log.poll() is None
        if way == "Ctrl-C":
            log.send_signal(signal.SIGINT)
        else:
            log.stdout.close()
            log.stdout = None
        trouble = log.communicate(timeout=SECONDS)[1]
        assert (log.returncode, trouble) == (code, "")
        assert talk.poll() is None
        gate.set()
        said, _ = talk.communicate(timeout=SECONDS)
    assert "S29" in said


def test_a_session_that_nobody_drives_is_followed_to_its_end(talked: Place) -> None:
    assert talked.run("log", "--follow").stdout == talked.run("log").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [(("a", "b"), "one session"), (("--tail", "0"), "--tail needs"), (("--format", "html"), "markdown")],
)
def test_what_is_asked_wrongly_is_told(place: Place, words: tuple[str, ...], said: str) -> None:
    done = place.run("log", *words)
    assert done.returncode == 2
    assert said in done.stderr

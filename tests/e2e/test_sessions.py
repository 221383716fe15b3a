"""`grokmini sessions` and the ways to take one up again, as people use them."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pytest

from tests.e2e.program import PROGRAM, SECONDS, Place
from tests.fakes.model_server import ModelServer, Reply, reply
from tests.waiting import until_now


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that answers everything with the same words."""
    with ModelServer([reply("As you wish.")], repeat=True) as running:
        yield running


def say(place: Place, text: str, server: ModelServer, *words: str) -> str:
    """Have a session with one more prompt; its id."""
    done = place.run("-p", text, "--output-format", "json", *words, server=server)
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["session_id"])


def listed(place: Place, *words: str) -> dict[str, dict[str, object]]:
    """What `sessions --json` tells, by id."""
    done = place.run("sessions", "--json", *words)
    assert done.returncode == 0, done.stderr
    return {row["session_id"]: row for row in json.loads(done.stdout)}


@contextmanager
def running(place: Place, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A headless session whose model does not answer before this ends."""
    gate = threading.Event()
    with ModelServer([Reply(chunks=reply("late").chunks, gate=gate)]) as slow:
        process = subprocess.Popen(
            [str(PROGRAM), "-p", "slow", *words],
            cwd=place.project,
            env=place.environment(slow),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        until_now(lambda: slow.requests)
        try:
            yield process
        finally:
            gate.set()
            process.communicate(timeout=SECONDS)


def on_terminal(place: Place, server: ModelServer, *words: str, columns: int = 80) -> pexpect.spawn[str]:
    """The program on a terminal; linear, so that what it prints is what one reads."""
    return pexpect.spawn(
        str(PROGRAM),
        list(words),
        cwd=str(place.project),
        env=place.environment(server, ACCESSIBLE="1"),
        encoding="utf-8",
        timeout=SECONDS,
        dimensions=(24, columns),
    )


def test_the_list_is_of_this_folder_newest_first(place: Place, tmp_path: Path, server: ModelServer) -> None:
    first, second = say(place, "the first", server), say(place, "the second", server)
    other = Place(place.home, tmp_path)
    third = say(other, "the third", server)
    done = place.run("sessions")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.rpartition("  ")[2] for line in done.stdout.splitlines()] == ["the second", "the first"]
    assert re.fullmatch(r"[0-9a-f-]{8,}  +now  1 prompt  the second", done.stdout.splitlines()[0])
    assert list(listed(place, "--all")) == [third, second, first]
    row = listed(place)[second]
    assert (row["title"], row["prompts"], row["live"], row["pinned"]) == ("the second", 1, False, False)
    assert str(tmp_path) in place.run("sessions", "--all").stdout
    limited = place.run("sessions", "--limit", "1")
    assert limited.stdout.count("\n") == 1
    assert "--limit N lists more" in limited.stderr
    assert place.run("sessions", "--limit", "0").stderr == ""


def test_the_shown_beginning_of_an_id_is_enough_to_name_it(place: Place, server: ModelServer) -> None:
    ids = [say(place, f"prompt {number}", server) for number in range(3)]
    shown = [line.split()[0] for line in place.run("sessions").stdout.splitlines()]
    for prefix, whole in zip(shown, reversed(ids), strict=True):
        assert whole.startswith(prefix)
        assert say(place, "more", server, f"--resume={prefix}") == whole


def test_an_empty_folder_has_no_sessions_and_that_is_no_error(place: Place) -> None:
    done = place.run("sessions")
    assert (done.returncode, done.stdout) == (0, "")
    assert "--all" in done.stderr
    assert place.run("sessions", "--json").stdout.strip() == "[]"


def test_a_session_that_runs_is_marked(place: Place, server: ModelServer) -> None:
    say(place, "quiet", server)
    with running(place):
        lines = place.run("sessions").stdout.splitlines()
        assert [("live" in line) for line in lines] == [True, False]


def test_a_new_title_stays_and_names_the_session(place: Place, server: ModelServer) -> None:
    session_id = say(place, "why is it red", server)
    done = place.run("sessions", "rename", session_id, "the", "red  one")
    assert (done.returncode, done.stdout) == (0, f"{session_id} is now called the red one\n")
    assert say(place, "more", server, "--resume=THE red one") == session_id
    assert listed(place)[session_id]["title"] == "the red one"
    assert listed(place)[session_id]["title_source"] == "manual"
    assert place.run("sessions", "rename", session_id).returncode == 2
    assert (
        place.run("sessions", "rename", session_id, "").stdout == f"{session_id} is now called why is it red\n"
    )
    assert listed(place)[session_id]["title_source"] == "prompt"


def test_pinned_and_no_longer_pinned(place: Place, server: ModelServer) -> None:
    one, two = say(place, "one", server), say(place, "two", server)
    assert place.run("sessions", "pin", one, "two").returncode == 0
    assert [row["pinned"] for row in listed(place).values()] == [True, True]
    assert place.run("sessions").stdout.count("pinned") == 2
    assert place.run("sessions", "unpin", two).stdout == f"no longer pinned: {two}  two\n"
    assert listed(place)[two]["pinned"] is False


def test_deleting_needs_a_yes_and_says_what_goes(place: Place, server: ModelServer) -> None:
    session_id = say(place, "to be gone", server)
    done = place.run("sessions", "delete", session_id)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{session_id}  to be gone (1 prompt, " in done.stderr
    assert "--yes" in done.stderr
    assert len(place.sessions) == 1
    screen = on_terminal(place, server, "sessions", "delete", session_id)
    screen.expect_exact("Delete this session for good? y/N ")
    screen.sendline("")
    screen.expect_exact("nothing was deleted")
    screen.expect(pexpect.EOF)
    screen.close()
    assert (screen.exitstatus, len(place.sessions)) == (1, 1)
    assert place.run("sessions", "delete", "--yes", session_id).stdout == f"deleted: {session_id}\n"
    assert place.sessions == []


def test_a_session_that_runs_is_not_deleted_and_the_others_are(place: Place, server: ModelServer) -> None:
    quiet = say(place, "quiet", server)
    with running(place):
        done = place.run("sessions", "delete", "--yes", "slow", quiet)
        assert done.returncode == 1
        assert "is open in another grokmini (process " in done.stderr
        assert done.stdout == f"deleted: {quiet}\n"
    assert len(place.sessions) == 1


def test_of_names_that_are_wrong_nothing_is_deleted(place: Place, server: ModelServer) -> None:
    session_id = say(place, "keep me", server)
    done = place.run("sessions", "delete", "--yes", session_id, "no such")
    assert done.returncode == 1
    assert "no session has an id or title" in done.stderr
    assert len(place.sessions) == 1


def test_a_fork_before_a_prompt_goes_on_from_there(place: Place, server: ModelServer) -> None:
    source = say(place, "the first", server)
    say(place, "the second", server, "-c")
    done = place.run("sessions", "fork", source, "--before", "2")
    copy = done.stdout.strip()
    assert (done.returncode, copy != source) == (0, True)
    assert f"--resume={copy}" in done.stderr
    row = listed(place)[copy]
    assert (row["prompts"], row["parent_session_id"]) == (1, source)
    assert say(place, "another second", server, f"--resume={copy}") == copy
    sent = [message["content"] for message in server.requests[-1].body["messages"]]
    assert "the first" in str(sent)
    assert "the second" not in str(sent)
    assert place.run("sessions", "fork", source, "--before", "7").returncode == 1
    assert place.run("sessions", "fork", source, "--before", "0").returncode == 2


def test_fork_on_the_command_line_leaves_the_session_as_it_is(place: Place, server: ModelServer) -> None:
    source = say(place, "the first", server)
    copy = say(place, "on the side", server, "--continue", "--fork")
    again = say(place, "aside too", server, f"--resume={source}", "--fork-session")
    assert len({source, copy, again}) == 3
    assert [listed(place)[one]["prompts"] for one in (source, copy, again)] == [1, 2, 2]


def test_repair_brings_a_session_without_a_summary_back(place: Place, server: ModelServer) -> None:
    session_id = say(place, "find me again", server)
    (place.sessions[0] / "summary.json").unlink()
    assert listed(place) == {}
    done = place.run("sessions", "repair")
    assert done.returncode == 0
    assert f"{session_id}  summary rebuilt" in done.stdout
    assert listed(place)[session_id]["title"] == "find me again"
    assert place.run("sessions", "repair", session_id).stdout == f"{session_id}  nothing to repair\n"


def test_search_finds_what_was_said_in_any_folder(place: Place, tmp_path: Path, server: ModelServer) -> None:
    found = say(Place(place.home, tmp_path), "explain the \x1b[0m zebra crossing", server)
    say(place, "something else", server)
    done = place.run("sessions", "search", "zebra", "crossing")
    assert done.returncode == 0, done.stderr
    assert found.startswith(done.stdout.split()[0])
    assert "zebra crossing" in done.stdout
    assert "\x1b" not in done.stdout
    assert json.loads(place.run("sessions", "search", "--json", "zebra").stdout)[0]["session_id"] == found
    nothing = place.run("sessions", "search", "--here", "zebra")
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (1, "", "nothing fits 'zebra'\n")
    assert place.run("sessions", "search", " ").returncode == 2


def test_a_command_that_is_none_names_the_nearest(place: Place) -> None:
    done = place.run("sessions", "delte", "x")
    assert done.returncode == 2
    assert "did you mean grokmini sessions delete?" in done.stderr


def test_a_bare_resume_lets_one_choose_by_words_and_number_on_forty_columns(
    place: Place, server: ModelServer
) -> None:
    wanted = say(place, "the failing test in calc", server)
    for number in range(2):
        say(place, f"another thing {number}", server)
    screen = on_terminal(place, server, "--resume", columns=40)
    screen.expect_exact("number, words, or Enter to leave: ")
    assert max(len(line) for line in (screen.before or "").splitlines()) <= 40
    assert "another thing 1" in (screen.before or "")
    screen.sendline("calc FAILING")
    screen.expect_exact("number, words, or Enter to leave: ")
    assert "another" not in (screen.before or "")
    screen.sendline("1")
    screen.expect_exact("going on with")
    screen.send("/quit\r")
    screen.expect(pexpect.EOF)
    screen.close()
    assert wanted in {str(row["session_id"]) for row in listed(place).values()}


def test_who_chooses_nothing_leaves_without_a_word(place: Place, server: ModelServer) -> None:
    say(place, "the failing test", server)
    screen = on_terminal(place, server, "--resume")
    screen.expect_exact("number, words, or Enter to leave: ")
    screen.send("\r")
    screen.expect(pexpect.EOF)
    screen.close()
    assert (screen.exitstatus, (screen.before or "").strip()) == (0, "")


def test_h24_a_session_that_is_open_elsewhere_is_copied_waited_for_or_left(
    place: Place, server: ModelServer
) -> None:
    """H24"""
    busy = say(place, "talk", server)
    with running(place, f"--resume={busy}") as other:
        screen = on_terminal(place, server, "--continue")
        screen.expect_exact(f'"talk" is open in process {other.pid} on')
        screen.expect_exact("number, or Enter to leave: ")
        screen.sendline("")
        screen.expect(rf"Session {busy} is open in another\s+grokmini \(process {other.pid} on")
        screen.expect(pexpect.EOF)
        screen.close()
        assert screen.exitstatus == 1

        screen = on_terminal(place, server, f"--resume={busy}")
        screen.expect_exact("number, or Enter to leave: ")
        screen.sendline("fork")
        screen.expect_exact("going on with")
        screen.send("/quit\r")
        screen.expect(pexpect.EOF)
        screen.close()
        assert listed(place)[busy]["live"] is True
        assert {row["parent_session_id"] for row in listed(place).values()} == {None, busy}

        screen = on_terminal(place, server, f"--resume={busy}", "not to be sent")
        screen.expect_exact("number, or Enter to leave: ")
        screen.sendline("1")
        screen.expect_exact("the prompt is left out")
        screen.expect_exact("slow\x1b[0m")
        screen.send("/quit\r")
        screen.expect(pexpect.EOF)
        screen.close()

        waiting = on_terminal(place, server, f"--resume={busy}")
        waiting.expect_exact("number, or Enter to leave: ")
        waiting.sendline("wait")
        waiting.expect_exact("Ctrl-C leaves")
    waiting.expect_exact("going on with")
    waiting.send("/quit\r")
    waiting.expect(pexpect.EOF)
    waiting.close()
    assert listed(place)[busy]["prompts"] == 2


def test_h24_a_run_that_nobody_watches_writes_nothing_before_the_other_process_is_gone(
    place: Place, server: ModelServer
) -> None:
    """H24, headless: it names the holder and waits; after kill -9 it goes on."""
    busy = say(place, "talk", server)
    history = place.sessions[0] / "chat_history.jsonl"
    with running(place, f"--resume={busy}") as other:
        before = history.read_bytes()
        waiting = subprocess.Popen(
            [str(PROGRAM), "-p", "next", f"--resume={busy}"],
            cwd=place.project,
            env=place.environment(server),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.stderr is not None
        assert f"{busy} is open in process {other.pid} on" in waiting.stderr.readline()
        assert history.read_bytes() == before
        other.kill()
        out, _ = waiting.communicate(timeout=SECONDS)
    assert (waiting.returncode, out) == (0, "As you wish.\n")
    assert history.read_bytes().startswith(before)
    assert listed(place)[busy]["prompts"] == 3


def test_waiting_for_a_session_ends_with_ctrl_c(place: Place, server: ModelServer) -> None:
    busy = say(place, "talk", server)
    with running(place, f"--resume={busy}"):
        waiting = on_terminal(place, server, f"--resume={busy}")
        waiting.expect_exact("number, or Enter to leave: ")
        waiting.sendline("3")
        waiting.expect_exact("Ctrl-C leaves")
        waiting.sendintr()
        waiting.expect(pexpect.EOF)
        waiting.close()
    assert waiting.exitstatus == 130

"""What a session is on disk, seen from outside: cases H22, H25 and H64, and what goes with them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pexpect
import pytest

from grokmini.config.paths import find_places
from tests.bench.store_sessions import make_session
from tests.e2e.program import PROGRAM, SECONDS, Place
from tests.fakes.model_server import MODEL, ModelServer, Recorded, call, reply

CALM = reply("As you wish.")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def prompts_of(items: list[dict[str, Any]]) -> list[str]:
    """What a person asked, by the history."""
    asked = (item for item in items if item["type"] == "user" and "synthetic_reason" not in item)
    return ["".join(part["text"] for part in item["content"]) for item in asked]


def goes_on(place: Place, text: str, server: ModelServer, *words: str) -> None:
    done = place.run("-p", text, "--continue", *words, server=server)
    assert (done.returncode, done.stdout) == (0, "As you wish.\n"), done.stderr


@contextmanager
def linear(cwd: Path, place: Place, server: ModelServer, *words: str) -> Iterator[pexpect.spawn[str]]:
    """The program at its prompt in that folder."""
    child = pexpect.spawn(
        str(PROGRAM),
        ["--plain", "--yolo", *words],
        cwd=str(cwd),
        env=place.environment(server),
        encoding="utf-8",
        timeout=SECONDS,
        dimensions=(24, 100),
    )
    try:
        child.expect("\n› ")
        yield child
        child.send("/quit\r")
        child.expect(pexpect.EOF)
    finally:
        child.close(force=True)


def test_h22_a_call_without_a_result_gets_one_and_no_later_request_is_refused(place: Place) -> None:
    with ModelServer([CALM], repeat=True, strict=True) as server:
        assert place.run("-p", "look", server=server).returncode == 0
        history = place.sessions[0] / "chat_history.jsonl"
        kept = history.read_bytes().splitlines(keepends=True)[:-1]
        dangling = {
            "type": "assistant",
            "tool_calls": [{"id": "c1", "name": "grep", "arguments": '{"pattern":"x"}'}],
        }
        history.write_bytes(b"".join(kept) + json.dumps(dangling).encode() + b"\n")
        goes_on(place, "go on", server)
        repaired = history.read_bytes()
        goes_on(place, "and on", server)
    for body in server.bodies[-2:]:
        messages = body["messages"]
        (place_of_call,) = [n for n, message in enumerate(messages) if message.get("tool_calls")]
        result = messages[place_of_call + 1]
        assert (result["role"], result["tool_call_id"]) == ("tool", "c1")
        assert "interrupted" in result["content"]
    assert messages[-1]["content"] == "and on"
    assert history.read_bytes().startswith(repaired), "a repair is saved, and there is nothing left to repair"


def test_h25_a_session_that_changed_its_folder_is_one_file_and_resumes_from_anywhere(place: Place) -> None:
    sub = place.project / "sub"
    sub.mkdir()
    script = [reply(calls=[call("run_terminal_command", command="cd sub && pwd")]), *[CALM] * 7]
    with ModelServer(script, strict=True) as server:
        with linear(place.project, place, server) as child:
            child.send("begin\r")
            child.expect("As you wish")
            child.expect("\n› ")
            child.send(f"/cd {sub}\r")
            child.expect("\n› ")
            for number in range(5):
                child.send(f"turn {number}\r")
                child.expect("As you wish")
                child.expect("\n› ")
        (directory,) = place.sessions
        with linear(Path("/"), place, server, f"--resume={directory.name}") as child:
            told = "".join(re.sub(r"\x1b\[[\d;]*m", "", child.before or "").split())
            assert "6promptssofar" in told
            assert f"Thissessionworkedin{sub};/cdgoesthere." in told
            child.send("the last\r")
            child.expect("As you wish")
            child.expect("\n› ")
    assert place.sessions == [directory]
    asked = ["begin", *(f"turn {number}" for number in range(5)), "the last"]
    assert prompts_of(lines(directory / "chat_history.jsonl")) == asked
    events = lines(directory / "updates.jsonl")
    assert [event["text"] for event in events if event["type"] == "turn_started"] == asked
    assert [event["seq"] for event in events] == sorted({event["seq"] for event in events})


def test_h64_twenty_thousand_records_are_resumed_in_two_seconds_and_150_mb(place: Place) -> None:
    """Seconds of processor time, so that a busy machine is no matter; memory at its peak. Killed at the prompt."""
    places = find_places(place.environment())
    assert places is not None
    directory = make_session(places.state, place.project, turns=5_000, history=50_000_000, updates=5_000_000)
    before = (directory / "chat_history.jsonl").read_bytes()
    assert before.count(b"\n") == 20_000
    with ModelServer() as server:
        child = place.talk("--continue", server=server)
        child.expect(r"~\d{3,}% of")
        proc = Path(f"/proc/{child.pid}")
        ticks = (proc / "stat").read_text().rpartition(")")[2].split()[11:13]
        (peak,) = re.findall(r"VmHWM:\s*(\d+) kB", (proc / "status").read_text())
        child.kill(signal.SIGKILL)
        child.expect(pexpect.EOF)
        child.close()
    assert sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK") < 2.0
    assert int(peak) * 1024 < 150_000_000
    assert (directory / "chat_history.jsonl").read_bytes() == before, "opening alone rewrites nothing"


def test_no_request_is_made_before_the_prompt_is_on_the_disk(place: Place) -> None:
    """Of each request the history is looked at as it comes in, before it is answered."""
    seen: list[list[str]] = []

    def look(request: Recorded) -> None:
        if request.method == "POST":
            seen.append(
                [text for path in place.sessions for text in prompts_of(lines(path / "chat_history.jsonl"))]
            )

    with ModelServer([CALM], repeat=True, on_request=look) as server:
        assert place.run("-p", "first", server=server).returncode == 0
        goes_on(place, "second", server)
    assert seen == [["first"], ["first", "second"]]


def test_what_was_dropped_for_its_age_is_still_in_the_log(place: Place) -> None:
    config = place.home / ".config" / "grokmini" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[compaction.pruning]\nhard_clear_age_turns = 3\n")
    said = "needle-" * 40
    script = [reply(calls=[call("run_terminal_command", call_id="c1", command=f"echo {said}")]), *[CALM] * 9]
    with ModelServer(script, strict=True) as server:
        assert place.run("-p", "print it", "--yolo", server=server).returncode == 0
        for number in range(8):
            goes_on(place, f"turn {number}", server)
    sent = [next(m["content"] for m in body["messages"] if m["role"] == "tool") for body in server.bodies[1:]]
    assert [said in text for text in sent] == [True] * 8 + [False]
    assert "dropped because it is old" in sent[-1]
    (directory,) = place.sessions
    (result,) = [item for item in lines(directory / "chat_history.jsonl") if item["type"] == "tool_result"]
    assert said not in result["output"] + result["prompt_text"]
    assert said.encode() in (directory / "updates.jsonl").read_bytes()
    assert said in "".join(place.run("log", directory.name).stdout.split())


def test_the_summary_tells_what_lists_need(place: Place) -> None:
    subprocess.run(["git", "init", "-q", "-b", "topic"], cwd=place.project, check=True)
    with ModelServer([CALM], repeat=True) as server:
        assert place.run("-p", "first", server=server).returncode == 0
        (source,) = place.sessions
        goes_on(place, "second", server, "--fork")
    (fork,) = [path for path in place.sessions if path != source]
    found = json.loads((fork / "summary.json").read_bytes())
    assert found["session_id"] == fork.name
    assert found["parent_session_id"] == source.name
    assert fork.name > source.name, "ids sort by time"
    assert (found["cwd"], found["branch"]) == (str(place.project), "topic")
    assert found["models"] == [MODEL]
    assert (found["title"], found["last_prompt"]) == ("first (fork)", "second")
    assert (found["turns"], found["format_version"]) == (2, 1)
    assert found["messages"] == len(lines(fork / "chat_history.jsonl"))
    assert found["tokens"] > 0
    assert found["created_at"] <= found["updated_at"]


@pytest.mark.parametrize("home", ["", "no/absolute/path"])
def test_without_a_home_nothing_is_written_where_one_works(place: Place, home: str) -> None:
    with ModelServer([CALM]) as server:
        done = place.run("-p", "hi", server=server, env={"HOME": home})
    assert (done.returncode, done.stdout) == (0, "As you wish.\n")
    assert "not saved" in done.stderr
    assert list(place.project.iterdir()) == []
    assert list(place.home.iterdir()) == []

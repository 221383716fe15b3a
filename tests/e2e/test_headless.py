"""Headless runs: what comes out where, and which exit code says so."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from tests.e2e.program import PROGRAM, SECONDS, Place
from tests.fakes.model_server import ModelServer, Recorded, Reply, call, failure, raw, reply, sse
from tests.fakes.model_server import chunk as chunk_of
from tests.sandbox.liveness import alive
from tests.waiting import until_now

MARKDOWN = "# Title\n\n**bold** and `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nprint(1)\n```\n"


def last_prompt(server: ModelServer) -> str:
    users = [message["content"] for message in server.bodies[-1]["messages"] if message["role"] == "user"]
    content = users[-1]
    return content if isinstance(content, str) else content[0]["text"]


def test_a_piped_answer_holds_no_escapes_whatever_the_environment_says(place: Place) -> None:
    """H10"""
    colours = {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color", "CLICOLOR_FORCE": "1"}
    with ModelServer([reply(MARKDOWN)]) as server:
        done = place.shell("grokmini -p hi 2>err | cat -v; cat err | cat -v >&2", server, **colours)
    assert "^[" not in done.stdout + done.stderr
    assert "**bold**" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("format_", ["plain", "stream-json"])
def test_a_reader_that_leaves_ends_it_quietly_and_the_session_is_saved(place: Place, format_: str) -> None:
    """H10"""
    with ModelServer([reply("line\n" * 200)]) as server:
        done = place.shell(
            f"grokmini -p hi --output-format {format_} | head -1; echo ${{PIPESTATUS[0]}}", server
        )
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "0"
    assert len(done.stdout.splitlines()) == 2
    (ended,) = [event for event in place.events() if event["type"] == "turn_ended"]
    assert ended["exit_code"] == 0, "the log says the same"


FAILURES = [(429, "quota", 6), (500, "server", 8), (401, "auth", 5)]
QUOTA = {
    "error": {
        "message": "You exceeded your current quota",
        "type": "insufficient_quota",
        "code": "insufficient_quota",
    }
}


def failing(status: int) -> Reply:
    """The answer; what may be asked again is to be asked at once."""
    return failure(status, QUOTA if status == 429 else None, {"retry-after": "0"})


@pytest.mark.parametrize(("status", "kind", "code"), FAILURES)
def test_an_api_error_is_on_stderr_and_in_the_exit_code_and_not_in_the_answer(
    place: Place, status: int, kind: str, code: int
) -> None:
    """H11"""
    with ModelServer([failing(status)], repeat=True) as server:
        done = place.run("-p", "hi", server=server)
    assert (done.returncode, done.stdout) == (code, "")
    *waits, last, hint = done.stderr.splitlines()
    assert last.startswith("grokmini: ") and hint.startswith("  ")
    assert [line.rpartition("asking again")[2] for line in waits] in ([], [f" ({n} of 5)" for n in range(2, 6)])


@pytest.mark.parametrize(("status", "kind", "code"), FAILURES)
def test_an_api_error_in_json_is_one_object_that_says_error(
    place: Place, status: int, kind: str, code: int
) -> None:
    """H11"""
    with ModelServer([failing(status)], repeat=True) as server:
        done = place.run("-p", "hi", "--output-format", "json", server=server)
    found = json.loads(done.stdout)
    assert done.returncode == code
    assert (found["outcome"], found["exit_code"], found["error"]["kind"]) == ("error", code, kind)
    assert done.stderr != ""


def test_an_open_pipe_that_never_ends_does_not_hold_up_a_given_prompt(place: Place) -> None:
    """H12"""
    reading, writing = os.pipe()
    with ModelServer([reply("hello")]) as server:
        done = subprocess.run(
            [str(PROGRAM), "-p", "say hi"],
            cwd=place.project,
            env=place.environment(server),
            stdin=reading,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    os.write(writing, b"untouched")
    assert os.read(reading, 99) == b"untouched"
    os.close(reading)
    os.close(writing)
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert "use -" in done.stderr


def test_what_is_piped_joins_the_prompt(place: Place) -> None:
    with ModelServer([reply("ok")] * 3) as server:
        place.run("-p", "review this", server=server, stdin=b"a diff\n")
        assert last_prompt(server) == "review this\n\na diff"
        place.run("-p", "-", server=server, stdin=b"the prompt\n")
        assert last_prompt(server) == "the prompt"
        place.run(server=server, stdin=b"no words at all\n")
        assert last_prompt(server) == "no words at all"


def test_no_prompt_is_a_usage_error(place: Place) -> None:
    with ModelServer() as server:
        done = place.run("-p", server=server)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("grokmini: no prompt\n")
    assert server.requests == []
    assert place.sessions == []


def test_closed_standard_streams_do_not_hang_or_crash(place: Place) -> None:
    with ModelServer([reply("hello")] * 2) as server:
        done = place.shell("grokmini -p hi <&-", server)
        assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "")
        done = place.shell("grokmini -p hi 2>&-", server)
        assert (done.returncode, done.stdout) == (0, "hello\n")


@pytest.mark.parametrize("format_", ["json", "stream-json", "streaming-json"])
def test_trouble_before_the_start_is_told_in_json_too(place: Place, format_: str) -> None:
    done = place.run("-p", "hi", "--output-format", format_)
    last = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 2
    assert done.stderr.startswith("grokmini: no model is set up.\n")
    if format_ == "streaming-json":
        assert (last["type"], last["stopReason"]) == ("end", "error")
    else:
        assert (last["outcome"], last["exit_code"], last["error"]["message"]) == (
            "error",
            2,
            "no model is set up.",
        )


def test_stdout_that_is_full_is_an_error(place: Place) -> None:
    with ModelServer([reply("hello")]) as server:
        done = place.shell("grokmini -p hi > /dev/full", server)
    assert done.returncode == 1
    said, advice = done.stderr.splitlines()
    assert said == "grokmini: standard output cannot be written: No space left on device"
    assert "elsewhere" in advice


def test_control_sequences_of_the_model_never_reach_the_output(place: Place) -> None:
    """H09"""
    hostile = "ok\x1b]52;c;aGk=\x07 a\x1b[2Jb\x1b[5Ac\x1b]8;;http://x.test\x07d\x1b]8;;\x07e\x1bcf"
    with ModelServer([reply(hostile, piece=3), reply(hostile, piece=3)]) as server:
        plain = place.run("-p", "hi", server=server)
        events = place.run("-p", "hi", "--output-format", "stream-json", server=server)
    for text in (plain.stdout, events.stdout):
        assert not any(char < " " and char != "\n" for char in text)
    last = -1
    for letters in ("ok", "a", "b", "c", "d", "e", "f"):
        last = plain.stdout.index(letters, last + 1)


def test_a_lone_surrogate_of_the_model_spoils_neither_requests_nor_files(place: Place) -> None:
    """H23"""
    split = [
        *sse(chunk_of({"role": "assistant", "content": ""})),
        b'data: {"id":"1","choices":[{"index":0,"delta":{"content":"smile \\ud83d"},"finish_reason":null}]}\n\n',
        b'data: {"id":"1","choices":[{"index":0,"delta":{"content":"\\ude00"},"finish_reason":null}]}\n\n',
        b'data: {"id":"1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function",'
        b'"function":{"name":"grep","arguments":"{\\"pattern\\": \\"x\\\\ud99cy\\"}"}}]},"finish_reason":null}]}\n\n',
        *sse(chunk_of({}, finish="tool_calls"), "[DONE]"),
    ]
    with ModelServer([raw(*split), reply("done")], strict=True) as server:
        done = place.run("-p", "hi", server=server)
    assert (done.returncode, done.stdout) == (0, "done\n")
    sent = server.requests[-1].raw
    (assistant,) = [m for m in json.loads(sent.decode())["messages"] if m["role"] == "assistant"]
    assert assistant["content"] == "smile \U0001f600"
    assert "\ud99c" not in json.dumps(assistant, ensure_ascii=False)
    (folder,) = place.sessions
    for line in (folder / "chat_history.jsonl").read_bytes().splitlines():
        json.dumps(json.loads(line.decode()), ensure_ascii=False).encode()


def test_spaces_sent_for_tabs_never_end_up_in_a_file_of_tabs(place: Place) -> None:
    """H39"""
    path = place.project / "f.go"
    before = b"func f() {\n\tif x {\n\t\ty()\n\t}\n}\n"
    path.write_bytes(before)
    edit = call(
        "search_replace",
        file_path="f.go",
        old_string="    if x {\n        y()",
        new_string="    if x {\n        z()",
    )
    with ModelServer(
        [reply(calls=[call("read_file", target_file="f.go")]), reply(calls=[edit]), reply("done")]
    ) as server:
        place.run("-p", "hi", "--yolo", server=server)
    after = path.read_bytes()
    if after == before:
        (result,) = [m for m in server.bodies[-1]["messages"] if m.get("tool_call_id") == "call_search_replace"]
        assert "\t" in result["content"] or "\\t" in result["content"] or "tab" in result["content"]
    else:
        assert after == before.replace(b"y()", b"z()")


def test_an_addition_whose_context_is_not_in_the_file_changes_nothing(place: Place) -> None:
    """H43: with `search_replace`, the editing tool there is; the patch tool has a case of its own."""
    path = place.project / "t.py"
    path.write_bytes(b"a\nb\n")
    edit = call(
        "search_replace", file_path="t.py", old_string="def missing():", new_string="def missing():\n    pass"
    )
    with ModelServer(
        [reply(calls=[call("read_file", target_file="t.py")]), reply(calls=[edit]), reply("done")]
    ) as server:
        place.run("-p", "hi", "--yolo", server=server)
    assert path.read_bytes() == b"a\nb\n"
    (result,) = [m for m in server.bodies[-1]["messages"] if m.get("tool_call_id") == "call_search_replace"]
    assert "not" in result["content"]
    events = (place.sessions[0] / "updates.jsonl").read_bytes().splitlines()
    finished = [json.loads(line) for line in events if b'"tool_finished"' in line]
    assert [event["status"] for event in finished] == ["ok", "error"]


def test_what_needs_a_permission_is_denied_told_and_ends_with_4(place: Place) -> None:
    with ModelServer(
        [reply(calls=[call("run_terminal_command", command="touch p")]), reply("I could not.")] * 2
    ) as server:
        plain = place.run("-p", "hi", server=server)
        found = json.loads(place.run("-p", "hi", "--output-format", "json", server=server).stdout)
    assert (plain.returncode, plain.stdout) == (4, "I could not.\n")
    assert "--allow" in plain.stderr
    assert (found["outcome"], found["exit_code"], found["denied"]) == ("completed", 4, ["Bash(touch p)"])
    assert not (place.project / "p").exists()
    (result,) = [m for m in server.bodies[1]["messages"] if m["role"] == "tool"]
    assert "--allow" in result["content"]


def test_what_no_rule_can_allow_is_told_as_such_and_with_why(place: Place) -> None:
    (place.project / ".git").mkdir()
    script = [reply(calls=[call("run_terminal_command", command="echo x >.git/config")]), reply("I could not.")]
    with ModelServer(script) as server:
        done = place.run("-p", "hi", "--yolo", server=server)
        (result,) = [m["content"] for m in server.bodies[1]["messages"] if m["role"] == "tool"]
    assert done.returncode == 4
    for told in (done.stderr, result):
        assert "--allow" not in told
        assert "No rule allows it, since" in told and "steers git" in told


def test_an_allowed_command_runs_and_a_denied_one_does_not(place: Place) -> None:
    both = reply(
        calls=[
            call("run_terminal_command", call_id="c1", command="touch yes"),
            call("run_terminal_command", call_id="c2", command="touch no"),
        ]
    )
    with ModelServer([both, reply("done")]) as server:
        place.run("-p", "hi", "--yolo", "--deny", "Bash(touch no)", server=server)
    assert (place.project / "yes").exists()
    assert not (place.project / "no").exists()


def test_max_turns_ends_with_3(place: Place) -> None:
    def again(request: Recorded) -> Reply:
        number = len(request.body["messages"])
        return reply(calls=[call("list_dir", call_id=f"c{number}", target_directory=".")])

    with ModelServer(again) as server:
        done = place.run("-p", "hi", "--max-turns", "2", "--output-format", "json", server=server)
    found = json.loads(done.stdout)
    assert (done.returncode, found["outcome"], found["exit_code"], found["rounds"]) == (
        3,
        "max_turns_reached",
        3,
        2,
    )
    assert len(server.bodies) == 2


def test_stream_json_is_the_event_stream_with_the_end_last(place: Place) -> None:
    with ModelServer([reply("hello there", usage={"prompt_tokens": 10, "completion_tokens": 3})]) as server:
        done = place.run("-p", "hi", "--output-format", "stream-json", server=server)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert (events[0]["type"], events[-1]["type"]) == ("session_started", "turn_ended")
    assert "".join(event["text"] for event in events if event["type"] == "text_delta") == "hello there"
    assert events[-1]["exit_code"] == done.returncode == 0
    assert events[-1]["text"] == "hello there"
    assert [event["seq"] for event in events] == sorted({event["seq"] for event in events})


def test_streaming_json_ends_in_end(place: Place) -> None:
    with ModelServer([reply("hello")]) as server:
        done = place.run("-p", "hi", "--output-format", "streaming-json", server=server)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert "".join(line["data"] for line in lines if line["type"] == "text") == "hello"
    assert (lines[-1]["type"], lines[-1]["stopReason"]) == ("end", "end_turn")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=str
)
def test_a_signal_cancels_kills_the_command_and_saves(place: Place, number: signal.Signals, code: int) -> None:
    running = call("run_terminal_command", command="echo $$ > pid; exec sleep 1000")
    with ModelServer([reply(calls=[running])]) as server:
        process = subprocess.Popen(
            [str(PROGRAM), "-p", "hi", "--yolo", "--output-format", "json"],
            cwd=place.project,
            env=place.environment(server),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        pid = place.pid_in("pid")
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=SECONDS)
    found = json.loads(stdout)
    assert process.returncode == code
    assert (found["outcome"], found["exit_code"]) == ("cancelled", code)
    assert b"Traceback" not in stderr
    until_now(lambda: not alive(pid))
    (ended,) = [event for event in place.events() if event["type"] == "turn_ended"]
    assert (ended["outcome"], ended["exit_code"]) == ("cancelled", code), "the log says the same"
    kinds = [
        json.loads(line)["type"]
        for line in (place.sessions[0] / "chat_history.jsonl").read_bytes().splitlines()
    ]
    assert "tool_result" in kinds


def test_ctrl_c_while_it_waits_for_the_end_of_stdin_leaves_cleanly(place: Place) -> None:
    with ModelServer() as server:
        process = subprocess.Popen(
            [str(PROGRAM), "-p", "-", "--output-format", "json"],
            cwd=place.project,
            env=place.environment(server),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        until_now(lambda: place.sessions != [] or (place.home / ".local").exists())
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=SECONDS)
    found = json.loads(stdout)
    assert (process.returncode, stderr) == (130, b"")
    assert (found["outcome"], found["exit_code"], "error" in found) == ("cancelled", 130, False)
    assert server.requests == []


def test_a_second_ctrl_c_leaves_at_once_and_leaves_nothing_alive(place: Place) -> None:
    stubborn = call(
        "run_terminal_command",
        command="trap '' TERM INT; (trap '' TERM INT; echo $BASHPID > child; while :; do sleep 0.1; done) & "
        "echo $$ > pid; while :; do sleep 0.1; done",
    )
    with ModelServer([reply(calls=[stubborn])]) as server:
        process = subprocess.Popen(
            [str(PROGRAM), "-p", "hi", "--yolo"],
            cwd=place.project,
            env=place.environment(server),
            stdin=subprocess.DEVNULL,
        )
        pids = [place.pid_in("pid"), place.pid_in("child")]
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=SECONDS) in (130, 143)
    until_now(lambda: not any(map(alive, pids)))


@pytest.mark.parametrize(
    ("prompt", "said"),
    [("/nope", "there is no command /nope"), ("/sandbox strict", "/sandbox is a command of an interactive")],
)
def test_a_slash_command_is_no_prompt_and_nothing_is_sent(place: Place, prompt: str, said: str) -> None:
    with ModelServer() as server:
        done = place.run("-p", prompt, server=server)
        assert (done.returncode, done.stdout, server.requests) == (2, "", [])
    assert said in done.stderr and "put a word before it" in done.stderr
    assert place.sessions == []


def test_a_path_at_the_beginning_of_a_prompt_is_no_command(place: Place) -> None:
    with ModelServer([reply("fine")]) as server:
        assert place.run("-p", "/etc/hosts is wrong", server=server).stdout == "fine\n"

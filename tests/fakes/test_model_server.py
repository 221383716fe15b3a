"""The fake server does to clients what real servers do."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.model_server import (
    ModelServer,
    call,
    chunk,
    failure,
    raw,
    reply,
    reply_from_json,
    sse,
    unpaired_calls,
)


def post(url: str, body: Any = None) -> tuple[int, bytes]:
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body or {}).encode(), method="POST")
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def chunks_in(stream: bytes) -> list[Any]:
    lines = [line.removeprefix(b"data: ") for line in stream.split(b"\n\n") if line]
    return [json.loads(line) for line in lines if line != b"[DONE]"]


def test_a_script_is_played_in_order_and_its_end_is_an_error() -> None:
    with ModelServer([reply("a"), failure(429)]) as server:
        assert [post(server.url)[0] for _ in range(3)] == [200, 429, 400]


def test_repeat_plays_the_last_reply_for_ever() -> None:
    with ModelServer([reply("a")], repeat=True) as server:
        assert [post(server.url)[0] for _ in range(3)] == [200] * 3


def test_a_script_may_look_at_the_request() -> None:
    with ModelServer(lambda request: reply(request.body["say"])) as server:
        assert b"echo" in post(server.url, {"say": "echo"})[1]


def test_texts_are_cut_into_pieces() -> None:
    with ModelServer([reply("abcdef", piece=4)]) as server:
        made = chunks_in(post(server.url)[1])
    pieces = [made_chunk["choices"][0]["delta"].get("content") for made_chunk in made if made_chunk["choices"]]
    assert pieces == ["", "abcd", "ef", None]


def test_calls_stream_name_first_and_then_their_arguments() -> None:
    with ModelServer([reply(calls=[call("f", a=1), call("g")])]) as server:
        made = chunks_in(post(server.url)[1])
    entries = [
        part for one in made if one["choices"] for part in one["choices"][0]["delta"].get("tool_calls", ())
    ]
    assert [entry["function"]["name"] for entry in entries if "id" in entry] == ["f", "g"]
    assert "".join(entry["function"]["arguments"] for entry in entries if entry["index"] == 0) == '{"a": 1}'


def test_every_request_is_kept() -> None:
    with ModelServer([reply("a")]) as server:
        post(server.url, {"model": "m"})
        (request,) = server.requests
    assert (request.method, request.path, request.body) == ("POST", "/v1/chat/completions", {"model": "m"})
    assert request.headers["host"].startswith("127.0.0.1:")


def test_a_cut_breaks_the_connection_after_that_many_bytes() -> None:
    with (
        ModelServer([raw(b"abc", b"def", cut=4)]) as server,
        pytest.raises(http.client.IncompleteRead) as caught,
    ):
        post(server.url)
    assert caught.value.partial == b"abcd"


def test_a_gate_holds_the_reply_back() -> None:
    gate = threading.Event()
    with ModelServer([reply("a", gate=gate)]) as server:
        done = threading.Event()

        def ask() -> None:
            post(server.url)
            done.set()

        thread = threading.Thread(target=ask)
        thread.start()
        server.wait_for_requests(1)
        assert not done.is_set()
        gate.set()
        thread.join(10)
        assert done.is_set()


def test_waiting_for_requests_that_do_not_come_is_a_timeout() -> None:
    with ModelServer() as server, pytest.raises(TimeoutError):
        server.wait_for_requests(1, seconds=0.01)


def test_strict_mode_refuses_unpaired_calls() -> None:
    made = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}
    result = {"role": "tool", "tool_call_id": "c", "content": "x"}
    with ModelServer([reply("a")], strict=True) as server:
        assert post(server.url, {"messages": [made]})[0] == 400
        assert post(server.url, {"messages": [made, result]})[0] == 200


@pytest.mark.parametrize(
    ("roles", "paired"),
    [("u", True), ("uAt", True), ("uAtu", True), ("uA", False), ("uAu", False), ("ut", False), ("uAtt", False)],
)
def test_calls_and_results_have_to_pair_up(roles: str, paired: bool) -> None:
    forms: dict[str, dict[str, Any]] = {
        "u": {"role": "user", "content": "x"},
        "A": {"role": "assistant", "tool_calls": [{"id": "c"}]},
        "t": {"role": "tool", "tool_call_id": "c", "content": "x"},
    }
    assert (unpaired_calls([forms[role] for role in roles]) == "") is paired


def test_models_are_listed() -> None:
    with ModelServer(models=["a", "b"]) as server, urllib.request.urlopen(f"{server.url}/models") as answer:
        assert [entry["id"] for entry in json.load(answer)["data"]] == ["a", "b"]


def test_values_become_events() -> None:
    assert sse({"a": 1}, "[DONE]") == (b'data: {"a": 1}\n\n', b"data: [DONE]\n\n")
    assert chunk()["choices"] == []


def test_it_runs_alone_from_a_file(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    entries = [
        {"text": "hello", "calls": [{"name": "f", "arguments": {"a": 1}}]},
        {"status": 429, "body": "slow", "headers": {"retry-after": "1"}},
    ]
    script.write_text(json.dumps(entries))
    command = [sys.executable, "-m", "tests.fakes.model_server", "--script", str(script)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        status, body = post(url)
        assert (status, b'"name": "f"' in body) == (200, True)
        assert post(url) == (429, b"slow")
        process.communicate()
    assert process.returncode == 0


def test_alone_it_sends_raw_bytes_and_arguments_waits_for_files_and_keeps_what_it_was_asked(
    tmp_path: Path,
) -> None:
    script, log, gate = (tmp_path / name for name in ("script.json", "log", "gate"))
    entries = [
        {"raw": ['data: {"a"', {"base64": "/wAK"}, ": 1}\n\n"]},
        {"calls": [{"name": "f", "id": "c9", "arguments": '{"a": 1,}'}], "piece": 100},
        {"text": "late", "gate": str(gate), "gates": {"2": str(gate)}},
    ]
    script.write_text(json.dumps(entries))
    command = [sys.executable, "-m", "tests.fakes.model_server", "--script", str(script), "--log", str(log)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert post(url) == (200, b'data: {"a"\xff\x00\n: 1}\n\n')
        (made,) = [
            delta["tool_calls"][0]["function"]["arguments"]
            for event in chunks_in(post(url)[1])[:-1]
            if (delta := (event["choices"] or [{"delta": {}}])[0]["delta"]).get("tool_calls")
            and delta["tool_calls"][0]["function"]["arguments"]
        ]
        assert made == '{"a": 1,}'
        thread, done = asked_in_thread(url)
        while log.read_text().count("\n") < 3:
            threading.Event().wait(0.01)
        assert not done.is_set()
        gate.touch()
        thread.join(10)
        assert done.is_set()
        process.communicate()
    asked = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(entry["method"], entry["path"], entry["body"]) for entry in asked] == [
        ("POST", "/v1/chat/completions", {})
    ] * 3


def asked_in_thread(url: str) -> tuple[threading.Thread, threading.Event]:
    """A request on its way, and whether its answer is complete."""
    done = threading.Event()

    def ask() -> None:
        post(url)
        done.set()

    thread = threading.Thread(target=ask)
    thread.start()
    return thread, done


def test_a_script_with_an_unknown_key_is_refused() -> None:
    with pytest.raises(ValueError, match="txet"):
        reply_from_json({"txet": "hello"})

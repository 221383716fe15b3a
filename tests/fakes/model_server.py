"""A model server on loopback that plays a script: real HTTP, every fault a real server can have.

In tests::

    with ModelServer([reply(calls=[call("read_file", target_file="a.py")]), reply("done")]) as server:
        ...  # server.url is the base URL, server.requests what was asked

Alone: `python -m tests.fakes.model_server --script FILE.json [--log FILE]` prints its base URL and serves until
its standard input ends. The script is a list of objects, one an answer (`reply_from_json`):

- the parameters of `reply`; a call is `{"name": ..., "id": ..., "arguments": {...}}`, its arguments a string to
  send exactly that (broken JSON too);
- `{"raw": ["data: ...\\n\\n", {"base64": "..."}]}`: a stream of exactly these pieces, each written by itself;
- `{"status": 429, "body": ..., "headers": {...}}`: an error;
- any of them with `"gate": PATH`: answered once that file exists; `"gates": {"3": PATH}`: piece 3 is held back.

The log gets each request as a line of JSON (`method`, `path`, `headers`, `body`) as soon as it has arrived.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import json
import select
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TypeAlias

MODEL = "fake-model"
GATE_SECONDS = 300.0


class Gate(Protocol):
    """What an answer can wait for: a `threading.Event`, or a file that has to appear."""

    def wait(self, timeout: float | None = None) -> bool:
        """Whether it is open, after so many seconds at most."""


@dataclass(frozen=True)
class FileGate:
    """Open once the file exists."""

    path: Path

    def wait(self, timeout: float | None = None) -> bool:
        """Look, and look once more after the time."""
        if not self.path.exists():
            threading.Event().wait(timeout)
        return self.path.exists()


@dataclass(frozen=True)
class Call:
    """A tool call that the fake model makes; `arguments` is the raw JSON string."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Reply:
    """One scripted answer.

    With `body` the answer is exactly that, under `status` and `headers`. Otherwise it is a chat completion
    stream made of `chunks`, each a `bytes` piece written by itself. `gate` is waited for before the answer
    begins, `gates[i]` before piece i. The connection is closed without an end after `cut` bytes of the body.
    """

    chunks: tuple[bytes, ...] = ()
    body: bytes | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    gate: Gate | None = None
    gates: Mapping[int, Gate] = field(default_factory=dict)
    cut: int | None = None
    delay: float = 0.0


@dataclass(frozen=True)
class Recorded:
    """A request as it arrived. `body` is the decoded JSON, None for a GET. `gone` is set when the client
    closed the connection before the answer was complete; `connection` numbers the client's sockets.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: Any
    connection: int
    gone: threading.Event


Script: TypeAlias = Sequence[Reply] | Callable[[Recorded], Reply]


def call(name: str, /, *, call_id: str = "", **arguments: Any) -> Call:
    """A tool call with its arguments as keywords; the id is made from the name unless given."""
    return Call(call_id or f"call_{name}", name, json.dumps(arguments))


def sse(*events: object) -> tuple[bytes, ...]:
    """Each value as one `data:` event; a string is sent as it is (`[DONE]`)."""
    texts = (event if isinstance(event, str) else json.dumps(event) for event in events)
    return tuple(f"data: {text}\n\n".encode() for text in texts)


def chunk(delta: Mapping[str, Any] | None = None, *, finish: str | None = None, **extra: Any) -> dict[str, Any]:
    """One chunk of a chat completion stream; without a delta and a finish reason it has no choices."""
    choices: list[dict[str, Any]] = []
    if delta is not None or finish is not None:
        choices = [{"index": 0, "delta": dict(delta or {}), "finish_reason": finish}]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": MODEL,
        "choices": choices,
        **extra,
    }


def usage_of(prompt: int, completion: int, *, cached: int = 0, reasoning: int = 0) -> dict[str, Any]:
    """A usage object in OpenAI's form (prompt includes the cached part)."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def _pieces(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _call_deltas(index: int, made: Call, size: int) -> Iterator[dict[str, Any]]:
    opening = {"name": made.name, "arguments": ""}
    yield {"tool_calls": [{"index": index, "id": made.id, "type": "function", "function": opening}]}
    for piece in _pieces(made.arguments, size):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def reply(
    text: str = "",
    *,
    reasoning: str = "",
    calls: Sequence[Call] = (),
    usage: Mapping[str, Any] | None = None,
    piece: int = 7,
    finish: str | None = None,
    done: bool = True,
    gate: Gate | None = None,
    gates: Mapping[int, Gate] | None = None,
    cut: int | None = None,
    delay: float = 0.0,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """A well-formed stream: reasoning, text, calls (in OpenAI's form), finish reason, usage, `[DONE]`.

    Texts are cut into pieces of `piece` characters. `finish` "" leaves the finish reason out. `delay` is
    seconds between pieces, for watching; tests use gates.
    """
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": part} for part in _pieces(reasoning, piece)]
    deltas += [{"content": part} for part in _pieces(text, piece)]
    for index, made in enumerate(calls):
        deltas += _call_deltas(index, made, piece)
    events: list[object] = [chunk(delta) for delta in deltas]
    ending = ("tool_calls" if calls else "stop") if finish is None else finish
    if ending:
        events.append(chunk({}, finish=ending))
    events.append(chunk(usage=dict(usage_of(100, 20) if usage is None else usage)))
    if done:
        events.append("[DONE]")
    return Reply(chunks=sse(*events), gate=gate, gates=gates or {}, cut=cut, delay=delay, headers=headers or {})


def failure(status: int, body: object = None, headers: Mapping[str, str] | None = None) -> Reply:
    """An error answer; `body` defaults to OpenAI's form, a string is sent as it is."""
    if body is None:
        body = {"error": {"message": f"status {status}", "type": "error", "code": None}}
    text = body if isinstance(body, str) else json.dumps(body)
    return Reply(
        status=status, body=text.encode(), headers={"content-type": "application/json", **(headers or {})}
    )


def raw(*pieces: bytes, headers: Mapping[str, str] | None = None, cut: int | None = None) -> Reply:
    """A 200 stream of exactly these bytes, each piece written by itself."""
    return Reply(chunks=pieces, headers=headers or {}, cut=cut)


def unpaired_calls(messages: Sequence[Mapping[str, Any]]) -> str:
    """What a strict service says of a history whose tool calls and results do not pair up, else ``."""
    open_ids: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_ids:
                return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
            open_ids.remove(message["tool_call_id"])
            continue
        if open_ids:
            break
        open_ids = [made["id"] for made in message.get("tool_calls") or ()]
    if open_ids:
        return (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following ids did not have response messages: {', '.join(open_ids)}"
        )
    return ""


class ModelServer:
    """The server; a context manager. `url` is the base URL with `/v1`, `requests` what came in, in order.

    A script that is a list is played once, in order, for POSTs; after its end every POST gets a 400 that says
    so, unless `repeat` plays the last one again. GETs are answered from `routes` (path to reply) and `models`.
    `on_request` hears of every request before it is answered.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        strict: bool = False,
        repeat: bool = False,
        models: Sequence[str] = (MODEL,),
        routes: Mapping[str, Reply] | None = None,
        on_request: Callable[[Recorded], None] | None = None,
    ) -> None:
        self._script = script
        self._strict = strict
        self._repeat = repeat
        self._models = models
        self._on_request = on_request
        self._routes = dict(routes or {})
        self._arrived = threading.Condition()
        self._played = 0
        self._connections: dict[int, int] = {}
        self.requests: list[Recorded] = []
        self._server = _Server(("127.0.0.1", 0), _handler_of(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """The base URL to configure."""
        return f"{self.origin}/v1"

    @property
    def bodies(self) -> list[Any]:
        """The decoded bodies of the POSTs so far."""
        return [request.body for request in self.requests if request.method == "POST"]

    @property
    def connections(self) -> int:
        """How many connections were opened so far."""
        return len(self._connections)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait_for_requests(self, count: int, seconds: float = 60.0) -> list[Recorded]:
        """Block until that many requests have arrived. Raises `TimeoutError`."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self.requests) >= count, seconds):
                raise TimeoutError(f"{len(self.requests)} of {count} requests arrived")
            return list(self.requests)

    def answer(self, request: Recorded) -> Reply:
        """Keep the request and pick its answer."""
        with self._arrived:
            self.requests.append(request)
            if self._on_request is not None:
                self._on_request(request)
            self._arrived.notify_all()
            path = request.path.split("?")[0]
            if path in self._routes:
                return self._routes[path]
            if request.method == "GET":
                return self._answer_get(path)
            if self._strict and (trouble := unpaired_calls(request.body.get("messages", ()))):
                return failure(400, {"error": {"message": trouble, "type": "invalid_request_error"}})
            if callable(self._script):
                return self._script(request)
            index = min(self._played, len(self._script) - 1) if self._repeat else self._played
            self._played += 1
            if index < len(self._script):
                return self._script[index]
            return failure(400, {"error": {"message": "the script of the fake server is at its end"}})

    def connection_number(self, client: int) -> int:
        """The number of the connection from this client port, from 0."""
        with self._arrived:
            return self._connections.setdefault(client, len(self._connections))

    def _answer_get(self, path: str) -> Reply:
        if path == "/v1/models":
            data = [{"id": name, "object": "model"} for name in self._models]
            return Reply(
                body=json.dumps({"object": "list", "data": data}).encode(),
                headers={"content-type": "application/json"},
            )
        return failure(404)


class _Server(ThreadingHTTPServer):
    """One thread a connection. A client that goes away is no trouble worth a word."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Show what is not the client's doing."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _GoneError(Exception):
    """The client closed the connection."""


class _Handler(BaseHTTPRequestHandler):
    """One connection; HTTP/1.1 with keep-alive and chunked bodies."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    owner: ModelServer

    def do_GET(self) -> None:
        """Answer from the routes."""
        self._serve(b"")

    def do_POST(self) -> None:
        """Play the next reply."""
        self._serve(self.rfile.read(int(self.headers.get("content-length", "0"))))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Stay silent."""

    def _serve(self, data: bytes) -> None:
        try:
            body = json.loads(data) if data else None
        except ValueError:
            body = None
        headers = {name.lower(): value for name, value in self.headers.items()}
        number = self.owner.connection_number(self.client_address[1])
        request = Recorded(self.command, self.path, headers, data, body, number, threading.Event())
        chosen = self.owner.answer(request)
        try:
            self._play(chosen)
        except (_GoneError, OSError):
            request.gone.set()
            self.close_connection = True

    def _play(self, chosen: Reply) -> None:
        self._pass(chosen.gate)
        streamed = chosen.body is None
        pieces = chosen.chunks if chosen.body is None else (chosen.body,)
        self.send_response(chosen.status)
        names = {name.lower() for name in chosen.headers}
        if streamed and "content-type" not in names:
            self.send_header("Content-Type", "text/event-stream")
        for name, value in chosen.headers.items():
            self.send_header(name, value)
        if streamed:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(len(pieces[0])))
        self.end_headers()
        left = chosen.cut
        for index, piece in enumerate(pieces):
            self._pass(chosen.gates.get(index))
            part = piece if left is None else piece[:left]
            self._write(part, streamed)
            if left is not None:
                left -= len(part)
                if left <= 0:
                    self._drop()
                    return
            if chosen.delay:
                threading.Event().wait(chosen.delay)
        if streamed:
            self.wfile.write(b"0\r\n\r\n")

    def _write(self, part: bytes, streamed: bool) -> None:
        if streamed and part:
            part = b"%x\r\n%s\r\n" % (len(part), part)
        self.wfile.write(part)

    def _drop(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _pass(self, gate: Gate | None) -> None:
        """Wait for the gate, noticing when the client goes away meanwhile."""
        if gate is None:
            return
        for _ in range(int(GATE_SECONDS / 0.01)):
            if gate.wait(0.01):
                return
            readable, _, _ = select.select([self.connection], [], [], 0)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                raise _GoneError
        raise TimeoutError("a gate of the fake server was never opened")


def _handler_of(server: ModelServer) -> type[_Handler]:
    return type("Handler", (_Handler,), {"owner": server})


def reply_from_json(entry: Mapping[str, Any]) -> Reply:
    """A reply from its JSON form (see the head of this module). Raises `ValueError` for an unknown key."""
    unknown = set(entry) - _KEYS - {"calls", "raw", "status", "body", "gate", "gates"}
    if unknown:
        raise ValueError(f"a reply has no {', '.join(sorted(unknown))}")
    if "status" in entry:
        made = failure(entry["status"], entry.get("body"), entry.get("headers"))
    elif "raw" in entry:
        made = raw(*map(_bytes_from_json, entry["raw"]), headers=entry.get("headers"), cut=entry.get("cut"))
    else:
        calls = [_call_from_json(made) for made in entry.get("calls", ())]
        made = reply(calls=calls, **{key: value for key, value in entry.items() if key in _KEYS})
    gate = FileGate(Path(entry["gate"])) if "gate" in entry else None
    gates = {int(index): FileGate(Path(path)) for index, path in entry.get("gates", {}).items()}
    return replace(made, gate=gate, gates=gates)


_KEYS = frozenset({"text", "reasoning", "usage", "piece", "finish", "done", "cut", "delay", "headers"})


def _call_from_json(made: Mapping[str, Any]) -> Call:
    arguments = made.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Call(made.get("id") or f"call_{made['name']}", made["name"], text)


def _bytes_from_json(piece: str | Mapping[str, str]) -> bytes:
    return piece.encode() if isinstance(piece, str) else base64.b64decode(piece["base64"], validate=True)


def _log_line(request: Recorded) -> str:
    told = {name: getattr(request, name) for name in ("method", "path", "headers", "body")}
    return json.dumps(told) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Serve a script file until standard input ends."""
    parser = argparse.ArgumentParser(prog="python -m tests.fakes.model_server")
    parser.add_argument("--script", required=True, type=Path)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args(arguments)
    script = [reply_from_json(entry) for entry in json.loads(options.script.read_text(encoding="utf-8"))]

    def log(request: Recorded) -> None:
        if options.log is not None:
            with options.log.open("a", encoding="utf-8") as file:
                file.write(_log_line(request))

    with ModelServer(script, on_request=log) as server:
        print(server.url, flush=True)
        sys.stdin.read()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""The whole session as the command line wires it, in this process, with a real model server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import msgspec
import pytest

from grokmini.cli.options import Options
from grokmini.cli.repl_sessions import Sessions
from grokmini.cli.root import load_root
from grokmini.cli.wire import Wired, open_session
from grokmini.protocol.commands import (
    CancelTurn,
    ChangeDirectory,
    Prompt,
    SetMode,
    SetModel,
    SetSandbox,
    Shutdown,
)
from grokmini.protocol.events import (
    DirectoryChanged,
    Notice,
    SandboxChanged,
    SessionEvent,
    SessionStarted,
    TurnEnded,
    UsageReported,
)
from grokmini.protocol.permission import PermissionMode
from grokmini.sampler.catalogue import load_providers
from grokmini.session.stream import Subscription
from tests.fakes.model_server import ModelServer, Recorded, Reply, call, reply
from tests.sandbox.liveness import alive, seen_from_here
from tests.waiting import standing_clock, until

CHILDREN = 10


@asynccontextmanager
async def session(folder: Path, server: ModelServer) -> AsyncIterator[Wired]:
    """A session in that folder which may do everything; ended afterwards."""
    env = {"HOME": str(folder), "PATH": os.environ["PATH"], "GROKMINI_BASE_URL": server.url}
    env |= {"GROKMINI_MODEL": "fake-model"}
    options = Options(cwd=str(folder), permission_mode="always-approve")
    wired = await open_session(options, interactive=True, env=env)
    try:
        yield wired
    finally:
        wired.handle.send(Shutdown("done"))
        await wired.handle.closed()


async def wait_for(events: Subscription, kind: type[SessionEvent]) -> SessionEvent:
    """The next event of that kind."""
    async for record in events:
        if isinstance(record.event, kind):
            return record.event
    raise AssertionError(f"the session ended before {kind.__name__}")


def parent(pid: int) -> int:
    """The process that began it."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@contextmanager
def stopped(pids: set[int]) -> Iterator[None]:
    """They stand still inside."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


async def test_a_cancel_of_ten_stubborn_commands_is_answered_before_any_of_them_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What would end them is stopped until then. The aim is 100 ms on an idle machine; what it took is printed."""
    stubborn = "trap '' TERM INT; echo $$ > pid{}; while :; do sleep 0.1; done"
    calls = [call("run_terminal_command", call_id=f"c{n}", command=stubborn.format(n)) for n in range(CHILDREN)]
    files = [tmp_path / f"pid{n}" for n in range(CHILDREN)]
    with ModelServer([reply(calls=calls)]) as server:
        async with session(tmp_path, server) as wired:
            wired.handle.send(Prompt("p1", "run them"))
            while not all(file.exists() and file.read_text().endswith("\n") for file in files):
                await asyncio.sleep(0.01)
            pids = [seen_from_here(int(file.read_text()), tmp_path) or 0 for file in files]
            assert 0 not in pids
            with stopped({parent(pid) for pid in pids}), standing_clock():
                begin = time.monotonic()
                wired.handle.send(CancelTurn("user"))
                ended = await wait_for(wired.events, TurnEnded)
                seconds = time.monotonic() - begin
                assert all(map(alive, pids))
            await until(lambda: not any(map(alive, pids)))
    with capsys.disabled():
        print(f"\ncancel of {CHILDREN} stubborn commands to the turn's end: {seconds * 1000:.0f} ms")
    assert isinstance(ended, TurnEnded)
    assert (ended.outcome, ended.exit_code) == ("cancelled", 130)


async def test_a_new_session_keeps_mode_model_folder_and_sandbox_of_the_last(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    with ModelServer() as server:
        async with session(tmp_path, server) as wired:
            sessions = Sessions(wired.root, wired)
            wired.handle.send(SetMode(PermissionMode.PLAN))
            wired.handle.send(SetModel("another"))
            wired.handle.send(SetSandbox("strict"))
            await wait_for(wired.events, SandboxChanged)
            wired.handle.send(ChangeDirectory("sub"))
            await wait_for(wired.events, DirectoryChanged)
            opened = await sessions.new()
            started = await wait_for(opened.events, SessionStarted)
            opened.handle.send(Shutdown("done"))
            await opened.handle.closed()
    assert isinstance(started, SessionStarted)
    assert (started.mode, started.model) == (PermissionMode.PLAN, "another")
    assert started.cwd == str(tmp_path / "sub")
    assert started.sandbox.startswith("strict")


async def test_models_to_choose_from_are_those_that_can_be_used(tmp_path: Path) -> None:
    with ModelServer() as server:
        async with session(tmp_path, server) as wired:
            assert list(Sessions(wired.root, wired).arguments("model")) == ["fake-model", "demo"]
            env = {"HOME": str(tmp_path), "OPENAI_API_KEY": "sk-test-0123"}
            root = load_root(Options(cwd=str(tmp_path)), env)
            assert list(Sessions(root, wired).arguments("model")) == ["openai", "demo", "fake-model"]


async def test_a_local_models_window_is_known_once_it_has_answered_and_a_small_one_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(value: object) -> Reply:
        return Reply(body=json.dumps(value).encode(), headers={"content-type": "application/json"})

    def script(request: Recorded) -> Reply:
        shown = {"model_info": {"llama.context_length": 40960}}
        return answer(shown) if request.path == "/api/show" else reply("fine")

    running = answer({"models": [{"name": "q", "model": "q", "context_length": 8192}]})
    with ModelServer(script, models=["q"], routes={"/api/ps": running}) as server:
        row = msgspec.structs.replace(load_providers()["ollama"], base_url=server.url)
        monkeypatch.setattr("grokmini.sampler.catalogue.load_providers", lambda: {"ollama": row})
        env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
        options = Options(cwd=str(tmp_path), model="ollama/q", save=False)
        wired = await open_session(options, interactive=True, env=env)
        assert wired.live.model.context_window == 4096
        notices: list[str] = []
        for number in range(2):
            wired.handle.send(Prompt(f"p{number}", "hi"))
            async for record in wired.events:
                if isinstance(record.event, Notice) and record.event.code == "model":
                    notices.append(record.event.text)
                if isinstance(record.event, UsageReported):
                    assert record.event.context_window == 8192
                if isinstance(record.event, TurnEnded):
                    break
        wired.handle.send(Shutdown("done"))
        await wired.handle.closed()
        asked = [request.path for request in server.requests]
    assert wired.root.catalogue.find("ollama/q").context_window == 8192
    assert [text.partition(": ")[0] for text in notices] == [
        "Ollama runs q with a window of 8,192 tokens; the model could take 40,960"
    ]
    assert "OLLAMA_CONTEXT_LENGTH" in notices[0]
    assert asked.count("/api/show") == 1
    assert asked.index("/api/show") > asked.index("/v1/chat/completions"), "not on the way to the first request"

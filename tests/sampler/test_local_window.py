"""How large the window of a local model really is, by what each kind of server says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grokmini.sampler.check import Check, check_model
from grokmini.sampler.credentials import NO_KEY
from grokmini.sampler.local_window import Window, window_of
from tests.fakes.model_server import ModelServer, Recorded, Reply, call, reply
from tests.sampler.asking import spec_for
from tests.waiting import SECONDS


def answer(value: Any) -> Reply:
    return Reply(body=json.dumps(value).encode(), headers={"content-type": "application/json"})


RUNNING = {"models": [{"name": "q:8b", "model": "q:8b", "context_length": 4096}]}
SHOWN = {"parameters": 'stop "x"\nnum_ctx    8192', "model_info": {"llama.context_length": 131072, "a": "b"}}


def shows(request: Recorded) -> Reply:
    """Ollama, and a model that calls the tool it is asked to call."""
    if request.path == "/api/show":
        return answer(SHOWN)
    return reply(calls=[call("report_number", number=7)]) if request.body.get("tools") else reply("ready")


STUDIO = {"id": "q:8b", "loaded_context_length": 5000, "max_context_length": 9000}
IDLE = {"id": "q:8b", "max_context_length": 9000}


@pytest.mark.parametrize(
    ("kind", "path", "said", "window"),
    [
        ("ollama", "/api/ps", RUNNING, Window(4096, 131072)),
        ("ollama", "/api/ps", {"models": []}, Window(8192, 131072)),
        ("llamacpp", "/props", {"default_generation_settings": {"n_ctx": 2048}}, Window(2048)),
        ("llamacpp", "/props", "nonsense", Window()),
        ("lmstudio", "/api/v0/models", {"data": [STUDIO]}, Window(5000, 9000)),
        ("lmstudio", "/api/v0/models", {"data": [IDLE]}, Window(None, 9000)),
        ("vllm", "/v1/models", {"data": [{"id": "q:8b", "max_model_len": 7000}]}, Window(7000)),
        ("vllm", "/v1/models", [1], Window()),
    ],
)
async def test_each_kind_of_server_tells_it_in_its_own_way(
    kind: str, path: str, said: Any, window: Window
) -> None:
    with ModelServer(shows, routes={path: answer(said)}) as server:
        assert await window_of(kind, server.url, "q:8b", SECONDS) == window


async def test_a_server_that_is_gone_tells_nothing() -> None:
    with ModelServer() as server:
        pass
    assert await window_of("ollama", server.url, "q") == Window()


async def found(server: ModelServer, local: str) -> Check:
    spec = spec_for(server, model="q:8b")
    checks = {check.step: check async for check in check_model(spec, NO_KEY, local)}
    return checks["window"]


async def test_doctor_says_what_a_small_window_is_and_how_it_grows() -> None:
    with ModelServer(shows, routes={"/api/ps": answer(RUNNING)}) as server:
        check = await found(server, "ollama")
    assert (check.verdict, check.detail) == (
        "warning",
        "4,096 tokens as it runs; the model could take 131,072; work on code needs more",
    )
    assert "OLLAMA_CONTEXT_LENGTH=32768 ollama serve" in check.fix


async def test_doctor_is_content_with_a_large_one() -> None:
    props = {"default_generation_settings": {"n_ctx": 32768}}
    with ModelServer(shows, routes={"/props": answer(props)}) as server:
        assert await found(server, "llamacpp") == Check("window", "ok", "32,768 tokens as it runs")

"""Servers on this machine: found by what they say of themselves, never by their port."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from grokmini.protocol.errors import UsageError
from grokmini.sampler.catalogue import ModelCatalogue, Provider
from grokmini.sampler.choose import AskServer, LocalServer
from grokmini.sampler.credentials import NO_KEY
from grokmini.sampler.listing import Listed, parse_models
from grokmini.sampler.local import find_local, only_model
from tests.fakes.model_server import ModelServer, Reply
from tests.waiting import SECONDS


def answer(value: Any) -> Reply:
    return Reply(body=json.dumps(value).encode(), headers={"content-type": "application/json"})


async def found(name: str, server: ModelServer, seconds: float = SECONDS) -> list[LocalServer]:
    row = Provider(title=name, base_url=server.url, api_backend="chat_completions", local=True)
    return await find_local({name: row}, seconds)


async def test_ollama_is_known_by_its_version_and_tells_what_is_loaded() -> None:
    running = {"models": [{"name": "q:8b", "model": "q:8b", "context_length": 4096}]}
    routes = {"/api/version": answer({"version": "0.9"}), "/api/ps": answer(running)}
    with ModelServer(models=["q:8b", "l:3b"], routes=routes) as server:
        (one,) = await found("ollama", server)
    assert (one.models, one.loaded, dict(one.windows)) == (("q:8b", "l:3b"), ("q:8b",), {"q:8b": 4096})


async def test_llamacpp_tells_the_window_it_was_started_with() -> None:
    routes = {"/props": answer({"default_generation_settings": {"n_ctx": 8192}})}
    with ModelServer(models=["g.gguf"], routes=routes) as server:
        (one,) = await found("llamacpp", server)
    assert (one.loaded, dict(one.windows)) == (("g.gguf",), {"g.gguf": 8192})


async def test_lmstudio_tells_states_and_windows() -> None:
    data = [
        {"id": "a", "state": "loaded", "max_context_length": 9000, "loaded_context_length": 5000},
        {"id": "b", "state": "not-loaded"},
    ]
    with ModelServer(routes={"/api/v0/models": answer({"data": data})}) as server:
        (one,) = await found("lmstudio", server)
    assert (one.models, one.loaded, dict(one.windows)) == (("a", "b"), ("a",), {"a": 5000})


@pytest.mark.parametrize("routes", [{}, {"/version": Reply(body=b"hello")}, {"/version": answer(["version"])}])
async def test_a_server_that_does_not_name_itself_is_none(routes: dict[str, Reply]) -> None:
    with ModelServer(routes=routes) as server:
        assert await found("vllm", server) == []


async def test_a_server_that_is_slow_is_not_waited_for() -> None:
    """It would be found once its gate opens."""
    gate = threading.Event()
    slow = Reply(body=b'{"version": "1"}', gate=gate)
    with ModelServer(routes={"/version": slow}) as server:
        assert await found("vllm", server, seconds=0.05) == []
        assert not gate.is_set()


async def test_nothing_of_the_person_is_sent() -> None:
    with ModelServer(routes={"/version": answer({"version": "1"})}) as server:
        await found("vllm", server)
        assert all("authorization" not in request.headers for request in server.requests)


async def test_hosted_providers_are_never_asked() -> None:
    with ModelServer() as server:
        row = Provider(title="x", base_url=server.url, api_backend="chat_completions", keys=("K",), model="m")
        assert await find_local({"xai": row}) == []
        assert server.requests == []


async def test_the_only_model_of_the_named_server_is_taken() -> None:
    with ModelServer(models=["solo"]) as server:
        env = {"GROKMINI_BASE_URL": server.url}
        one = await only_model(ModelCatalogue({}, env), AskServer(server.url, NO_KEY))
    assert (one.spec.model, one.spec.base_url) == ("solo", server.url)


async def test_the_only_loaded_one_of_several_is_taken_with_its_window() -> None:
    data = [{"id": "a"}, {"id": "b", "state": "loaded", "max_model_len": 777}]
    with ModelServer(routes={"/v1/models": answer({"data": data})}) as server:
        env = {"GROKMINI_BASE_URL": server.url}
        one = await only_model(ModelCatalogue({}, env), AskServer(server.url, NO_KEY))
    assert (one.spec.model, one.spec.context_window) == ("b", 777)


@pytest.mark.parametrize("models", [[], ["a", "b"]])
async def test_none_or_several_models_ask_for_the_flag(models: list[str]) -> None:
    with ModelServer(models=models) as server, pytest.raises(UsageError) as caught:
        await only_model(ModelCatalogue({}, {}), AskServer(server.url, NO_KEY))
    assert "--model" in caught.value.hint


@pytest.mark.parametrize(
    ("value", "models"),
    [
        ({"data": [{"id": "a"}]}, [Listed("a")]),
        ({"models": [{"name": "a", "context_length": 5}]}, [Listed("a", 5)]),
        ([{"id": "a", "meta": {"n_ctx": 6}}], [Listed("a", 6)]),
        ({"data": ["a", {"x": 1}, {"id": 5}]}, []),
        ("nonsense", []),
        (None, []),
    ],
)
def test_lists_of_models_in_all_shapes(value: Any, models: list[Listed]) -> None:
    assert parse_models(value) == models

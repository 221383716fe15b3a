"""What `doctor` learns about a model."""

from __future__ import annotations

from typing import Any

from grokmini.sampler.catalogue import ModelCatalogue
from grokmini.sampler.check import Check, check_model
from grokmini.sampler.credentials import NO_KEY, Credential
from tests.fakes.model_server import ModelServer, Recorded, Reply, call, chunk, failure, raw, reply, sse
from tests.sampler.asking import spec_for


async def findings(server: ModelServer, credential: Credential = NO_KEY, **changes: Any) -> dict[str, Check]:
    found = [check async for check in check_model(spec_for(server, **changes), credential)]
    return {check.step: check for check in found}


def well(request: Recorded) -> Reply:
    return reply(calls=[call("report_number", number=7)]) if request.body.get("tools") else reply("ready")


async def test_a_model_in_order_passes_every_step() -> None:
    with ModelServer(well) as server:
        found = await findings(server, Credential("SOME_KEY", literal="k"))
    assert {step: check.verdict for step, check in found.items()} == dict.fromkeys(
        ("key", "endpoint", "model", "stream", "tool_call", "window"), "ok"
    )
    assert "SOME_KEY" in found["key"].detail


async def test_a_missing_key_ends_the_check() -> None:
    with ModelServer(well) as server:
        found = await findings(server, Credential("SOME_KEY", variables=("SOME_KEY",), env={}))
        assert server.requests == []
    assert (list(found), found["key"].verdict, "SOME_KEY" in found["key"].fix) == (["key"], "failed", True)


async def test_a_refused_key_is_told_with_its_source() -> None:
    with ModelServer([failure(401)] * 9, routes={"/v1/models": failure(401)}) as server:
        found = await findings(server, Credential("SOME_KEY", literal="k"))
    assert (found["endpoint"].verdict, found["key"].verdict) == ("warning", "failed")
    assert "SOME_KEY" in found["key"].fix
    assert not {"stream", "tool_call"} & set(found)


async def test_a_model_that_the_server_does_not_list_is_told_with_near_names() -> None:
    with ModelServer(well, models=["fake-model-2", "other"]) as server:
        found = await findings(server)
    assert (found["model"].verdict, "fake-model-2" in found["model"].fix) == ("warning", True)


async def test_a_server_without_a_list_is_no_fault_of_the_model() -> None:
    with ModelServer(well, routes={"/v1/models": failure(404)}) as server:
        found = await findings(server)
    assert (found["endpoint"].verdict, found["stream"].verdict) == ("warning", "ok")
    assert "does not list its models" in found["endpoint"].detail
    assert "base_url" not in found["endpoint"].fix


async def test_a_model_that_only_talks_is_told() -> None:
    with ModelServer([reply("ready"), reply("seven")]) as server:
        found = await findings(server)
    assert (found["tool_call"].verdict, bool(found["tool_call"].fix)) == ("warning", True)


async def test_a_stream_without_usage_is_told() -> None:
    plain = raw(*sse(chunk({"content": "ready"}, finish="stop"), "[DONE]"))
    with ModelServer([plain, plain]) as server:
        assert (await findings(server))["stream"].verdict == "warning"


async def test_a_window_larger_than_the_servers_is_told_with_the_figure() -> None:
    listed = Reply(body=b'{"data":[{"id":"fake-model","max_model_len":4096}]}')
    with ModelServer(well, routes={"/v1/models": listed}) as server:
        window = (await findings(server))["window"]
    assert (window.verdict, "context_window = 4096" in window.fix) == ("warning", True)


async def test_the_demonstration_needs_no_check() -> None:
    spec = ModelCatalogue({}, {}).find("demo")
    assert [check.verdict async for check in check_model(spec, NO_KEY)] == ["skipped"]

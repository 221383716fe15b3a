"""What goes over the wire beside the body: key, headers, query; and that cancelling closes it."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing

import msgspec
import pytest

from grokmini.protocol.errors import SampleError, SampleErrorKind
from grokmini.protocol.model import ModelRequest, ModelSpec, TimeLimits
from grokmini.protocol.samples import Finished, TextDelta
from grokmini.sampler.addressing import deadlines_of, first_byte_seconds
from grokmini.sampler.credentials import NO_KEY, Credential
from grokmini.sampler.sampler import HttpSampler
from tests.fakes.model_server import ModelServer, Reply, failure, reply
from tests.sampler.asking import Waits, ask, ask_for_error, request_for, spec_for
from tests.waiting import SECONDS


async def test_the_key_goes_as_a_bearer_and_nothing_else_of_the_person_goes() -> None:
    with ModelServer([reply("a")]) as server:
        await ask(server, credential=Credential("X", literal=" sk-1\n"))
        (request,) = server.requests
    assert request.headers["authorization"] == "Bearer sk-1"
    assert request.path == "/v1/chat/completions"
    assert set(request.headers) == {
        *("accept", "accept-encoding", "authorization", "connection", "content-length", "content-type"),
        *("host", "user-agent"),
    }


async def test_without_a_key_no_authorization_is_sent() -> None:
    with ModelServer([reply("a")]) as server:
        await ask(server)
    assert "authorization" not in server.requests[0].headers


async def test_configured_headers_and_query_are_sent_those_of_the_environment_win(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEAM", "blue")
    monkeypatch.setenv("BLANK", " ")
    with ModelServer([reply("a")]) as server:
        await ask(
            server,
            extra_headers={"X-Team": "red", "X-Kept": "yes", "x-blank": "old"},
            env_http_headers={"x-team": "TEAM", "x-blank": "BLANK", "x-unset": "NO_SUCH_VARIABLE"},
            query_params={"api-version": "2026-01 a"},
        )
        (request,) = server.requests
    assert (request.headers["x-team"], request.headers["x-kept"], request.headers["x-blank"]) == (
        "blue",
        "yes",
        "old",
    )
    assert "x-unset" not in request.headers
    assert request.path == "/v1/chat/completions?api-version=2026-01+a"


async def test_a_redirect_is_an_error_that_names_the_target_host_and_the_key_stays() -> None:
    with ModelServer([reply("stolen")]) as thief:
        with ModelServer([failure(308, "", {"location": f"{thief.url}/x?secret=1"})]) as server:
            error = await ask_for_error(server, credential=Credential("X", literal="sk-1"))
        assert thief.requests == []
    assert (error.kind, error.retryable) == (SampleErrorKind.BAD_REQUEST, False)
    assert thief.origin.removeprefix("http://") in error.message
    assert "secret" not in error.message
    assert "base_url" in error.hint


@pytest.fixture
def slow_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a body may come late behind its last word."""
    monkeypatch.setattr("grokmini.net.http.DRAIN_SECONDS", SECONDS)


@pytest.mark.usefixtures("slow_ends")
async def test_requests_of_a_session_share_a_connection() -> None:
    sampler = HttpSampler(lambda spec: NO_KEY)
    with ModelServer([reply("a"), reply("b", delay=0.005), reply("c"), reply("d", done=False)]) as server:
        for _ in range(4):
            async for _event in sampler.sample(request_for(spec_for(server))):
                pass
        assert server.connections == 1
    await sampler.close()


@pytest.mark.usefixtures("slow_ends")
async def test_leaving_at_the_end_keeps_the_connection_too() -> None:
    sampler = HttpSampler(lambda spec: NO_KEY)
    with ModelServer([reply("a"), reply("b")]) as server:
        for _ in range(2):
            async with aclosing(sampler.sample(request_for(spec_for(server)))) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        break
        assert server.connections == 1
    await sampler.close()


async def test_closing_the_generator_in_the_middle_closes_the_socket() -> None:
    gate = threading.Event()
    sampler = HttpSampler(lambda spec: NO_KEY)
    with ModelServer([reply("first second", piece=6, gates={2: gate})]) as server:
        async with aclosing(sampler.sample(request_for(spec_for(server)))) as events:
            assert await anext(events) == TextDelta("first ")
        assert await asyncio.to_thread(server.requests[0].gone.wait, SECONDS)
    await sampler.close()


async def test_cancelling_the_task_closes_the_socket() -> None:
    sampler = HttpSampler(lambda spec: NO_KEY)

    async def consume(request: ModelRequest) -> None:
        async with aclosing(sampler.sample(request)) as events:
            async for _ in events:
                pass

    with ModelServer([Reply(chunks=(b"never",), gates={0: threading.Event()})]) as server:
        task = asyncio.create_task(consume(request_for(spec_for(server))))
        await asyncio.to_thread(server.wait_for_requests, 1, SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.requests[0].gone.wait, SECONDS)
    await sampler.close()


async def test_cancelling_ends_the_wait_before_a_retry() -> None:
    waiting = asyncio.Event()

    async def endless(seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    sampler = HttpSampler(lambda spec: NO_KEY, sleep=endless)
    with ModelServer([failure(503)]) as server:
        events = sampler.sample(request_for(spec_for(server)))

        async def consume() -> None:
            async with aclosing(events):
                async for _ in events:
                    pass

        task = asyncio.create_task(consume())
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(server.requests) == 1
    await sampler.close()


async def test_silence_is_retried_and_then_told() -> None:
    silent = Reply(chunks=(b"never",), gates={0: threading.Event()})
    with ModelServer([silent, silent]) as server:
        with pytest.raises(SampleError) as caught:
            await ask(server, limits=TimeLimits(first_byte=0.05), max_attempts=2, waits=Waits())
        await asyncio.to_thread(server.wait_for_requests, 2, SECONDS)  # each was given up, perhaps unread
        assert (caught.value.kind, len(server.requests)) == (SampleErrorKind.TIMEOUT, 2)


@pytest.mark.parametrize(
    ("url", "effort", "seconds"),
    [
        ("https://api.example.com/v1", None, 120.0),
        ("https://api.example.com/v1", "high", 600.0),
        ("http://127.0.0.1:8080/v1", None, 1800.0),
        ("http://localhost:8080/v1", "high", 1800.0),
        ("http://192.168.1.7/v1", None, 1800.0),
        ("http://[::1]:8080/v1", None, 1800.0),
        ("http://box/v1", None, 1800.0),
        ("http://8.8.8.8/v1", None, 120.0),
    ],
)
def test_the_first_byte_may_take_as_long_as_the_place_needs(
    url: str, effort: str | None, seconds: float
) -> None:
    assert first_byte_seconds(ModelSpec("m", "m", url, reasoning_effort=effort)) == seconds


def test_configured_limits_win() -> None:
    limits = TimeLimits(connect=1.0, first_byte=2.0, between_chunks=3.0)
    found = deadlines_of(ModelSpec("m", "m", "http://localhost/v1", limits=limits))
    assert (found.connect, found.first_byte, found.between_chunks) == (1.0, 2.0, 3.0)


def test_the_spec_holds_no_key() -> None:
    assert not any("key" in name for name in msgspec.structs.asdict(ModelSpec("m", "m", "")))

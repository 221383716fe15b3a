"""Attempts: what is asked again, after which wait, and what of it is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.protocol.errors import SampleError, SampleErrorKind, UsageError
from grokmini.protocol.samples import Finished, Retrying, TextDelta
from grokmini.sampler.credentials import Credential
from tests.fakes.model_server import ModelServer, failure, raw, reply, sse
from tests.sampler.asking import Waits, ask, text_chunks

BUSY = failure(503)


async def test_h33_a_time_in_the_text_is_waited_for_each_time() -> None:
    """H33."""
    limited = failure(429, {"error": {"message": "Rate limit reached, try again in 19 seconds"}})
    waits = Waits()
    with ModelServer([limited, limited, limited, reply("done")]) as server:
        answer = await ask(server, waits=waits, random=0.5)
    assert waits.seconds == [19.25, 19.25, 19.25]
    assert answer.text == "done"
    assert [(event.attempt, event.of, event.kind) for event in answer.of(Retrying)] == [
        (2, 5, "rate_limit"),
        (3, 5, "rate_limit"),
        (4, 5, "rate_limit"),
    ]


async def test_backoff_doubles_with_full_jitter() -> None:
    waits = Waits()
    with ModelServer([BUSY] * 4 + [reply("done")]) as server:
        assert (await ask(server, waits=waits, random=0.5)).text == "done"
    assert waits.seconds == [0.25, 0.5, 1.0, 2.0]


async def test_after_the_last_attempt_the_error_is_raised() -> None:
    with ModelServer([BUSY] * 9) as server:
        with pytest.raises(SampleError) as caught:
            await ask(server)
        assert (caught.value.kind, len(server.requests)) == (SampleErrorKind.SERVER, 5)
    error = caught.value
    assert error.message.endswith(" answered 503: status 503 (tried 5 times)") and str(error) == error.message
    assert (error.status, error.retryable) == (503, True) and error.hint.startswith("The server has trouble")


async def test_a_failure_that_is_not_tried_again_says_nothing_of_times() -> None:
    with ModelServer([BUSY, failure(404)]) as server, pytest.raises(SampleError) as caught:
        await ask(server)
    assert "tried" not in caught.value.message
    with ModelServer([BUSY]) as server, pytest.raises(SampleError) as caught:
        await ask(server, max_attempts=1)
    assert "tried" not in caught.value.message


async def test_the_number_of_attempts_is_the_models() -> None:
    with ModelServer([BUSY] * 9) as server:
        with pytest.raises(SampleError):
            await ask(server, max_attempts=2)
        assert len(server.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
async def test_hopeless_requests_are_made_once(status: int) -> None:
    with ModelServer([failure(status), reply("never")]) as server:
        with pytest.raises(SampleError):
            await ask(server)
        assert len(server.requests) == 1


async def test_quota_is_asked_once_rate_limits_again() -> None:
    quota = failure(429, {"error": {"message": "x", "code": "insufficient_quota"}})
    with ModelServer([quota, reply("never")]) as server:
        with pytest.raises(SampleError) as caught:
            await ask(server)
        assert (caught.value.kind, len(server.requests)) == (SampleErrorKind.QUOTA, 1)


async def test_retry_after_on_success_is_nothing() -> None:
    waits = Waits()
    with ModelServer([reply("a", headers={"retry-after": "61"})]) as server:
        await ask(server, waits=waits)
    assert waits.seconds == []


async def test_text_of_a_failed_attempt_is_marked_as_discarded() -> None:
    cut = raw(*sse(*text_chunks("half an answ")))
    with ModelServer([cut, reply("whole")]) as server:
        answer = await ask(server)
    kinds = [type(event) for event in answer.events if isinstance(event, TextDelta | Retrying | Finished)]
    assert kinds[0] is TextDelta
    (retry,) = answer.of(Retrying)
    assert (retry.discarded, retry.kind) == (True, "stream_cut")
    assert isinstance(answer.events[-1], Finished)


async def test_nothing_is_discarded_when_nothing_was_given_out() -> None:
    with ModelServer([BUSY, reply("whole")]) as server:
        (retry,) = (await ask(server)).of(Retrying)
    assert not retry.discarded


async def test_a_refused_key_from_a_command_is_fetched_anew_once(tmp_path: Path) -> None:
    count = tmp_path / "count"
    credential = Credential("the command", command=f"echo x >> {count}; echo key-$(wc -l < {count})")
    with ModelServer([failure(401), reply("done")]) as server:
        assert (await ask(server, credential=credential)).text == "done"
        assert [request.headers["authorization"] for request in server.requests] == [
            "Bearer key-1",
            "Bearer key-2",
        ]


async def test_a_key_refused_twice_is_an_error(tmp_path: Path) -> None:
    credential = Credential("the command", command="echo key")
    with ModelServer([failure(401)] * 5) as server:
        with pytest.raises(SampleError) as caught:
            await ask(server, credential=credential)
        assert (caught.value.kind, len(server.requests)) == (SampleErrorKind.AUTH, 2)


async def test_a_backend_that_does_not_exist_is_named() -> None:
    with ModelServer() as server, pytest.raises(UsageError, match="responses"):
        await ask(server, api_backend="responses")

"""Errors of real servers become kinds with a message and advice (reference/quirks.md, rows 59 to 70)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grokmini.protocol.errors import SampleError, SampleErrorKind, exit_code_of
from grokmini.protocol.model import ModelSpec
from grokmini.sampler.asked import Asked
from grokmini.sampler.classify import classify, decode_error, facts_of
from tests.fakes.model_server import Reply, chunk, failure, raw, sse
from tests.sampler.asking import error_of, text_chunks

K = SampleErrorKind
KEY = "sk-verysecret123"
ASKED = Asked(ModelSpec("m", "m", "http://host/v1"), "host", "XAI_API_KEY", KEY)


def judged(status: int, body: Any, **headers: str) -> SampleError:
    raw_body = body if isinstance(body, bytes) else json.dumps(body).encode()
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return classify(status, decode_error(raw_body), ASKED, headers=told, now=1_000_000_000.0)


def error(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"code": "invalid-argument", "error": "Incorrect API key provided: sk-…"}, K.AUTH),
        (401, {"detail": "Invalid API Key"}, K.AUTH),
        (
            400,
            [error("API key not valid. Please pass a valid API key.", code=400, status="INVALID_ARGUMENT")],
            K.AUTH,
        ),
        (400, error("bad", details=[{"reason": "API_KEY_INVALID"}, {"message": "API_KEY_INVALID"}]), K.AUTH),
        (401, error("No auth credentials found", code=401), K.AUTH),
        (401, error("Access denied", code="401"), K.AUTH),
        (403, {"message": "Authentication failed"}, K.AUTH),
        (402, error("Insufficient Balance"), K.QUOTA),
        (429, error("You exceeded your current quota", code="insufficient_quota"), K.QUOTA),
        (
            429,
            error("You exceeded your current quota, check your plan and billing. Please retry in 22s."),
            K.RATE_LIMIT,
        ),
        (403, {"error": "Your team has used all available credits"}, K.QUOTA),
        (429, error("Rate limit reached for requests", type="requests"), K.RATE_LIMIT),
        (429, error("Provider returned error", code=429, metadata={"raw": "busy upstream"}), K.RATE_LIMIT),
        (404, error("The model `x` does not exist", code="model_not_found"), K.MODEL_NOT_FOUND),
        (400, error("The requested model 'x' does not exist.", code="model_not_found"), K.MODEL_NOT_FOUND),
        (
            404,
            {"type": "error", "error": {"type": "not_found_error", "message": "model: x"}},
            K.MODEL_NOT_FOUND,
        ),
        (404, error("model 'x' not found, try pulling it first"), K.MODEL_NOT_FOUND),
        (404, b"404 page not found", K.BAD_REQUEST),
        (400, error("Unsupported parameter", code="unsupported_parameter"), K.BAD_REQUEST),
        (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, K.BAD_REQUEST),
        (503, error("Loading model", type="unavailable_error", code=503), K.SERVER),
        (529, error("Overloaded", type="overloaded_error"), K.SERVER),
        (500, b"<html><style>p{}</style><body><h1>Internal error</h1></body></html>", K.SERVER),
        (413, b"", K.CONTEXT_OVERFLOW),
    ],
)
def test_the_kind_is_read_off_status_codes_and_words(status: int, body: Any, kind: SampleErrorKind) -> None:
    assert judged(status, body).kind is kind


@pytest.mark.parametrize(
    ("status", "body", "window"),
    [
        (400, error("maximum context length is 8192 tokens. You asked 9000", code="context_length_exceeded"), 8192),
        (400, error("This model's maximum context length is 131,072 tokens. However, you requested 140000"), 131072),
        (400, error("too long", code=400, metadata={"raw": "maximum context length of 65536 tokens"}), 65536),
        (400, error("prompt too long; exceeded max context length by 512 tokens"), None),
        (400, error("nope", type="too_many_prompt_tokens"), None),
        (400, error("prompt is too long: 210000 tokens > 200000 maximum"), 200000),
        (400, error("exceeds", type="exceed_context_size_error", n_prompt_tokens=5000, n_ctx=4096), 4096),
        (400, error("The input token count (1100000) exceeds the maximum number of tokens (1048576)."), 1048576),
        (400, {"error": "The maximum prompt length is 256000 but the request contains 300000 tokens."}, 256000),
        (429, error("Request too large for gpt on tokens per min (TPM): Limit 30000, Requested 50000"), None),
        (500, error("the request exceeds the available context size, try increasing it"), None),
    ],
)  # fmt: skip
def test_overflow_is_recognised_and_the_window_learnt(status: int, body: Any, window: int | None) -> None:
    found = judged(status, body)
    assert (found.kind, found.window, found.retryable) == (K.CONTEXT_OVERFLOW, window, False)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_retried(status: int) -> None:
    assert judged(status, error("busy")).retryable


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 413, 422, 501, 525])
def test_what_will_not_pass_is_not_retried(status: int) -> None:
    assert not judged(status, error("no")).retryable


def test_quota_is_not_retried_even_under_429() -> None:
    assert not judged(429, error("x", code="insufficient_quota")).retryable


def test_68_the_server_may_forbid_the_retry() -> None:
    assert not judged(529, error("Overloaded"), x_should_retry="false").retryable


def test_a_wait_of_minutes_is_told_instead_of_waited_for() -> None:
    found = judged(429, error("slow down"), retry_after="7200")
    assert (found.retryable, found.retry_after) == (False, 7200)
    assert "7200 s" in found.hint


@pytest.mark.parametrize("status", [400, 401, 403])
def test_the_hint_names_where_the_key_came_from(status: int) -> None:
    found = judged(status, error("Incorrect API key provided"))
    assert found.kind is K.AUTH
    assert "XAI_API_KEY" in found.hint


def test_without_a_key_the_hint_names_how_to_give_one() -> None:
    nobody = ASKED._replace(key_source="", key="")
    found = classify(401, facts_of(error("no key")), nobody)
    assert "GROKMINI_API_KEY" in found.hint
    assert "[model.m]" in found.hint


def test_the_key_is_never_in_the_message() -> None:
    found = judged(401, error(f"bad key {KEY} given"))
    assert KEY not in found.message + found.hint
    assert "[key]" in found.message


def test_the_message_is_one_bounded_line_without_control_characters() -> None:
    found = judged(500, error("a\x1b]52;c;x\x07b\n\u202ec" + "x" * 5000))
    assert found.message.isprintable()
    assert len(found.message) < 800


def test_pages_of_html_are_stripped_to_their_text() -> None:
    assert judged(502, b"<html><head><title>502 Bad Gateway</title></head></html>").message.endswith(
        "502 Bad Gateway"
    )


def test_deep_nesting_does_no_harm() -> None:
    nested: Any = "x"
    for _ in range(500):
        nested = {"error": nested}
    assert judged(400, nested).kind is K.BAD_REQUEST


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("Use 'max_completion_tokens' instead.", "max_completion_tokens"),
        ("This model cannot read images", "under [model.m]: supports = {images = false}."),
        ("Unknown field stream_options", "under [model.m]: supports = {stream_usage = false}."),
        ("model does not support tools", "under [model.m]: supports = {tools = false}."),
        ("strange tool", "under [model.m]: supports = {tools = false}."),
    ],
)
def test_66_refused_parameters_name_the_setting(text: str, advice: str) -> None:
    assert advice in judged(400, error(text)).hint


def test_a_request_that_is_wrong_is_no_trouble_of_the_server_whatever_type_it_gives() -> None:
    """Ollama calls everything an `api_error`."""
    asked = ASKED._replace(spec=ModelSpec("ollama/t:1", "t:1", "http://host/v1"))
    text = "registry.ollama.ai/library/t:1 does not support tools"
    found = classify(400, facts_of(error(text, type="api_error", code=None)), asked)
    assert (found.kind, found.retryable) == (K.BAD_REQUEST, False)
    assert text in found.message
    assert found.hint == (
        "Use a model that can call tools: /model in a session, else --model. To only talk with this one, in "
        'config.toml, under [model."ollama/t:1"]: supports = {tools = false}.'
    )


@pytest.mark.parametrize(
    ("status", "text", "advice"),
    [
        (500, "tools param requires --jinja flag", "--jinja"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', "vLLM"),
        (404, "No endpoints found that support tool use.", "Use a model that can call tools"),
    ],
)
def test_a_server_that_takes_no_tools_is_told_so_and_not_asked_again(
    status: int, text: str, advice: str
) -> None:
    found = judged(status, error(text))
    assert (found.kind, found.retryable) == (K.BAD_REQUEST, False)
    assert advice in found.hint


@pytest.mark.parametrize(("status", "text"), [(404, "model 'x' not found"), (404, ""), (404, "page not found")])
def test_what_is_not_found_is_told_with_what_names_it(status: int, text: str) -> None:
    hint = judged(status, error(text)).hint
    named = ("grokmini models", "/model") if "model" in text else ("base_url", "GROKMINI_BASE_URL")
    assert all(name in hint for name in named)


def test_exit_codes_differ_for_quota_server_and_key() -> None:
    """H11."""
    errors = [
        judged(429, error("exceeded your current quota")),
        judged(500, error("x")),
        judged(401, error("x")),
    ]
    assert [exit_code_of(found) for found in errors] == [6, 8, 5]


async def test_9_an_error_with_the_wrong_content_type_is_read() -> None:
    body = json.dumps(error("Model Not Exist", type="invalid_request_error")).encode()
    found = await error_of(Reply(status=400, body=body, headers={"content-type": "application/octet-stream"}))
    assert found.kind is K.MODEL_NOT_FOUND


async def test_59_an_error_inside_a_chunk_after_the_finish_reason_is_an_error() -> None:
    last = {
        **chunk({"content": ""}, finish="length"),
        "error": {"code": 400, "message": "Token limit reached"},
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    }
    found = await error_of(raw(*sse(*text_chunks("a"), chunk({}, finish="length"), last, "[DONE]")))
    assert found.kind is K.CONTEXT_OVERFLOW


async def test_60_a_failed_tool_call_of_the_servers_parser_is_asked_again() -> None:
    body = error("Failed to call a function", code="tool_use_failed", failed_generation="<f", status_code=400)
    event = b"event: error\ndata: " + json.dumps(body).encode() + b"\n\n"
    found = await error_of(raw(*sse(*text_chunks("a")), event))
    assert (found.kind, found.retryable) == (K.PROTOCOL, True)


@pytest.mark.parametrize(
    "body",
    [
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"object": "error", "message": "out of memory", "type": "InternalServerError", "code": 500},
        error("upstream broke", code=502),
        {"error": "upstream broke"},
    ],
)
async def test_an_error_in_any_form_inside_a_stream_is_an_error(body: dict[str, Any]) -> None:
    found = await error_of(raw(*sse(*text_chunks("a"), body)))
    assert (found.kind, found.retryable) == (K.SERVER, True)


async def test_an_error_with_lone_surrogates_is_read() -> None:
    found = await error_of(raw(b'data: {"error":{"message":"bad \\ud83d","code":500}}\n\n'))
    assert found.kind is K.SERVER


async def test_61_62_200_with_json_that_is_no_completion() -> None:
    found = await error_of(Reply(body=b'{"status":"ok"}', headers={"content-type": "application/json"}))
    assert (found.kind, found.retryable) == (K.PROTOCOL, False)
    assert "base_url" in found.hint or "address" in found.hint


async def test_200_with_an_error_object_is_that_error() -> None:
    found = await error_of(Reply(body=json.dumps(error("bad key", code="invalid_api_key")).encode()))
    assert found.kind is K.AUTH


async def test_200_with_a_page_is_no_model() -> None:
    found = await error_of(Reply(body=b"<html>log in</html>", headers={"content-type": "text/html"}))
    assert (found.kind, found.retryable) == (K.PROTOCOL, False)
    assert "text/html" in found.message


async def test_200_with_nothing_is_a_cut_stream() -> None:
    assert (await error_of(Reply(body=b""))).kind is K.STREAM_CUT


async def test_malformed_json_in_a_stream_is_asked_again() -> None:
    found = await error_of(raw(*sse(*text_chunks("a"), '{"choices": [{"del')))
    assert (found.kind, found.retryable) == (K.PROTOCOL, True)


async def test_64_the_key_of_xai_refused_with_400() -> None:
    body = {"code": "invalid-argument", "error": "Incorrect API key provided: xa***. You can obtain one at …"}
    assert (await error_of(failure(400, body))).kind is K.AUTH


def test_the_reasons_of_a_server_that_validates_by_fields_are_told() -> None:
    body = {
        "detail": [{"loc": ["body", "tools"], "msg": "extra fields not permitted", "type": "value_error.extra"}]
    }
    assert "extra fields not permitted" in judged(422, body).message

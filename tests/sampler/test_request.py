"""The neutral request in this API's form."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from grokmini.protocol.items import (
    AssistantItem,
    BackendToolCallItem,
    ConversationItem,
    ImagePart,
    ReasoningItem,
    SystemItem,
    TextPart,
    ToolCall,
    ToolResultItem,
    UnknownItem,
    UserItem,
    user_text,
)
from grokmini.protocol.model import ModelRequest, ModelSpec, Supports
from grokmini.protocol.tools import ToolSpec
from grokmini.sampler.chat_request import NO_IMAGE, encode_body, messages_of
from tests.fakes.model_server import ModelServer, chunk, raw, reply, sse
from tests.sampler.asking import ask, call_chunk, entry

SPEC = ModelSpec("mine", "m", "http://host/v1")
SEES = ModelSpec("mine", "m", "http://host/v1", supports=Supports(images=True))
TOOL = ToolSpec("f", "Does f.", msgspec.Raw(b'{"type":"object"}'))
PICTURE = UserItem((TextPart("look"), ImagePart("image/png", "QUJD")))


def body(*items: ConversationItem, spec: ModelSpec = SPEC, **more: Any) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(encode_body(ModelRequest("r", spec, items, **more)))
    return decoded


def test_a_history_with_calls_keeps_calls_and_results_together() -> None:
    items = (
        SystemItem("be good"),
        user_text("hi"),
        AssistantItem("let me", (ToolCall("c1", "f", '{"a":1}'), ToolCall("c2", "f", "{}"))),
        ToolResultItem("c1", "long", "short"),
        ToolResultItem("c2", "out", ""),
        AssistantItem("done"),
    )
    assert body(*items)["messages"] == [
        {"role": "system", "content": "be good"},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": "let me",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}},
                {"id": "c2", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "short"},
        {"role": "tool", "tool_call_id": "c2", "content": "out"},
        {"role": "assistant", "content": "done"},
    ]


def test_a_reply_of_calls_alone_has_null_content_and_an_empty_one_is_left_out() -> None:
    call = ToolCall("c1", "f", "{}")
    messages = messages_of((AssistantItem("", (call,)), AssistantItem("")), SPEC)
    assert [message["content"] for message in messages] == [None]


def test_streaming_with_usage_is_asked_for_unless_the_server_cannot() -> None:
    assert body()["stream_options"] == {"include_usage": True}
    plain = ModelSpec("m", "m", "http://host/v1", supports=Supports(stream_usage=False))
    assert "stream_options" not in body(spec=plain)


def test_what_is_not_set_is_not_sent() -> None:
    assert set(body()) == {"model", "messages", "stream", "stream_options"}


def test_settings_of_the_model_are_sent() -> None:
    spec = ModelSpec(
        "m", "m", "http://host/v1", max_output_tokens=5, temperature=0.0, top_p=0.5, reasoning_effort="low"
    )
    sent = body(spec=spec)
    assert (sent["max_tokens"], sent["temperature"], sent["top_p"], sent["reasoning_effort"]) == (
        5,
        0.0,
        0.5,
        "low",
    )


def test_openai_gets_the_limit_under_its_new_name_and_a_cache_key() -> None:
    spec = ModelSpec("m", "m", "http://host/v1", max_output_tokens=5, provider="openai")
    sent = body(spec=spec, conversation_id="s1")
    assert (sent["max_completion_tokens"], "max_tokens" in sent, sent["prompt_cache_key"]) == (5, False, "s1")


def test_tools_and_schema_are_sent_if_supported() -> None:
    schema = msgspec.Raw(b'{"type":"object","properties":{}}')
    sent = body(tools=(TOOL,), response_schema=schema)
    function = {"name": "f", "description": "Does f.", "parameters": {"type": "object"}}
    assert sent["tools"] == [{"type": "function", "function": function}]
    assert sent["response_format"]["json_schema"]["schema"] == json.loads(bytes(schema))
    unable = ModelSpec("m", "m", "http://host/v1", supports=Supports(tools=False, json_schema=False))
    assert not {"tools", "response_format"} & set(body(spec=unable, tools=(TOOL,), response_schema=schema))


def test_parallel_calls_are_only_forbidden_never_asked_for() -> None:
    assert "parallel_tool_calls" not in body(tools=(TOOL,))
    one = ModelSpec("m", "m", "http://host/v1", supports=Supports(parallel_tools=False))
    assert body(spec=one, tools=(TOOL,))["parallel_tool_calls"] is False


def test_images_go_as_data_addresses_or_as_a_note() -> None:
    parts = messages_of((PICTURE,), SEES)[0]["content"]
    assert parts[1] == {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
    assert messages_of((PICTURE,), SPEC)[0]["content"] == f"look\n\n{NO_IMAGE}"


def test_without_a_system_role_the_system_prompt_goes_before_the_first_words() -> None:
    spec = ModelSpec("m", "m", "http://host/v1", supports=Supports(system_role=False))
    messages = messages_of((SystemItem("be good"), user_text("hi"), user_text("so")), spec)
    assert messages == [{"role": "user", "content": "be good\n\nhi"}, {"role": "user", "content": "so"}]


def test_items_of_other_apis_and_versions_are_left_out() -> None:
    foreign = (BackendToolCallItem("m", msgspec.Raw(b"{}")), UnknownItem("new"), user_text("hi"))
    assert len(messages_of(foreign, SPEC)) == 1


def test_arguments_that_are_no_json_go_back_as_json_for_strict_servers() -> None:
    calls = (ToolCall("1", "f", '{"a": "unfini'), ToolCall("2", "f", '{"a": 1}'), ToolCall("3", "f", "[1]"))
    results = tuple(ToolResultItem(call.id, "x", "x") for call in calls)
    sent = body(AssistantItem(tool_calls=calls), *results)["messages"][0]["tool_calls"]
    assert [json.loads(call["function"]["arguments"]) for call in sent] == [
        {"invalid_json": '{"a": "unfini'},
        {"a": 1},
        [1],
    ]


def test_reasoning_goes_back_in_its_field_to_the_same_model_only() -> None:
    opaque = msgspec.Raw(b'{"text_field":"reasoning_content"}')
    items = (user_text("hi"), ReasoningItem("hm", "m", opaque), AssistantItem("a", model="m"))
    assert messages_of(items, SPEC)[1]["reasoning_content"] == "hm"
    other = ModelSpec("o", "o", "http://host/v1")
    assert "reasoning_content" not in messages_of(items, other)[1]


def test_reasoning_of_another_api_is_left_out() -> None:
    for opaque in (None, msgspec.Raw(b'{"signature":"x"}'), msgspec.Raw(b"[1]")):
        items = (ReasoningItem("hm", "m", opaque), AssistantItem("a"))
        assert set(messages_of(items, SPEC)[0]) == {"role", "content"}


def test_extras_of_a_call_go_back_to_the_same_model_only() -> None:
    call = ToolCall("c", "f", "{}", msgspec.Raw(b'{"extra_content":{"s":1}}'))
    own, other = (body(AssistantItem("", (call,), model=name))["messages"][0] for name in ("m", "o"))
    assert own["tool_calls"][0]["extra_content"] == {"s": 1}
    assert "extra_content" not in other["tool_calls"][0]


async def test_44_details_come_back_exactly_as_the_server_needs_them() -> None:
    from grokmini.protocol.samples import ReasoningComplete

    detail = {"type": "reasoning.encrypted", "index": 0, "data": "abc"}
    first = raw(*sse(chunk({"reasoning_details": [detail]}), chunk({"content": "a"}, finish="stop"), "[DONE]"))
    with ModelServer([first, reply("b")]) as server:
        answer = await ask(server)
        (complete,) = answer.of(ReasoningComplete)
        await ask(server, user_text("hi"), complete.item, AssistantItem("a"), user_text("go on"))
    assert server.bodies[1]["messages"][1]["reasoning_details"] == [detail]


async def test_29_a_thought_signature_comes_back_with_its_call() -> None:
    made = call_chunk(entry("{}", name="f", id="", index=0, extra_content={"s": 1}), finish="tool_calls")
    with ModelServer([raw(*sse(made)), reply("b")], strict=True) as server:
        (call,) = (await ask(server)).calls
        history = (AssistantItem("", (call,), model="fake-model"), ToolResultItem(call.id, "x", "x"))
        await ask(server, user_text("hi"), *history)
    assert server.bodies[1]["messages"][1]["tool_calls"][0]["extra_content"] == {"s": 1}


async def test_h23_what_came_with_surrogates_goes_back_as_valid_json() -> None:
    """H23."""
    arguments = '{"q": "x\\ud99cy"}'
    made = call_chunk(entry(arguments, name="f", id="c", index=0), finish="tool_calls")
    with ModelServer([raw(*sse(made)), reply("b")]) as server:
        (call,) = (await ask(server)).calls
        await ask(server, user_text("hi"), AssistantItem("", (call,)), ToolResultItem(call.id, "x", "x"))
    sent = server.bodies[1]["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert msgspec.json.decode(sent) == {"q": "x\ufffdy"}
    server.requests[1].raw.decode("utf-8")

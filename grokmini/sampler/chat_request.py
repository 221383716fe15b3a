"""A neutral request as the body of `POST /chat/completions`."""

from __future__ import annotations

from collections.abc import Sequence
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
)
from grokmini.protocol.model import ModelRequest, ModelSpec
from grokmini.protocol.tools import ToolSpec
from grokmini.sampler.call_assembly import is_json

NO_IMAGE = "[an image was here; this model cannot see images]"
OPENAI = "openai"
XAI = "xai"


class ReasoningReturn(msgspec.Struct, frozen=True, omit_defaults=True):
    """The opaque part of a reasoning item of this API: what has to go back with the next message, and where.

    `text_field` names the field that the text came in, if the server wants it back there.
    """

    text_field: str = ""
    details: tuple[msgspec.Raw, ...] = ()


def encode_body(request: ModelRequest) -> bytes:
    """The whole body. Fields that the model does not support are left out."""
    spec = request.model
    body: dict[str, Any] = {"model": spec.model, "messages": messages_of(request.items, spec), "stream": True}
    if spec.supports.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if spec.max_output_tokens:
        # OpenAI's newer models refuse the old name, other servers do not know the new one.
        body["max_completion_tokens" if spec.provider == OPENAI else "max_tokens"] = spec.max_output_tokens
    if spec.temperature is not None:
        body["temperature"] = spec.temperature
    if spec.top_p is not None:
        body["top_p"] = spec.top_p
    if spec.reasoning_effort:
        body["reasoning_effort"] = spec.reasoning_effort
    if request.tools and spec.supports.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if not spec.supports.parallel_tools:
            body["parallel_tool_calls"] = False
    if request.response_schema is not None and spec.supports.json_schema:
        schema = {"name": "answer", "schema": request.response_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if request.conversation_id and spec.provider == OPENAI:
        body["prompt_cache_key"] = request.conversation_id
    return msgspec.json.encode(body)


def messages_of(items: Sequence[ConversationItem], spec: ModelSpec) -> list[dict[str, Any]]:
    """The history in this API's form. Reasoning goes back only to the model that made it."""
    messages: list[dict[str, Any]] = []
    system = ""
    reasoning: list[ReasoningItem] = []
    for item in items:
        match item:
            case SystemItem():
                if spec.supports.system_role:
                    messages.append({"role": "system", "content": item.text})
                else:
                    system = item.text
            case UserItem():
                messages.append({"role": "user", "content": _content(item, system, spec)})
                system = ""
                reasoning = []
            case AssistantItem():
                message = _assistant(item, spec)
                if message is not None:
                    _give_back(message, reasoning, spec)
                    messages.append(message)
                reasoning = []
            case ToolResultItem():
                content = item.prompt_text or item.output
                messages.append({"role": "tool", "tool_call_id": item.call_id, "content": content})
            case ReasoningItem():
                reasoning.append(item)
            case BackendToolCallItem() | UnknownItem():
                continue  # another API's own, or another version's
    return messages


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _content(item: UserItem, system: str, spec: ModelSpec) -> str | list[dict[str, Any]]:
    """A plain string wherever possible: not every server takes parts."""
    sees = spec.supports.images and any(isinstance(part, ImagePart) for part in item.content)
    if not sees:
        texts = [part.text if isinstance(part, TextPart) else NO_IMAGE for part in item.content]
        return "\n\n".join(([system] if system else []) + texts)
    parts: list[dict[str, Any]] = [{"type": "text", "text": system}] if system else []
    for part in item.content:
        if isinstance(part, TextPart):
            parts.append({"type": "text", "text": part.text})
        else:
            url = f"data:{part.media_type};base64,{part.data}"
            parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


def _assistant(item: AssistantItem, spec: ModelSpec) -> dict[str, Any] | None:
    """None for a reply without text and calls: services refuse an empty message."""
    if not item.text and not item.tool_calls:
        return None
    message: dict[str, Any] = {"role": "assistant", "content": item.text or None}
    if item.tool_calls:
        own = item.model in (spec.model, spec.name)
        message["tool_calls"] = [_call(call, own) for call in item.tool_calls]
    return message


def _call(call: ToolCall, own: bool) -> dict[str, Any]:
    """A call with the provider's own additions, which only the model that made them gets back."""
    function = {"name": call.name, "arguments": _valid_arguments(call.arguments)}
    wire: dict[str, Any] = {"id": call.id, "type": "function", "function": function}
    if own and call.extra is not None:
        wire.update(msgspec.json.decode(call.extra, type=dict[str, msgspec.Raw]))
    return wire


def _valid_arguments(arguments: str) -> str:
    """The arguments as the model wrote them; wrapped when they are no JSON, which many servers refuse for ever."""
    if is_json(arguments):
        return arguments
    return msgspec.json.encode({"invalid_json": arguments}).decode()


def _give_back(message: dict[str, Any], reasoning: Sequence[ReasoningItem], spec: ModelSpec) -> None:
    for item in reasoning:
        if item.opaque is None or item.model != spec.model:
            continue
        try:
            kept = msgspec.json.decode(item.opaque, type=ReasoningReturn)
        except msgspec.DecodeError:
            continue  # made by another API
        if kept.details:
            message["reasoning_details"] = [*message.get("reasoning_details", ()), *kept.details]
        if kept.text_field:
            message[kept.text_field] = message.get(kept.text_field, "") + item.text

"""The whole prompt as JSON, each part with where it came from and why (`grokmini prompt --dump`)."""

from __future__ import annotations

import msgspec

from grokmini.prompt.context import PromptContext
from grokmini.prompt.environment import render_environment, render_instructions
from grokmini.prompt.ports import ToolNames
from grokmini.prompt.system import render_system, template_of
from grokmini.text.tokens import estimate_tokens


class Part(msgspec.Struct, frozen=True):
    """A piece of the prompt. `tokens` is an estimate."""

    part: str
    origin: str
    why: str
    tokens: int
    text: str


class Dump(msgspec.Struct, frozen=True):
    """Everything the model is told at the start, in order, and what was left out."""

    version: int
    audience: str
    tokens: int
    parts: tuple[Part, ...]
    skipped: tuple[dict[str, str], ...]


def dump(context: PromptContext, names: ToolNames) -> Dump:
    """Take the prompt apart."""
    template = template_of(context).name
    size = "small window or --concise" if context.concise else "the default"
    parts = [
        _part(
            "system",
            f"template {template}",
            f"{size}; tool names from the registry",
            render_system(context, names),
        ),
        _part(
            "environment",
            "clock, working folder, .git/HEAD, platform",
            "facts that change, kept behind the system prompt so that its prefix stays cached",
            render_environment(context),
        ),
    ]
    if context.instructions:
        sources = ", ".join(file.path for file in context.instructions)
        why = "instruction files: the user's own, then from the repository's root down to the working folder"
        parts.append(_part("project_instructions", sources, why, render_instructions(context)))
    return Dump(
        version=context.version,
        audience=context.audience,
        tokens=sum(part.tokens for part in parts),
        parts=tuple(parts),
        skipped=tuple({"path": file.path, "reason": file.reason} for file in context.skipped),
    )


def dump_json(context: PromptContext, names: ToolNames) -> str:
    """`dump` as indented JSON, with a newline at its end."""
    return msgspec.json.format(msgspec.json.encode(dump(context, names)), indent=2).decode() + "\n"


def _part(name: str, origin: str, why: str, text: str) -> Part:
    return Part(name, origin, why, estimate_tokens(text), text)

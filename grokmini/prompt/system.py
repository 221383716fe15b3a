"""The system prompt, from a template file with the tools' real names filled in."""

from __future__ import annotations

from pathlib import Path

from grokmini.prompt.context import PromptContext
from grokmini.prompt.ports import ToolNames
from grokmini.protocol.tools import ToolKind

_TEMPLATES = Path(__file__).parent / "templates"


def template_of(context: PromptContext) -> Path:
    """The file that the system prompt is made from."""
    return _TEMPLATES / ("system_concise.md" if context.concise else "system.md")


def render_system(context: PromptContext, names: ToolNames) -> str:
    """The system prompt. The same for the same tools: nothing volatile is in it.

    In a template `{kind}` stands for the name of the tool of that kind, and a line that begins with `?kind ` is
    left out when there is no such tool.
    """
    lines: list[str] = []
    for line in template_of(context).read_text("utf-8").splitlines():
        if line.startswith("?"):
            needed, _, rest = line[1:].partition(" ")
            if names.of(ToolKind(needed)) != needed:
                lines.append(rest)
        else:
            lines.append(line)
    text = "\n".join(lines).strip()
    for kind in ToolKind:
        text = text.replace("{" + kind.value + "}", names.of(kind))
    return text

"""The texts of the two items behind the system prompt: volatile facts, and the instruction files."""

from __future__ import annotations

from grokmini.prompt.context import PromptContext
from grokmini.prompt.repository import DETACHED

_NOBODY = "no; nobody can answer questions, so decide for yourself and say what you assumed"


def render_environment(context: PromptContext) -> str:
    """The facts of the moment, for the `environment` item."""
    facts = context.facts
    if not facts.repository:
        repository = "none"
    elif facts.branch == DETACHED:
        repository = f"{facts.repository}, no branch checked out"
    else:
        repository = f"{facts.repository}, branch {facts.branch or 'unknown'}"
    person = "yes" if facts.interactive else _NOBODY
    lines = (
        f"Date: {facts.date}",
        f"Working folder: {facts.cwd}",
        f"Git repository: {repository}",
        f"System: {facts.system}",
        f"Shell: {facts.shell}",
        f"A person is there: {person}",
    )
    return "<environment>\n" + "\n".join(line.replace("\n", " ") for line in lines) + "\n</environment>"


def render_instructions(context: PromptContext) -> str:
    """The instruction files with their paths, for the `project_instructions` item; empty when there are none."""
    if not context.instructions:
        return ""
    parts = [
        "Instructions from files, the user's own first, then the project's from its root down. Where they disagree "
        "the later one wins; what the user says in the conversation wins over all of them."
    ]
    parts += [
        f'<instructions path="{file.path}">\n{file.text}\n</instructions>' for file in context.instructions
    ]
    return "\n\n".join(parts)

"""What a person is asked, and which rules the answers store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grokmini.protocol.permission import PermissionOption
from grokmini.text.sanitise import sanitise
from grokmini.text.width import cell_width
from grokmini.tools.command_review import Allowed, Review
from grokmini.tools.rules import exact_rule
from grokmini.tools.shell_parse import Word

MAX_RULE_SHOWN = 60
"""Characters of a rule up to which an answer's label holds it in any case."""
MAX_DETAIL = 76
"""Columns of a line of a question that fits a terminal of 80."""

_ANY = "?"
_FAMILIES: tuple[tuple[str, ...], ...] = (
    ("pytest",),
    ("python", "-m", "pytest"),
    ("python3", "-m", "pytest"),
    ("npm", "test"),
    ("npm", "run", _ANY),
    ("yarn", "test"),
    ("yarn", "run", _ANY),
    ("pnpm", "test"),
    ("pnpm", "run", _ANY),
    ("cargo", "build"),
    ("cargo", "test"),
    ("cargo", "check"),
    ("cargo", "clippy"),
    ("cargo", "fmt"),
    ("go", "build"),
    ("go", "test"),
    ("go", "vet"),
    ("make", _ANY),
    ("ruff",),
    ("mypy",),
    ("tsc",),
    ("eslint",),
    ("jest",),
    ("vitest",),
    ("git", "add"),
    ("git", "commit"),
)
"""Commands that are run again and again with other words: for them the beginning is offered as a rule."""

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=+,@%")

# A number means the same in every question, so that a hand that knows it never answers another one:
# 2 and 5 are the "always" of the session and of the repository, and are left out where there is none.
_YES = PermissionOption("1", "yes", "allow")
_NO = (PermissionOption("3", "no", "deny"), PermissionOption("4", "no, because…", "deny", wants_text=True))


def command_rule(reviewed: Review, allowed: Allowed) -> str:
    """The rule that an "always" answer stores.

    For one command of a known family its beginning, with any further words; when only one part of a compound is in
    question, a rule for that part; else, and for everything dangerous, exactly the whole text.
    """
    whole = exact_rule("Bash", reviewed.text.strip())
    if reviewed.script.doubts or reviewed.dangers:
        return whole
    open_parts = [part for part in reviewed.parts if part.needs(allowed)]
    if len(open_parts) != 1 or open_parts[0].writes_files or open_parts[0].command.piped:
        return whole
    words = open_parts[0].command.words
    if not all(word.kind == "literal" for word in words):
        return whole
    texts = [word.text for word in words]
    for family in _FAMILIES:
        if _begins(texts, family):
            return f"Bash({' '.join(texts[: len(family)])} *)"
    if len(reviewed.parts) == 1:
        return whole
    quoted = [_quoted(word) for word in words]
    return f"Bash({' '.join(quoted)})" if all(quoted) else whole


def _begins(texts: Sequence[str], family: Sequence[str]) -> bool:
    if len(texts) < len(family):
        return False
    pairs = zip(texts, family, strict=False)
    return all(
        text == expected or (expected == _ANY and _PLAIN.issuperset(text) and not text.startswith("-"))
        for text, expected in pairs
    )


def _quoted(word: Word) -> str:
    """The word as a rule's pattern holds it; empty when it cannot."""
    if word.text and _PLAIN.issuperset(word.text):
        return word.text
    if "'" in word.text or "\\" in word.text:
        return ""
    return "'" + word.text.replace("*", "\\*") + "'"


def command_options(rule: str, value: str, repository: Path) -> tuple[PermissionOption, ...]:
    """Once, in this session, no, no with a reason, in this repository.

    The question shows `value` whole: a rule for exactly that is not said again when it is long or has lines.
    """
    shown = sanitise(rule, newlines=False)
    if "\n" in rule or len(rule) > MAX_RULE_SHOWN:
        tool = rule.partition("(")[0]
        if rule == exact_rule(tool, value.strip()):
            shown = "exactly this command" if tool == "Bash" else "exactly this"
    return (
        _YES,
        PermissionOption("2", f"always {shown} in this session", "allow", "session", rule),
        *_NO,
        PermissionOption("5", f"always {shown} in {short_path(repository)}", "allow", "repository", rule),
    )


def edit_options(rule: str) -> tuple[PermissionOption, ...]:
    """Once, all of it in this session, no, no with a reason."""
    shown = sanitise(rule, newlines=False)
    label = "all edits in this session" if rule == "Edit" else "always in this session"
    return (_YES, PermissionOption("2", f"{label}: {shown}", "allow", "session", rule), *_NO)


def once_options() -> tuple[PermissionOption, ...]:
    """Once, no, no with a reason: for what is never remembered."""
    return (_YES, *_NO)


def where_details(folder: Path, sandbox: str) -> tuple[str, ...]:
    """Where a command starts and what it can do there, in one line where that fits; `sandbox` is empty for none."""
    parts = (
        f"in {short_path(folder)}",
        sanitise(sandbox or "no sandbox: it can do what you can", newlines=False),
    )
    line = " · ".join(parts)
    return (line,) if cell_width(line) <= MAX_DETAIL else parts


def short_path(path: Path) -> str:
    """The path with `~` for the home folder, safe to print in one line."""
    home = Path.home()
    if path.is_relative_to(home) and home != Path("/"):
        below = path.relative_to(home)
        return "~" if below == Path() else sanitise(f"~/{below}", newlines=False)
    return sanitise(str(path), newlines=False)

"""Permission rules `Tool(pattern)`: reading them, and what they match.

Deny beats ask beats allow. A rule that lets something pass is read narrowly, one that stops something widely:

- Commands (`Bash(npm test)`, `Bash(git log *)`, `Bash(git log:*)`) are compared word by word, never as text, so
  `Bash(git *)` is not about `gitleaks`. `*` as a word stands for any words, or none; inside of a word for any
  characters; `\\*` is a plain star. To allow, the whole simple command has to match, and every part of a compound;
  a rule that is letter for letter the whole text allows exactly that text. To deny or ask, a match anywhere
  suffices, and further words do not matter: `Bash(git push)` also stops `git push --force`.
- Paths (`Read(secrets/**)`, `Edit(docs/*.md)`, `Write(~/notes/)`) are relative to the workspace's root unless they
  begin with `/` or `~/`. `*` and `?` stay within a folder, `**` crosses folders, a folder stands for all in it when
  it ends in `/`. To allow, the real path has to match; to deny or ask, the path as given or the real one, a pattern
  without `/` at any depth, and a folder also without the `/`.
- A bare name (`Read`, `WebFetch`, also a tool's own name or id) is about every call of the tool, `*` about all.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from grokmini.protocol.errors import UsageError
from grokmini.text.nearest import nearest
from grokmini.text.wildcards import matches_whole
from grokmini.tools.shell_parse import Command

Action = Literal["allow", "ask", "deny"]


_CANONICAL = {
    "Bash": "Bash",
    "Read": "Read",
    "Edit": "Edit",
    "Write": "Edit",
    "MultiEdit": "Edit",
    "NotebookEdit": "Edit",
    "Delete": "Edit",
    "Grep": "Grep",
    "Glob": "Grep",
    "LS": "Grep",
    "WebFetch": "WebFetch",
    "WebSearch": "WebSearch",
    "MCPTool": "MCPTool",
    "TodoWrite": "TodoWrite",
    "*": "*",
    "run_terminal_command": "Bash",
    "run_terminal_cmd": "Bash",
    "read_file": "Read",
    "search_replace": "Edit",
    "write": "Edit",
    "delete": "Edit",
    "grep": "Grep",
    "glob": "Grep",
    "list_dir": "Grep",
    "todo_write": "TodoWrite",
    "web_fetch": "WebFetch",
    "web_search": "WebSearch",
}
_SAME_KIND = {"Read": frozenset({"Read", "Grep"})}


class Rule(NamedTuple):
    """One rule. `tool` is the canonical name, `pattern` None for a bare rule, `text` the rule as it was written."""

    action: Action
    tool: str
    pattern: str | None
    text: str


class RuleSet(NamedTuple):
    """All rules of one origin or of all, by what they do."""

    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()

    def plus(self, other: RuleSet) -> RuleSet:
        """Both sets together."""
        return RuleSet(self.allow + other.allow, self.ask + other.ask, self.deny + other.deny)


def parse_rule(text: str, action: Action) -> Rule:
    """Read one rule. Raises `UsageError` when it is malformed or names no tool."""
    name, bracket, rest = text.strip().partition("(")
    name = name.strip()
    if name not in _CANONICAL:
        close = nearest(name, _CANONICAL, 1)
        hint = (
            f"did you mean {close[0]}?"
            if close
            else "the names are Bash, Read, Edit, Write, Grep, WebFetch, MCPTool"
        )
        raise UsageError(f"the {action} rule {text!r} names no tool", hint)
    if not bracket:
        return Rule(action, _CANONICAL[name], None, text.strip())
    if not rest.endswith(")"):
        raise UsageError(f"the {action} rule {text!r} has no closing bracket", "write it as Tool(pattern)")
    pattern = rest[:-1]
    if not pattern.strip():
        raise UsageError(
            f"the {action} rule {text!r} has an empty pattern", f"write {name} for every call of the tool"
        )
    return Rule(action, _CANONICAL[name], None if pattern.strip() == "*" else pattern, text.strip())


def parse_rules(allow: Iterable[str] = (), ask: Iterable[str] = (), deny: Iterable[str] = ()) -> RuleSet:
    """Read many. Raises `UsageError` at the first that cannot be read."""
    return RuleSet(
        tuple(parse_rule(text, "allow") for text in allow),
        tuple(parse_rule(text, "ask") for text in ask),
        tuple(parse_rule(text, "deny") for text in deny),
    )


def governs(rule: Rule, rule_name: str) -> bool:
    """Whether the rule is about that tool at all. Rules for Read also govern searching when they deny or ask."""
    if rule.tool == "*":
        return True
    canonical = _CANONICAL.get(rule_name, rule_name)
    if rule.action == "allow":
        return rule.tool == canonical
    return canonical in _SAME_KIND.get(rule.tool, frozenset({rule.tool}))


def exact_rule(tool: str, value: str) -> str:
    """The rule that is about exactly this command or value."""
    return f"{tool}({value.replace('*', chr(92) + '*')})"


def allows_text(rule: Rule, command: str) -> bool:
    """Whether the rule is letter for letter this whole command (or about all commands)."""
    if rule.pattern is None:
        return False
    return not _has_wildcard(rule.pattern) and rule.pattern.replace("\\*", "*").strip() == command.strip()


def allows_command(rule: Rule, command: Command) -> bool:
    """Whether the rule lets this simple command pass, its redirections aside."""
    if rule.pattern is None:
        return True
    pattern = _pattern_words(rule.pattern)
    if not command.words:
        return False

    def equal(expected: _PatternWord, index: int) -> bool:
        word = command.words[index]
        return word.kind == "literal" and _word_matches(expected, word.text)

    return matches_whole(pattern, range(len(command.words)), _is_any_word, equal)


def fixed_words(rule: Rule) -> tuple[str, ...]:
    """The words a command rule begins with, up to its first wildcard."""
    if rule.pattern is None:
        return ()
    fixed: list[str] = []
    for word in _pattern_words(rule.pattern):
        if any(wild for _, wild in word):
            break
        fixed.append("".join(char for char, _ in word))
    return tuple(fixed)


def is_exact(rule: Rule) -> bool:
    """Whether the rule has no wildcard."""
    return rule.pattern is not None and not _has_wildcard(rule.pattern)


def is_narrow(rule: Rule) -> bool:
    """Whether the rule says what dangerous thing it is about: `Bash(rm *)` and `Bash(git push *)` do, `Bash(git *)`
    does not.
    """
    if is_exact(rule):
        return True
    fixed = fixed_words(rule)
    return len(fixed) >= (2 if fixed[:1] == ("git",) else 1)


def stops_invocation(rule: Rule, words: Sequence[str]) -> bool:
    """Whether a deny or ask rule is about this invocation, whatever words follow."""
    if rule.pattern is None:
        return True
    pattern = _pattern_words(rule.pattern)
    if pattern and not _is_any_word(pattern[-1]):
        pattern = [*pattern, [("*", True)]]
    name = words[0].rsplit("/", 1)[-1]
    for candidate in (tuple(words), (name, *words[1:])):
        if matches_whole(pattern, candidate, _is_any_word, _word_matches):
            return True
    return False


def stops_text(rule: Rule, command: str) -> bool:
    """Whether a deny or ask rule, read as a glob, is about the whole text (`Bash(curl * | sh)`)."""
    if rule.pattern is None:
        return True
    flat = " ".join(command.split())
    pattern = list(_characters(" ".join(rule.pattern.split())))
    return matches_whole(pattern, flat, lambda pair: pair[1], lambda pair, char: pair[0] == char)


_PatternWord = list[tuple[str, bool]]


def _has_wildcard(pattern: str) -> bool:
    return any(wild for _, wild in _characters(pattern)) or pattern.endswith(":*")


def _characters(pattern: str) -> list[tuple[str, bool]]:
    """The characters, each with whether it is a wildcard."""
    out: list[tuple[str, bool]] = []
    position = 0
    while position < len(pattern):
        if pattern.startswith("\\*", position):
            out.append(("*", False))
            position += 2
            continue
        out.append((pattern[position], pattern[position] == "*"))
        position += 1
    return out


def _pattern_words(pattern: str) -> list[_PatternWord]:
    """A command pattern as words; quotes group as in the shell, a trailing `:*` is any further words."""
    if pattern.endswith(":*"):
        pattern = pattern[:-2] + " *"
    words: list[_PatternWord] = []
    current: _PatternWord | None = None
    quote = ""
    for char, wild in _characters(pattern):
        if quote:
            if char == quote:
                quote = ""
            else:
                current = [*(current or []), (char, False)]
        elif char in "\"'":
            quote = char
            current = current or []
        elif char.isspace():
            if current is not None:
                words.append(current)
            current = None
        else:
            current = current or []
            current.append((char, wild))
    if current is not None:
        words.append(current)
    return words


def _is_any_word(word: _PatternWord) -> bool:
    return word == [("*", True)]


def _word_matches(expected: _PatternWord, text: str) -> bool:
    return matches_whole(expected, text, lambda pair: pair[1], lambda pair, char: pair[0] == char)


def covers_value(rule: Rule, value: str) -> bool:
    """Whether a rule for a tool that is about neither commands nor paths covers its value.

    The pattern is a glob over the whole value; `domain:HOST` covers a URL of that host or of one below it.
    """
    if rule.pattern is None:
        return True
    if rule.pattern.startswith("domain:"):
        from urllib.parse import urlsplit

        host = (urlsplit(value).hostname or "").rstrip(".")
        wanted = rule.pattern.removeprefix("domain:").casefold()
        return host == wanted or host.endswith("." + wanted)
    return _word_matches(_characters(rule.pattern), value)


def way_to_allow(rule: str) -> str:
    """The options that would allow a call; a rule with line ends in it cannot be written on a command line."""
    if "\u240a" in rule or "\n" in rule:
        return "--permission-mode always-approve (no --allow rule can name a command of several lines)"
    return f"--allow {shlex.quote(rule)} or another --permission-mode"

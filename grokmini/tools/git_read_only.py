"""Which git commands only read, options included (reference/config.md part 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grokmini.tools.shell_parse import Word

_READS = frozenset(
    {"status", "log", "diff", "ls-files", "show", "rev-parse", "blame", "describe", "merge-base", "shortlog",
     "check-ignore", "check-attr", "cat-file", "ls-tree", "show-ref", "for-each-ref", "rev-list", "name-rev",
     "count-objects"}
)  # fmt: skip

_RUN_OR_WRITE = (
    "--output", "--output-directory", "--ext-diff", "--textconv", "--filters", "--exec", "--upload-pack",
    "--open-files-in-pager", "--show-signature", "--paginate", "--exec-path", "--contents",
)  # fmt: skip

_BRANCH_LISTS = frozenset(
    {"-a", "-r", "-v", "-vv", "-l", "--all", "--remotes", "--list", "--verbose", "--show-current", "--no-color",
     "--color", "--column", "--no-column", "-i", "--ignore-case"}
)  # fmt: skip
_BRANCH_FILTERS = ("--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
_BRANCH_VALUES = ("--sort=", "--format=", "--color=", "--column=", "--abbrev=")

_SIGNATURES = ("%G", "%(signature")


def git_objection(words: Sequence[Word]) -> str:
    """Why a git command (its words after `git`) is not known to only read; empty when it is."""
    rest = list(words)
    while rest and rest[0].text in ("--no-pager", "-P"):
        rest = rest[1:]
    if not rest or rest[0].kind != "literal":
        return "it is not a git command that only reads"
    verb, arguments = rest[0].text, rest[1:]
    if verb.startswith("-"):
        return f"git {verb.partition('=')[0]} may make git run other programs"
    for word in arguments:
        if any(mark in word.text for mark in _SIGNATURES):
            return "checking signatures runs another program"
        given = word.text.partition("=")[0]
        if given.startswith("--") and given != "--" and given != "--text":
            if any(option.startswith(given) for option in _RUN_OR_WRITE):
                return f"git {verb} {given} may write a file or run a program"
        elif word.kind != "literal" and word.may_be_option:
            return "a file name could be taken for an option"
    texts = tuple(word.text for word in arguments)
    lists = _LISTS.get(verb)
    if lists is not None:
        return "" if lists(texts) else f"git {verb} with these words changes something"
    return "" if verb in _READS else f"git {verb} is not known to only read"


def _lists_branches(words: Sequence[str]) -> bool:
    """Whether `git branch` with these words only lists."""
    filtered = any(word in ("-l", "--list") or word.startswith(_BRANCH_FILTERS) for word in words)
    for word in words:
        if word in _BRANCH_LISTS or word.startswith((*_BRANCH_VALUES, *_BRANCH_FILTERS)):
            continue
        if word.startswith("-") or not filtered:
            return False
    return True


_LISTS: dict[str, Callable[[tuple[str, ...]], bool]] = {
    "branch": _lists_branches,
    "remote": lambda words: words in ((), ("-v",), ("--verbose",)) or words[:1] == ("get-url",),
    "tag": lambda words: not words or words[0] in ("-l", "--list"),
    "stash": lambda words: words[:1] == ("list",),
    "worktree": lambda words: words[:1] == ("list",),
    "reflog": lambda words: not words or words[0] == "show",
}

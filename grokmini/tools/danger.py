"""Commands that are asked about even where others run unasked: what they do is hard or impossible to undo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Danger(NamedTuple):
    """Why an invocation always needs asking, as the end of a sentence ("it …"), and whether what it destroys is
    lost for good: then no rule but one for exactly this command lets it pass.
    """

    reason: str
    destructive: bool = True


DANGEROUS = frozenset(
    {"rm", "rmdir", "unlink", "shred", "dd", "truncate", "mkfs", "wipefs", "chmod", "chown", "chgrp", "chattr",
     "setfacl", "pkill", "kill", "killall", "sudo", "doas", "su", "shutdown", "reboot", "halt", "poweroff",
     "crontab", "systemctl"}
)  # fmt: skip

_GIT_LOSES_WORK = frozenset(
    {"restore", "clean", "rm", "filter-branch", "filter-repo", "checkout-index", "prune"}
)
_GIT_PUSHES_OVER = ("--force", "--force-with-lease", "--delete", "--mirror", "--prune")
_GIT_CONFIG_READS = frozenset({"--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"})


def danger(words: Sequence[str]) -> Danger | None:
    """What is dangerous about this invocation; None when nothing is known to be."""
    name = words[0].rsplit("/", 1)[-1]
    options = [word for word in words[1:] if word.startswith("-")]
    if name == "rm" and _has(options, "rRf", "--recursive", "--force"):
        return Danger("deletes files without a way back")
    if name == "git":
        return _git_danger(words[1:])
    if name == "find" and "-delete" in options:
        return Danger("deletes files without a way back")
    if name in DANGEROUS or name.startswith("mkfs."):
        return Danger(f"runs {name}", destructive=False)
    return None


def _has(options: Sequence[str], letters: str, *names: str) -> bool:
    """Whether any of the short letters, or of the long names (also abbreviated), is among the options."""
    for option in options:
        if option.startswith("--"):
            given = option.partition("=")[0]
            if len(given) > 2 and any(name.startswith(given) for name in names):
                return True
        elif any(letter in option[1:] for letter in letters):
            return True
    return False


def _git_danger(words: Sequence[str]) -> Danger | None:
    if not words:
        return None
    verb, rest = words[0], list(words[1:])
    options = [word for word in rest if word.startswith("-")]
    if verb == "push":
        over = _has(options, "fd", *_GIT_PUSHES_OVER) or any(word[:1] in ("+", ":") for word in rest)
        if over:
            return Danger("overwrites or deletes what others see")
        return Danger("publishes commits", destructive=False)
    if verb == "config":
        reads = bool(rest) and rest[0] in _GIT_CONFIG_READS
        return None if reads else Danger("changes what git runs", destructive=False)
    if verb in _GIT_LOSES_WORK:
        harmless = verb == "clean" and _has(options, "n", "--dry-run")
        return None if harmless else Danger("throws away work that is not committed")
    return Danger("throws away work or history") if _loses_work(verb, rest, options) else None


def _loses_work(verb: str, rest: Sequence[str], options: Sequence[str]) -> bool:
    match verb:
        case "reset":
            return _has(options, "", "--hard", "--merge", "--keep")
        case "checkout":
            return not any(option in ("-b", "--orphan") for option in options) or _has(options, "f", "--force")
        case "switch":
            return _has(options, "fC", "--force", "--discard-changes", "--force-create")
        case "stash":
            return bool(rest) and rest[0] in ("drop", "clear")
        case "branch":
            return _has(options, "DdMCf", "--delete", "--force")
        case "tag":
            return _has(options, "df", "--delete", "--force")
        case "reflog":
            return bool(rest) and rest[0] in ("expire", "delete")
        case "update-ref" | "symbolic-ref":
            return _has(options, "d", "--delete", "--stdin")
        case "read-tree":
            return _has(options, "u", "--reset")
        case "worktree" | "submodule":
            return _has(options, "f", "--force") or (bool(rest) and rest[0] in ("deinit", "prune"))
        case "gc":
            return _has(options, "", "--prune")
        case "replace":
            return True
        case _:
            return False

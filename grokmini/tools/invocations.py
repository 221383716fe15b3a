"""Every place in a command where another command may begin: what deny rules and the list of destructive
commands are matched with. Errs on the side of seeing too much.
"""

from __future__ import annotations

from collections.abc import Iterator

from grokmini.tools.shell_parse import MAX_DEPTH, OBSCURE, RESERVED, Command, Script, parse

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "csh", "tcsh"})

WRAPPERS = SHELLS | frozenset(
    {"env", "sudo", "doas", "su", "runuser", "command", "builtin", "exec", "eval", "nohup", "timeout", "nice",
     "ionice", "chrt", "stdbuf", "setsid", "xargs", "parallel", "watch", "strace", "ltrace", "unshare", "nsenter",
     "chroot", "flock", "script", "trap", "ssh", "busybox", "toybox", "time", "taskset", "setarch", "linux32",
     "linux64", "setpriv", "capsh", "systemd-run", "proot", "fakeroot", "entr", "find", "fd", "expect", "unbuffer",
     "caffeinate", "coproc", "source", "."}
)  # fmt: skip
"""Programs that run what their words name."""

INTERPRETERS = WRAPPERS | frozenset(
    {"python", "python2", "python3", "pypy", "pypy3", "node", "deno", "bun", "perl", "ruby", "php", "lua", "Rscript",
     "osascript", "awk", "gawk", "mawk", "sed", "ed", "vi", "vim", "ex", "psql", "sqlite3", "mysql", "tclsh", "make",
     "patch", "git", "docker", "podman", "kubectl"}
)  # fmt: skip
"""Programs to which what they read is, or may be, a program."""

_GIT_VALUES = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env",
     "--attr-source"}
)  # fmt: skip

MAX_WORDS = 2_000
MAX_FOUND = 20_000


class Invocations:
    """The commands in a script: each a tuple of words, the program first.

    `obscure` is true when something was too long or too deep to look at; then nothing may be concluded from what
    was not found.
    """

    def __init__(self, script: Script) -> None:
        self.found: list[tuple[str, ...]] = []
        self.obscure = any(doubt in OBSCURE for doubt in script.doubts)
        self._seen: set[tuple[str, ...]] = set()
        self._script(script, 0)

    def _script(self, script: Script, depth: int) -> None:
        commands = (*script.commands, *script.nested)
        for command in commands:
            self._words(tuple(word.text for word in command.words), depth)
        if any(word.text.rsplit("/", 1)[-1] in SHELLS for command in commands for word in command.words):
            self._fed_to_a_shell(commands, depth)

    def _fed_to_a_shell(self, commands: tuple[Command, ...], depth: int) -> None:
        """Here-documents, and what echo and printf say, may be what a shell reads."""
        for command in commands:
            for text in command.inputs:
                self._text(text, depth)
            words = [word.text for word in command.words]
            if words and words[0] in ("echo", "printf"):
                self._text(" ".join(words[1:]), depth)

    def _text(self, text: str, depth: int) -> None:
        if depth >= MAX_DEPTH:
            self.obscure = True
            return
        script = parse(text)
        self.obscure |= any(doubt in OBSCURE for doubt in script.doubts)
        self._script(script, depth + 1)

    def _words(self, words: tuple[str, ...], depth: int) -> None:
        start = 0
        while start < len(words) and (words[start] in RESERVED or _is_assignment(words[start])):
            start += 1
        words = words[start:]
        if not words or words in self._seen:
            return
        if len(self.found) >= MAX_FOUND or len(words) > MAX_WORDS:
            self.obscure |= words[0].rsplit("/", 1)[-1] in WRAPPERS or len(self.found) >= MAX_FOUND
            self.found.append(words)
            return
        self._seen.add(words)
        self.found.append(words)
        name = words[0].rsplit("/", 1)[-1]
        if name == "git":
            self.found.append(("git", *git_without_globals(words[1:])))
        if name in WRAPPERS:
            for position in range(1, len(words)):
                if any(char in words[position] for char in " \t\n;|&<>()`$"):
                    self._text(words[position], depth)
            if name == "eval":
                self._text(" ".join(words[1:]), depth)
            for position in self._starts(name, words):
                self._words(words[position:], depth)

    def _starts(self, name: str, words: tuple[str, ...]) -> Iterator[int]:
        """Where in a wrapper's words a command may begin: anywhere but at an option."""
        for position in range(1, len(words)):
            if name in ("find", "fd") and not words[position - 1].startswith(
                ("-exec", "-ok", "--exec", "-x", "-X")
            ):
                continue
            if not words[position].startswith("-"):
                yield position


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.removesuffix("+").replace("_", "a").isalnum() and not name[:1].isdigit()


def git_without_globals(words: tuple[str, ...]) -> tuple[str, ...]:
    """Git's words from the subcommand on."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        position += 2 if words[position] in _GIT_VALUES else 1
    return words[position:]

"""What the sandbox stopped, found out from what a command printed.

Nothing else tells it: the kernel only says no, and the program says so in its own words. So a refusal counts when
three things come together: an error text names a path (or the network, or a privilege), the policy does refuse just
that, and the person could have done it themself. Looks at the disk; runs nothing.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from grokmini.files.regular import read_start
from grokmini.sandbox.command_rules import CommandRules
from grokmini.sandbox.error_lines import ErrorLine, Trouble, error_lines
from grokmini.sandbox.plan import is_unconfined
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.refused_powers import refused_network, refused_power, tells_of_power
from grokmini.sandbox.refused_secrets import refused_secrets

Kind: TypeAlias = Literal["write", "read", "network", "power"]

MAX_FOUND: Final = 4
_GIT_NAMES: Final = frozenset({"hooks", "config", "config.worktree", "attributes"})
_REPLACES: Final = re.compile(r"remov|unlink|rename|mov|delet|rmdir|lock|replac|link", re.I)
_CHANGES: Final = re.compile(r"permission|owner|chmod|chown|utime|setting times|attribute|preserv", re.I)
_STARTS: Final = re.compile(r"_execute_child|failed to run command|posix_spawn|\bspawn\b|\bexecv|\bfork/exec\b")
_BRANCH_DELETED: Final = re.compile(
    r"^error: could not write config file .*\nwarning: Update of config-file failed\n", re.M
)
"""What git says when it deleted a branch and could not look for settings of it: the branch is gone all the same."""
_NOT_FOUND: Final = re.compile(
    r"^(?:\S*sh: (?:line )?(?:\d+: )?|(?:\S*/)?(?:env|timeout|nohup|xargs): (?:failed to run command )?)"
    r"['‘]?([^\s:'‘’]+)['’]?: (?:command not found|not found|no such file or directory|permission denied|"
    r"cannot execute: required file not found)$",
    re.I | re.M,
)
"""What is said of a program that is not there, or not what is to run it. Shells name no path then."""
_MOST_PROGRAMS: Final = 20
_MOST_OF_A_LINE: Final = 512
_MAKES: Final = re.compile(
    r"\b(?:touch|tee|creat\w*|mk\w+|writ\w*|cannot move|renam\w*|directory nonexistent)\b"
    r"|['\"](?:[wax]\+?[bt]?\+?|r\+)['\"]",
    re.I,
)
"""What a line says that is about a file to be made."""
_INTO: Final = r"(?:>\|?|\bof=|-o|\bt?[cx]\w*f)\s*['\"]?\S*{name}|{name}['\"]\s*,\s*['\"](?:[wax]|r\+)"
"""Where a command names a file to be written."""
_SHELL: Final = re.compile(r"^\S*sh: (?:line )?\d+: |^\S*sh: |^env: |^nohup: ")


class Refusal(NamedTuple):
    """One thing that the sandbox did not let be done. `path` is the real path (or the host, or the program), `rule`
    what of the profile refused it, `hint` what to do; `said` is the line that tells of it, for a power none. All in one
    line each, not yet sanitised.
    """

    path: str
    rule: str
    hint: str
    kind: Kind = "write"
    said: str = ""


def refusals(
    output: str, policy: Policy, cwd: str, *, command: str = "", folders: Iterable[str] = ()
) -> tuple[Refusal, ...]:
    """What the sandbox stopped of a command that ran in `cwd` and printed that; nothing when it did not.

    Of what one rule refused, the first path stands for all.
    `command` is its text, `folders` others that it was in: both help to understand paths that are relative, or that
    the error does not name.
    """
    if is_unconfined(policy):
        return ()
    found: dict[str, Refusal] = {}
    judge = _Judge(policy, (cwd, *folders), command)
    for line in error_lines(_BRANCH_DELETED.sub("", output)):
        for one in judge.refused(line) if not tells_of_power(line.text) else ():
            found.setdefault(one.rule, one._replace(said=line.text))
        if len(found) >= MAX_FOUND:
            break
    for one in judge.unseen_programs(output) if not found else ():
        found.setdefault(one.rule, one)
    for path, rule, hint, said in refused_secrets(output, policy) if not found else ():
        found.setdefault(rule, Refusal(path, rule, hint, "read", said))
    for host, rule, hint in refused_network(output, policy) if not found else ():
        found.setdefault(rule, Refusal(host, rule, hint, "network"))
    for program, rule, hint in refused_power(output):
        found.setdefault(rule, Refusal(program, rule, hint, "power"))
    return tuple(found.values())[:MAX_FOUND]


class _Judge:
    """Compares error lines with one policy."""

    def __init__(self, policy: Policy, folders: tuple[str, ...], command: str) -> None:
        self._policy = policy
        self._folders = tuple(dict.fromkeys(folders))
        self._command = command
        self._rules = CommandRules(policy)
        self._protected = tuple(map(os.path.realpath, policy.protected))

    def refused(self, line: ErrorLine) -> Iterator[Refusal]:
        """What a line tells of; the first path of it that the policy refuses."""
        if line.trouble is Trouble.MISSING and self._policy.read_all:
            return  # nothing is hidden but what is denied, and that is there
        for folder in self._folders:
            for text in line.paths:
                path = _joined(folder, text)
                if path and (one := self._refused(path, line)):
                    yield one
                    return
        if line.trouble in (Trouble.READ_ONLY, Trouble.BUSY):  # only the sandbox says so of these folders
            named = [path for path in self._named() if not _is_program(path)]
        elif line.trouble is Trouble.DENIED and not line.paths:  # sockets: their errors name none
            named = [path for path in self._named() if self._unreadable(os.path.realpath(path))]
        else:
            return
        for path in named:
            if one := self._refused(path, line):
                yield one
                return

    def unseen_programs(self, output: str) -> Iterator[Refusal]:
        """Programs that the person has and a command does not see, or whose interpreter it does not."""
        if self._policy.read_all:
            return
        for match in itertools.islice(_NOT_FOUND.finditer(output), _MOST_PROGRAMS):
            program = shutil.which(match[1])
            for path in (program, _interpreter(program)) if program else ():
                real = os.path.realpath(path) if path else ""
                if real and (rule := self._unreadable(real)) and _can_read(real):
                    yield Refusal(
                        real,
                        f"{rule} (sandbox profile {self._policy.profile})",
                        "do without it, or tell the user that it is needed",
                        "read",
                        match[0],
                    )

    def _refused(self, path: str, line: ErrorLine) -> Refusal | None:
        real = os.path.realpath(path)
        profile = f"(sandbox profile {self._policy.profile})"
        if line.trouble is Trouble.NOT_PERMITTED:  # no file rule says so, only the lack of a right does
            return _for_root(real, profile) if _takes_root(real, line.text) else None
        if (rule := self._unreadable(real)) and (
            _can_read(real) or (_can_write(real, line.text) and not self._was_to_be_found(real, line))
        ):
            return Refusal(
                real, f"{rule} {profile}", "do without it, or tell the user that it is needed", "read"
            )
        if line.trouble is Trouble.MISSING:
            return None
        if line.trouble is Trouble.DENIED and _takes_root(real, line.text):
            return _for_root(real, profile)
        if rule := self._unwritable(real):
            if not _can_write(real, line.text) or self._was_to_run(real, line):
                return None
            return Refusal(real, f"{rule} {profile}", self._hint(real))
        if line.trouble is Trouble.BUSY and (inner := self._held(real)):
            return Refusal(real, f"{inner} {profile}", self._hint(inner))
        return None

    def _unreadable(self, real: str) -> str:
        rule = self._rules.why_not_read(real)
        if rule.startswith("only "):
            folders = ", ".join(self._policy.write_roots[:2])
            return f"only the system, toolchains and {folders} can be read"
        return rule

    def _unwritable(self, real: str) -> str:
        rule = self._rules.why_not_written(real)
        steers_git = Path(self._rules.protected(real)).name in _GIT_NAMES
        return f"{rule}, since it can make git run programs" if steers_git else rule

    def _held(self, real: str) -> str:
        """What keeps a writable folder from being renamed or removed: it is a mount, or holds one."""
        for path in (*self._protected, *map(os.path.realpath, self._policy.denied)):
            if path.startswith(f"{real}/"):
                return f"{path} in it must stay"
        roots = map(os.path.realpath, self._policy.write_roots)
        return "it is the working folder" if real in roots else ""

    def _hint(self, about: str) -> str:
        if not _GIT_NAMES.isdisjoint(Path(about.partition(" in it must stay")[0]).parts) and ".git" in about:
            return "commit, switch, stash, worktree and clone work; for this, tell the user what has to be run"
        return "use a path that may be written, or tell the user why it has to be this one"

    def _was_to_run(self, real: str, line: ErrorLine) -> bool:
        """Whether the trouble is that a file is no program, which the system calls by the same name."""
        if line.trouble is not Trouble.DENIED or not _is_no_program(real):
            return False
        if any(_STARTS.search(text) for text in (line.text, *line.before)):
            return True
        name = re.escape(Path(real).name)
        return bool(_SHELL.search(line.text)) and not re.search(rf">\s*\S*{name}", self._command)

    def _was_to_be_found(self, real: str, line: ErrorLine) -> bool:
        """Whether the trouble is that a file is not there, for the person neither: then nothing was stopped. What was
        to be made is told by the words of the program or of the command.
        """
        if line.trouble is not Trouble.MISSING or os.path.lexists(real):
            return False
        name = re.escape(Path(real).name)
        said = any(_MAKES.search(text.replace(real, "")) for text in (line.text, *line.before))
        return not said and not re.search(_INTO.format(name=name), self._command)

    def _named(self) -> Iterator[str]:
        """The paths that the command's words name."""
        for word in re.findall(r"[^\s'\"<>|;&()=]+", self._command):
            for folder in self._folders:
                if "/" in word and (path := _joined(folder, word)):
                    yield path


def _for_root(real: str, profile: str) -> Refusal:
    rule = f"commands run without root's rights over other users' files {profile}"
    hint = "change only what root itself owns, or tell the user which command to run"
    return Refusal(real, rule, hint, "power")


def _joined(folder: str, text: str) -> str:
    """The absolute path; empty for what is none."""
    if not text or "\0" in text or len(text) > 4_000:
        return ""
    if text == "~" or text.startswith("~/"):
        return str(Path.home()) + text[1:]
    return text if text.startswith("/") else f"{folder.rstrip('/')}/{text}"


def _can_read(path: str) -> bool:
    try:
        folder = stat.S_ISDIR(Path(path).stat().st_mode)
    except OSError:
        return False
    return os.access(path, os.R_OK | (os.X_OK if folder else 0))


def _can_write(path: str, said: str) -> bool:
    """Whether the person could have done it: written, or replaced, removed or changed, as the error text says."""
    try:
        status = os.lstat(path)
    except OSError:
        parent = Path(path).parent
        while not os.path.lexists(parent) and parent != parent.parent:
            parent = parent.parent
        return os.access(parent, os.W_OK | os.X_OK)
    if os.access(path, os.W_OK):
        return True
    if _CHANGES.search(said) and status.st_uid == os.geteuid():
        return True
    return bool(_REPLACES.search(said)) and os.access(Path(path).parent, os.W_OK | os.X_OK)


def _interpreter(path: str) -> str:
    """What a script names to run it; empty for other files."""
    try:
        words = read_start(Path(path), _MOST_OF_A_LINE)
    except OSError:
        return ""
    found = re.match(rb"#!\s*(/[^\s\0]*)", words)
    return os.fsdecode(found[1]) if found else ""


def _is_no_program(path: str) -> bool:
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and not mode & 0o111 and os.access(path, os.R_OK)


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _takes_root(path: str, said: str) -> bool:
    """Whether it takes root's special rights, which commands lose: the owner's and everybody's do not do."""
    if os.geteuid():
        return False
    if _CHANGES.search(said) and "owner" in said:
        return True
    existing = path if os.path.lexists(path) else str(Path(path).parent)
    try:
        status = Path(existing).stat()
    except OSError:
        return False
    wanted = 0o3 if stat.S_ISDIR(status.st_mode) else 0o6
    rights = status.st_mode >> (3 if status.st_gid == 0 else 0)
    return status.st_uid != 0 and rights & wanted != wanted

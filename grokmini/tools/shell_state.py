"""What shell commands of a session share: the folder they start in and the exported variables.

Each command is a process of its own. As it ends, its shell writes folder and exports to the side channel; what
is different from the start is kept for the next one (decisions.md "Shell and git").

Only the shell has the side channel. It comes as standard input, is moved away before the command begins, is closed for
the command (what the shell itself keeps of it is closed on exec), and is a socket, which nobody can open again through
/proc. A program that traces its shell still gets at it, and what a command exports openly is the model's wish: so this
state is trusted with nothing. It lives only under the sandbox it comes from: what leaves it takes along no more than
`going_along` says, `forgetting` drops it before commands may do more, and `enter` when they work on another project.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from grokmini.config.settings import ShellSettings
from grokmini.files.places import real_path
from grokmini.files.planted import unplanted
from grokmini.sandbox.environment import neutral_environment
from grokmini.sandbox.runner import CommandRunner, CommandSpec
from grokmini.tools.going_along import going_along
from grokmini.tools.programs import find_program
from grokmini.tools.shell_parse import SIMPLE_ESCAPES

# The command travels in a variable: in the arguments, `pkill -f` would find and kill its own shell.
_SCRIPT: Final = (
    "exec 9>&0 </dev/null; "
    'trap \'{ { printf "%s\\0" "$PWD"; export -p; } >&9; } 2>/dev/null\' EXIT; '
    'eval "unset GROKMINI_COMMAND; $GROKMINI_COMMAND" 9>&-'
)
_NOT_KEPT: Final = frozenset({"_", "PWD", "SHLVL"})
# Compiled by `re` (and kept there) when first used: most sessions never need them.
_EXPORT: Final = r"""(?mxs)^(?:declare\ -[a-zA-Z]*x[a-zA-Z]*|export)\ ([A-Za-z_][A-Za-z0-9_]*)=
    (\$'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | (?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])*)\n"""
_QUOTED: Final = r"""(?s)'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^'"\\]+)"""
_ANSI_C: Final = r"(?s)\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|.)"


class Leaving(NamedTuple):
    """A command as it would run outside of the sandbox; `variables` are those that go along, as a question lists them,
    `objection` is why it must not be asked about.
    """

    spec: CommandSpec
    variables: tuple[str, ...] = ()
    objection: str = ""


class ShellState:
    """The shared state, and the runner that commands go through.

    `environ` is the environment grokmini was started in; keys are taken out of it.
    """

    def __init__(
        self, cwd: Path, environ: Mapping[str, str], settings: ShellSettings, runner: CommandRunner
    ) -> None:
        self.runner = runner
        self.settings = settings
        self._environ = environ
        self._besides: dict[str, str] = {}
        self.env = self._neutral({})
        self.cwd = cwd
        bash = find_program("bash", os.pathsep.join(unplanted(environ.get("PATH", os.defpath))))
        self._shell = (bash, "--noprofile", "--norc", "-c") if bash else ("/bin/sh", "-c")
        self._last: tuple[bytes, dict[str, str]] = (b"", {})
        self._let_out: dict[str, CommandSpec] = {}
        self.age = 0
        """Grows whenever what runs now must leave nothing behind."""
        self._forgetting = False

    @property
    def shell_name(self) -> str:
        """`bash` or `sh`."""
        return Path(self._shell[0]).name

    def move_to(self, cwd: Path) -> None:
        """Start the next command in another folder."""
        self.cwd = cwd

    def enter(self, cwd: Path, *, afresh: bool) -> tuple[str, ...]:
        """The person goes to work in another folder: commands start there, and what those that run now leave behind
        does not count. `afresh` forgets what was exported; the names of the variables that are others then.
        """
        self.cwd = cwd
        self.age += 1
        if not afresh:
            return ()
        before = self.env
        self._forget()
        names = before.keys() | self.env.keys()
        return tuple(sorted(name for name in names if before.get(name) != self.env.get(name)))

    def extend(self, besides: dict[str, str]) -> None:
        """Give commands these variables besides, in place of those given before; what they exported stays."""
        before, now = self._neutral(self._besides), self._neutral(besides)
        self._besides = besides
        for name in before.keys() | now.keys():
            if self.env.get(name) == before.get(name):
                self.env.pop(name, None)
                self.env |= {name: now[name]} if name in now else {}

    @contextmanager
    def forgetting(self) -> Iterator[None]:
        """Around a change after which commands may do more: what was exported before, or is by a command that began
        before, does not count after it.
        """
        self._forget()
        self._forgetting = True
        try:
            yield
        finally:
            self._forgetting = False
            self._forget()

    def _forget(self) -> None:
        self.age += 1
        self._last = b"", {}
        self.env = self._neutral(self._besides)

    def spec(self, command: str) -> CommandSpec:
        """How to run a command in this state."""
        return self._spec(command, self.cwd, self.env)

    def leaving(self, command: str) -> Leaving:
        """How to run a command outside of the sandbox. Looks at the disk: its folder has to be a real one."""
        base = self._neutral({})
        along = going_along(command, base, _kept(self.env))
        folder = real_path(self.cwd)
        objection = along.objection or ("" if os.path.isdir(folder) else f"{folder} is no folder")
        spec = replace(self._spec(command, folder, {**base, **along.env}), outside=True)
        return Leaving(spec, along.shown, objection)

    def _neutral(self, besides: Mapping[str, str]) -> dict[str, str]:
        return neutral_environment({**self._environ, **besides}, self.settings.keep_env)

    def _spec(self, command: str, cwd: Path, env: Mapping[str, str]) -> CommandSpec:
        whole = {**env, "PWD": str(cwd), "GROKMINI_COMMAND": command}
        return CommandSpec((*self._shell, _SCRIPT), cwd, whole, side_channel=True)

    def let_out(self, call_name: str, spec: CommandSpec) -> None:
        """The person let this command out of the sandbox: the call of that name runs exactly it."""
        self._let_out[call_name] = spec

    def take_out(self, call_name: str) -> CommandSpec | None:
        """What a call may run outside, once; None when nothing was let out for it."""
        return self._let_out.pop(call_name, None)

    def absorb(self, started: CommandSpec, dump: bytes, age: int) -> None:
        """Keep what a command that began as `started`, when the state had that age, changed, going by what its shell
        wrote at its end.
        """
        where, _, exports = dump.partition(b"\0")
        if dump.count(b"\0") != 1 or age != self.age or self._forgetting:
            return  # killed, replaced by exec, or with an exit trap of its own: nothing is known
        cwd = Path(where.decode("utf-8", "surrogateescape"))
        if cwd != started.cwd and cwd.is_absolute():
            self.cwd = cwd
        before = _kept(started.env)
        if (exports, before) == self._last:
            return
        self._last = exports, before
        after = _kept(parse_exports(exports.decode("utf-8", "surrogateescape")))
        for name in before.keys() - after.keys():
            self.env.pop(name, None)
        for name, value in after.items():
            if before.get(name) != value:
                self.env[name] = value


def parse_exports(text: str) -> dict[str, str]:
    """The variables in what `export -p` prints, in bash's form and in that of a POSIX shell."""
    return {
        match[1]: _unquote(match[2])
        for match in re.finditer(_EXPORT, text if text.endswith("\n") else text + "\n")
    }


def _kept(env: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in env.items() if name not in _NOT_KEPT and not name.startswith("GROKMINI_")
    }


def _unquote(word: str) -> str:
    if word.startswith("$'"):
        return (
            re.sub(_ANSI_C, _ansi_c, word[2:-1])
            .encode("utf-8", "surrogateescape")
            .decode("utf-8", "surrogateescape")
        )
    return re.sub(_QUOTED, _plain, word)


def _plain(match: re.Match[str]) -> str:
    single, double, escaped, bare = match.groups()
    if double is not None:
        return re.sub(r'\\([$`"\\\n])', r"\1", double)
    return str(single if single is not None else escaped if escaped is not None else bare)


def _ansi_c(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "uU" and len(code) > 1:
        return chr(int(code[1:], 16))
    if code[0] == "x" and len(code) > 1:
        return _byte(int(code[1:], 16))
    if code[0] in "01234567":
        return _byte(int(code, 8) & 0xFF)
    return SIMPLE_ESCAPES.get(code, code)


def _byte(value: int) -> str:
    return chr(value) if value < 0x80 else bytes([value]).decode("utf-8", "surrogateescape")

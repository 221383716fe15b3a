"""What of the carried-over state goes along when a command leaves the sandbox.

Folder and exported variables are carried from command to command, so they say what the commands before wanted: a test
script as much as the model. Inside that gives no one more than they had. Outside it would: a `PATH`, `BASH_ENV` or
`LD_PRELOAD` from inside would choose which program the person's yes runs. So a command outside starts with the
environment grokmini was started in, and of what was exported since only such variables go along as

- its text names: another one can mean nothing to the command itself, only to the programs it runs,
- the question lists with their whole value, as they are: short ones, and few,
- are none of those known to choose a program, its options or what it loads (`chooses_programs`).

A command that uses another one (`rm -rf $DIR/x` would be quite another command without it) is not offered to leave;
the model is told to write the value into the command, where the person reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from grokmini.text.sanitise import sanitise

MAX_VALUE: Final = 200
"""Characters of a value that a question shows."""
MAX_VARIABLES: Final = 6
"""As many a person reads."""

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_USED: Final = rf"\$\{{?[#!]?({_NAME})"
_IDENTITY: Final = frozenset(
    {"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
     "GIT_COMMITTER_DATE"}
)  # fmt: skip
_CHOOSES: Final = re.compile(
    r"(?:LD|DYLD|BASH|PYTHON|PIP|UV|CONDA|PERL|RUBY|GEM|BUNDLE|NODE|NPM|YARN|DENO|BUN|GIT|SSH|JAVA|JDK|MAVEN|GRADLE|LUA"
    r"|PHP|TCL|CARGO|RUST|RUSTC|GO|DOCKER|XDG|DBUS|LESS|MAN|SUDO|GROKMINI|GLIBC|MALLOC|QT|GTK|GDK|GIO|GST|OPENSSL|SSL"
    r"|VIM|EMACS|TERMINFO|SYSTEMD)\w*"
    r"|_?(?:HOME|SHELL|ENV|IFS|CDPATH|PS[0-9]|SHELLOPTS|ZDOTDIR|EXINIT|CLASSPATH|KUBECONFIG|TMPDIR|TEMP|TMP|LIBRARY_PATH"
    r"|CC|CXX|CPP|LD|AR|AS|MAKE|MFLAGS|HOSTALIASES|RES_OPTIONS|NLSPATH|TERMCAP)"
    r"|\w*(?:PATH|PATHS|_HOME|_DIR_CONFIG|_CONFIG|CONFIG_FILE|CMD|COMMAND|OPTS|OPTIONS|FLAGS|ARGS|PRELOAD|WRAPPER|EDITOR"
    r"|PAGER|BROWSER|VISUAL|ASKPASS|HOOK|HOOKS|PLUGIN|PLUGINS|EXEC|PROGRAM|SHELL|STARTUP|RC|RCFILE|PROXY)",
    re.IGNORECASE,
)


class Along(NamedTuple):
    """The variables that go along, `shown` as the question lists them; `objection` is why the command may not leave."""

    env: Mapping[str, str]
    shown: tuple[str, ...] = ()
    objection: str = ""


def chooses_programs(name: str) -> bool:
    """Whether a variable of that name may make programs run or load others. Errs on the side of yes."""
    return name not in _IDENTITY and _CHOOSES.fullmatch(name) is not None


def going_along(command: str, outside: Mapping[str, str], carried: Mapping[str, str]) -> Along:
    """What of the `carried` variables goes along with a command, beside the environment `outside`."""
    named = set(re.findall(_NAME, command))
    changed = {name: value for name, value in sorted(carried.items()) if outside.get(name) != value}
    env = {name: value for name, value in changed.items() if name in named and _can_be_listed(name, value)}
    env = dict([*env.items()][:MAX_VARIABLES])
    lost = sorted((set(re.findall(_USED, command)) & changed.keys()) - env.keys() - outside.keys())
    objection = (
        f"it uses ${lost[0]}, which does not go along outside of the sandbox: write its value into the command"
        if lost
        else ""
    )
    return Along(env, tuple(f"{name}={value}" for name, value in env.items()), objection)


def _can_be_listed(name: str, value: str) -> bool:
    return len(value) <= MAX_VALUE and sanitise(value, newlines=False) == value and not chooses_programs(name)

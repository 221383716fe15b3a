"""The environment of a program that waits for nobody: no pagers, no editors, no questions for a password; its messages
are the untranslated ones, which we and models understand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_FIXED: Final = {
    "TERM": "dumb",
    "LC_MESSAGES": "C",
    "CI": "1",
    "NO_COLOR": "1",
    "DEBIAN_FRONTEND": "noninteractive",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "GH_PAGER": "cat",
    "AWS_PAGER": "",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS_REQUIRE": "never",
    "GPG_TTY": "",
    "PIP_NO_INPUT": "1",
}

_DROPPED: Final = frozenset(
    {
        "LANGUAGE",
        "BASH_ENV",
        "ENV",
        "PROMPT_COMMAND",
        "SSH_ASKPASS",
        "GIT_ASKPASS",
        "SUDO_ASKPASS",
        "FORCE_COLOR",
        "CLICOLOR_FORCE",
        "COLORTERM",
        "COLUMNS",
        "LINES",
        "LESSOPEN",
        "_",
    }
)


def quiet_environment(base: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command that waits for nobody: without start-up files of shells, programs that ask for
    passwords, and our own `GROKMINI_*` variables; pagers and editors are replaced by ones that never wait. The language
    of messages is English, whatever else the locale says of characters, numbers and dates.
    """
    kept = {
        name: value
        for name, value in _without_lc_all(base).items()
        if name not in _DROPPED and not name.startswith(("GROKMINI_", "BASH_FUNC_"))
    }
    kept.update(_FIXED)
    return kept


def _without_lc_all(base: Mapping[str, str]) -> dict[str, str]:
    """The same locale said by `LANG`: `LC_ALL` would win over what we set."""
    locale = base.get("LC_ALL", "")
    if not locale:
        return {name: value for name, value in base.items() if name != "LC_ALL"}
    return {name: value for name, value in base.items() if not name.startswith("LC_")} | {"LANG": locale}

"""`grokmini completions install`: scripts and manual pages where the person's own shells and `man` find them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grokmini.cli.completions import SHELLS
from grokmini.cli.option import CommandSpec, Option

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed

SPEC = CommandSpec(
    options=(Option(("--force",), "force", "replace files that are not ours"),),
    words="[SHELL…]",
    choices=SHELLS,
    examples=("grokmini completions install", "grokmini completions install zsh"),
    about=(
        "Writes completion scripts, for the shells that are here unless some are named, and the manual pages to "
        "your own folders, and says where. A file that somebody else made is left alone."
    ),
)

ZSH_ADVICE = "  ~/.zshrc needs, before compinit:  fpath=({folder} $fpath)"


class Installed(NamedTuple):
    """One file to be written: for whom, where, and how its text is made."""

    name: str
    path: Path
    text: Callable[[], str]


def run(parsed: Parsed) -> int:
    """Write what is wanted. Exit 1 when something was left alone. Raises `UsageError` without a home."""
    from shutil import which

    from grokmini.protocol.errors import ExitCode

    shells = tuple(parsed.words) or tuple(shell for shell in SHELLS if which(shell))
    left_alone = False
    for file in wanted(shells, os.environ):
        said, fine = put(file, force=parsed.flag("force"))
        sys.stdout.write(said + "\n")
        left_alone |= not fine
        if file.name == "zsh" and fine:
            sys.stdout.write(ZSH_ADVICE.format(folder=file.path.parent) + "\n")
    return ExitCode.ERROR if left_alone else ExitCode.OK


def wanted(shells: tuple[str, ...], env: Mapping[str, str]) -> list[Installed]:
    """The files for these shells and for `man`. Raises `UsageError` without a home."""
    from grokmini.cli.man import command_page
    from grokmini.cli.man_config import settings_page
    from grokmini.cli.shells import SCRIPTS

    data, config = _folder(env, "XDG_DATA_HOME", ".local/share"), _folder(env, "XDG_CONFIG_HOME", ".config")
    bash = Path(env.get("BASH_COMPLETION_USER_DIR") or data / "bash-completion")
    places = {
        "bash": bash / "completions" / "grokmini",
        "zsh": data / "zsh" / "site-functions" / "_grokmini",
        "fish": config / "fish" / "completions" / "grokmini.fish",
    }
    return [
        *(Installed(shell, places[shell], SCRIPTS[shell]) for shell in shells),
        Installed("man", data / "man" / "man1" / "grokmini.1", command_page),
        Installed("man", data / "man" / "man5" / "grokmini-config.5", settings_page),
    ]


def put(file: Installed, *, force: bool) -> tuple[str, bool]:
    """Write one file unless it is somebody else's; what to say, and whether it is there now as it should be."""
    from grokmini.text.sanitise import sanitise

    shown = sanitise(str(file.path), newlines=False)
    try:
        if not force and not _is_ours(file.path):
            return f"{file.name:<5} left alone, it is not ours: {shown} (--force replaces it)", False
        _replace(file.path, file.text())
    except OSError as error:
        return f"{file.name:<5} cannot be written: {shown}: {error.strerror}", False
    return f"{file.name:<5} {shown}", True


def _is_ours(path: Path) -> bool:
    """Whether nothing is there, or something that we wrote."""
    from grokmini.cli.made_by import MARK

    if path.is_symlink() or not path.exists():
        return not path.is_symlink()
    with path.open(encoding="utf-8", errors="replace") as file:
        return MARK in file.read(400)


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _folder(env: Mapping[str, str], variable: str, below_home: str) -> Path:
    from grokmini.protocol.errors import UsageError

    given, home = env.get(variable, ""), env.get("HOME", "")
    if given.startswith("/"):
        return Path(given)
    if not home.startswith("/"):
        raise UsageError("there is no home folder to install into", "set HOME, or source the script itself")
    return Path(home) / below_home

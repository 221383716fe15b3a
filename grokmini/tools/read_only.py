"""Which simple commands only read, with their options (reference/config.md part 5).

A command passes when its name is in the table, without a path, and no option of it writes a file or runs another
program. Options may be abbreviated and clustered, so whatever could be a refused one is taken for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from grokmini.tools.git_read_only import git_objection
from grokmini.tools.shell_parse import Command, Script, Word


class Refused(NamedTuple):
    """Options that make a reading command do more: letters of short ones, names of long ones."""

    letters: str = ""
    names: tuple[str, ...] = ()


_HARMLESS = Refused()

_PLAIN: dict[str, Refused] = {
    "ls": _HARMLESS,
    "cat": _HARMLESS,
    "pwd": _HARMLESS,
    "whoami": _HARMLESS,
    "uptime": _HARMLESS,
    "head": _HARMLESS,
    "tail": _HARMLESS,
    "wc": _HARMLESS,
    "tr": _HARMLESS,
    "cut": _HARMLESS,
    "echo": _HARMLESS,
    "true": _HARMLESS,
    "false": _HARMLESS,
    "basename": _HARMLESS,
    "dirname": _HARMLESS,
    "realpath": _HARMLESS,
    "readlink": _HARMLESS,
    "stat": _HARMLESS,
    "which": _HARMLESS,
    "id": _HARMLESS,
    "uname": _HARMLESS,
    "du": _HARMLESS,
    "df": _HARMLESS,
    "nl": _HARMLESS,
    "cmp": _HARMLESS,
    "diff": _HARMLESS,
    "comm": _HARMLESS,
    "grep": _HARMLESS,
    "egrep": _HARMLESS,
    "fgrep": _HARMLESS,
    "file": Refused("CmzZ", ("--compile", "--magic-file", "--uncompress", "--uncompress-noreport")),
    "printf": Refused("v"),
    "sort": Refused("oT", ("--output", "--compress-program", "--temporary-directory")),
    "rg": Refused("z", ("--pre", "--hostname-bin", "--search-zip")),
    "tree": Refused("oR", ("--output",)),
}

_FIND_ACTS = frozenset(
    {"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"}
)  # fmt: skip
_DATE_SHOWS = re.compile(
    r"\+.*|-[uR]+|-I\w*|--(utc|universal|rfc-email|iso-8601|rfc-3339)(=\w+)?|--date=.*", re.DOTALL
)
_HOSTNAME_SHOWS = frozenset(
    {"-f", "-s", "-d", "-i", "-I", "-A", "--fqdn", "--long", "--short", "--domain", "--ip-address",
     "--all-ip-addresses", "--all-fqdns"}
)  # fmt: skip
_KUBECTL_READS = frozenset({"get", "logs", "describe"})
_KUBECTL_REFUSED = ("--kubeconfig", "--cache-dir", "--profile", "--profile-output", "--plugin")
_SED_LINES = re.compile(r"(\d+|\$)(,(\d+|\$))?p(;(\d+|\$)(,(\d+|\$))?p)*")


def objection(command: Command) -> str:
    """Why this simple command is not known to only read ("it …"); empty when it is."""
    for target in command.writes:
        if target != Word("/dev/null"):
            return f"it writes to {target.text}"
    for source in command.reads:
        if source.kind != "literal" or source.text.startswith(("/dev/tcp", "/dev/udp")):
            return f"it reads from {source.text}"
    if not command.words:
        return "it has no command"
    first, arguments = command.words[0], command.words[1:]
    if first.kind != "literal":
        return "what it runs is not known before it runs"
    for word in arguments:
        if word.kind == "dynamic":
            return f"what {word.text} stands for is not known before it runs"
    name = first.text
    if name in _PLAIN:
        return _refused_option(name, arguments, _PLAIN[name])
    special = _SPECIAL.get(name)
    if special is None:
        return f"{name} is not known to only read"
    return special(arguments)


def only_reads(script: Script) -> bool:
    """Whether all of a command text is known to only read."""
    return bool(script.commands) and not script.doubts and not any(map(objection, script.commands))


def _refused_option(name: str, arguments: Sequence[Word], refused: Refused) -> str:
    if refused == _HARMLESS:
        return ""
    for word in arguments:
        text = word.text
        if word.kind != "literal" and word.may_be_option:
            return "a file name could be taken for an option"
        given = text.partition("=")[0]
        if text.startswith("--"):
            if any(long.startswith(given) for long in refused.names):
                return f"{name} {given} may write a file or run a program"
        elif text.startswith("-") and any(letter in text for letter in refused.letters):
            return f"{name} {given} may write a file or run a program"
    return ""


def _find(arguments: Sequence[Word]) -> str:
    for word in arguments:
        if word.text in _FIND_ACTS:
            return f"find {word.text} does more than find"
        if word.kind != "literal" and word.may_be_option:
            return "a file name could be taken for an option"
    return ""


def _uniq(arguments: Sequence[Word]) -> str:
    files = 0
    for before, word in zip(("", *(word.text for word in arguments)), arguments, strict=False):
        value = before in ("-f", "-s", "-w") and word.text.isdigit()
        option = word.text.startswith("-") and word.text not in ("-", "--")
        files += not value and not option
        if word.kind != "literal":
            return "a file name could be taken for the file that uniq writes"
    return "the second file of uniq is written to" if files > 1 else ""


def _date(arguments: Sequence[Word]) -> str:
    takes_value = False
    for word in arguments:
        if takes_value:
            takes_value = False
        elif word.text in ("-d", "-r", "--date", "--reference"):
            takes_value = True
        elif word.kind != "literal" or not _DATE_SHOWS.fullmatch(word.text):
            return "date with these words may set the clock"
    return ""


def _hostname(arguments: Sequence[Word]) -> str:
    shows = all(word.text in _HOSTNAME_SHOWS for word in arguments)
    return "" if shows else "hostname with these words may set the name"


def _ps(arguments: Sequence[Word]) -> str:
    for word in arguments:
        bare = word.text.isalpha() and "e" in word.text.casefold()
        if word.kind != "literal" or bare or "env" in word.text or "E" in word.text:
            return "ps may show the environment of other programs"
    return ""


def _kubectl(arguments: Sequence[Word]) -> str:
    if not arguments or arguments[0].text not in _KUBECTL_READS:
        return "kubectl with these words is not known to only read"
    for word in arguments:
        given = word.text.partition("=")[0]
        refused = given.startswith("--") and any(option.startswith(given) for option in _KUBECTL_REFUSED)
        if word.kind != "literal" or refused or "secret" in word.text.casefold():
            return f"kubectl {given} may run a program or show secrets"
    return ""


def _sed(arguments: Sequence[Word]) -> str:
    """Only printing lines by number: `sed -n '10,20p' file`."""
    texts = [word.text for word in arguments]
    prints = len(texts) >= 2 and texts[0] == "-n" and _SED_LINES.fullmatch(texts[1])
    if not prints or any(word.may_be_option for word in arguments[1:]):
        return "sed may write files or run programs"
    return ""


_SPECIAL: dict[str, Callable[[Sequence[Word]], str]] = {
    "find": _find,
    "uniq": _uniq,
    "date": _date,
    "hostname": _hostname,
    "ps": _ps,
    "kubectl": _kubectl,
    "sed": _sed,
    "git": git_objection,
}

"""Where git finds a repository's settings, what they name to be run, and the submodules of its index. Runs no git."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from grokmini.files.regular import read_start

MAX_CONFIG_BYTES = 1_000_000
MAX_INDEX_BYTES = 64_000_000
MAX_POINTER_BYTES = 65_536

_SECTIONS = frozenset(
    {"alias", "pager", "include", "includeif", "protocol", "gpg", "credential", "difftool", "mergetool", "hook",
     "sendemail", "man", "browser", "web", "instaweb", "trailer", "uploadpack", "guitool"}
)  # fmt: skip
_KEYS = frozenset(
    {"fsmonitor", "pager", "editor", "sshcommand", "askpass", "hookspath", "gitproxy", "alternaterefscommand",
     "external", "command", "cmd", "textconv", "clean", "smudge", "process", "driver", "difffilter", "program",
     "uploadpack", "receivepack", "vcs", "helper", "worktree", "sshvariant", "packobjectshook", "attributesfile",
     "partialclone", "promisor", "update"}
)  # fmt: skip
_LFS = frozenset({"git-lfs clean -- %f", "git-lfs smudge -- %f", "git-lfs filter-process"})
_SETTING = re.compile(r"^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$", re.DOTALL)
_POINTS_TO = "gitdir:"
_GITLINK = b"\x00\x00\xe0\x00"
_LENGTH = 0xFFF
"""The part of an entry's flags that is the length of its name, or this where it is longer."""
_HASHES = {"sha1": 20, "sha256": 32}
"""Bytes of an object's name, by what the settings call its kind."""


def git_folder_of(marker: str | Path) -> str:
    """The real path of the git folder that a file `.git` names. Raises `OSError`, also when it names none."""
    text = os.fsdecode(read_start(marker, MAX_POINTER_BYTES))
    named = text.removeprefix(_POINTS_TO).strip()
    if not text.startswith(_POINTS_TO) or not named:
        raise OSError("it names no folder")
    return _real_below(Path(marker).parent, named)


def common_folder(folder: str | Path) -> str:
    """Where a git folder has its settings: what its `commondir` names, itself without one. Raises `OSError`."""
    pointer = f"{folder}/commondir"
    if not os.path.lexists(pointer):
        return str(folder)
    named = os.fsdecode(read_start(pointer, MAX_POINTER_BYTES)).strip()
    return _real_below(Path(folder), named)


def _real_below(folder: Path, named: str) -> str:
    if "\0" in named:
        raise OSError("it names no path")
    return os.path.realpath(folder / named)


def executable_setting(file: Path) -> str:
    """What in a file of settings makes git run a program of its choice; empty when nothing does.

    Whatever cannot be read or understood counts.
    """
    try:
        data = read_start(file, MAX_CONFIG_BYTES + 1)
    except FileNotFoundError:
        return ""
    except OSError:
        return f"{file} cannot be read"
    if len(data) > MAX_CONFIG_BYTES:
        return f"{file} cannot be read"
    for section, key, value in _settings(data.decode("utf-8", "replace")):
        if not section:
            return f"{file} cannot be understood"
        if section == "filter" and value in _LFS:
            continue
        if key == "fsmonitor" and value.casefold() in ("false", "true", "no", "yes", "0", "1", "off", "on"):
            continue
        if key == "worktree" and section == "core" and file.parent.parent.name == "modules":
            continue
        if key == "update" and not value.startswith("!"):
            continue
        if section in _SECTIONS or key in _KEYS:
            return f"{file} sets {section}.{key}"
    return ""


def paths_named(file: str | Path) -> Iterator[tuple[str, str]]:
    """The paths that a file of settings names for what steers git, as written: `include` (each one's condition aside)
    and `hooks`. None where it cannot be read; what is not understood ends it, as it does for git.
    """
    try:
        data = read_start(file, MAX_CONFIG_BYTES)
    except OSError:
        return
    for section, key, value in _settings(data.decode("utf-8", "surrogateescape")):
        if section in ("include", "includeif") and key == "path" and value:
            yield "include", value
        elif (section, key) == ("core", "hookspath") and value:
            yield "hooks", value


def _settings(text: str) -> Iterator[tuple[str, str, str]]:
    """Section (without its subsection), key, value of each setting, lower case but for the value.

    A line that is not understood gives an empty section.
    """
    section = ""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\\\n", " ").split("\n")
    for raw in lines:
        line = raw.strip()
        if line.startswith("["):
            header, closed, line = _header(line)
            if not closed:
                yield "", "", ""
                return
            section = header
        if not line or line[0] in "#;":
            continue
        found = _SETTING.match(line)
        if found is None:
            yield "", "", ""
            return
        yield section, found[1].casefold(), _value(found[2] or "")


def _header(line: str) -> tuple[str, bool, str]:
    """A section's name, whether the header is closed, and what stands behind it on the line."""
    quoted = False
    position = 1
    while position < len(line):
        char = line[position]
        if quoted and char == "\\":
            position += 1
        elif char == '"':
            quoted = not quoted
        elif char == "]" and not quoted:
            name = line[1:position].split('"')[0].strip().split(".")[0]
            return name.casefold(), bool(name), line[position + 1 :].strip()
        position += 1
    return "", False, ""


def _value(text: str) -> str:
    for mark in ("#", ";"):
        if '"' not in text:
            text = text.partition(mark)[0]
    return text.strip().strip('"')


def gitlinks(index: Path) -> list[str]:
    """The paths of submodules in git's index. Raises `OSError` when it cannot be read."""
    if not index.is_file():
        return []
    data = read_start(index, MAX_INDEX_BYTES + 1)
    if len(data) > MAX_INDEX_BYTES:
        raise OSError("the index is too large")
    if _GITLINK not in data:
        return []
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        raise OSError("the index has an unknown form")
    paths: list[str] = []
    at, name = 12, b""
    flags_at = 40 + _hash_size(index.parent)
    for _ in range(count):
        flags = int.from_bytes(data[at + flags_at : at + flags_at + 2], "big")
        start = at + flags_at + (4 if flags & 0x4000 else 2)
        kept, start = _kept(data, start, name) if version == 4 else (b"", start)
        end = data.find(b"\x00", start)
        if end < 0:
            raise OSError("the index is cut short")
        name = kept + data[start:end]
        if flags & _LENGTH not in (len(name), _LENGTH):
            raise OSError("the index has an unknown form")
        if data[at + 24 : at + 28] == _GITLINK:
            paths.append(os.fsdecode(name))
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8
    return paths


def _hash_size(folder: Path) -> int:
    """Bytes of an object's name in a git folder. Raises `OSError` for an unknown kind."""
    config = Path(common_folder(folder), "config")
    try:
        text = read_start(config, MAX_CONFIG_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return _HASHES["sha1"]
    kinds = [
        value for section, key, value in _settings(text) if (section, key) == ("extensions", "objectformat")
    ]
    try:
        return _HASHES[kinds[-1].casefold() if kinds else "sha1"]
    except KeyError as error:
        raise OSError("the index has an unknown form") from error


def _kept(data: bytes, at: int, name: bytes) -> tuple[bytes, int]:
    """What version 4 keeps of the name before, and where the rest of this name begins."""
    count = -1
    while True:
        byte = data[at : at + 1] or b"\0"
        count, at = (count + 1 << 7) + (byte[0] & 127), at + 1
        if byte[0] < 128:
            return name[: len(name) - count], at

"""Whether reading a repository with git could run programs that the repository itself names.

Git obeys the repository's own configuration: a file-system monitor, a pager, filters, a diff program. In a folder
that came from elsewhere these are somebody else's commands, so git is then asked about. The user's own global
configuration is trusted. Nothing here runs git.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from grokmini.text.paths import real_path
from grokmini.text.regular import read_start

MAX_CONFIG_BYTES = 1_000_000
MAX_REPOSITORIES = 200
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
_GITLINK = b"\x00\x00\xe0\x00"


def runs_programs(folder: Path) -> str:
    """What makes git in that folder able to run the repository's programs; empty when nothing does.

    Whatever cannot be read or understood counts as able.
    """
    try:
        git_dir = _find_git_dir(folder)
    except OSError:
        return "its .git cannot be read"
    if git_dir is None:
        return ""
    waiting, seen = [git_dir], set[Path]()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        if len(seen) > MAX_REPOSITORIES:
            return "it has more submodules than can be looked at"
        try:
            if reason := _objection(current):
                return reason
            waiting += _submodules(current)
        except OSError:
            return f"{current} cannot be read"
    return ""


def _find_git_dir(folder: Path) -> Path | None:
    """The git folder that git would use there: `.git`, what a `.git` file names, or a bare repository."""
    real = real_path(folder)
    for candidate in (real, *real.parents):
        marker = candidate / ".git"
        if marker.is_dir():
            return marker
        if marker.is_file():
            return _named_by(marker)
        if (
            (candidate / "HEAD").is_file()
            and (candidate / "objects").is_dir()
            and (candidate / "refs").is_dir()
        ):
            return candidate
    return None


def _named_by(marker: Path) -> Path:
    named = read_start(marker, MAX_POINTER_BYTES).decode("utf-8", "replace").partition("gitdir:")[2].strip()
    return _below(marker.parent, named)


def _below(folder: Path, named: str) -> Path:
    """The real path that a file of git's names. Raises `OSError` when it is no path."""
    if "\0" in named:
        raise OSError("it names no path")
    return real_path(folder / named)


def _objection(git_dir: Path) -> str:
    common = git_dir
    pointer = git_dir / "commondir"
    if os.path.lexists(pointer):
        common = _below(git_dir, read_start(pointer, MAX_POINTER_BYTES).decode("utf-8", "replace").strip())
    for file in {common / "config", common / "config.worktree", git_dir / "config.worktree"}:
        if reason := _executable_setting(file):
            return reason
    for folder in {common, git_dir}:
        hook = folder / "hooks" / "post-index-change"
        if os.access(hook, os.X_OK):
            return f"{hook} would run"
    return ""


def _executable_setting(file: Path) -> str:
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


def _submodules(git_dir: Path) -> list[Path]:
    """The git folders that git would go into for submodules. Raises `OSError` when they cannot be told."""
    found: list[Path] = []
    modules = git_dir / "modules"
    if modules.is_dir():
        for at, folders, files in os.walk(modules):
            if "HEAD" in files and "objects" in folders:
                found.append(Path(at))
                folders[:] = [name for name in folders if name == "modules"]
            if len(found) > MAX_REPOSITORIES:
                return found
    worktree = git_dir.parent
    for path in _gitlinks(git_dir / "index"):
        marker = worktree / path / ".git"
        if marker.is_file():
            found.append(_named_by(marker))
        elif marker.is_dir():
            found.append(marker)
    return found


def _gitlinks(index: Path) -> list[str]:
    """The paths of submodules in git's index (versions 2 and 3). Raises `OSError` when it cannot be read."""
    if not index.is_file():
        return []
    data = read_start(index, MAX_INDEX_BYTES + 1)
    if len(data) > MAX_INDEX_BYTES:
        raise OSError("the index is too large")
    if _GITLINK not in data:
        return []
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    config = index.parent / "config"
    other_hash = config.is_file() and b"sha256" in read_start(config, MAX_CONFIG_BYTES).lower()
    if data[:4] != b"DIRC" or version not in (2, 3) or other_hash:
        raise OSError("the index has an unknown form")
    paths: list[str] = []
    at = 12
    for _ in range(count):
        flags = int.from_bytes(data[at + 60 : at + 62], "big")
        start = at + 62 + (2 if flags & 0x4000 else 0)
        end = data.find(b"\x00", start)
        if end < 0:
            raise OSError("the index is cut short")
        if data[at + 24 : at + 28] == _GITLINK:
            paths.append(os.fsdecode(data[start:end]))
        at += (end - at + 8) // 8 * 8
    return paths

"""What is in the way of a command under a policy, told before it is run: by its programs, and by the paths it names.

Goes by words alone and runs nothing, so it can miss what a program does by itself; what it tells would be stopped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from grokmini.sandbox.command_rules import CommandRules
from grokmini.sandbox.git_folders import git_folders
from grokmini.sandbox.plan import is_unconfined
from grokmini.sandbox.policy import Policy

_ENGINES: Final = frozenset({"docker", "podman", "nerdctl", "buildah", "docker-compose", "crictl", "ctr"})
_POWERS: Final = (
    (
        frozenset({"sudo", "su", "doas", "pkexec", "runuser"}),
        "no program gains rights in the sandbox (no_new_privs): do it yourself, or let it run outside",
    ),
    (
        frozenset({"unshare", "chroot", "bwrap", "nsenter", "firejail"}),
        "no namespaces can be made in the sandbox, and no other root",
    ),
    (
        frozenset(
            {"mount", "umount", "fusermount", "swapon", "losetup", "modprobe", "insmod", "reboot", "sysctl"}
        ),
        "the sandbox takes every right over the system, also from root",
    ),
    (
        frozenset({"systemctl", "systemd-run", "service", "crontab", "at", "batch"}),
        "what it would start runs outside of the sandbox: its socket or folder is kept from commands",
    ),
    (
        frozenset({"google-chrome", "chrome", "chromium", "chromium-browser"}),
        "a browser cannot make its own sandbox in this one: it needs --no-sandbox",
    ),
)
_NETWORK: Final = frozenset(
    {"curl", "wget", "ssh", "scp", "sftp", "rsync", "ping", "nc", "ncat", "telnet", "ftp", "gh", "dig", "host",
     "nslookup", "ssh-copy-id", "aws", "gcloud", "kubectl", "ssh-agent"}
)  # fmt: skip
_FETCHERS: Final = {
    "git": {"clone", "fetch", "pull", "push", "ls-remote"},
    "apt": {"update", "install", "upgrade"},
    "apt-get": {"update", "install", "upgrade"},
    "cargo": {"install", "fetch", "update", "add"},
    "go": {"get", "install"},
    "npm": {"install", "i", "ci", "add", "update", "publish"},
    "pip": {"install", "download"},
    "pip3": {"install", "download"},
    "pnpm": {"install", "i", "add"},
    "uv": {"add", "sync", "pip"},
    "yarn": {"install", "add"},
}
_ALL_WRITTEN: Final = frozenset(
    {"touch", "tee", "rm", "rmdir", "mkdir", "truncate", "chmod", "chown", "chgrp", "mv", "shred", "unlink", "mknod",
     "mkfifo"}
)  # fmt: skip
_LAST_WRITTEN: Final = frozenset({"cp", "ln", "install", "rsync"})
_GIT_VALUES: Final = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"})
_FOR_READING: Final = frozenset(
    {"-l", "--list", "--get", "--get-all", "--get-regexp", "list", "get", "--show-origin"}
)
_GIT_CHANGES: Final = frozenset(
    {"add", "am", "apply", "bisect", "checkout", "cherry-pick", "clean", "commit", "fetch", "gc", "merge", "mv", "pull",
     "rebase", "reset", "restore", "revert", "rm", "stash", "switch", "tag", "worktree"}
)  # fmt: skip
_GLOBAL: Final = frozenset({"--global", "--system"})


class Parts(NamedTuple):
    """A command text taken apart: each program with its words, what it redirects to, and what it reads from."""

    commands: tuple[tuple[str, ...], ...]
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()


def obstacles(parts: Parts, policy: Policy, cwd: str, home: str) -> tuple[str, ...]:
    """Each a sentence; one that says so when there is none."""
    if is_unconfined(policy):
        return ("nothing: it may do whatever you can",)
    found = dict.fromkeys(_Look(policy, cwd, home).at(parts))
    return tuple(found) or ("nothing is known to be in its way",)


class _Look:
    """One command text under one policy."""

    def __init__(self, policy: Policy, cwd: str, home: str) -> None:
        self._policy = policy
        self._cwd = cwd
        self._home = home
        self._rules = CommandRules(policy)

    def at(self, parts: Parts) -> Iterator[str]:
        """Everything."""
        stripped: set[tuple[str, ...]] = set()
        for words in parts.commands:
            if words in stripped:
                continue  # git without what stands before its subcommand, which was looked at with it
            name = words[0].rpartition("/")[2]
            yield from self._powers(name, words)
            yield from self._network(name, words)
            if name == "git":
                folder, rest = self._git_words(words[1:])
                stripped.add(("git", *rest))
                yield from self._git(folder, rest)
            for path in _written(name, words[1:]):
                yield from self._write(path)
            for word in words[1:]:
                yield from self._read(word)
        for path in parts.writes:
            yield from self._write(path)
        for path in parts.reads:
            yield from self._read(path)

    def _powers(self, name: str, words: Sequence[str]) -> Iterator[str]:
        for programs, reason in _POWERS:
            if name in programs and "--no-sandbox" not in words:
                yield f"{name}: {reason}"
        if name in _ENGINES and (
            self._policy.network == "blocked" or any("sock" in path for path in self._policy.denied)
        ):
            yield f"{name}: the sockets of container engines are masked, since they lead out of any sandbox"

    def _network(self, name: str, words: Sequence[str]) -> Iterator[str]:
        if self._policy.network != "blocked":
            return
        blocked = f"the profile {self._policy.profile} blocks the network"
        wanted = _FETCHERS.get(name, set())
        if name in _NETWORK or not wanted.isdisjoint(words[1:]):
            yield f"{name}: {blocked}"
        elif "http.server" in words or name in ("uvicorn", "gunicorn", "flask", "redis-server", "postgres"):
            yield f"{name}: {blocked}, also for servers on this machine"

    def _git_words(self, words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """The folder it works in and its words from the subcommand on."""
        folder, at = self._cwd, 0
        while at < len(words) and words[at].startswith("-"):
            if words[at] == "-C" and at + 1 < len(words):
                folder = self._real(words[at + 1], folder)
            at += 2 if words[at] in _GIT_VALUES else 1
        return folder, tuple(words[at:])

    def _git(self, folder: str, words: tuple[str, ...]) -> Iterator[str]:
        if not _GLOBAL.isdisjoint(words) and words[:1] == ("config",):
            if _FOR_READING.isdisjoint(words):
                yield from self._write("~/.gitconfig" if "--global" in words else "/etc/gitconfig")
            return
        if words and words[0] in _GIT_CHANGES:
            for git_folder in git_folders(folder):
                if rule := self._why_not_written(f"{git_folder}/index"):
                    yield f"git {words[0]}: {git_folder} {rule}"
        writes, hooks = _writes_config(words), words[:2] == ("lfs", "install")
        for git_folder in git_folders(folder) if writes or hooks else ():
            for path in (f"{git_folder}/config", *((f"{git_folder}/hooks",) if hooks else ())):
                if rule := self._why_not_written(path):
                    yield f"git {' '.join(words[:2])}: {path} {rule}; it names programs that git runs, outside too"

    def _write(self, word: str) -> Iterator[str]:
        path = self._real(word, self._cwd)
        if rule := self._why_not_written(path):
            yield f"{path} {rule}"

    def _read(self, word: str) -> Iterator[str]:
        path = self._real(word, self._cwd)
        if word.startswith("-") or not ("/" in word or os.path.lexists(path)):
            return
        rule = self._rules.why_not_read(path)
        if rule == f"{path} is denied":
            yield f"{path} is hidden: it is denied"
        elif rule.endswith(" is denied"):
            yield f"{path} is hidden: {rule}"
        elif rule and os.path.lexists(path):
            yield f"{path} cannot be read: it is outside of what the profile {self._policy.profile} shows"

    def _why_not_written(self, path: str) -> str:
        """Why a command cannot write there; empty when it can."""
        if protected := self._rules.protected(path):
            return "stays read-only" if protected == path else f"stays read-only: {protected} does"
        rule = self._rules.why_not_written(path)
        if rule.startswith("only "):
            rule = f"it is outside of what the profile {self._policy.profile} lets be written"
        return f"cannot be written: {rule}" if rule else ""

    def _real(self, word: str, folder: str) -> str:
        if word == "~" or word.startswith("~/"):
            word = self._home + word[1:]
        return os.path.realpath(os.path.join(folder, word))


def _written(name: str, words: Sequence[str]) -> Iterator[str]:
    """What of a program's words it writes."""
    plain = [word for word in words if not word.startswith("-")]
    if name in ("chmod", "chown", "chgrp"):
        plain = plain[1:]
    if name in _ALL_WRITTEN:
        yield from plain
    elif name in _LAST_WRITTEN:
        yield from plain[-1:]
    elif name == "dd":
        yield from (word[3:] for word in words if word.startswith("of="))
    elif name == "sed" and any(word.startswith(("-i", "--in-place")) for word in words):
        yield from plain[1:]


def _writes_config(words: tuple[str, ...]) -> bool:
    """Whether git's words write the repository's own settings."""
    options = frozenset(words[1:])
    match words[:1]:
        case ("config",):
            return options.isdisjoint(_FOR_READING) and len([word for word in words[1:] if word[:1] != "-"]) > 1
        case ("remote",):
            return not options.isdisjoint(
                {"add", "remove", "rm", "rename", "set-url", "set-head", "set-branches"}
            )
        case ("branch",):
            return any(
                word in ("-m", "-M", "-u", "--move") or word.startswith("--set-upstream") for word in options
            )
        case ("push",):
            return not options.isdisjoint({"-u", "--set-upstream"})
        case ("submodule",):
            return not options.isdisjoint({"add", "init", "update", "set-url", "sync"})
        case ("maintenance" | "flow" | "lfs",):
            return not options.isdisjoint({"start", "register", "init", "install"})
    return False

"""The attacks with what each profile promises about them.

Columns: workspace, read-only, strict, custom with denied files and devbox, with bubblewrap; workspace, read-only and
strict without it; and the first five again with bubblewrap but without Landlock (`Wb`). `+` must be stopped, `-` not
promised, `x` lost for want of a mechanism, which the notice names, `.` does not apply.
"""

from __future__ import annotations

from typing import Final, NamedTuple

WHOLE: Final = ("W", "RO", "S", "C", "D")
WITHOUT_BWRAP: Final = ("w", "ro", "s")
WITHOUT_LANDLOCK: Final = tuple(f"{column}b" for column in WHOLE)
COLUMNS: Final = (*WHOLE, *WITHOUT_BWRAP, *WITHOUT_LANDLOCK)
LOST_WITHOUT_LANDLOCK: Final = ("n13",)
"""Where the network is open: abstract sockets are in no mount."""

_ALWAYS = "+++++ +++"
_FILES = "++++- +++"
_MOUNTS = "++++- xxx"
_INSIDE = "++++- x+x"
_NETWORK = "-++-- -++"
_DENIED = "...+. ..."

_ROWS: Final = (
    ("w01", "overwrite a file outside", _FILES),
    ("w02", "create a file outside", _FILES),
    ("w03", "write through a symlink in cwd", _FILES),
    ("w04", "create through a symlinked directory", _FILES),
    ("w05", "hard link into cwd, write the link", _FILES),
    ("w06", "move an outside file into cwd", _FILES),
    ("w07", "rename a cwd file over an outside file", _FILES),
    ("w08", "/proc/self/root alias", _FILES),
    ("w09", "/proc/self/cwd/.. alias", _FILES),
    ("w10", "/proc/AGENT/root and /cwd alias", _FILES),
    ("w11", "/proc/AGENT/fd: agent holds it open for writing", _ALWAYS),
    ("w12", "inherited descriptors", _ALWAYS),
    ("w13", "truncate(2)", _FILES),
    ("w14", "open(O_RDONLY|O_TRUNC)", _FILES),
    ("w15", "chmod outside", _MOUNTS),
    ("w16", "chown outside (to self: ctime moves)", _MOUNTS),
    ("w17", "utime outside", _MOUNTS),
    ("w18", "setxattr outside", _MOUNTS),
    ("w19", "mkfifo outside", _FILES),
    ("w20", "bind a unix socket outside", _FILES),
    ("w21", "mkdir / rmdir outside", _FILES),
    ("w22", "unlink outside", _FILES),
    ("w23", "symlink outside", _FILES),
    ("w24", "rename cwd itself / its parent", _FILES),
    ("w25", "user+mount namespace, bind the parent rw", _ALWAYS),
    ("w26", "nested bwrap with --bind / /", _ALWAYS),
    ("w27", "setuid program gains uid 0", _ALWAYS),
    ("w28", "shell rc file", _FILES),
    ("w29", "git hook in cwd/.git/hooks", _INSIDE),
    ("w30", "git config core.fsmonitor / hooksPath", _INSIDE),
    ("w31", "replace .git/hooks by renaming .git", _INSIDE),
    ("w32", "agent state: config, sandbox.toml, hooks", _FILES),
    ("w33", "project .grokmini config in cwd", _INSIDE),
    ("w34", ".venv/bin/activate in cwd", "-+--- -+-"),
    ("w35", "kernel settings in /proc/sys", _ALWAYS),
    ("w36", "raw block device", _ALWAYS),
    ("w37", "crontab", _ALWAYS),
    ("w38", "mknod a block device", _ALWAYS),
    ("w39", "cwd write in read-only", "-+--- -+-"),
    ("w40", "leave a file in the host's /dev/shm", "+++++ ---"),
    ("w41", "devbox: write in what is kept from it", "....+ ..."),
    ("r01", "denied file: cat", _DENIED),
    ("r02", "denied file: mv then cat", _DENIED),
    ("r03", "denied file: hard link then cat", _DENIED),
    ("r04", "denied file: cp -r the parent", _DENIED),
    ("r05", "denied file: tar of the parent", _DENIED),
    ("r06", "denied file: existing symlink alias", _DENIED),
    ("r07", "denied file: new symlink", _DENIED),
    ("r08", "denied file: shell glob", _DENIED),
    ("r09", "denied file: grep -r / find -exec", _DENIED),
    ("r10", "denied file: mv the parent directory, then cat", _DENIED),
    ("r11", "denied file: /proc/self/root and /proc/*/root", _DENIED),
    ("r12", "denied file: chmod then cat", _DENIED),
    ("r13", "denied file: umount / unshare + umount", _DENIED),
    ("r14", "denied file: overlay/bind of the parent", _DENIED),
    ("r15", "denied file: overwrite / delete the denied file", _DENIED),
    ("r16", "denied: move the parent, new session, cat", _DENIED),
    ("r17", "denied: file matching a glob made by the user later", "...-. ..."),
    ("r18", "same, after the launcher was renewed", _DENIED),
    ("r19", "existing hard link alias of a denied file", "...-. ..."),
    ("r20", "strict: read the home directory", "..+.. ..+"),
    ("r21", "strict: agent's own credentials file", "..+.. ..+"),
    ("n01", "tcp 127.0.0.1", _NETWORK),
    ("n02", "bash /dev/tcp", _NETWORK),
    ("n03", "udp sendto", _NETWORK),
    ("n04", "udp connect + send", _NETWORK),
    ("n05", "udp sendmsg", _NETWORK),
    ("n06", "udp sendmmsg", _NETWORK),
    ("n07", "ipv6 ::1", _NETWORK),
    ("n08", "TCP fast open", _NETWORK),
    ("n09", "DNS query", _NETWORK),
    ("n10", "raw and packet sockets", _ALWAYS),
    ("n11", "bind + listen on tcp", _NETWORK),
    ("n12", "other families: vsock, alg, netlink, bluetooth, can, tipc", _NETWORK),
    ("n13", "abstract unix socket of the host", _ALWAYS),
    ("n14", "pathname unix socket in the home directory", _NETWORK),
    ("n15", "pathname unix socket in /tmp", _NETWORK),
    ("n16", "unix dgram pair + sendmsg to a path", _NETWORK),
    ("n17", "io_uring available", _ALWAYS),
    ("n18", "32-bit system call gate (int 0x80)", _ALWAYS),
    ("n19", "x32 system call numbers", _ALWAYS),
    ("n20", "inherited connected socket", _ALWAYS),
    ("n21", "pidfd_getfd from the agent", _ALWAYS),
    ("a01", "signal the agent", _ALWAYS),
    ("a02", "kill -1", _ALWAYS),
    ("a03", "agent's environ (API key)", _ALWAYS),
    ("a04", "ptrace the agent", _ALWAYS),
    ("a05", "read the agent's memory", _ALWAYS),
    ("a06", "process_vm_readv of the agent", _ALWAYS),
    ("a07", "prlimit on the agent (CPU limit kills it)", _ALWAYS),
    ("a08", "agent's keyring", _ALWAYS),
    ("a09", "TIOCSTI on the controlling tty", _ALWAYS),
    ("a10", "write escape codes on the user's terminal", _ALWAYS),
    ("a11", "steal the terminal (TIOCSCTTY)", _ALWAYS),
    ("a12", "ssh/git prompt on the terminal", _ALWAYS),
    ("a13", "secrets in the child's own environment", _ALWAYS),
    ("l01", "fork bomb stays bounded and dies with the call", "+.... +.."),
    ("l02", "memory bomb (16 GiB)", "+.... +.."),
    ("l03", "double-forked daemon outlives the call", _ALWAYS),
    ("l04", "re-forking daemon", _ALWAYS),
    ("l05", "daemon that makes itself a subreaper and clears PDEATHSIG", _ALWAYS),
    ("l06", "timeout kills the whole tree", _ALWAYS),
    ("l07", "core dump lands on disk", _ALWAYS),
)


class Row(NamedTuple):
    """One attack with its promise by column."""

    attack: str
    title: str
    promise: dict[str, str]


def _promises(attack: str, marks: str) -> dict[str, str]:
    found = dict(zip((*WHOLE, *WITHOUT_BWRAP), marks.replace(" ", ""), strict=True))
    for column in WHOLE:
        lost = attack in LOST_WITHOUT_LANDLOCK and column not in ("RO", "S")
        found[f"{column}b"] = "x" if lost else found[column]
    return found


ROWS: Final = tuple(Row(attack, title, _promises(attack, marks)) for attack, title, marks in _ROWS)

_NOTHING: Final = "nothing"
_HIDDEN: Final = {f"w{number:02}" for number in range(1, 24)} | {"w28", "w41", "r20"}
"""What lies where strict has nothing at all."""
_ENDS: Final = {
    **dict.fromkeys(("w05", "w06", "w07"), "EROFS EACCES EXDEV"),
    **dict.fromkeys(("w10", "w11", "a05", "a10", "a11"), "EACCES ENOENT"),
    **dict.fromkeys(("w12", "w24", "w25", "w26", "w27", "w32"), _NOTHING),
    **dict.fromkeys((f"r{number:02}" for number in range(1, 15)), _NOTHING),
    **dict.fromkeys((f"n{number:02}" for number in range(1, 20)), "EPERM"),
    **dict.fromkeys(("n02", "n10", "n12", "n20", "a02", "a03", "a06", "a12", "a13", "l07"), _NOTHING),
    **dict.fromkeys(("a01", "a04", "a07", "n21"), "EPERM ESRCH"),
    "w20": "EROFS EACCES EPERM",
    "w31": "EROFS EACCES EBUSY",
    "w36": "nothing EACCES ENOENT",
    "w38": "EACCES EPERM",
    "w40": "done nothing EACCES",
    "r15": "EBUSY",
    "r16": "EBUSY",
    "a08": "EPERM",
    "a09": "EACCES EPERM ENOENT",
}


def refusals(attack: str, column: str) -> set[str]:
    """The ends of an attack, in its own view, that mean it was stopped in that column, and did not just fail."""
    found = set(_ENDS.get(attack, "EROFS EACCES").split())
    return found | {"ENOENT"} if column.upper().startswith("S") and attack in _HIDDEN else found

"""Local sockets that lead out of any sandbox: of what runs commands, signs or logs in for whoever asks.

A multiplexer, an editor, an agent or a container engine outside does what it is told by a command inside. Folders
are named whole where such programs make their sockets in one, since new ones come; others are found in the
kernel's table of what is listened on.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

_ENGINES: Final = (
    "/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock",
    "/run/docker/containerd/containerd.sock", "/run/k3s/containerd/containerd.sock", "/run/crio/crio.sock",
    "/run/buildkit/buildkitd.sock", "/var/lib/lxd/unix.socket", "/var/snap/lxd/common/lxd/unix.socket",
    "/var/lib/incus/unix.socket", "/run/libvirt/libvirt-sock",
)  # fmt: skip
_OF_ROOT: Final = (
    "/run/systemd/private", "/run/systemd/io.systemd.Manager", "/run/dbus/system_bus_socket", "/run/snapd.socket",
)  # fmt: skip
"""What would start a service for root, or install one, outside; others have to give a password there."""
_IN_RUNTIME: Final = (
    "docker.sock", "podman/podman.sock", "containerd-rootless/containerd.sock", "gnupg", "bus", "systemd/private",
    "systemd/io.systemd.Manager", "at-spi", "emacs", "keyring", "wezterm", "zellij", "hypr", "i3", "kakoune", "nvim",
    "buildkit/buildkitd.sock", "libvirt", "gcr", "openssh_agent", "ssh-agent", "ssh-agent.socket",
)  # fmt: skip
_SOCKETS_IN_HOME: Final = (
    ".docker/run/docker.sock", ".docker/desktop/docker.sock", ".colima/default/docker.sock",
    ".rd/docker.sock", ".orbstack/run/docker.sock", ".gnupg/S.gpg-agent", ".gnupg/S.gpg-agent.extra",
    ".emacs.d/server", ".screen", ".1password/agent.sock", ".bitwarden-ssh-agent.sock", ".git-credential-cache",
    ".cache/git/credential",
)  # fmt: skip
_SOCKET_VARIABLES: Final = (
    "SSH_AUTH_SOCK", "DOCKER_HOST", "CONTAINER_HOST", "DBUS_SESSION_BUS_ADDRESS", "NVIM", "NVIM_LISTEN_ADDRESS",
    "KITTY_LISTEN_ON", "NIRI_SOCKET", "SWAYSOCK", "I3SOCK", "BSPWM_SOCKET", "WATCHMAN_SOCK", "YDOTOOL_SOCKET",
    "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE", "TMUX",
)  # fmt: skip
_ADDRESS: Final = re.compile(r"^(?:unix:(?://)?(?:path=)?)?(/[^,;]+)")
_SCREENS: Final = ("/run/screen", "/run/screens", "/var/run/screen", "/tmp/screens", "/tmp/uscreens")
_DISPLAYS: Final = "/tmp/.X11-unix"
_OF_USER: Final = ("tmux-{}", "emacs{}", "zellij-{}", "kakoune-{}")
"""Folders of such programs in the temporary one, with the user's number."""
_LISTENING: Final = re.compile(
    rb"^\S+ \S+ \S+ 00010000 .*? (/.*"
    rb"(?:/tmux-\d+/[^/\n]+|/ssh-[^/\n]+/agent\.\d+|/\.ssh/.+|\.[A-Za-z0-9]{16}|/S\.[a-z]+-?agent[^/\n]*"
    rb"|/vscode-[^/\n]*\.sock|/screens?/.+|/emacs\d*/[^/\n]+|/nvim[^/\n]*(?:/.+|\.\d+\.\d+)|/sway-ipc[^/\n]+"
    rb"|/i3[^/\n]*/ipc-socket[^/\n]+|/kitty[^/\n]*|/[Aa]lacritty[^/\n]*\.sock|/wezterm/[^/\n]+|/zellij[^\n]+"
    rb"|/niri\.[^/\n]+\.sock|/foot[^/\n]*\.sock|/wayfire-[^/\n]+\.socket|/bspwm[^/\n]*-socket|/qtilesocket[^/\n]*"
    rb"|/mpv[^/\n]*(?:/[^/\n]+)?|/[^/\n]+-state/sock|/\.pm2/[^/\n]+|/urxvtd-[^/\n]+|/io\.systemd\.Manager"
    rb"|/\.ydotool_socket))$",
    re.M,
)
"""Lines of the kernel's table: a path that something listens on which can start programs."""
_BEFORE_ITS_NAME: Final = re.compile(r"\.[A-Za-z0-9]{16}$")
"""What ssh puts at the end while it makes the socket of a shared connection: the kernel knows it by that."""
_TABLE: Final = "/proc/net/unix"
_ACCEPTING: Final = 0x10000
"""The flag of a socket that listens, in /proc/net/unix."""


def sockets_out(home: str, env: Mapping[str, str]) -> Iterator[str]:
    """Where they are or would be: sockets, and folders full of them. Blocks."""
    user = os.getuid()
    runtime = env.get("XDG_RUNTIME_DIR", "") or f"/run/user/{user}"
    yield from (*_ENGINES, *(() if user else _OF_ROOT), *_SCREENS, _DISPLAYS)
    yield from (f"{runtime}/{name}" for name in _IN_RUNTIME)
    yield from (f"{home}/{name}" for name in _SOCKETS_IN_HOME)
    if env.get("XDG_CACHE_HOME", "").startswith("/"):
        yield f"{env['XDG_CACHE_HOME']}/git/credential"
    yield from (f"/tmp/{name.format(user)}" for name in _OF_USER)
    yield from _multiplexers(env)
    for variable in _SOCKET_VARIABLES:
        if found := _ADDRESS.match(env.get(variable, "")):
            yield found[1]
    if env.get("SCREENDIR", "").startswith("/"):
        yield env["SCREENDIR"]
    if env.get("WAYLAND_DISPLAY"):
        yield os.path.join(runtime, env["WAYLAND_DISPLAY"])
    yield from _listened_on()


def make_multiplexer_folders(env: Mapping[str, str]) -> None:
    """Make the folder of tmux where there is none yet: a server that is started during a command is then out of its
    reach as well, and no command can be the one to make it."""
    if shutil.which("tmux", path=env.get("PATH")):
        for folder in _multiplexers(env):
            with suppress(OSError):
                os.mkdir(folder, 0o700)


def _multiplexers(env: Mapping[str, str]) -> Iterator[str]:
    for base in dict.fromkeys(("/tmp", env.get("TMUX_TMPDIR", ""))):
        if base.startswith("/"):
            yield f"{base.rstrip('/')}/tmux-{os.getuid()}"


def _listened_on() -> Iterator[str]:
    for found in _LISTENING.finditer(_table()):
        path = os.fsdecode(found[1])
        yield path
        yield _BEFORE_ITS_NAME.sub("", path)


def bound_sockets() -> tuple[str, ...]:
    """The local sockets that programs of this machine listen on, by their paths, as far as one may look there."""
    found = set()
    for fields in (line.split(maxsplit=7) for line in _table().splitlines()[1:]):
        path = os.fsdecode(fields[7]) if len(fields) > 7 else ""
        if path.startswith("/") and int(fields[3], 16) & _ACCEPTING and is_socket(path):
            found.add(path)
    return tuple(sorted(found))


def is_socket(path: str) -> bool:
    """Whether a socket is there, as far as one may look."""
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


def _table() -> bytes:
    """The kernel's table of local sockets; empty where there is none."""
    try:
        return Path(_TABLE).read_bytes()
    except OSError:
        return b""

"""Ways out of the sandbox that are tried on the person's own machine, each harmless, by the rows of the attack table.

A way is Python that runs as a command with `P`, the places, at hand. It gets through when it comes to its end, is
stopped when the system refuses it (`OSError`) or kills it, and every other end means that it has not been tried.
"""

from __future__ import annotations

from typing import Final, NamedTuple

PRELUDE: Final = """
import json, os, socket, stat, subprocess, sys
P = json.loads(sys.argv[1])
cwd, out, temp, agent = P["cwd"], P["out"], P["temp"], P["agent"]
def libc(name, *words):
    import ctypes
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*words) < 0:
        raise OSError(ctypes.get_errno(), name)
def write(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
def link(name, to):
    os.symlink(to, f"{temp}/{name}")
    return f"{temp}/{name}"
def read(path):
    if os.path.isdir(path):
        os.listdir(path)
    elif not stat.S_ISSOCK(os.stat(path).st_mode):  # a hidden one is a file
        os.close(os.open(path, os.O_RDONLY))
def change(path):
    if os.path.isdir(path):
        path += f"/.grokmini-check-{agent}"
        write(path)
        os.unlink(path)
    else:
        os.close(os.open(path, os.O_WRONLY))
def refuse(condition):
    if condition:
        raise PermissionError
def reach_in(folder):
    os.chdir(folder)
    reach(socket.AF_UNIX, socket.SOCK_STREAM, "socket")
def reach(family, kind, address):
    end = socket.socket(family, kind)
    end.connect(address)
    return end
def way():
"""
STOPPED: Final = 77
EPILOGUE: Final = f"""
try:
    way()
except OSError:
    raise SystemExit({STOPPED})
"""


class Way(NamedTuple):
    """A row of the attack table; `kind` says what promises that it is closed (see `promises.py`)."""

    attack: str
    title: str
    kind: str
    code: str
    linux: bool = False
    """Whether it is one on Linux alone."""


OUTSIDE: Final = (
    Way("w01", "overwrite a file outside", "files", "write(out + '/file')"),
    Way("w02", "create a file outside", "files", "write(out + '/w02')"),
    Way("w03", "write through a symlink in cwd", "files", "write(link('w03', out + '/file'))"),
    Way("w04", "create through a symlinked directory", "files", "write(link('w04', out) + '/w04')"),
    Way(
        "w05",
        "hard link into cwd, write the link",
        "files",
        "os.link(out + '/file', temp + '/w05'); write(temp + '/w05')",
    ),
    Way("w06", "move an outside file into cwd", "files", "os.rename(out + '/w06', temp + '/w06')"),
    Way("w08", "/proc/self/root alias", "files", "write('/proc/self/root' + out + '/w08')", linux=True),
    Way("w10", "/proc/AGENT/root and /cwd alias", "files", "write(f'/proc/{agent}/root{out}/w10')", linux=True),
    Way("w13", "truncate(2)", "truncation", "os.truncate(out + '/file', 0)"),
    Way("w14", "open(O_RDONLY|O_TRUNC)", "truncation", "os.close(os.open(out + '/file', os.O_TRUNC))"),
    Way("w15", "chmod outside", "mounts", "os.chmod(out + '/file', 0o600)"),
    Way("w16", "chown outside (to self: ctime moves)", "mounts", "os.chown(out + '/file', os.getuid(), -1)"),
    Way("w17", "utime outside", "mounts", "os.utime(out + '/file', (1, 1))"),
    Way("w18", "setxattr outside", "mounts", "os.setxattr(out + '/file', 'user.check', b'1')", linux=True),
    Way("w19", "mkfifo outside", "files", "os.mkfifo(out + '/w19')"),
    Way(
        "w20", "bind a unix socket outside", "files", "os.chdir(out); socket.socket(socket.AF_UNIX).bind('w20')"
    ),
    Way("w21", "mkdir / rmdir outside", "files", "os.mkdir(out + '/w21')"),
    Way("w22", "unlink outside", "files", "os.unlink(out + '/w22')"),
    Way("w23", "symlink outside", "files", "os.symlink('/', out + '/w23')"),
    Way(
        "n14",
        "pathname unix socket in the home directory",
        "unix",
        "reach_in(out)",
        linux=True,
    ),
    Way("r20", "strict: read the home directory", "hidden", "os.listdir(out)"),
)
"""In a folder that is made for it in the home folder."""

PROTECTED: Final = {
    "w29": "git hook in cwd/.git/hooks",
    "w30": "git config core.fsmonitor / hooksPath",
    "w32": "agent state: config, sandbox.toml, hooks",
    "w33": "project .grokmini config in cwd",
    "w41": "devbox: write in what is kept from it",
}
"""Each path of its own."""
CHANGE: Final = "change({0!r})"
RENAME: Final = Way(
    "w31",
    "replace .git/hooks by renaming .git",
    "rename",
    "os.rename(cwd + '/.git', cwd + '/.git-check'); os.rename(cwd + '/.git-check', cwd + '/.git')",
)
DENIED: Final = Way("r01", "denied file: cat", "denied", "read({0!r})")
DENIED_FILE: Final = (
    Way(
        "r03", "denied file: hard link then cat", "denied", "os.link({0!r}, temp + '/r03'); read(temp + '/r03')"
    ),
    Way("r07", "denied file: new symlink", "denied", "read(link('r07', {0!r}))"),
    Way(
        "r11",
        "denied file: /proc/self/root and /proc/*/root",
        "denied",
        "read('/proc/self/root' + {0!r})",
        linux=True,
    ),
)

EVERYWHERE: Final = (
    Way("w12", "inherited descriptors", "always",
        "refuse(not [f for f in os.listdir('/proc/self/fd') if int(f) > 3])", linux=True),
    Way("w25", "user+mount namespace, bind the parent rw", "namespaces", "libc('unshare', 0x10000000)", linux=True),
    Way("w27", "setuid program gains uid 0", "always",
        "refuse('NoNewPrivs:\\t1' in open('/proc/self/status').read())", linux=True),
    Way("w35", "kernel settings in /proc/sys", "layers",
        "os.close(os.open('/proc/sys/vm/swappiness', os.O_WRONLY))", linux=True),
    Way("w38", "mknod a block device", "always",
        "os.mknod(temp + '/w38', stat.S_IFBLK | 0o600, os.makedev(7, 0))", linux=True),
    Way("w39", "cwd write in read-only", "cwd", "p = f'{cwd}/.grokmini-check-{agent}'; write(p); os.unlink(p)"),
    Way("w40", "leave a file in the host's /dev/shm", "shared", "write(P['shared'])", linux=True),
    Way("n01", "tcp 127.0.0.1", "tcp", "reach(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', P['tcp']))"),
    Way("n02", "bash /dev/tcp", "tcp",
        "refuse(subprocess.run(['bash', '-c', f'echo >/dev/tcp/127.0.0.1/{P[\"tcp\"]}'], stderr=-3).returncode)"),
    Way("n03", "udp sendto", "network",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'n03', ('127.0.0.1', P['udp']))"),
    Way("n04", "udp connect + send", "network",
        "reach(socket.AF_INET, socket.SOCK_DGRAM, ('127.0.0.1', P['udp'])).send(b'n04')"),
    Way("n05", "udp sendmsg", "network",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendmsg([b'n05'], [], 0, ('127.0.0.1', P['udp']))"),
    Way("n10", "raw and packet sockets", "always", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"),
    Way("n11", "bind + listen on tcp", "bind", "a = socket.socket(); a.bind(('127.0.0.1', 0)); a.listen()"),
    Way("n13", "abstract unix socket of the host", "abstract",
        "reach(socket.AF_UNIX, socket.SOCK_STREAM, chr(0) + P['abstract'])", linux=True),
    Way("n15", "pathname unix socket in /tmp", "unix", "reach_in(temp)", linux=True),
    Way("n17", "io_uring available", "filter",
        "import ctypes; libc('syscall', 425, 1, ctypes.create_string_buffer(120))", linux=True),
    Way("n19", "x32 system call numbers", "filter", "libc('syscall', 0x40000000 | 39)", linux=True),
    Way("n20", "inherited connected socket", "always",
        "refuse(not any(stat.S_ISSOCK(os.fstat(f).st_mode) for f in (0, 1, 2)))"),
    Way("n21", "pidfd_getfd from the agent", "agent", "libc('syscall', 438, os.pidfd_open(agent), 0, 0)", linux=True),
    Way("a01", "signal the agent", "signals", "os.kill(agent, 0)"),
    Way("a03", "agent's environ (API key)", "agent", "open(f'/proc/{agent}/environ').close()", linux=True),
    Way("a04", "ptrace the agent", "agent", "libc('ptrace', 0x4206, agent, None, None)", linux=True),
    Way("a05", "read the agent's memory", "agent", "open(f'/proc/{agent}/mem', 'rb').close()", linux=True),
    Way("a07", "prlimit on the agent (CPU limit kills it)", "limits",
        "import resource as r; r.prlimit(agent, r.RLIMIT_CPU, r.prlimit(agent, r.RLIMIT_CPU))", linux=True),
    Way("a08", "agent's keyring", "filter",
        "import platform; libc('syscall', 250 if platform.machine() == 'x86_64' else 219, 0, -3, 1)", linux=True),
    Way("a10", "write escape codes on the user's terminal", "layers",
        "os.close(os.open(P['tty'], os.O_WRONLY | os.O_NOCTTY))"),
    Way("a12", "ssh/git prompt on the terminal", "always", "os.close(os.open('/dev/tty', os.O_WRONLY))"),
    Way("a13", "secrets in the child's own environment", "always", "refuse(P['marker'] not in os.environ.values())"),
    Way("l07", "core dump lands on disk", "always",
        "import resource; refuse(resource.getrlimit(resource.RLIMIT_CORE)[1] == 0)"),
)  # fmt: skip
DAEMONS: Final = (
    Way("l03", "double-forked daemon outlives the call", "always",
        "subprocess.Popen(['/bin/sh', '-c', '(setsid sleep ' + P['mark'] + ' &)'], "
        "stdin=-3, stdout=-3, stderr=-3).wait()", linux=True),
    Way("l05", "daemon that makes itself a subreaper and clears PDEATHSIG", "always",
        "libc('prctl', 36, 1, 0, 0, 0); libc('prctl', 1, 0, 0, 0, 0); "
        "subprocess.Popen(['sleep', P['mark']], stdin=-3, stdout=-3, stderr=-3, start_new_session=True)", linux=True),
)  # fmt: skip
"""They have got through when what they started is there after the call."""

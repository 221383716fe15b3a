"""Carries out attacks from inside a sandbox: the standard library alone, run by the path of this file.

Arguments: a JSON file with the places. Prints one JSON object: by attack, whether it succeeded (in its own view).
Each runs in a child of its own, so that none can spoil another.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import traceback
from collections.abc import Callable
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
P: dict[str, Any] = {}
X86 = os.uname().machine == "x86_64"
SECONDS = 60


def syscall(*words: Any) -> int:
    """A system call; raises OSError."""
    result: int = LIBC.syscall(*[ctypes.c_long(word) if isinstance(word, int) else word for word in words])
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def out(name: str) -> str:
    """A file outside the writable folders."""
    return os.path.join(P["outside"], name)


def cwd(name: str) -> str:
    """A file in the project."""
    return os.path.join(P["cwd"], name)


def write(path: str) -> bool:
    """Overwrite or create."""
    with open(path, "w") as file:
        file.write("attacked")
    return True


def append(path: str) -> bool:
    """Add to what is there."""
    with open(path, "a") as file:
        file.write("\n# attacked\n")
    return True


def w03() -> bool:
    os.symlink(out("w03"), cwd("w03"))
    return write(cwd("w03"))


def w04() -> bool:
    os.symlink(P["outside"], cwd("w04"))
    return write(cwd("w04/w04-new"))


def w05() -> bool:
    os.link(out("w05"), cwd("w05"))
    return write(cwd("w05"))


def w06() -> bool:
    os.rename(out("w06"), cwd("w06"))
    return True


def w07() -> bool:
    write(P["temp"] + "/w07")
    os.rename(P["temp"] + "/w07", out("w07"))
    return True


def w09() -> bool:
    os.chdir(P["cwd"])
    return write("/proc/self/cwd/../outside/w09")


def w10() -> bool:
    try:
        return write(f"/proc/{P['agent']}/root{out('w10')}")
    except OSError:
        return write(f"/proc/{P['agent']}/cwd/outside/w10")


def descriptors(pid: str) -> list[str]:
    """Where the descriptors of a process lead."""
    links = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        if int(fd) > 2:
            with contextlib.suppress(OSError):  # the one that lists them is gone
                links.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return links


def w11() -> bool:
    for fd in os.listdir(f"/proc/{P['agent']}/fd"):
        try:
            target = os.readlink(f"/proc/{P['agent']}/fd/{fd}")
        except FileNotFoundError:  # closed meanwhile
            continue
        if target.endswith("/w11"):
            return write(f"/proc/{P['agent']}/fd/{fd}")
    return False


def w12() -> bool:
    return bool(INHERITED)


def w14() -> bool:
    os.close(os.open(out("w14"), os.O_RDONLY | os.O_TRUNC))
    return os.path.getsize(out("w14")) == 0


def w16() -> bool:
    before = os.stat(out("w16")).st_ctime_ns
    os.chown(out("w16"), os.getuid(), -1)
    return os.stat(out("w16")).st_ctime_ns != before


def w20() -> bool:
    end = socket.socket(socket.AF_UNIX)
    end.bind(out("w20-new"))
    return True


def w21() -> bool:
    try:
        os.mkdir(out("w21-new"))
    except OSError:
        os.rmdir(out("w21-folder"))
    return True


def w24() -> bool:
    for path in (P["cwd"], P["base"]):
        try:
            os.rename(path, path + "-moved")
        except OSError:
            continue
        os.rename(path + "-moved", path)
        return True
    return False


def w25() -> bool:
    if LIBC.unshare(0x10000000 | 0x20000):
        return False
    return not LIBC.mount(P["base"].encode(), P["base"].encode(), None, 4096, None) and write(out("w25"))


def w26() -> bool:
    return run("bwrap", "--bind", "/", "/", "sh", "-c", f"echo attacked >{out('w26')}").returncode == 0


def w27() -> bool:
    with open("/proc/self/status") as file:
        status = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
    if os.getuid() == 0:
        return bool(int(status["CapEff"], 16)) or bool(int(status["CapBnd"], 16))
    if not os.path.exists(P["setuid"]):
        return status["NoNewPrivs"].strip() != "1"
    return b"euid=0" in run(P["setuid"]).stdout


def w30() -> bool:
    """The agent looks whether the file that leads git elsewhere is still there afterwards."""
    with contextlib.suppress(OSError):
        os.makedirs(cwd("evil"))
        write(cwd("evil/config"))
        write(cwd(".git/commondir"))
    return append(cwd(".git/config"))


def w31() -> bool:
    os.rename(cwd(".git"), cwd(".git-moved"))
    os.rename(cwd(".git-moved"), cwd(".git"))
    return True


def w32() -> bool:
    for name in ("config.toml", "sandbox.toml", "hooks/start"):
        try:
            return write(os.path.join(P["state"], name))
        except OSError:
            continue
    return False


def w35() -> bool:
    with open("/proc/sys/vm/swappiness") as file:
        value = file.read()
    with open("/proc/sys/vm/swappiness", "w") as file:
        file.write(value)
    return True


def w36() -> bool:
    for name in os.listdir("/sys/class/block"):
        if os.path.exists(f"/dev/{name}"):
            os.close(os.open(f"/dev/{name}", os.O_WRONLY))
            return True
    return False


def w37() -> bool:
    for folder in filter(os.path.isdir, ("/var/spool/cron", "/etc/cron.daily", "/etc/cron.d")):
        path = f"{folder}/.grokmini-attack-{os.getpid()}"
        try:
            write(path)
        except OSError as error:
            refused = error
            continue
        os.unlink(path)
        return True
    raise refused


def w38() -> bool:
    os.mknod(P["temp"] + "/w38", stat.S_IFBLK | 0o600, os.makedev(7, 0))
    return True


def run(*words: str) -> subprocess.CompletedProcess[bytes]:
    """A program with its output."""
    return subprocess.run(words, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=SECONDS)


def reads(name: str, script: str) -> Callable[[], bool]:
    """Whether a shell script in the project brings the secret to light. `D` is the denied file's folder."""

    def attack() -> bool:
        full = f"cd {P['cwd']}; D={name}; {script}"
        return P["secret"].encode() in run("sh", "-c", full).stdout

    return attack


def r15() -> bool:
    path = cwd("r15/key")
    try:
        return write(path)
    except OSError:
        os.unlink(path)
        return True


def r21() -> bool:
    with open(os.path.join(P["state"], "auth.json")) as file:
        return bool(file.read())


def does(function: Callable[..., None], *words: Any) -> bool:
    """Call it; that it did not fail is its success."""
    function(*words)
    return True


def dgram() -> socket.socket:
    """A UDP socket."""
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def n01() -> bool:
    with socket.create_connection(("127.0.0.1", P["tcp"]), SECONDS):
        return True


def n02() -> bool:
    return run("bash", "-c", f"echo n02 >/dev/tcp/127.0.0.1/{P['tcp']}").returncode == 0


def n03() -> bool:
    return bool(dgram().sendto(b"n03", ("127.0.0.1", P["udp"])))


def n04() -> bool:
    end = dgram()
    end.connect(("127.0.0.1", P["udp"]))
    return bool(end.send(b"n04"))


def n05() -> bool:
    return bool(dgram().sendmsg([b"n05"], [], 0, ("127.0.0.1", P["udp"])))


def n06() -> bool:
    number = 307 if X86 else 269
    end = dgram()
    address = ctypes.create_string_buffer(udp_address())
    text = ctypes.create_string_buffer(b"n06")
    vector = ctypes.create_string_buffer(struct.pack("@PN", ctypes.addressof(text), 3))
    header = struct.pack("@PI4xPNPNi4x", ctypes.addressof(address), 16, ctypes.addressof(vector), 1, 0, 0, 0)
    message = ctypes.create_string_buffer(header + struct.pack("@I4x", 0))
    return syscall(number, end.fileno(), ctypes.byref(message), 1, 0) == 1


def n07() -> bool:
    with socket.socket(socket.AF_INET6) as end:
        end.connect(("::1", P["tcp6"]))
    return True


def n08() -> bool:
    with socket.socket(socket.AF_INET) as end:
        return bool(end.sendto(b"n08", 0x20000000, ("127.0.0.1", P["tcp"])))


def n09() -> bool:
    query = b"\x12\x34\x01\0\0\1\0\0\0\0\0\0\x07invalid\0\0\1\0\1"
    return bool(dgram().sendto(query, ("127.0.0.1", P["udp"])))


def n10() -> bool:
    for family, kind, protocol in ((2, 3, 1), (10, 3, 58), (17, 3, 768), (17, 2, 768)):
        try:
            socket.socket(family, kind, protocol).close()
        except OSError:
            continue
        return True
    return False


def n11() -> bool:
    with socket.socket(socket.AF_INET) as end:
        end.bind(("127.0.0.1", 0))
        end.listen()
    return True


def n12() -> bool:
    for family, kind in ((40, 1), (38, 5), (16, 3), (31, 3), (29, 3), (30, 1)):
        try:
            socket.socket(family, kind, 0).close()
        except OSError:
            continue
        return True
    return False


def connects(key: str) -> Callable[[], bool]:
    """Whether a local socket of the host can be reached."""

    def attack() -> bool:
        with socket.socket(socket.AF_UNIX) as end:
            end.connect(P[key])
        return True

    return attack


def n13() -> bool:
    with socket.socket(socket.AF_UNIX) as end:
        end.connect("\0" + P["abstract"])
    return True


def n16() -> bool:
    end, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return bool(end.sendto(b"n16", P["dgram"]))


def udp_address() -> bytes:
    """Where the host listens, as the kernel wants it."""
    return struct.pack("=H", 2) + struct.pack("!H4s8x", P["udp"], b"\x7f\0\0\1")


def n17() -> bool:
    """A socket, a connection and a packet, all of them by a ring."""
    params = ctypes.create_string_buffer(120)
    ring = syscall(425, 4, params)
    words = struct.unpack("=30I", params.raw)
    (sq_tail, sq_mask, array), (cq_head, cq_tail, cq_mask, entries) = (
        (words[11], words[12], words[16]),
        (words[20], words[21], words[22], words[25]),
    )
    size = max(array + 4 * words[0], entries + 16 * words[1])
    queue, slots = mmap.mmap(ring, size, offset=0), mmap.mmap(ring, 64 * words[0], offset=0x10000000)

    def number(offset: int) -> int:
        return int(struct.unpack_from("=I", queue, offset)[0])

    def operation(code: int, fd: int, offset: int, address: int, length: int) -> int:
        tail = number(sq_tail)
        slot = tail & number(sq_mask)
        struct.pack_into("=BBHiQQIIQ24x", slots, 64 * slot, code, 0, 0, fd, offset, address, length, 0, 0)
        struct.pack_into("=I", queue, array + 4 * slot, slot)
        struct.pack_into("=I", queue, sq_tail, tail + 1)
        syscall(426, ring, 1, 1, 1, None, 0)
        head = number(cq_head)
        assert number(cq_tail) != head
        result = int(struct.unpack_from("=i", queue, entries + 16 * (head & number(cq_mask)) + 8)[0])
        struct.pack_into("=I", queue, cq_head, head + 1)
        return checked(result)

    address, text = ctypes.create_string_buffer(udp_address()), ctypes.create_string_buffer(b"n17")
    end = operation(45, socket.AF_INET, socket.SOCK_DGRAM, 0, 0)
    operation(16, end, 16, ctypes.addressof(address), 0)
    return operation(26, end, 0, ctypes.addressof(text), 3) == 3


def checked(result: int) -> int:
    """What a system call came to; raises OSError."""
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return result


OLD_GATE = b"\x53\x89\xf8\x89\xf3\x89\xd1\xcd\x80\x5b\xc3"
"""Machine code of a function: its arguments are the number and two more words for the 32-bit gate."""


def n18() -> bool:
    """A packet by socketcall through the old gate; all it is told of lies where 32 bits reach."""
    if not X86:
        raise OSError(errno.ENOSYS, "no such gate on this processor")
    low = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40
    memory = mmap.mmap(-1, mmap.PAGESIZE, low, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    memory[: len(OLD_GATE)] = OLD_GATE
    gate = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint)(start)
    memory[256:272], memory[272:275] = udp_address(), b"n18"

    def socketcall(which: int, *words: int) -> int:
        struct.pack_into(f"={len(words)}I", memory, 512, *words)
        return checked(gate(102, which, start + 512))

    end = socketcall(1, socket.AF_INET, socket.SOCK_DGRAM, 0)
    return socketcall(11, end, start + 272, 3, 0, start + 256, 16) == 3


def n19() -> bool:
    if not X86:
        raise OSError(errno.ENOSYS, "no such numbers on this processor")
    end = syscall(0x40000000 | 41, socket.AF_INET, socket.SOCK_DGRAM, 0)
    address, text = ctypes.create_string_buffer(udp_address()), ctypes.create_string_buffer(b"n19")
    return syscall(0x40000000 | 44, end, ctypes.byref(text), 3, 0, ctypes.byref(address), 16) == 3


def n20() -> bool:
    return any(link.startswith("socket:") for link in INHERITED)


def n21() -> bool:
    pidfd = os.pidfd_open(P["agent"])
    return syscall(438, pidfd, 1, 0) >= 0


def a01() -> bool:
    os.kill(P["agent"], signal.SIGUSR1)
    return True


def a02() -> bool:
    """With a signal that is ignored unless it is waited for; the agent tells whether it came."""
    os.kill(-1, signal.SIGURG)
    return False


def a03() -> bool:
    for pid in (name for name in os.listdir("/proc") if name.isdigit()):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if P["marker"].encode() in file.read():
                    return True
        except OSError:
            continue
    return False


def a04() -> bool:
    if LIBC.ptrace(0x4206, P["agent"], None, None):
        raise OSError(ctypes.get_errno(), "ptrace")
    return True


def a05() -> bool:
    with open(f"/proc/{P['agent']}/mem", "rb"):
        return True


def a06() -> bool:
    """Any other error than being refused means that it was let in."""
    byte = ctypes.create_string_buffer(8)
    local = struct.pack("@PN", ctypes.addressof(byte), 8)
    remote = struct.pack("@PN", 4096, 8)
    try:
        syscall(310 if X86 else 270, P["agent"], local, 1, remote, 1, 0)
    except OSError as error:
        return error.errno == errno.EFAULT
    return True


def a07() -> bool:
    limits = resource.prlimit(P["agent"], resource.RLIMIT_CPU)
    resource.prlimit(P["agent"], resource.RLIMIT_CPU, limits)
    return True


def a08() -> bool:
    return syscall(250 if X86 else 219, 0, -3, 1) >= 0


def a09() -> bool:
    try:
        fd = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        fd = os.open(P["tty"], os.O_RDONLY | os.O_NOCTTY)
    fcntl.ioctl(fd, 0x5412, b"x")
    return True


def a10() -> bool:
    fd = os.open(P["tty"], os.O_WRONLY | os.O_NOCTTY)
    return bool(os.write(fd, b"\x1b]0;attacked\x07"))


def a11() -> bool:
    fd = os.open(P["tty"], os.O_RDONLY | os.O_NOCTTY)
    os.setsid()
    fcntl.ioctl(fd, 0x540E, 1)
    return True


def a12() -> bool:
    return run("sh", "-c", "exec 2>/dev/null; echo password? >/dev/tty").returncode == 0


def a13() -> bool:
    return any(P["marker"] in value for value in os.environ.values())


def l07() -> bool:
    folder = P["temp"]
    child = os.fork()
    if not child:
        os.chdir(folder)
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
        os.abort()
    os.waitpid(child, 0)
    return any(name.startswith("core") for name in os.listdir(folder))


ATTACKS: dict[str, Callable[[], bool]] = {
    "w01": lambda: write(out("w01")),
    "w02": lambda: write(out("w02-new")),
    "w03": w03,
    "w04": w04,
    "w05": w05,
    "w06": w06,
    "w07": w07,
    "w08": lambda: write("/proc/self/root" + out("w08")),
    "w09": w09,
    "w10": w10,
    "w11": w11,
    "w12": w12,
    "w13": lambda: does(os.truncate, out("w13"), 0),
    "w14": w14,
    "w15": lambda: does(os.chmod, out("w15"), 0o777),
    "w16": w16,
    "w17": lambda: does(os.utime, out("w17"), (1, 1)),
    "w18": lambda: does(os.setxattr, out("w18"), "user.attack", b"1"),
    "w19": lambda: does(os.mkfifo, out("w19-new")),
    "w20": w20,
    "w21": w21,
    "w22": lambda: does(os.unlink, out("w22")),
    "w23": lambda: does(os.symlink, "/", out("w23-new")),
    "w24": w24,
    "w25": w25,
    "w26": w26,
    "w27": w27,
    "w28": lambda: append(os.path.join(P["home"], ".bashrc")),
    "w29": lambda: write(cwd(".git/hooks/pre-commit")),
    "w30": w30,
    "w31": w31,
    "w32": w32,
    "w33": lambda: write(cwd(".grokmini/config.toml")),
    "w34": lambda: append(cwd(".venv/bin/activate")),
    "w35": w35,
    "w36": w36,
    "w37": w37,
    "w38": w38,
    "w39": lambda: write(cwd("w39-new")),
    "w40": lambda: write("/dev/shm/" + P["shm"]),
    "w41": lambda: write(P["data"] + "/w41-new"),
    "r01": reads("r01", "cat $D/key"),
    "r02": reads("r02", "mv $D/key $D/other; cat $D/other"),
    "r03": reads("r03", "ln $D/key $D/other; cat $D/other"),
    "r04": reads("r04", "cp -r $D r04-copy; cat r04-copy/*"),
    "r05": reads("r05", "tar cf - $D"),
    "r06": reads("r06", "cat r06-alias"),
    "r07": reads("r07", "ln -s $D/key r07-link; cat r07-link"),
    "r08": reads("r08", "cat $D/k*"),
    "r09": reads("r09", "grep -r . $D; find $D -type f -exec cat {} +"),
    "r10": reads("r10", "mv $D r10-moved; cat r10-moved/key"),
    "r11": reads("r11", "for R in /proc/self/root /proc/[0-9]*/root; do cat $R$PWD/$D/key; done"),
    "r12": reads("r12", "chmod 777 $D $D/key; cat $D/key"),
    "r13": reads(
        "r13", 'umount $D/key; cat $D/key; unshare -Urm sh -c "umount -l $D/key; umount -l $D; cat $D/key"'
    ),
    "r14": reads("r14", 'mkdir r14-b; unshare -Urm sh -c "mount --bind . r14-b; cat r14-b/$D/key"'),
    "r15": r15,
    "r16": lambda: does(os.rename, cwd("r16"), cwd("r16-moved")),
    "r20": lambda: bool(os.listdir(P["home"])),
    "r21": r21,
    "n01": n01,
    "n02": n02,
    "n03": n03,
    "n04": n04,
    "n05": n05,
    "n06": n06,
    "n07": n07,
    "n08": n08,
    "n09": n09,
    "n10": n10,
    "n11": n11,
    "n12": n12,
    "n13": n13,
    "n14": connects("home_socket"),
    "n15": connects("temp_socket"),
    "n16": n16,
    "n17": n17,
    "n18": n18,
    "n19": n19,
    "n20": n20,
    "n21": n21,
    "a01": a01,
    "a02": a02,
    "a03": a03,
    "a04": a04,
    "a05": a05,
    "a06": a06,
    "a07": a07,
    "a08": a08,
    "a09": a09,
    "a10": a10,
    "a11": a11,
    "a12": a12,
    "a13": a13,
    "l07": l07,
}

INHERITED: list[str] = []


def attempt(attack: Callable[[], bool]) -> str:
    """What becomes of it, in a child with a time limit: `done`, `nothing`, the name of an error number, a crash."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        os.write(writing, told(attack).encode()[:4000])
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        text = file.read().decode()
    status = os.waitpid(child, 0)[1]
    return text or f"it was ended by signal {status & 0x7F}"


def told(attack: Callable[[], bool]) -> str:
    """What comes of it, in this process."""
    try:
        return "done" if attack() else "nothing"
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    except BaseException:  # noqa: BLE001 - whatever it is, it is told
        return traceback.format_exc()


def main() -> None:
    """Carry out what was asked for."""
    INHERITED.extend(link for link in descriptors("self") if not link.startswith("/proc/"))
    with open(sys.argv[1]) as file:
        P.update(json.load(file))
    wanted = P["attacks"] or list(ATTACKS)
    print(json.dumps({name: attempt(ATTACKS[name]) for name in wanted if name in ATTACKS}))


if __name__ == "__main__":
    main()

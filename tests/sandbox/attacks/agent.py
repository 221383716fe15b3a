"""An agent to attack: a process with a key in its environment, sockets that listen, files that it holds open.

`python -m tests.sandbox.attacks.agent BASE COLUMN BOMBS` carries out every attack in one column of the table (or
without a sandbox, column `off`) and prints one JSON object: what succeeded by attack, and what the sandbox said.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import socket
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.launch import PYTHON
from grokmini.sandbox.policy import Limits, Policy
from grokmini.sandbox.probe import Mechanisms, probe
from grokmini.sandbox.runner import CommandSpec, ExitStatus
from tests.sandbox.attacks.table import ROWS

MARKER = "sk-attack-marker-0123456789"
SECRET = "the-denied-secret"
DENIED_ROWS = tuple(f"r{number:02}" for number in range(1, 17))
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/opt")
MEMORY = 256 * 1024 * 1024
CRON = ("/etc/cron.d", "/var/spool/cron")
PROGRAM = Path(__file__).with_name("program.py")

DAEMONS = {
    "l03": "(setsid sleep {0} >/dev/null 2>&1 </dev/null &)",
    "l04": "exec {1} -c 'import os,time\nwhile True:\n if os.fork(): os._exit(0)\n os.setsid()\n "
    "time.sleep(0.001)' {0} &",
    "l05": "exec {1} -c 'import ctypes,os,time\nlibc=ctypes.CDLL(None)\nlibc.prctl(36,1,0,0,0)\nlibc.prctl(1,0,0,0,0)\n"
    "os.setsid()\nif not os.fork():\n  os.setsid()\n  if os.fork(): os._exit(0)\ntime.sleep(300)' {0} &",
    "l06": 'trap "" TERM; setsid sleep {0} & sleep 300; sleep 300',
}


def policy_of(column: str, base: Path) -> Policy:
    """The policy that a column stands for."""
    name = {"W": "workspace", "RO": "read-only", "S": "strict", "C": "custom", "D": "devbox"}[column.upper()]
    blocked = name in ("read-only", "strict")
    protected = tuple(str(base / "cwd" / part) for part in (".git/hooks", ".git/config", ".grokmini"))
    if name == "devbox":
        return Policy(
            "devbox", write_all=True, protected=(str(base / "data"), *CRON), scratch=str(base / "scratch")
        )
    return Policy(
        name,
        read_all=name != "strict",
        read_roots=(*SYSTEM, str(Path(PYTHON).parents[1]), str(base / "code"), str(base / "cwd")),
        write_roots=() if name == "read-only" else (str(base / "cwd"),),
        protected=protected,
        denied=tuple(str(base / "cwd" / row / "key") for row in DENIED_ROWS) if name == "custom" else (),
        network="blocked" if blocked else "open",
        scratch=str(base / "scratch"),
        temp=(str(base / "temp"),),
    )


class Listeners:
    """The sockets of the host. What comes by UDP or datagram is remembered."""

    def __init__(self, base: Path) -> None:
        self.arrived: set[str] = set()
        self._sockets: list[socket.socket] = []
        self.places: dict[str, Any] = {"abstract": f"grokmini-attack-{os.getpid()}"}
        for key, family, address in (
            ("tcp", socket.AF_INET, ("127.0.0.1", 0)),
            ("tcp6", socket.AF_INET6, ("::1", 0)),
        ):
            self.places[key] = self._listen(family, address).getsockname()[1]
        self._listen(socket.AF_UNIX, "\0" + self.places["abstract"])
        for key, path in (("home_socket", base / "home/socket"), ("temp_socket", base / "temp/socket")):
            self._listen(socket.AF_UNIX, str(path))
            self.places[key] = str(path)
        self.places["udp"] = self._receive(socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1]
        self.places["dgram"] = str(base / "temp/dgram")
        self._receive(socket.AF_UNIX, self.places["dgram"])

    def _listen(self, family: int, address: Any) -> socket.socket:
        end = socket.socket(family)
        try:
            end.bind(address)
        except OSError:
            if family != socket.AF_INET6:
                raise
            end = socket.socket()
            end.bind(("127.0.0.1", 0))
        end.listen(64)
        self._sockets.append(end)
        return end

    def _receive(self, family: int, address: Any) -> socket.socket:
        end = socket.socket(family, socket.SOCK_DGRAM)
        end.bind(address)
        self._sockets.append(end)

        def collect() -> None:
            while True:
                self.arrived.add(end.recv(2048)[:3].decode("latin-1"))

        threading.Thread(target=collect, daemon=True).start()
        return end


def prepare(base: Path) -> None:
    """The files of a run, all of this user."""
    for name in (
        "cwd/.git/hooks",
        "cwd/.grokmini",
        "cwd/.venv/bin",
        "temp",
        "scratch",
        "home",
        "outside",
        "data",
    ):
        (base / name).mkdir(parents=True, exist_ok=True)
    (base / "state/hooks").mkdir(parents=True)
    for name in ("config.toml", "sandbox.toml", "auth.json", "hooks/start"):
        (base / "state" / name).write_text("original")
    for number in range(1, 29):
        (base / f"outside/w{number:02}").write_text("original")
    (base / "outside/w21-folder").mkdir()
    (base / "home/.bashrc").write_text("original")
    for name in (".git/config", ".git/hooks/pre-commit", ".grokmini/config.toml", ".venv/bin/activate"):
        (base / "cwd" / name).write_text("original")
    for row in DENIED_ROWS:
        (base / "cwd" / row).mkdir()
        (base / "cwd" / row / "key").write_text(SECRET)
    (base / "cwd/r06-alias").symlink_to("r06/key")


def marked(marker: str) -> list[int]:
    """The processes that have the marker among their arguments."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if marker.encode() in Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0"):
                found.append(int(name))
        except OSError:
            continue
    return found


class Run:
    """One column."""

    def __init__(self, base: Path, column: str, mechanisms: Mechanisms) -> None:
        self.base = base
        self.column = column
        self.policy = Policy("off", write_all=True) if column == "off" else policy_of(column, base)
        self.runner = SandboxedRunner(self.policy, mechanisms=mechanisms, best_effort=True)
        self.signals: set[int] = set()

    async def command(self, *words: str, kill: bool = False, within: float = 120.0) -> tuple[str, ExitStatus]:
        """Run one; with `kill` it is ended as by a time-out."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.base / "home")}
        handle = await self.runner.start(CommandSpec(words, self.base / "cwd", env))
        try:
            async with asyncio.timeout(within):
                if kill:
                    await handle.kill()
                text = b"".join([chunk async for chunk in handle.output()]).decode(errors="replace")
        except TimeoutError:
            text = "timed out"
        await handle.kill()
        return text, await handle.wait()

    async def program(self, places: dict[str, Any], *attacks: str) -> dict[str, bool]:
        """Attacks from inside."""
        path = self.base / "scratch/places.json"
        path.write_text(json.dumps({**places, "attacks": attacks}))
        text, status = await self.command(PYTHON, "-I", "-S", str(PROGRAM), str(path))
        try:
            return dict(json.loads(text.strip().rpartition("\n")[2]))
        except ValueError as error:
            raise RuntimeError(f"{status}: {text}") from error

    async def daemons(self) -> dict[str, bool]:
        """Whether processes outlive their call."""
        left = {}
        for row, script in DAEMONS.items():
            marker = f"{31_000_000 + os.getpid()}{row[1:]}"
            await self.command("/bin/sh", "-c", script.format(marker, PYTHON), kill=row == "l06")
            left[row] = bool(marked(marker))
            for pid in marked(marker):
                os.kill(pid, signal.SIGKILL)
        return left

    async def moved_and_renewed(self) -> dict[str, bool]:
        """r16 and r18: whether the next session reads what was denied."""
        self.base.joinpath("cwd/late").write_text(SECRET)
        late = (*self.policy.denied, str(self.base / "cwd/late"))
        await self.runner.renew(replace(self.policy, denied=late))
        moved, _ = await self.command("sh", "-c", "cat r16/key r16-moved/key")
        made, _ = await self.command("sh", "-c", "cat late")
        return {"r16": SECRET in moved, "r18": SECRET in made}

    async def bombs(self, processes: int) -> dict[str, bool]:
        """Processes and memory without end, under limits. Only as an ordinary user who has a limit himself."""
        limits = Limits(nproc=processes, fsize=None, data=MEMORY)
        await self.runner.renew(replace(self.policy, limits=limits))
        marker = f"{32_000_000 + os.getpid()}"
        bomb = "import os,sys\nwhile True:\n try: os.fork()\n except OSError: pass"
        _, status = await self.command(PYTHON, "-c", bomb, marker, within=1.0)
        bounded = status.left_over <= processes + 1 and not marked(marker)
        hog = f"b = bytearray({2 * MEMORY})\nprint('got it')"
        text, _ = await self.command(PYTHON, "-c", hog)
        return {"l01": not bounded, "l02": "got it" in text}


async def carry_out(base: Path, column: str, processes: int) -> dict[str, Any]:
    """Everything in one column."""
    found = probe()
    if column.islower():
        found = found._replace(bwrap=None, bwrap_network=False, reasons={"bubblewrap": "left out"})
    prepare(base)
    run = Run(base, column, found)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGUSR1, signal.SIGURG):
        loop.add_signal_handler(number, run.signals.add, int(number))
    listeners = Listeners(base)
    terminal = os.ttyname(os.open(os.ttyname(os.openpty()[1]), os.O_RDWR))
    shared = f"grokmini-attack-{os.getpid()}"
    held = (base / "outside/w11").open("r+")
    places = {name: str(base / name) for name in ("cwd", "temp", "home", "outside", "state")}
    places |= {"base": str(base), "secret": SECRET, "marker": MARKER, "shm": shared, "tty": terminal}
    places |= {"setuid": str(base / "code/setuid-id")}
    # Without a sandbox a02 would reach the agents of other tests.
    wanted = [row.attack for row in ROWS if column != "off" or row.attack != "a02"]
    report = await run.runner.prepare()
    results = await run.program({**places, **listeners.places, "agent": os.getpid()}, *wanted)
    results["w40"] = Path("/dev/shm", shared).exists()
    Path("/dev/shm", shared).unlink(missing_ok=True)
    for row in ("n03", "n04", "n05", "n06", "n16"):
        results[row] = row in listeners.arrived
    results["a01"] = int(signal.SIGUSR1) in run.signals
    results["a02"] = int(signal.SIGURG) in run.signals
    results |= await run.daemons()
    if column == "C":
        results |= await run.moved_and_renewed()
    if processes and column in ("W", "w"):
        results |= await run.bombs(processes)
    kept = [path.name for path in sorted((base / "outside").glob("w??")) if path.read_text() == "original"]
    await run.runner.close()
    held.close()
    return {"results": results, "label": report.label, "lost": report.lost, "kept": kept}


def main() -> None:
    """The arguments: the folder, the column, and how many processes a bomb may have (0: no bombs)."""
    base, column, processes = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    if os.getuid():
        resource.setrlimit(resource.RLIMIT_NPROC, (1_500, 1_500))
    print(json.dumps(asyncio.run(carry_out(base, column, processes))))


if __name__ == "__main__":
    main()

"""An agent to attack: a process with a key in its environment, sockets that listen, files that it holds open.

`python -m tests.sandbox.attacks.agent BASE COLUMN BOMBS` carries out every attack in one column of the table (or
without a sandbox, column `off`; `bare`: a child started without any care) and prints one JSON object: what succeeded
by attack, and what the sandbox said.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.launch import PYTHON
from grokmini.sandbox.limits import threads_of_user
from grokmini.sandbox.policy import Limits, Policy
from grokmini.sandbox.probe import Mechanisms, probe
from grokmini.sandbox.profile import Profile, built_in
from grokmini.sandbox.resolve import Around, make_folders, resolve
from grokmini.sandbox.runner import CommandSpec, ExitStatus
from tests.sandbox.attacks.table import ROWS

MARKER = "sk-attack-marker-0123456789"
SECRET = "the-denied-secret"
DENIED_ROWS = tuple(f"r{number:02}" for number in range(1, 17))
MEMORY = 256 * 1024 * 1024
MOST_MEMORY = 4 * MEMORY
"""What a bomb gets at most, should its limit fail."""
MOST_PROCESSES = 1_000
PROFILES = {"W": "workspace", "RO": "read-only", "S": "strict", "C": "custom", "D": "devbox"}
PROGRAM = Path(__file__).with_name("program.py")

UP = "\nuntil [ -s {2} ]; do sleep 0.01; done"
DAEMONS = {
    "l03": "(setsid sh -c 'echo up >{2}; sleep {0}; :' {0} >/dev/null 2>&1 </dev/null &)" + UP,
    "l04": '{1} -c \'import os,sys,time\nend=time.time()+60\nopen(sys.argv[2],"w").write("up")\n'
    "while time.time()<end:\n if os.fork(): os._exit(0)\n os.setsid()\n"
    ' os.write(os.open(sys.argv[2],os.O_WRONLY|os.O_APPEND),b"up")\n time.sleep(0.005)\' {0} {2} 2>/dev/null &'
    + UP,
    "l05": "{1} -c 'import ctypes,os,sys,time\nlibc=ctypes.CDLL(None)\nlibc.prctl(36,1,0,0,0)\n"
    "libc.prctl(1,0,0,0,0)\nos.setsid()\nif not os.fork():\n  os.setsid()\n  if os.fork(): os._exit(0)\n"
    '  open(sys.argv[2],"w").write("up")\ntime.sleep(300)\' {0} {2} 2>/dev/null &' + UP,
    "l06": "trap \"\" TERM; setsid sh -c 'echo up >{2}; sleep {0}; :' {0} & sleep 300; sleep 300",
}
"""Commands that leave a process behind, with its number, a Python, and the file that tells that it is there.

What tells it has the number among its own arguments already, and stays: while a program takes the place of another
in a process, the process has the arguments of neither.
"""


def policy_of(column: str, base: Path) -> Policy:
    """The policy that a column stands for: the profile as it is resolved here, with temporary files in `base`."""
    if column in ("off", "bare"):
        return resolve(built_in("off"), around(base), explicit=False)
    name = PROFILES[column.upper().removesuffix("B")]
    denied = tuple(f"{row}/key" for row in DENIED_ROWS)
    profile = Profile("custom", "workspace", deny=denied) if name == "custom" else built_in(name)
    policy = resolve(profile, around(base), explicit=False)
    policy = replace(policy, temp=(str(base / "temp"),), read_roots=(*policy.read_roots, str(base / "code")))
    if name == "devbox":
        return replace(policy, protected=(*policy.protected, str(base / "data")))
    return policy


def around(base: Path) -> Around:
    """The folder, the home and our own folders of a run."""
    return Around(
        cwd=str(base / "cwd"),
        home=str(base / "home"),
        env={"PATH": os.environ["PATH"], "HOME": str(base / "home")},
        config=str(base / "state"),
        cache=str(base / "cache"),
        scratch=str(base / "scratch"),
    )


END = b"end"


class Listeners:
    """The sockets of the host. What comes by UDP or datagram is remembered."""

    def __init__(self, base: Path) -> None:
        self.arrived: set[str] = set()
        self._collecting: list[tuple[socket.socket, threading.Thread]] = []
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
            while (came := end.recv(2048)[:3]) != END:
                self.arrived.add(came.decode("latin-1"))

        thread = threading.Thread(target=collect, daemon=True)
        thread.start()
        self._collecting.append((end, thread))
        return end

    def collect_all(self) -> None:
        """Take all that was sent so far, and no more."""
        for end, thread in self._collecting:
            with socket.socket(end.family, socket.SOCK_DGRAM) as last:
                last.sendto(END, end.getsockname())
            thread.join()


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


def ended_all(marker: str) -> bool:
    """End the processes that have the marker among their arguments; tells whether there were any."""
    there = bool(marked(marker))
    while found := marked(marker):
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    return there


FORK_BOMB = """
import os, signal, time
end = time.time() + 30
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while time.time() < end:
    try:
        if not os.fork(): os.setsid()
    except OSError:
        time.sleep(0.01)
"""
MEMORY_BOMB = """
held = []
try:
    while len(held) < 256: held.append(bytearray(64 << 20))
except MemoryError:
    pass
print(len(held) * (64 << 20))
"""


class Run:
    """One column."""

    def __init__(self, base: Path, column: str) -> None:
        self.base = base
        self.column = column
        self.policy = policy_of(column, base)
        self.runner = SandboxedRunner(self.policy, mechanisms=mechanisms_of(column), best_effort=True)
        self.signals: set[int] = set()
        self.seconds_to_end = 0.0
        self.ends: dict[str, str] = {}
        """What became of the attacks from inside, in their own view."""

    async def command(
        self, *words: str, kill_when: Path | None = None, within: float = 120.0
    ) -> tuple[str, ExitStatus]:
        """Run one; it is ended as by a time-out once `kill_when` is there."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.base / "home")}
        if self.column == "bare":
            return await asyncio.to_thread(bare, words, self.base / "cwd")
        handle = await self.runner.start(CommandSpec(words, self.base / "cwd", env))
        try:
            async with asyncio.timeout(within):
                while kill_when is not None and not kill_when.exists():
                    await asyncio.sleep(0.01)
                if kill_when is not None:
                    asked = time.monotonic()
                    await handle.kill()
                    self.seconds_to_end = time.monotonic() - asked
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
            self.ends |= json.loads(text.strip().rpartition("\n")[2])
        except ValueError as error:
            raise RuntimeError(f"{status}: {text}") from error
        return {row: end == "done" for row, end in self.ends.items()}

    async def daemon(self, row: str) -> bool:
        """Whether processes outlive their call."""
        marker, up = f"{31_000_000 + os.getpid()}{row[1:]}", self.base / f"temp/{row}-up"
        script = DAEMONS[row].format(marker, PYTHON, up)
        if self.column == "bare" and row == "l06":
            await asyncio.to_thread(killed_alone, script, up)
        else:
            await self.command("/bin/sh", "-c", script, kill_when=up if row == "l06" else None)
        assert up.exists()
        if row == "l04":  # gone by the time one looks, so it writes as long as it is there
            size, until = up.stat().st_size, time.monotonic() + (30.0 if self.column == "bare" else 0.5)
            while up.stat().st_size == size and time.monotonic() < until:
                await asyncio.sleep(0.01)
            grown = up.stat().st_size > size
            up.unlink()  # it ends with it
            return grown
        return ended_all(marker)

    async def moved_and_renewed(self) -> dict[str, bool]:
        """r16, r17 and r18: what is denied, read after a move, after it was made later, and in the next session."""
        self.base.joinpath("cwd/late").write_text(SECRET)
        before, _ = await self.command("sh", "-c", "cat late")
        if self.column.startswith("C"):
            self.runner.expect(replace(self.policy, denied=(*self.policy.denied, str(self.base / "cwd/late"))))
        moved, _ = await self.command("sh", "-c", "cat r16/key r16-moved/key")
        after, _ = await self.command("sh", "-c", "cat late")
        return {"r16": SECRET in moved, "r17": SECRET in before, "r18": SECRET in after}

    async def bombs(self, processes: int) -> dict[str, bool]:
        """Processes and memory without end, under limits. Only as an ordinary user who has a limit himself."""
        assert os.getuid(), "the kernel bounds no processes of root"
        others = threads_of_user() if self.column == "w" else 0  # the kernel counts them too, there
        self.runner.expect(replace(self.policy, limits=Limits(nproc=processes, data=MEMORY)))
        marker = f"{32_000_000 + os.getpid()}"
        bomb = asyncio.create_task(
            self.command(PYTHON, "-c", FORK_BOMB, marker, kill_when=self.base / "temp/enough")
        )
        most, enough = 0, 0.0
        while not bomb.done():
            most = max(most, len(marked(marker)))
            if most > processes // 2 and not enough:
                enough = time.monotonic() + 0.5  # time to get beyond what it may have
            if enough and time.monotonic() > enough:
                (self.base / "temp/enough").touch()
            await asyncio.sleep(0.01)
        bomb.result()
        assert processes // 2 < most, f"this was no bomb: {most} processes"
        in_time = self.seconds_to_end < 20.0  # and not as late as it ends by itself
        endless = most > processes + others or bool(marked(marker)) or not in_time
        text, _ = await self.command(PYTHON, "-c", MEMORY_BOMB)
        return {"l01": endless, "l02": int(text) > MEMORY}


def mechanisms_of(column: str) -> Mechanisms:
    """What confines in a column: everything, all but bubblewrap (`w`), all but Landlock (`Wb`)."""
    found = probe()
    if column.endswith("b"):
        return found._replace(landlock_abi=0, reasons={"landlock": "left out"})
    if column in ("w", "ro", "s"):
        return found._replace(bwrap=None, bwrap_network=False, reasons={"bubblewrap": "left out"})
    return found


def bare(words: tuple[str, ...], cwd: Path) -> tuple[str, ExitStatus]:
    """Run as a program would that takes no care: with our terminal, environment and descriptors."""
    for fd in map(int, os.listdir("/proc/self/fd")):
        with suppress(OSError):
            os.set_inheritable(fd, fd > 2 or os.get_inheritable(fd))
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(
            words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=output, close_fds=False, check=False, timeout=30
        )
        output.seek(0)
        return output.read(), ExitStatus(done.returncode)


def killed_alone(script: str, up: Path) -> None:
    """Run it, and end its shell once it is up, as a time-out does that ends its group and no more."""
    process = subprocess.Popen(("/bin/sh", "-c", script), stdin=subprocess.DEVNULL, start_new_session=True)
    while not up.exists():
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


async def carry_out(base: Path, column: str, processes: int) -> dict[str, Any]:
    """Everything in one column."""
    prepare(base)
    run = Run(base, column)
    make_folders(run.policy)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGURG):
        loop.add_signal_handler(number, run.signals.add, int(number))
    listeners = Listeners(base)
    terminal = os.ttyname(os.open(os.ttyname(os.openpty()[1]), os.O_RDWR))
    shared = f"grokmini-attack-{os.getpid()}"
    held = (base / "outside/w11").open("r+")
    places: dict[str, Any] = {
        name: str(base / name) for name in ("cwd", "temp", "home", "outside", "state", "data")
    }
    places |= {"base": str(base), "secret": SECRET, "marker": MARKER, "shm": shared, "tty": terminal}
    places |= {"setuid": str(base / "code/setuid-id"), **listeners.places, "agent": os.getpid()}
    report = await run.runner.prepare()
    if column == "bare":
        results = await run.program(places, "w12", "n20", "a12", "a13", "l07")
        results |= {row: await run.daemon(row) for row in DAEMONS}
    else:
        # Without a sandbox a02 would reach the agents of other tests.
        wanted = [row.attack for row in ROWS if column != "off" or row.attack != "a02"]
        results = await run.program(places, *wanted)
        await asyncio.to_thread(listeners.collect_all)
        os.kill(os.getpid(), signal.SIGUSR2)
        while int(signal.SIGUSR2) not in run.signals:  # what was sent before has come by then
            await asyncio.sleep(0.01)
        results |= judged(base, run, listeners, shared)
        if column != "off":
            results["a02"] = int(signal.SIGURG) in run.signals
        results |= dict(zip(DAEMONS, await asyncio.gather(*map(run.daemon, DAEMONS)), strict=True))
    if column in ("C", "Cb", "off"):
        results |= await run.moved_and_renewed()
    if processes and column in ("W", "w", "Wb"):
        results |= await run.bombs(processes)
    kept = [path.name for path in sorted((base / "outside").glob("w??")) if path.read_text() == "original"]
    await run.runner.close()
    held.close()
    return {"results": results, "ends": run.ends, "label": report.label, "lost": report.lost, "kept": kept}


def judged(base: Path, run: Run, listeners: Listeners, shared: str) -> dict[str, bool]:
    """Attacks that only the attacked one sees succeed."""
    results = {"w40": Path("/dev/shm", shared).exists()}
    Path("/dev/shm", shared).unlink(missing_ok=True)
    results |= {
        row: row in listeners.arrived for row in ("n03", "n04", "n05", "n06", "n16", "n17", "n18", "n19")
    }
    results["w30"] = run.ends["w30"] == "done" or (base / "cwd/.git/commondir").exists()
    return results | {"a01": int(signal.SIGUSR1) in run.signals}


def main() -> None:
    """The arguments: the folder, the column, and how many processes a bomb may have (0: no bombs)."""
    base, column, processes = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    if os.getuid():
        resource.setrlimit(resource.RLIMIT_NPROC, (MOST_PROCESSES, MOST_PROCESSES))
    if processes:
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    if column == "bare":
        resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
    print(json.dumps(asyncio.run(carry_out(base, column, processes))))


if __name__ == "__main__":
    main()

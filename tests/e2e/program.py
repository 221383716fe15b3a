"""The installed program as people run it: a process with its own home, folder and model server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pexpect

from grokmini.cli.demo_project import CHECK, write_files
from tests.fakes.model_server import MODEL, ModelServer, Reply, call, reply
from tests.sandbox.liveness import seen_from_here
from tests.waiting import until_now

PROGRAM = Path(sys.executable).with_name("grokmini")
SECONDS = 60.0
"""What anything may take before it counts as hanging: a machine may stand still for a while."""


class Place(NamedTuple):
    """A home folder and a project folder of their own."""

    home: Path
    project: Path

    def environment(self, server: ModelServer | None = None, **more: str) -> dict[str, str]:
        """What the program sees: this home, this server, and nothing of the person who runs the tests."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
        found = {**kept, "HOME": str(self.home), "TERM": "xterm-256color", "PYTHONWARNINGS": "error"}
        if server is not None:
            found |= {
                "GROKMINI_BASE_URL": server.url,
                "GROKMINI_MODEL": MODEL,
                "GROKMINI_API_KEY": "sk-test-0123",
            }
        return found | more

    def run(
        self,
        *words: str,
        server: ModelServer | None = None,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        seconds: float = SECONDS,
    ) -> subprocess.CompletedProcess[str]:
        """Run the program to its end; without `stdin` it gets the null device."""
        done = subprocess.run(
            [str(PROGRAM), *words],
            cwd=self.project,
            env=self.environment(server, **(env or {})),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode("utf-8", "backslashreplace")
        )

    def shell(self, script: str, server: ModelServer, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a line of bash in which `grokmini` is the program."""
        env = self.environment(server, **more)
        env["PATH"] = f"{PROGRAM.parent}{os.pathsep}{env['PATH']}"
        return subprocess.run(
            ["bash", "--norc", "-c", script],
            cwd=self.project,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def talk(self, *words: str, server: ModelServer, **more: str) -> pexpect.spawn[str]:
        """Start the program on a terminal of 40 rows and 100 columns."""
        return pexpect.spawn(
            str(PROGRAM),
            list(words),
            cwd=str(self.project),
            env=self.environment(server, **more),
            encoding="utf-8",
            timeout=SECONDS,
            dimensions=(40, 100),
        )

    def add_calc(self) -> None:
        """The project with the wrong `add` and the test that shows it."""
        write_files(self.project)

    def calc_is_right(self) -> bool:
        """Whether `add` adds and the test is green."""
        done = subprocess.run(CHECK.split(), cwd=self.project, capture_output=True, check=False)
        return done.returncode == 0 and "return a + b" in (self.project / "calc.py").read_text(encoding="utf-8")

    def pid_in(self, name: str) -> int:
        """The process that wrote its own id into a file of the project, once it has; its number as it is here."""
        path = self.project / name
        until_now(lambda: path.exists() and path.read_text().endswith("\n"))
        return self.process(int(path.read_text()))

    def process(self, told: int) -> int:
        """The process that works in the project and calls itself by this number, which a sandbox may have changed."""
        found = seen_from_here(told, self.project)
        assert found is not None, f"no process {told} works in {self.project}"
        return found

    def events(self) -> list[dict[str, Any]]:
        """The whole events that the only session has saved so far: none before it has begun to."""
        saved = [folder / "updates.jsonl" for folder in self.sessions]
        text = b"".join(path.read_bytes() for path in saved if path.exists())
        assert len(saved) < 2, "there are several sessions"
        return [json.loads(line) for line in text[: text.rfind(b"\n") + 1].splitlines()]

    @property
    def sessions(self) -> list[Path]:
        """The folders of all saved sessions."""
        state = self.home / ".local" / "state" / "grokmini"
        return sorted(path.parent for path in state.rglob("chat_history.jsonl"))


def fixing(*, call_prefix: str = "c") -> list[Reply]:
    """What a model does to fix the failing test: run, read, edit, run, answer."""
    read = call("read_file", call_id=f"{call_prefix}2", target_file="calc.py")
    edit = call(
        "search_replace",
        call_id=f"{call_prefix}3",
        file_path="calc.py",
        old_string="return a - b",
        new_string="return a + b",
    )
    return [
        reply(
            "Running the test first.",
            calls=[call("run_terminal_command", call_id=f"{call_prefix}1", command=CHECK)],
        ),
        reply(calls=[read]),
        reply(calls=[edit]),
        reply(calls=[call("run_terminal_command", call_id=f"{call_prefix}4", command=CHECK)]),
        reply("`add` subtracted. Fixed in calc.py; the test is green."),
    ]

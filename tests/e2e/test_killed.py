"""`kill -9` in the middle, then `--continue`: the job is finished, and nothing of it is lost or done twice."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Sequence

import pexpect
import pytest

from grokmini.cli.demo_project import CHECK
from tests.e2e.program import PROGRAM, Place, fixing
from tests.fakes.model_server import ModelServer, Reply, call, reply
from tests.sandbox.liveness import alive
from tests.waiting import until_now

PROMPT = "fix the failing test"
ANSWER = "`add` subtracted. Fixed in calc.py; the test is green."
GO_ON = fixing(call_prefix="d")[1:]

SLOW = reply(
    "Running the test first.",
    calls=[call("run_terminal_command", call_id="c1", command=f"echo $$ > pid; {CHECK}; exec sleep 1000")],
)


def start(place: Place, server: ModelServer) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(PROGRAM), "-p", PROMPT, "--yolo"],
        cwd=place.project,
        env=place.environment(server),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )


def finish(place: Place, script: Sequence[Reply] = GO_ON) -> str:
    """Go on with what was killed; what the model was told first, as text."""
    with ModelServer(script, strict=True) as server:
        done = place.run("-p", "go on", "--continue", "--yolo", server=server)
    assert (done.returncode, done.stdout, done.stderr) == (0, ANSWER + "\n", "")
    assert place.calc_is_right()
    assert len(place.sessions) == 1
    sent = json.dumps(server.bodies[0])
    assert PROMPT in sent
    return sent


def test_killed_while_the_model_is_waited_for(place: Place) -> None:
    """After the file was read and before it is edited."""
    place.add_calc()
    gate, script = threading.Event(), fixing()
    held = [*script[:2], Reply(chunks=script[2].chunks, gate=gate)]
    with ModelServer(held, strict=True) as server:
        process = start(place, server)
        server.wait_for_requests(3)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        gate.set()
    assert not place.calc_is_right()
    assert "FAILED" in finish(place), "what was done before the kill is known"


def test_killed_while_a_command_runs(place: Place) -> None:
    place.add_calc()
    with ModelServer([SLOW], strict=True) as server:
        process = start(place, server)
        pid = place.pid_in("pid")
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert "c1" in finish(place), "the call that was cut off is in the history, with some result"
    until_now(lambda: not alive(pid))


@pytest.mark.parametrize("mode", [["--plain"], []], ids=["linear", "as it starts"])
def test_the_repl_killed_while_a_command_runs(place: Place, mode: list[str]) -> None:
    place.add_calc()
    with ModelServer([SLOW], strict=True) as server:
        child = place.talk(*mode, "--yolo", server=server)
        child.expect("grokmini 0")
        child.send(PROMPT + "\r")
        pid = place.pid_in("pid")
        child.kill(signal.SIGKILL)
        child.expect(pexpect.EOF)
        child.close()
    assert "c1" in finish(place)
    until_now(lambda: not alive(pid))

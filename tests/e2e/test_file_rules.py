"""Rules and settings about files, as the whole program keeps them."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from tests.e2e.program import PROGRAM, Place
from tests.fakes.model_server import ModelServer, call, reply
from tests.sandbox.liveness import alive
from tests.waiting import until_now


def _results(server: ModelServer) -> list[str]:
    return [message["content"] for message in server.bodies[-1]["messages"] if message["role"] == "tool"]


def test_a_deny_rule_for_reading_holds_for_every_tool(place: Place) -> None:
    (place.project / "secret.txt").write_text("TOKEN=hush\n")
    (place.project / "open.txt").write_text("TOKEN=free\n")
    commands = ["cat secret.t*", "grep -r TOKEN .", "grep TOKEN *", "cat sec'ret'.txt", "rg TOKEN"]
    calls = [
        call("grep", call_id="a", pattern="TOKEN"),
        call("glob", call_id="b", pattern="*"),
        call("list_dir", call_id="c"),
        *(call("run_terminal_command", call_id=f"r{n}", command=text) for n, text in enumerate(commands)),
    ]
    with ModelServer([reply(calls=calls), reply("done")]) as server:
        place.run("-p", "look", "--yolo", "--deny", "Read(secret.txt)", server=server)
        results = _results(server)
    assert not any("hush" in text for text in results)
    assert all("secret.txt" not in text for text in results[:3])
    assert all("free" in text or "open.txt" in text for text in results[:3])
    assert all("Read(secret.txt)" in text for text in results[3:])


@pytest.mark.parametrize(("setting", "text"), [("false", "old\n"), ("true", "new\n")])
def test_skip_read_before_edit_is_a_setting(place: Place, setting: str, text: str) -> None:
    (place.project / "a.txt").write_text("old\n")
    config = place.home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f"[tools]\nskip_read_before_edit = {setting}\n")
    edit = call("search_replace", file_path="a.txt", old_string="old", new_string="new")
    with ModelServer([reply(calls=[edit]), reply("done")]) as server:
        place.run("-p", "edit", "--yolo", server=server, env={"GROKMINI_HOME": str(place.home)})
    assert (place.project / "a.txt").read_text() == text


def test_a_command_does_not_outlive_an_agent_that_was_killed(place: Place) -> None:
    command = "trap '' TERM HUP INT; echo $$ > pid; while :; do sleep 0.05; done"
    with ModelServer([reply(calls=[call("run_terminal_command", command=command)])]) as server:
        agent = subprocess.Popen(
            [str(PROGRAM), "-p", "run", "--yolo"],
            cwd=place.project,
            env=place.environment(server),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        pid = place.pid_in("pid")
        agent.kill()
        agent.wait()
        try:
            until_now(lambda: not alive(pid))
            assert not alive(pid)
        finally:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)

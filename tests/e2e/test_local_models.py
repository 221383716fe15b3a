"""Models on this machine and nothing else set up: the person is asked once, in either mode."""

from __future__ import annotations

import json
import sys

import pexpect
import pytest

from tests.e2e.program import SECONDS, Place
from tests.fakes.model_server import ModelServer, Recorded, Reply, reply

AT_THE_SERVERS_PORT = """
import sys, msgspec
from grokmini.sampler import catalogue, local
row = msgspec.structs.replace(catalogue.load_providers()["ollama"], base_url=sys.argv.pop(1))
catalogue.load_providers = lambda: {"ollama": row}
local.DISCOVERY_SECONDS = 60.0
from grokmini.cli.main import main
sys.exit(main())
"""
"""The program, for which Ollama's port is another one: the real one may be taken."""


def as_json(value: object) -> Reply:
    return Reply(body=json.dumps(value).encode(), headers={"content-type": "application/json"})


@pytest.mark.parametrize("mode", [[], ["--plain"]])
def test_of_several_models_one_is_picked_works_and_is_remembered(place: Place, mode: list[str]) -> None:
    routes = {"/api/version": as_json({"version": "0.12.0"}), "/api/ps": as_json({"models": []})}
    models = ["tinyllama:latest", "gemma3:4b"]
    answers = iter(("first answer", "second answer"))

    def ollama(request: Recorded) -> Reply:
        return as_json({}) if request.path == "/api/show" else reply(next(answers))

    def talk(server: ModelServer) -> pexpect.spawn[str]:
        return pexpect.spawn(
            sys.executable,
            ["-c", AT_THE_SERVERS_PORT, server.url, *mode],
            cwd=str(place.project),
            env=place.environment(LANG="C.UTF-8"),
            encoding="utf-8",
            timeout=SECONDS,
            dimensions=(24, 80),
        )

    with ModelServer(ollama, models=models, routes=routes) as server:
        for answer in ("first", "second"):
            child = talk(server)
            try:
                if answer == "first":
                    child.expect("1  ollama/tinyllama:latest\r\n *2  ollama/gemma3:4b\r\n")
                    child.expect("Enter leaves:")
                    child.send("2\r")
                    child.expect("remembered in ")
                child.expect("\n› | ask · sandbox")
                child.send("hi\r")
                child.expect(f"{answer} answer")
                child.send("/quit\r")
                child.expect(pexpect.EOF)
                assert "Number or name" not in (child.before or "")
            finally:
                child.close(force=True)
            assert child.exitstatus == 0
        asked = [request for request in server.requests if request.path == "/v1/chat/completions"]
        assert [request.body["model"] for request in asked] == ["gemma3:4b"] * 2

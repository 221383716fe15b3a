"""Subcommands as people run them."""

from __future__ import annotations

import json
import re

from tests.e2e.program import Place
from tests.fakes.model_server import ModelServer, Recorded, Reply, call, failure, reply


def healthy(request: Recorded) -> Reply:
    """A model that streams a word and calls the tool it is offered."""
    tools = request.body.get("tools") or ()
    if tools:
        return reply(calls=[call(tools[0]["function"]["name"], number=7)])
    return reply("ready")


def test_doctor_says_that_a_good_model_is_good(place: Place) -> None:
    with ModelServer(healthy) as server:
        done = place.run("doctor", server=server)
    assert (done.returncode, done.stderr) == (0, "")
    marks = [line[:2] for line in done.stdout.splitlines()[1:7]]
    assert marks == ["ok"] * 6
    assert "GROKMINI_API_KEY" in done.stdout
    assert "sk-test-0123" not in done.stdout
    assert re.search(r"\b1 \w+s\b", done.stdout) is None, "one of a thing is not said in the plural"


def test_doctor_names_what_to_fix_when_the_key_is_refused(place: Place) -> None:
    refused = failure(401, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}})
    with ModelServer([refused], repeat=True, routes={"/v1/models": refused}) as server:
        done = place.run("doctor", server=server)
    assert done.returncode == 5
    assert "x   key" in done.stdout
    assert "Set a valid one" in done.stdout.partition("x   key")[2]


def test_doctor_fails_a_model_that_calls_no_tools(place: Place) -> None:
    with ModelServer([reply("ready"), reply("seven")]) as server:
        done = place.run("doctor", server=server)
    assert done.returncode == 1
    assert "!   tool call" in done.stdout


def test_doctor_without_a_model_looks_at_the_sandbox_and_says_how_to_connect_one(place: Place) -> None:
    done = place.run("doctor")
    assert done.returncode == 2
    assert "ok  sandbox " in done.stdout
    assert "no model is set up" in done.stderr and "grokmini demo" in done.stderr


def test_models_tells_what_can_be_used_and_what_is_missing(place: Place) -> None:
    config = place.home / ".config" / "grokmini"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[model.work]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n')
    done = place.run("models", "--json", env={"OPENAI_API_KEY": "sk-test-0123"})
    found = {row["name"]: row for row in json.loads(done.stdout)}
    assert found["work"]["usable"] and found["openai"]["usable"] and found["demo"]["usable"]
    assert not found["xai"]["usable"]
    assert "XAI_API_KEY" in found["xai"]["note"]
    assert "sk-test-0123" not in done.stdout


def test_config_tells_every_value_and_its_origin(place: Place) -> None:
    config = place.home / ".config" / "grokmini"
    config.mkdir(parents=True)
    path = config / "config.toml"
    path.write_text(
        '[permission]\nmode = "plan"\ncolour = 1\n[model.work]\napi_key = "sk-secret"\nbase_url = "http://h/v1"\n'
    )
    done = place.run("config", "--json")
    found = json.loads(done.stdout)
    assert found["permission.mode"] == {"value": "plan", "origin": str(path)}
    assert found["session.max_turns"] == {"value": 0, "origin": "default"}
    assert found["model.work"]["value"] == "work http://h/v1"
    assert "permission.colour" in done.stderr
    assert "sk-secret" not in done.stdout + place.run("config").stdout


def test_config_tells_what_the_environment_sets_and_shows_no_key(place: Place) -> None:
    env = {
        "GROKMINI_MODEL": "m",
        "GROKMINI_BASE_URL": "http://me:sk-pass@127.0.0.1:9/v1/?key=sk-query",
        "GROKMINI_API_KEY": "sk-own",
        "XAI_API_KEY": "sk-xai",
    }
    done = place.run("config", "--json", env=env)
    found = json.loads(done.stdout)
    assert {name: row["value"] for name, row in found.items() if row["origin"] == "environment"} == {
        "GROKMINI_MODEL": "m",
        "GROKMINI_BASE_URL": "http://127.0.0.1:9/v1/",
        "GROKMINI_API_KEY": "(a key)",
        "XAI_API_KEY": "(a key)",
    }
    assert "sk-" not in done.stdout + place.run("config", env=env).stdout


def test_models_lists_what_the_server_of_the_environment_has(place: Place) -> None:
    with ModelServer(models=["one", "two"]) as server:
        env = {"GROKMINI_BASE_URL": server.url, "GROKMINI_MODEL": "two"}
        rows = json.loads(place.run("models", "--json", env=env).stdout)
        text = place.run("models", env=env).stdout
    assert [row["name"] for row in rows if server.url in row["note"]] == ["two", "one"]
    assert [row["name"] for row in rows if row["in_use"]] == ["two"]
    assert next(line for line in text.splitlines() if line.startswith("->")).endswith(", in use")


def test_a_model_that_was_not_in_the_servers_list_is_told_at_the_start_without_asking_it(place: Place) -> None:
    with ModelServer([reply("fine")], models=["one", "two"]) as server:
        env = {"GROKMINI_BASE_URL": server.url}
        place.run("models", env=env)
        asked = len(server.requests)
        done = place.run("-m", "ones", "-p", "hi", env=env)
        assert [request.method for request in server.requests[asked:]] == ["POST"]
    assert (done.returncode, done.stdout) == (0, "fine\n")
    assert "does not list ones; near: one." in done.stderr


def test_prompt_dump_tells_of_each_part_where_it_came_from_and_why(place: Place) -> None:
    (place.project / "AGENTS.md").write_text("Use tabs.\n")
    found = json.loads(place.run("prompt", "--dump").stdout)
    parts = {part["part"]: part for part in found["parts"]}
    assert list(parts) == ["system", "environment", "project_instructions"]
    assert all(part["origin"] and part["why"] and part["text"] for part in parts.values())
    assert parts["project_instructions"]["origin"] == str(place.project / "AGENTS.md")
    assert "Use tabs." in parts["project_instructions"]["text"]
    assert str(place.project) not in parts["system"]["text"], "what changes is kept behind what is cached"


def test_prompt_alone_is_a_table_with_the_tools(place: Place) -> None:
    done = place.run("prompt")
    assert done.returncode == 0
    assert "tool run_terminal_command" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("tokens in all, estimated")


def test_a_broken_config_file_is_named_with_its_line(place: Place) -> None:
    config = place.home / ".config" / "grokmini"
    config.mkdir(parents=True)
    (config / "config.toml").write_text("[models]\ndefault = sk-secret\n")
    done = place.run("config")
    assert done.returncode == 2
    assert "config.toml, line 2" in done.stderr
    assert "sk-secret" not in done.stderr

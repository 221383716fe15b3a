"""Leaving the sandbox, in the installed program on a real terminal and without one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.inline_terminal import InlineTerminal, inline_terminal
from tests.e2e.program import Place
from tests.fakes.model_server import Call, ModelServer, call, reply
from tests.sandbox.places import not_temporary

QUESTION = "Run it outside of the sandbox?"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Not in a temporary folder, for there commands may write whatever the profile. `../out` is outside."""
    with not_temporary() as folder:
        for name in ("home", "project", "out"):
            (folder / name).mkdir()
        yield Place(folder / "home", folder / "project")


def out(place: Place) -> Path:
    """The folder beside the project."""
    return place.project.parent / "out"


def touch(name: str) -> Call:
    """A command that writes outside."""
    return call("run_terminal_command", call_id=f"c-{name}", command=f"touch ../out/{name} && echo made")


def results(server: ModelServer) -> dict[str, str]:
    """What the model was told of each call."""
    messages = server.bodies[-1]["messages"]
    return {message["tool_call_id"]: message["content"] for message in messages if message["role"] == "tool"}


def start(terminal: InlineTerminal, *words: str) -> None:
    terminal.start("--sandbox", "workspace", *words)
    terminal.prompt("go")


def test_a_yes_runs_it_outside_a_reason_goes_on_and_a_no_stops(place: Place, tmp_path: Path) -> None:
    script = [
        reply(calls=[touch("yes")]),
        reply(calls=[touch("reason")]),
        reply(calls=[touch("no")]),
        reply("the end"),
    ]
    with ModelServer(script, strict=True) as server, inline_terminal(place, server, tmp_path) as terminal:
        start(terminal)
        terminal.answer("1", "Run this?")
        terminal.see_on_screen(QUESTION, "stopped:", "2 always exactly this command in this session")
        assert not list(out(place).iterdir())
        terminal.answer("1", QUESTION)
        terminal.answer("1", "Run this?")
        terminal.press_in_question("4", QUESTION)
        terminal.see_on_screen("what should it do instead?")
        terminal.write("write it here")
        terminal.see_on_screen("instead? write it here")
        terminal.type("Enter")
        terminal.answer("1", "Run this?")
        terminal.answer("3", QUESTION)
        terminal.see_idle()
        assert [path.name for path in out(place).iterdir()] == ["yes"]
        terminal.prompt("tell me")
        terminal.see("the end")
        assert terminal.leave() == 0
        told = results(server)
    assert told["c-yes"] == "exit: 0\n[ran outside of the sandbox, as the user allowed]\nmade\n"
    for name, said in (("reason", "outside of the sandbox: write it here]"), ("no", "outside of the sandbox]")):
        assert said in told[f"c-{name}"]
        assert f"[stopped by the sandbox: {out(place)}/{name}: only {place.project}" in told[f"c-{name}"]
        assert "(sandbox profile workspace)" in told[f"c-{name}"]
    assert [path.name for path in out(place).iterdir()] == ["yes"]


def test_always_approve_asks_too_and_always_holds_for_the_session_alone(place: Place, tmp_path: Path) -> None:
    again = call("run_terminal_command", command="echo x >> ../out/log")
    script = [reply(calls=[again]), reply(calls=[again]), reply("twice"), reply(calls=[again])]
    with ModelServer(script, strict=True) as server, inline_terminal(place, server, tmp_path) as terminal:
        start(terminal, "--yolo")
        terminal.answer("2", QUESTION)
        terminal.see("twice")
        terminal.see_idle()
        assert terminal.leave() == 0
        assert (out(place) / "log").read_text() == "x\nx\n"
        terminal.start("--sandbox", "workspace", "--yolo", "--continue")
        terminal.prompt("once more")
        terminal.answer("3", QUESTION)
        terminal.see_idle()
        assert terminal.leave() == 0
    assert (out(place) / "log").read_text() == "x\nx\n"


def test_ctrl_c_at_the_question_stops_and_nothing_leaves(place: Place, tmp_path: Path) -> None:
    script = [reply(calls=[touch("stop")]), reply("the end")]
    with ModelServer(script, strict=True) as server, inline_terminal(place, server, tmp_path) as terminal:
        start(terminal, "--yolo")
        terminal.see_on_screen(QUESTION)
        terminal.type("Escape")
        terminal.see_on_screen(QUESTION)
        terminal.type("C-c")
        terminal.see_gone(QUESTION)
        terminal.see_idle()
        terminal.prompt("tell me")
        terminal.see("the end")
        assert terminal.leave() == 0
        assert "[stopped by the sandbox: " in results(server)["c-stop"]
    assert not list(out(place).iterdir())


def test_a_file_tool_asks_with_where_the_file_really_is(place: Place, tmp_path: Path) -> None:
    (place.project / "box").symlink_to("../out")
    script = [
        reply(calls=[call("write", call_id="c-yes", file_path="box/yes", content="new\n")]),
        reply(calls=[call("write", call_id="c-no", file_path="box/no", content="new\n")]),
        reply("the end"),
    ]
    with ModelServer(script, strict=True) as server, inline_terminal(place, server, tmp_path) as terminal:
        start(terminal, "--yolo")
        terminal.see_on_screen("Write box/yes?", "it would write", "2 always exactly this file in this session")
        terminal.wait_until(lambda: str(out(place) / "yes") in "".join(terminal.tmux.screen()), "the real path")
        assert not list(out(place).iterdir())
        terminal.answer("1", "Write box/yes?")
        terminal.answer("3", "Write box/no?")
        terminal.see_idle()
        terminal.prompt("tell me")
        terminal.see("the end")
        assert terminal.leave() == 0
    assert {path.name: path.read_text() for path in out(place).iterdir()} == {"yes": "new\n"}


def test_without_a_person_the_result_names_rule_and_path_and_a_file_is_an_error(place: Place) -> None:
    script = [
        reply(calls=[touch("new")]),
        reply(calls=[call("write", call_id="c-file", file_path="../out/file", content="x")]),
        reply("could not"),
    ]
    with ModelServer(script, strict=True) as server:
        words = ("-p", "go", "--sandbox", "workspace", "--yolo", "--output-format", "json")
        done = place.run(*words, server=server)
        told = results(server)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["exit_code"], answer["outcome"]) == (4, 4, "completed")
    assert answer["denied"] == [f"Write({out(place)}/file)"]
    head, note, *_ = told["c-new"].split("\n")
    assert head == "exit: 1"
    assert note.startswith(f"[stopped by the sandbox: {out(place)}/new: only {place.project}, ")
    assert "can be written (sandbox profile workspace); " in note
    assert f"it would write {out(place)}/file, outside of the sandbox profile workspace" in told["c-file"]
    assert not list(out(place).iterdir())


def test_without_a_sandbox_nothing_is_asked(place: Place) -> None:
    with ModelServer([reply(calls=[touch("new")]), reply("done")], strict=True) as server:
        done = place.run("-p", "go", "--sandbox", "off", "--yolo", server=server)
        assert results(server)["c-new"] == "exit: 0\nmade\n"
    assert done.returncode == 0
    assert [path.name for path in out(place).iterdir()] == ["new"]

"""Questions of permission in a real terminal: every key, several at once, and a diff."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.inline_terminal import inline_terminal
from tests.e2e.program import Place
from tests.fakes.model_server import Call, ModelServer, call, reply


def touch(name: str) -> Call:
    """A command that has to be asked about."""
    return call("run_terminal_command", call_id=f"c-{name}", command=f"touch {name}")


def results(server: ModelServer) -> dict[str, str]:
    """What the model was told of each call."""
    messages = server.bodies[-1]["messages"]
    return {message["tool_call_id"]: message["content"] for message in messages if message["role"] == "tool"}


def test_yes_always_and_no_with_a_reason(place: Place, tmp_path: Path) -> None:
    script = [
        reply(calls=[touch("yes")]),
        reply(calls=[touch("always")]),
        reply(calls=[touch("always")]),
        reply(calls=[touch("reason")]),
        reply("all asked"),
    ]
    with ModelServer(script, strict=True) as server, inline_terminal(place, server, tmp_path) as terminal:
        terminal.start()
        terminal.prompt("go")
        terminal.see_on_screen("touch yes", "1 yes")
        terminal.answer("1", "always Bash(touch yes)")
        terminal.see_on_screen("Run this?", "touch always")
        terminal.answer("2", "always Bash(touch always)")
        terminal.see_on_screen("Run this?", "touch reason")
        terminal.type("Escape")
        terminal.press_in_question("4")
        terminal.see_on_screen("what should it do instead?")
        terminal.write("make a folder")
        terminal.see_on_screen("instead? make a folder")
        terminal.type("Enter")
        terminal.see("all asked")
        terminal.see_idle()
        assert terminal.leave() == 0
        assert "make a folder" in results(server)["c-reason"]
    assert sorted(path.name for path in place.project.iterdir()) == ["always", "yes"]


def test_no_and_ctrl_c_end_the_turn(place: Place, tmp_path: Path) -> None:
    script = [reply(calls=[touch("no")]), reply(calls=[touch("stop"), touch("other")]), reply("the end")]
    with ModelServer(script, strict=True) as server, inline_terminal(place, server, tmp_path) as terminal:
        terminal.start()
        terminal.prompt("first")
        terminal.see_on_screen("Run this?", "touch no")
        terminal.answer("3", "Run this?")
        terminal.see_idle()
        terminal.prompt("second")
        terminal.see_on_screen("Run this?", "touch stop")
        terminal.type("C-c")
        terminal.see_gone("Run this?")
        terminal.see_idle()
        terminal.prompt("third")
        terminal.see("the end")
        assert terminal.leave() == 0
        assert set(results(server)) == {"c-no", "c-stop", "c-other"}
    assert list(place.project.iterdir()) == []


def test_an_edit_shows_its_diff_and_the_pager_shows_it_whole(place: Place, tmp_path: Path) -> None:
    place.add_calc()
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\ncp "$1" "$HOME/paged"\necho it was paged\n')
    pager.chmod(0o755)
    edit = call("search_replace", file_path="calc.py", old_string="a - b", new_string="a + b")
    script = [reply(calls=[call("read_file", target_file="calc.py")]), reply(calls=[edit]), reply("edited")]
    with (
        ModelServer(script, strict=True) as server,
        inline_terminal(place, server, tmp_path, PAGER=str(pager)) as terminal,
    ):
        terminal.start()
        terminal.prompt("go")
        terminal.see_on_screen("-     return a - b", "+     return a + b", "1 yes")
        terminal.press_in_question("d")
        terminal.see("it was paged")  # and so the question that stood there before is gone
        terminal.answer("1")
        terminal.see("edited")
        terminal.see_idle()
        assert terminal.leave() == 0
        assert terminal.count("return a + b") == 1
    assert "+    return a + b" in (place.home / "paged").read_text()
    assert place.calc_is_right()
    assert "calc.py" in json.dumps(place.events())


def test_the_pager_gets_no_control_sequence_of_the_model_s(place: Place, tmp_path: Path) -> None:
    (place.project / "note").write_text("old\n")
    attack = "\x1b]52;c;aGk=\x07\x1b[2J\x9b31mred"
    edit = call("search_replace", file_path="note", old_string="old", new_string=attack)
    script = [reply(calls=[call("read_file", target_file="note")]), reply(calls=[edit]), reply("edited")]
    with (
        ModelServer(script, strict=True) as server,
        inline_terminal(place, server, tmp_path, PAGER="cat") as terminal,
    ):
        terminal.start()
        terminal.prompt("go")
        terminal.press_in_question("d")
        terminal.see("+␛]52;c;aGk=␇␛[2J")
        terminal.answer("3")
        terminal.see_idle()
        assert terminal.leave() == 0
        assert b"\x1b]52" not in terminal.raw

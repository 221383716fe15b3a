"""The sandbox of a session as a person sees it: started, shown, changed, taken up again, refused."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.inline_terminal import inline_terminal
from tests.e2e.program import PROGRAM, SECONDS, Place
from tests.fakes.model_server import ModelServer, Reply, call, reply
from tests.sandbox.places import not_temporary

LOOSEN = "Loosen the sandbox"
OUTSIDE = "Run it outside of the sandbox?"
LOST = "Not enforced by the sandbox here"
AS_SOMEBODY = (
    shutil.which("bwrap") or "bwrap",
    "--unshare-user",
    "--uid",
    "1000",
    "--gid",
    "1000",
    "--dev-bind",
    "/",
    "/",
    "--",
)
"""Runs the program with an ordinary user's number and none of root's powers, whoever runs the test."""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Not in a temporary folder, for there commands may write whatever the profile."""
    with not_temporary() as folder:
        for name in ("home", "project", "other", "bin"):
            (folder / name).mkdir()
        yield Place(folder / "home", folder / "project")


def runs(*shell_commands: str) -> list[Reply]:
    """One reply for each command, which calls it, and one that ends the turn."""
    calls = [
        reply(calls=[call("run_terminal_command", call_id=f"c{number}", command=command)])
        for number, command in enumerate(shell_commands)
    ]
    return [*calls, reply("all done")]


def results(server: ModelServer) -> list[str]:
    """What the model was told of each call."""
    messages = server.bodies[-1]["messages"]
    return [message["content"] for message in messages if message["role"] == "tool"]


def without_bwrap(place: Place) -> dict[str, str]:
    """An environment in which bubblewrap is there and fails, as in many containers."""
    stub = place.home.parent / "bin" / "bwrap"
    stub.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    stub.chmod(0o755)
    return {"PATH": f"{stub.parent}:{place.environment()['PATH']}"}


def test_the_profile_is_shown_tightened_loosened_and_taken_up_again(place: Place, tmp_path: Path) -> None:
    script = [*runs("echo x >first"), *runs("echo x >second")[:1], reply("hello again")]
    with ModelServer(script, strict=True) as server, inline_terminal(place, server, tmp_path) as terminal:
        terminal.start("--sandbox", "workspace", "--yolo")
        terminal.see_on_screen("sandbox workspace")
        terminal.prompt("/sandbox")
        terminal.see("enforced")
        terminal.see("network    open")
        terminal.see("profiles   off, workspace, read-only, strict, devbox")
        terminal.prompt("write it")
        terminal.see("all done")
        terminal.write("/sandbox read")
        terminal.see("› /sandbox read")
        terminal.type("Tab")
        terminal.see_on_screen("› read-only")
        terminal.type("Enter")
        terminal.see("sandbox: read-only")
        terminal.see_on_screen("sandbox read-only")
        terminal.prompt("write again")
        terminal.answer("3", OUTSIDE)
        terminal.see_idle()
        assert (place.project / "first").exists() and not (place.project / "second").exists()
        terminal.prompt("/sandbox workspace")
        terminal.see_on_screen(LOOSEN, "write in", "use the network", "1 yes")
        terminal.answer("3", LOOSEN)
        terminal.see("The sandbox stays read-only.")
        terminal.prompt("/sandbox workspace")
        terminal.see_on_screen(LOOSEN)
        terminal.answer("1", LOOSEN)
        terminal.see("sandbox: workspace")
        terminal.prompt("/sandbox strict")
        terminal.see("sandbox: strict")
        assert terminal.leave() == 0
        terminal.start("--continue")
        terminal.see_on_screen("sandbox strict")
        terminal.prompt("still there?")
        terminal.see("hello again")
        assert terminal.leave() == 0
    summary = json.loads((place.sessions[0] / "summary.json").read_bytes())
    assert summary["sandbox_profile"] == "strict"
    kinds = [event["profile"] for event in place.events() if event["type"] == "sandbox_changed"]
    assert kinds == ["read-only", "workspace", "strict"]


def test_auto_runs_nothing_unasked_in_a_sandbox_that_keeps_only_a_part(place: Place) -> None:
    words = ("-p", "go", "--permission-mode", "auto", "--output-format", "json")
    with ModelServer(runs("ls -a", "echo x >new"), strict=True) as server:
        done = place.run(*words, server=server, env=without_bwrap(place))
        told = results(server)
    assert (done.returncode, json.loads(done.stdout)["denied"]) == (4, ["Bash(echo x >new)"]), done.stderr
    assert told[0].startswith("exit: 0") and "nobody can be asked" in told[1]
    assert not (place.project / "new").exists()
    with ModelServer(runs("echo x >new"), strict=True) as server:
        assert place.run(*words, server=server).returncode == 0
    assert (place.project / "new").exists(), "here the whole profile is kept"


def test_in_plain_lines_too_loosening_asks(place: Place) -> None:
    with ModelServer() as server:
        person = place.talk("--plain", "--sandbox", "read-only", server=server)
        person.expect("sandbox read-only")
        person.send("/sandbox off\r")
        person.expect(LOOSEN)
        person.expect("nothing is confined")
        person.expect("answer: ")
        person.send("n\r")
        person.expect("The sandbox stays read-only")
        person.send("/sandbox nosuch\r")
        person.expect("there is no sandbox profile")
        person.send("/quit\r")
        person.read()
        person.close()
    assert person.exitstatus == 0


def test_another_folder_changes_what_is_protected_and_says_so(place: Place, tmp_path: Path) -> None:
    there, here = place.home.parent / "other" / "new", place.project / "old"
    script = runs(f"echo x >{there}; echo x >{here}")
    with ModelServer(script, strict=True) as server, inline_terminal(place, server, tmp_path, 120) as terminal:
        terminal.start("--sandbox", "workspace", "--yolo")
        terminal.prompt(f"/cd {there.parent}")
        terminal.see("can now write in")
        terminal.see("can no longer write in")
        terminal.prompt("write")
        terminal.answer("3", OUTSIDE)
        assert terminal.leave() == 0
    assert there.exists() and not here.exists()


BUILD = '[profiles.build]\nextends = "workspace"\nwrite = ["{folder}"]\n'


def test_a_projects_profile_that_grants_more_is_asked_about_once(place: Place, tmp_path: Path) -> None:
    project = place.project / ".grokmini"
    project.mkdir()
    profiles = project / "sandbox.toml"
    profiles.write_text(BUILD.format(folder=place.home.parent / "other"))
    config = place.home / ".config" / "grokmini"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[sandbox]\nprofile = "build"\n')
    with ModelServer([reply("hello")]) as server, inline_terminal(place, server, tmp_path) as terminal:
        refused = place.run("-p", "hello", server=server)
        assert refused.returncode == 9
        assert "grokmini sandbox trust build" in refused.stderr
        assert server.bodies == []
        terminal.start(ready="y/N")
        terminal.see(f"write in {place.home.parent / 'other'}")
        terminal.type("y", "Enter")
        terminal.see_on_screen("sandbox build")
        assert terminal.leave() == 0
        terminal.start()
        terminal.see_on_screen("sandbox build")
        assert terminal.leave() == 0
        profiles.write_text(BUILD.format(folder="/opt"))
        terminal.start(ready="y/N")
        terminal.type("n", "Enter")
        assert terminal.ended() == 9


def test_a_named_profile_that_cannot_be_kept_refuses_before_the_model_is_asked(place: Place) -> None:
    env = without_bwrap(place)
    with ModelServer([reply("hello")]) as server:
        refused = place.run("-p", "hello", "--sandbox", "workspace", server=server, env=env)
        assert (refused.returncode, server.bodies) == (9, [])
        assert "not enforced" in refused.stderr and "No permissions" in refused.stderr
        assert "--sandbox-best-effort" in refused.stderr
        went_on = place.run(
            "-p", "hello", "--sandbox", "workspace", "--sandbox-best-effort", server=server, env=env
        )
        assert (went_on.returncode, went_on.stdout) == (0, "hello\n")
        assert went_on.stderr.count("Not enforced by the sandbox here") == 1


def test_marks_of_a_sandbox_set_by_hand_switch_nothing_off(place: Place) -> None:
    """Nothing in the environment is believed: not ours, not that of others."""
    marks = dict.fromkeys(
        ("GROKMINI_SANDBOX", "GROKMINI_SANDBOXED", "GROK_SANDBOX", "SANDBOX", "container"), "1"
    )
    marks |= {"CODEX_SANDBOX": "seatbelt", "GROKMINI_SANDBOX_PROFILE": "off"}
    with ModelServer(runs("echo x >../other/z; echo code $?")) as server:
        done = place.run("-p", "go", "--sandbox", "workspace", "--yolo", server=server, env=marks)
    assert done.returncode == 0, done.stderr
    assert not (place.home.parent / "other" / "z").exists()
    assert re.search(r"code [12]", results(server)[0])


def ask(
    place: Place, server: ModelServer, env: dict[str, str], around: tuple[str, ...]
) -> subprocess.CompletedProcess[str]:
    """A headless run that may do everything, started by these words."""
    return subprocess.run(
        [*around, str(PROGRAM), "-p", "go", "--yolo"],
        cwd=place.project,
        env=place.environment(server) | env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.parametrize("around", [(), AS_SOMEBODY], ids=["as we are", "as an ordinary user"])
@pytest.mark.parametrize("bwrap", ["with bubblewrap", "where it fails"])
def test_h55_work_in_the_folder_is_possible_and_none_outside(
    place: Place, bwrap: str, around: tuple[str, ...]
) -> None:
    env = without_bwrap(place) if bwrap == "where it fails" else {}
    edit = call("write", call_id="e", file_path="made.txt", content="made\n")
    script = [*runs("pwd")[:1], reply(calls=[edit]), *runs("cat made.txt; echo x >../z; echo code $?")]
    with ModelServer(script, strict=True) as server:
        done = ask(place, server, env, around)
    assert done.returncode == 0, done.stderr
    first, _, last = results(server)
    assert str(place.project) in first
    assert "made\n" in last and "code 0" not in last and "../z" in last
    assert not (place.project.parent / "z").exists()
    fails = bwrap == "where it fails"
    assert ("chmod, chown" in done.stderr) == fails
    assert done.stderr.count(LOST) == int(fails), "once, and nothing where nothing is missing"


def test_nothing_is_started_for_a_session_that_runs_no_command(place: Place) -> None:
    with ModelServer([reply("hello")]) as server:
        done = place.run("-p", "hi", "--output-format", "stream-json", server=server)
    assert done.returncode == 0
    assert '"sandbox":"workspace, untried"' in done.stdout
    assert "sandbox_changed" not in done.stdout
    assert done.stderr == ""


def test_with_a_person_there_the_proof_is_made_unasked_and_shown(place: Place, tmp_path: Path) -> None:
    with ModelServer() as server, inline_terminal(place, server, tmp_path) as terminal:
        terminal.start()
        terminal.see("sandbox workspace, untried")
        terminal.wait_until(
            lambda: any("sandbox workspace" in row and "untried" not in row for row in terminal.tmux.screen()),
            "the profile, proved",
        )
        assert terminal.leave() == 0


def test_a_default_that_was_never_named_is_not_kept_with_the_session(place: Place) -> None:
    with ModelServer([reply("hello"), reply("again")]) as server:
        assert place.run("-p", "hi", server=server).returncode == 0
        refused = place.run("-p", "hi", "--continue", "--sandbox", "off", server=server)
        assert refused.returncode == 0
    assert '"sandbox_profile": "off"' in (place.sessions[0] / "summary.json").read_text().replace('":"', '": "')


def test_a_session_that_ran_without_a_sandbox_says_so_when_it_goes_on(place: Place) -> None:
    with ModelServer([reply("ok")], repeat=True) as server:
        assert "without a sandbox" not in place.run("-p", "hi", "--sandbox", "off", server=server).stderr
        assert "goes on without a sandbox" in place.run("-p", "hi", "--continue", server=server).stderr
        confined = place.run("-p", "hi", "--continue", "--sandbox", "workspace", server=server)
        assert "without a sandbox" not in confined.stderr
        assert "without a sandbox" not in place.run("-p", "hi", "--continue", server=server).stderr

"""The main job: "fix the failing test" runs read, edit, run, answer, whichever way it is asked for."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pexpect

from grokmini.cli.demo_project import CHECK
from tests.e2e.program import PROGRAM, SECONDS, Place, fixing
from tests.fakes.model_server import ModelServer

PROMPT = "fix the failing test"
ANSWER = "`add` subtracted. Fixed in calc.py; the test is green."


def test_headless_fixes_the_failing_test(place: Place) -> None:
    place.add_calc()
    with ModelServer(fixing(), strict=True) as server:
        done = place.run("-p", PROMPT, "--yolo", server=server)
    assert (done.returncode, done.stdout, done.stderr) == (0, ANSWER + "\n", "")
    assert place.calc_is_right()
    results = [message for message in server.bodies[-1]["messages"] if message["role"] == "tool"]
    assert len(results) == 4
    assert "FAILED" in results[0]["content"]
    assert "return a - b" in results[1]["content"]
    assert "OK" in results[3]["content"]


def test_the_linear_repl_fixes_the_failing_test_on_a_terminal(place: Place) -> None:
    place.add_calc()
    with ModelServer(fixing(), strict=True) as server:
        child = place.talk("--plain", "--yolo", server=server)
        child.expect("grokmini 0")
        child.send(PROMPT + "\r")
        child.expect("the test is green")
        child.expect("steps")
        child.send("/quit\r")
        child.expect(pexpect.EOF)
        child.close()
    assert child.exitstatus == 0
    assert place.calc_is_right()


def test_on_a_terminal_each_step_that_changes_something_is_asked_about(place: Place) -> None:
    """Reading is not; the edit is shown as a diff before it is made."""
    place.add_calc()
    with ModelServer(fixing(), strict=True) as server:
        child = place.talk("--plain", server=server)
        child.expect("grokmini 0")
        child.send(PROMPT + "\r")
        for asked, there in ((CHECK, "a - b"), (r"return a \+ b", "a - b"), (CHECK, "a + b")):
            child.expect(asked)
            child.expect("answer: ")
            assert f"return {there}" in (place.project / "calc.py").read_text()
            child.send("1\r")
        child.expect("the test is green")
        child.expect("steps")
        child.send("/quit\r")
        child.expect(pexpect.EOF)
        child.close()
    assert child.exitstatus == 0
    assert place.calc_is_right()
    assert [event["type"] for event in place.events()].count("permission_asked") == 3


def test_a_session_is_resumed_by_its_id_and_by_its_beginning(place: Place) -> None:
    with ModelServer(fixing()[-1:] * 3) as server:
        first = json.loads(place.run("-p", "one", "--output-format", "json", server=server).stdout)
        whole = place.run("-p", "two", f"--resume={first['session_id']}", server=server)
        part = place.run("-p", "three", "--resume", first["session_id"][:13], server=server)
    assert (whole.returncode, part.returncode) == (0, 0)
    users = [message["content"] for message in server.bodies[-1]["messages"] if message["role"] == "user"]
    assert [
        text for text in map(str, users) if any(word == text.strip() for word in ("one", "two", "three"))
    ] == [
        "one",
        "two",
        "three",
    ]


def test_every_saved_line_is_valid_json_and_only_ours_to_read(place: Place) -> None:
    place.add_calc()
    with ModelServer(fixing()) as server:
        place.run("-p", PROMPT, "--yolo", server=server)
    (folder,) = place.sessions
    kinds = [json.loads(line)["type"] for line in (folder / "chat_history.jsonl").read_bytes().splitlines()]
    assert kinds[0] == "system"
    assert (kinds.count("assistant"), kinds.count("tool_result")) == (5, 4)
    events = [json.loads(line) for line in (folder / "updates.jsonl").read_bytes().splitlines()]
    assert (events[0]["type"], events[-1]["type"]) == ("session_started", "session_ended")
    assert json.loads((folder / "summary.json").read_bytes())["turns"] == 1
    assert {oct(path.stat().st_mode & 0o777) for path in folder.rglob("*") if path.is_file()} == {"0o600"}


def test_nothing_is_kept_with_no_save(place: Place) -> None:
    with ModelServer(fixing()[-1:]) as server:
        done = place.run("-p", "hi", "--no-save", server=server)
    assert done.returncode == 0
    assert place.sessions == []


def test_the_demo_does_the_whole_job_without_a_key_and_keeps_its_folder(place: Place) -> None:
    done = place.run("demo", env={"TMPDIR": str(place.project)})
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    (folder,) = place.project.glob("grokmini-demo-*")
    assert str(folder) in done.stdout
    assert Place(place.home, folder).calc_is_right()
    assert "return a + b" in done.stdout, "the edit is shown"


def test_the_demo_runs_on_a_terminal_too(place: Place) -> None:
    child = pexpect.spawn(
        str(PROGRAM),
        ["demo"],
        cwd=str(place.project),
        env=place.environment(TMPDIR=str(place.project)),
        encoding="utf-8",
        timeout=SECONDS,
    )
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    (folder,) = place.project.glob("grokmini-demo-*")
    assert child.before is not None
    assert str(folder) in child.before
    assert Place(place.home, folder).calc_is_right()


def test_without_a_model_it_says_in_three_lines_how_to_connect_one(place: Place) -> None:
    done = place.run()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "grokmini: no model is set up.\n"
        "  export XAI_API_KEY=…            or OPENAI_, ANTHROPIC_, OPENROUTER_API_KEY\n"
        "  ollama serve                    a local server is found by itself\n"
        "  grokmini demo                   see it work without any\n"
    )


def test_python_m_grokmini_is_the_same_program(place: Place) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "grokmini", "--version"],
        cwd=place.project,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == place.run("--version").stdout


def test_the_session_that_the_readme_shows_is_the_one_that_the_demo_prints(place: Place) -> None:
    """But for times and the folder's name."""
    readme = (Path(__file__).parent.parent.parent / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("```text\n")[2].partition("```")[0]
    done = place.run("demo", env={"COLUMNS": "80", "TMPDIR": "/tmp"})
    assert without_accidents(shown) == without_accidents(done.stdout)


def without_accidents(text: str) -> list[str]:
    """The lines without times, folder names, what the test runner of this Python prints, and what this machine (or
    whoever runs the test) cannot keep of the sandbox.
    """
    text = re.sub(r"\n[=!] Not enforced by the sandbox here:.*?\n(?=\n)", "", text, flags=re.DOTALL)
    text = re.sub(r"/[\w/.-]*grokmini-demo-\w+", "FOLDER", text)
    text = re.sub(r" *\b\d+\.\d+ s\b", " TIME", text)
    return [line for line in text.splitlines() if not line.startswith(" " * 8)]

"""What the question about leaving the sandbox shows, and for what it offers "always"."""

from __future__ import annotations

from pathlib import Path

from grokmini.protocol import events
from tests.fakes.model_server import ModelServer, reply
from tests.session.test_escalation import ALWAYS, NO, answer, bash, driven, leave_question, place

__all__ = ["place"]


async def test_a_script_that_can_be_rewritten_is_asked_about_each_time(place: Path) -> None:
    build = place / "work/build.sh"
    build.write_text(f"echo first >> {place}/out/log\n")
    build.chmod(0o755)
    evil = f"echo 'echo evil >> {place}/out/log' > build.sh"
    script = [reply(calls=[bash("./build.sh")]), reply(calls=[bash(evil)]), reply(calls=[bash("./build.sh")])]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            asked = await leave_question(driver)
            assert [option.key for option in asked.options] == ["1", "3", "4"]
            assert "no “always” for it: what ./build.sh does may depend on files" in asked.details[-1]
            answer(driver, asked, ALWAYS)  # a client may say it all the same
            asked = await leave_question(driver)
            assert asked.subject == "./build.sh"
            answer(driver, asked, NO)
            await driver.until(events.TurnEnded)
    assert (place / "out/log").read_text() == "first\n"


async def asked_about(place: Path, command: str) -> events.PermissionAsked:
    """The question about a command that the sandbox stops; the answer is no."""
    with ModelServer([reply(calls=[bash(command)])], strict=True) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            asked = await leave_question(driver)
            answer(driver, asked, NO)
            await driver.until(events.TurnEnded)
    return asked


async def test_the_words_of_the_command_are_quoted_and_its_last_lines_are_shown(place: Path) -> None:
    command = f"seq 20; printf '\\033[31mred\\033[0m\\u202etxt\\n'; touch {place}/out/new"
    asked = await asked_about(place, command)
    assert asked.details[2].startswith("it printed: “touch: cannot touch ") and asked.details[2].endswith("”")
    shown = [line for line in asked.details if line.startswith("│ ")]
    assert shown[:4] == ["│ 18", "│ 19", "│ 20", "│ red<U+202E>txt"]
    assert len(shown) == 5 and "touch: cannot touch" in shown[4]
    assert "what it printed is its own word, and outside it may do something else" in asked.details


async def test_a_path_that_is_not_there_is_not_shown_as_if_it_were(place: Path) -> None:
    lie = f"python3 -c \"print('cannot open: {place}/out/no/such: Read-only file system')\"; false"
    asked = await asked_about(place, lie)
    assert asked.details[0].startswith("stopped: a path that is not there: only ")
    assert "no/such" in asked.details[2], "in quotes, as what it printed"


async def test_a_long_line_is_bounded(place: Path) -> None:
    lie = (
        f"python3 -c \"print('x' * 3000 + ': {place}/out/new: Read-only file system')\"; touch {place}/out/new"
    )
    asked = await asked_about(place, lie)
    assert max(map(len, asked.details[2:])) < 180

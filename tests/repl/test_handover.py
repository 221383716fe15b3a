"""The terminal in the hands of an editor or pager, on a real pty."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pexpect
import pytest

from tests.e2e.program import SECONDS

PROGRAM = """
    import asyncio, os, sys
    from pathlib import Path
    from grokmini.render.lines import line_of
    from grokmini.repl.handover import Handover, HandoverError
    from grokmini.repl.painter import LiveView, Size
    from grokmini.repl.reflow import reflow_of
    from grokmini.repl.stage import InlineTerminal, Stage

    async def main():
        env = dict(os.environ)
        stage = Stage(InlineTerminal(0, 1, True, 0, False, reflow_of(env), lambda: Size(80, 24), env))
        typed = asyncio.get_running_loop().create_future()
        with stage.taken():
            stage.attend(lambda presses: typed.done() or typed.set_result(presses), lambda: None)
            stage.keyboard.reopen()
            stage.screen.show(LiveView((line_of("live row"),)))
            await asyncio.sleep(0)
            private = Path(env["PRIVATE"]) if "PRIVATE" in env else None
            handover = Handover(stage.screen, stage.keyboard, env, lambda: print("returned"), private)
            try:
                result = []
                if sys.argv[1] == "edit":
                    await handover.edit("the text", result.append)
                else:
                    await handover.page("the text")
            except HandoverError as error:
                result = f"error: {error}"
            stage.screen.commit([line_of(f"result {result!r}")])
            await typed
        print("typed", typed.result())

    asyncio.run(main())
"""


def hand_over(what: str, **env: str) -> pexpect.spawn[str]:
    """A program that hands its terminal over at once, prints the result and waits for a key."""
    words = ["-c", textwrap.dedent(PROGRAM), what]
    found = {"PATH": "/usr/bin:/bin", "TERM": "xterm", "HOME": "/", "LANG": "C.UTF-8"}
    return pexpect.spawn(sys.executable, words, env=found | env, encoding="utf-8", timeout=SECONDS)


def script(folder: Path, text: str) -> str:
    """A program of that text; its path has a space in it."""
    path = folder / "my program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return f"'{path}'"


def test_the_editor_finds_a_cooked_terminal_and_its_text_comes_back(tmp_path: Path) -> None:
    editor = script(
        tmp_path, 'stty -a | grep -o " -\\?icanon\\| -\\?echo "; cat "$1"; printf " edited" >> "$1"'
    )
    child = hand_over("edit", VISUAL=editor, EDITOR="false")
    child.expect_exact(" icanon")
    child.expect_exact(" echo ")
    child.expect_exact("the text")
    child.expect_exact("result ['the text edited']")
    child.send("k")
    child.expect_exact("typed [Text(text='k')]")
    child.expect(pexpect.EOF)


def test_what_is_typed_in_the_editor_is_the_editor_s(tmp_path: Path) -> None:
    child = hand_over("edit", EDITOR=script(tmp_path, 'echo ready; read line; printf "$line" > "$1"'))
    child.expect_exact("ready")
    child.send("typed there\r")
    child.expect_exact("result ['typed there']")
    child.send("k")
    child.expect_exact("typed [Text(text='k')]")


@pytest.mark.parametrize(
    ("editor", "said"),
    [
        ("false", "false ended with 1; the text is as it was"),
        ("/no/such/editor", "/no/such/editor cannot be started: No such file or directory"),
        ("'unbalanced", "No closing quotation"),
        ("kill-me", "the text is as it was"),
    ],
)
def test_an_editor_that_fails_is_said_and_the_terminal_is_ours_again(
    tmp_path: Path, editor: str, said: str
) -> None:
    child = hand_over("edit", EDITOR=script(tmp_path, "kill -9 $$") if editor == "kill-me" else editor)
    child.expect_exact(said)
    child.send("k")
    child.expect_exact("typed [Text(text='k')]")


def test_the_pager_gets_the_text_and_less_keeps_colours(tmp_path: Path) -> None:
    child = hand_over("page", PAGER=script(tmp_path, 'echo "LESS=$LESS"; cat "$1"'))
    child.expect_exact("LESS=-R")
    child.expect_exact("the text")
    child.expect_exact("result []")


@pytest.mark.parametrize("what", ["edit", "page"])
def test_what_they_are_given_lies_where_no_command_can_put_a_link(tmp_path: Path, what: str) -> None:
    private = tmp_path / "state/grokmini"
    program = script(tmp_path, 'echo "given $1"')
    child = hand_over(what, EDITOR=program, PAGER=program, PRIVATE=str(private))
    child.expect_exact(f"given {private}/.handed-over-")
    child.expect_exact("result ")
    child.send("k")
    child.expect_exact("typed [Text(text='k')]")
    child.expect(pexpect.EOF)
    assert list(private.iterdir()) == []

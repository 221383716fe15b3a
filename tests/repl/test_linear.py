"""The linear REPL on a real pty."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from grokmini.protocol import commands, events
from grokmini.repl.linear_desk import HOW_TO_LEAVE, LEAVE_HINT
from grokmini.repl.linear_questions import KEPT
from grokmini.repl.progress import FIRST
from tests.repl.person import PROMPT, talk
from tests.waiting import standing_clock


async def test_a_prompt_is_sent_by_enter_and_answered_in_whole_lines() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("hi\r")
        prompt = await t.session.got(commands.Prompt)
        assert isinstance(prompt, commands.Prompt) and prompt.text == "hi"
        t.session.end_turn("hello there")
        written = await t.person.see_prompt()
        assert written.startswith("hi\n") and "hello there\n" in written
        assert written.count("hi\n") == 1


async def test_no_escape_is_written_without_colour_and_no_carriage_return_ever() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("abc", b"\x7f", b"\x1b[A", b"\x0c", "\r")
        await t.session.got(commands.Prompt)
        t.session.end_turn("**bold** `code`\n\n- a\n- b")
        await t.person.see_prompt()
        assert "\x1b" not in t.person.output
        assert "\r" not in t.person.output


async def test_the_terminal_is_put_back_when_the_person_leaves() -> None:
    async with talk() as t:
        before = t.person.settings()
        await t.person.see_prompt()
        assert t.person.settings() != before
        t.person.type(b"\x04")
        assert await t.exit_code() == 0
        assert t.person.settings() == before


async def test_quit_leaves_also_while_a_turn_runs() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("work\r")
        await t.session.got(commands.Prompt)
        t.person.type("/quit\r")
        assert await t.exit_code() == 0
        await t.session.got(commands.Shutdown)


async def test_ctrl_d_while_a_turn_runs_needs_a_second_one() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("work\r")
        await t.session.got(commands.Prompt)
        with standing_clock():  # the second one counts for a while only
            t.person.type(b"\x04")
            await t.person.see(LEAVE_HINT)
            assert not t.app.done()
            t.person.type(b"\x04")
            await t.session.got(commands.Shutdown)
        assert await t.exit_code() == 0


async def test_ctrl_d_with_a_draft_does_not_leave() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("draft", b"\x04", "!\r")
        prompt = await t.session.got(commands.Prompt)
        assert isinstance(prompt, commands.Prompt) and prompt.text == "draft!"


async def test_ctrl_c_stops_the_turn_and_keeps_the_draft() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("work\r")
        await t.session.got(commands.Prompt)
        t.person.type("next")
        await t.person.see("next")
        t.person.type(b"\x03")
        await t.session.got(commands.CancelTurn)
        await t.person.see_prompt("next")
        assert not t.app.done()


async def test_ctrl_c_clears_a_draft_and_up_brings_it_back() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("precious", b"\x03")
        await t.person.see_prompt()
        t.person.type(b"\x1b[A")
        await t.person.see("precious")
        t.person.type("\r")
        prompt = await t.session.got(commands.Prompt)
        assert isinstance(prompt, commands.Prompt) and prompt.text == "precious"


async def test_ctrl_c_on_an_empty_line_says_how_to_leave_and_never_leaves() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        for _ in range(5):
            t.person.type(b"\x03")
            await t.person.see(HOW_TO_LEAVE)
            await t.person.see_prompt()
        assert not t.app.done()


async def test_escape_stops_the_turn_and_does_nothing_when_none_runs() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type(b"\x1b")
        t.person.type("work\r")
        await t.session.got(commands.Prompt)
        assert not any(isinstance(command, commands.CancelTurn) for command in t.session.sent)
        t.person.type(b"\x1b")
        await t.session.got(commands.CancelTurn)


async def test_enter_queues_while_a_turn_runs_and_enter_on_an_empty_line_sends_now() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("work\r")
        await t.session.got(commands.Prompt)
        t.person.type("and then\r")
        queued = await t.session.got(commands.Prompt)
        assert isinstance(queued, commands.Prompt) and queued.text == "and then"
        await t.person.see("queued")
        t.person.type("\r")
        assert await t.session.got(commands.Interject) == commands.Interject(queued.prompt_id)


async def test_up_takes_the_newest_queued_prompt_back() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("work\r")
        await t.session.got(commands.Prompt)
        for text in ("first", "second"):
            t.person.type(text + "\r")
            await t.session.got(commands.Prompt)
            await t.person.see("queued")
        t.person.type(b"\x1b[A")
        edit = await t.session.got(commands.EditQueue)
        assert isinstance(edit, commands.EditQueue) and edit.action == "remove"
        await t.person.see(PROMPT + "second")
        assert [prompt.text for prompt in t.session.queue] == ["first"]


async def test_text_typed_before_the_start_is_not_lost_and_its_enter_sends() -> None:
    async with talk(typed_before=b"early\rlater") as t:
        prompt = await t.session.got(commands.Prompt)
        assert isinstance(prompt, commands.Prompt) and prompt.text == "early"
        t.session.end_turn()
        await t.person.see_prompt("later")


async def test_a_first_prompt_is_sent_at_once() -> None:
    async with talk(first_prompt="fix it") as t:
        prompt = await t.session.got(commands.Prompt)
        assert isinstance(prompt, commands.Prompt) and prompt.text == "fix it"


async def test_several_lines_become_one_prompt() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        for keys, shown in (("a\n", "a\n  "), ("b\x1b\r", "b\n  "), ("c\\", "c\\"), ("\r", "\n  "), ("d", "d")):
            t.person.type(keys)
            await t.person.see(shown)
        t.person.type("\r")
        prompt = await t.session.got(commands.Prompt)
        assert isinstance(prompt, commands.Prompt) and prompt.text == "a\nb\nc\nd"


async def test_a_paste_sends_nothing_before_the_enter_behind_it() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type(b"\x1b[200~one\ntwo\r\nthree\rfour\n\x1b[201~")
        await t.person.see("four")
        assert t.session.sent == []
        t.person.type("\r")
        prompt = await t.session.got(commands.Prompt)
        assert isinstance(prompt, commands.Prompt) and prompt.text == "one\ntwo\nthree\nfour"


async def test_a_paste_without_marks_says_that_enter_sends() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("one\rtwo\r")
        await t.person.see("Enter to send")
        assert t.session.sent == []


async def test_a_question_is_numbered_and_answered_by_number() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("work\r")
        await t.session.got(commands.Prompt)
        t.session.ask("q1")
        written = await t.person.see("answer: ")
        for line in ("Run this?", "rm -rf build", "in ~/shop", "  1 yes", "  3 no"):
            assert line + "\n" in written
        t.person.type("2\r")
        answer = await t.session.got(commands.AnswerPermission)
        assert isinstance(answer, commands.AnswerPermission)
        assert (answer.request_id, answer.answer.decision, answer.answer.rule) == (
            "q1",
            "allow",
            "Bash(rm -rf build)",
        )


async def test_an_edit_is_asked_about_with_its_diff() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("work\r")
        await t.session.got(commands.Prompt)
        t.session.ask(
            "q1", title="Edit calc.py?", diff="--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-a - b\n+a + b\n"
        )
        written = await t.person.see("answer: ")
        assert "Edit calc.py?  +1 -1\n" in written
        assert "- a - b\n" in written and "+ a + b\n" in written


async def test_a_no_with_a_reason_asks_for_the_reason() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("work\r")
        await t.session.got(commands.Prompt)
        t.session.ask("q1")
        await t.person.see("answer: ")
        t.person.type("4\r")
        await t.person.see("instead? ")
        t.person.type("use make clean\r")
        answer = await t.session.got(commands.AnswerPermission)
        assert isinstance(answer, commands.AnswerPermission)
        assert (answer.answer.decision, answer.answer.text) == ("deny", "use make clean")


async def test_several_questions_come_one_after_another() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("work\r")
        await t.session.got(commands.Prompt)
        t.session.ask("q1", title="First?")
        t.session.ask("q2", title="Second?")
        written = await t.person.see("answer: ")
        assert "First?" in written and "Second?" not in written
        t.person.type("1\r")
        await t.session.got(commands.AnswerPermission)
        assert "Second?" in await t.person.see("answer: ")
        t.person.type("3\r")
        second = await t.session.got(commands.AnswerPermission)
        assert isinstance(second, commands.AnswerPermission)
        assert (second.request_id, second.answer.decision) == ("q2", "deny")


async def test_keys_typed_before_a_question_takes_keys_go_to_the_draft() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("work\r")
        await t.session.got(commands.Prompt)
        with standing_clock():
            t.session.ask("q1")
            await t.person.see("  4 no, because")
            await t.person.press("1")
        await t.person.see(KEPT)
        await t.person.see("answer: ")
        assert t.session.sent == []
        t.person.type("3\r")
        await t.session.got(commands.AnswerPermission)
        t.session.end_turn()
        await t.person.see_prompt("1")


async def test_an_answer_that_is_none_says_what_may_be_typed_and_asks_again() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("work\r")
        await t.session.got(commands.Prompt)
        t.session.ask("q1")
        await t.person.see("answer: ")
        t.person.type("maybe\r")
        await t.person.see("type 1, 2, 3 or 4")
        await t.person.see("answer: ")
        t.person.type("y\r")
        answer = await t.session.got(commands.AnswerPermission)
        assert isinstance(answer, commands.AnswerPermission) and answer.answer.decision == "allow"


async def test_ctrl_c_on_a_question_stops_the_turn() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("work\r")
        await t.session.got(commands.Prompt)
        t.session.ask("q1")
        t.person.type(b"\x03")
        assert await t.session.got(commands.CancelTurn) == commands.CancelTurn()
        await t.person.see_prompt()
        assert t.session.sent == [], "it is no answer"


async def test_slash_commands_answer_and_unknown_ones_name_the_nearest() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("/help\r")
        assert "/quit" in await t.person.see_prompt()
        t.person.type("/hlep\r")
        assert "did you mean /help?" in await t.person.see_prompt()
        t.person.type("/model other-model\r")
        assert await t.session.got(commands.SetModel) == commands.SetModel("other-model")
        await t.person.see("other-model")
        assert "model: other-model" in await t.person.see_prompt()
        t.person.type("/mode\r")
        assert "* ask: " in await t.person.see_prompt()
        assert not any(isinstance(command, commands.Prompt) for command in t.session.sent)


async def test_shell_commands_run_and_paths_are_no_commands() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("!ls -l\r")
        assert await t.session.got(commands.RunShell) == commands.RunShell("ls -l")
        t.session.emit(events.ShellFinished("ls -l", "total 0", 0, 0.1))
        await t.person.see_prompt()
        t.person.type("/etc/hosts is wrong\r")
        prompt = await t.session.got(commands.Prompt)
        assert isinstance(prompt, commands.Prompt) and prompt.text == "/etc/hosts is wrong"


async def test_the_time_that_an_answer_took_is_no_silence_of_the_call() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("go\r")
        await t.session.got(commands.Prompt)
        t.session.run_tool("call-q1", "npm test")
        t.session.ask("q1")
        await t.person.see("answer: ")
        with standing_clock() as clock:
            clock.forward(2 * FIRST)
            await t.person.press("1\r")
            clock.forward(FIRST / 5)
            await t.session.got(commands.AnswerPermission)
            clock.forward(FIRST / 2)
            for _ in range(20):
                await asyncio.to_thread(lambda: None)
        t.session.end_turn("finished")
        assert "still running" not in await t.person.see("finished")


async def test_new_goes_on_in_a_fresh_session() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("/new\r")
        await t.session.got(commands.Shutdown)
        await t.person.see_prompt()
        t.person.type("hi\r")
        prompt = await t.factory.made[0].got(commands.Prompt)
        assert isinstance(prompt, commands.Prompt) and prompt.text == "hi"
        assert t.session.sent == []


async def test_tab_completes_commands_and_paths(tmp_path: Path) -> None:
    (tmp_path / "calculator.py").write_text("")
    async with talk(cwd=str(tmp_path)) as t:
        await t.person.see_prompt()
        t.person.type("/us", b"\t")
        await t.person.see("/usage ")
        t.person.type(b"\x15", "see @calc", b"\t")
        await t.person.see("@calculator.py")
        t.person.type("\r")
        prompt = await t.session.got(commands.Prompt)
        assert isinstance(prompt, commands.Prompt) and prompt.text.rstrip() == "see @calculator.py"


async def test_what_is_said_is_broken_between_words() -> None:
    name = "z" * 52
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type(f"/{name}\r")
        said = await t.person.see("lists them")
        assert said.splitlines()[-2:] == [f"! there is no command /{name}:", "  /help lists them"]


async def test_history_is_kept_for_the_next_run_and_can_be_searched(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    for text in ("fix the parser", "write the docs"):
        async with talk(history=path) as t:
            await t.person.see_prompt()
            t.person.type(text + "\r")
            await t.session.got(commands.Prompt)
    assert path.stat().st_mode & 0o777 == 0o600
    async with talk(history=path) as t:
        await t.person.see_prompt()
        t.person.type(b"\x12")
        await t.person.see("search: ")
        t.person.type("parser\r")
        await t.person.see_prompt("fix the parser")


async def test_output_never_cuts_a_line_that_is_being_typed() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.type("work\r")
        await t.session.got(commands.Prompt)
        with standing_clock():
            t.person.type("abc")
            await t.person.see(PROMPT + "abc")
            t.session.emit(events.TextDelta("one line\nanother line\n\n"))
            for key in "def":
                t.person.type(key)
                await t.person.see(key)
        assert (await t.person.see("one line")).lstrip("\n") == "one line"
        t.person.type("g")
        await t.person.see("\n" + PROMPT + "abcdefg")


async def test_lines_go_to_a_pipe_and_the_prompt_to_the_terminal() -> None:
    read, write = os.pipe()
    try:
        async with talk(lines_to=write) as t:
            await t.person.see(PROMPT)
            t.person.type("hi\r")
            await t.session.got(commands.Prompt)
            t.session.end_turn("hello there")
            await t.person.see(PROMPT)
            piped = os.read(read, 65536).decode()
            assert "hello there\n" in piped and PROMPT + "\n" not in piped
            assert "hello there" not in t.person.output
    finally:
        os.close(read)
        os.close(write)


async def test_a_reader_that_leaves_ends_the_program_quietly() -> None:
    read, write = os.pipe()
    async with talk(lines_to=write) as t:
        await t.person.see(PROMPT)
        os.close(read)
        t.person.type("/help\r")
        assert await t.exit_code() == 0
    os.close(write)


async def test_a_closed_window_ends_the_session_soon() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.person.leave()
        assert await t.exit_code() == 129
        assert isinstance(await t.session.got(commands.Shutdown), commands.Shutdown)


async def test_a_session_that_ends_by_itself_ends_the_program() -> None:
    async with talk() as t:
        await t.person.see_prompt()
        t.session.handle.send(commands.Shutdown("crash"))
        assert await t.exit_code() == 1

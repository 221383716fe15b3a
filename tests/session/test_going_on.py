"""A session that goes on does so with its own model and permission mode, unless it is told otherwise."""

from __future__ import annotations

from pathlib import Path

from grokmini.protocol import commands, events
from grokmini.protocol.codec import encode
from grokmini.protocol.items import AssistantItem, ToolCall, ToolResultItem, user_text
from grokmini.protocol.permission import PermissionMode
from grokmini.store.summary import change_summary, read_summary
from tests.fakes.model_server import ModelServer, reply
from tests.session.sessions import Driver, session


async def begin(
    folder: Path, server: ModelServer, *, mode: PermissionMode, model: str = "fake-model"
) -> Driver:
    """A session of one turn that was switched to a mode and a model."""
    async with session(folder, server) as driver:
        driver.send(commands.SetMode(mode))
        driver.send(commands.SetModel(model))
        await driver.ask("one")
    return driver


async def test_mode_and_model_are_taken_up_again(tmp_path: Path) -> None:
    with ModelServer([reply("ok")], repeat=True) as server:
        await begin(tmp_path, server, mode=PermissionMode.PLAN, model="other-model")
        async with session(tmp_path, server, mode="", model=None, continue_last=True) as driver:
            started = await driver.until(events.SessionStarted)
            assert (started.model, started.mode) == ("other-model", PermissionMode.PLAN)
            await driver.ask("two")
        assert server.bodies[-1]["model"] == "other-model"


async def test_the_command_line_wins_and_is_what_the_session_runs_with_from_then_on(tmp_path: Path) -> None:
    with ModelServer([reply("ok")], repeat=True) as server:
        await begin(tmp_path, server, mode=PermissionMode.PLAN, model="other-model")
        async with session(tmp_path, server, mode="accept-edits", model="third", continue_last=True) as driver:
            started = await driver.until(events.SessionStarted)
            assert (started.model, started.mode) == ("third", PermissionMode.ACCEPT_EDITS)
            await driver.ask("two")
    summary = read_summary(driver.wired.directory)
    assert summary is not None
    assert (summary.model, summary.mode) == ("third", "accept-edits")


async def test_always_approve_is_never_taken_up_by_itself_and_that_is_said(tmp_path: Path) -> None:
    with ModelServer([reply("ok")], repeat=True) as server:
        await begin(tmp_path, server, mode=PermissionMode.ALWAYS_APPROVE)
        async with session(tmp_path, server, mode="", continue_last=True) as driver:
            assert (await driver.until(events.SessionStarted)).mode is PermissionMode.ASK
            notice = await driver.until(events.Notice, lambda notice: notice.code == "mode")
            assert "always-approve" in notice.text
            assert "ask" in notice.text


async def test_a_model_that_is_gone_gives_way_to_the_one_at_hand_and_that_is_said(tmp_path: Path) -> None:
    with ModelServer([reply("ok")], repeat=True) as server:
        driver = await begin(tmp_path, server, mode=PermissionMode.ASK)
        summary = read_summary(driver.wired.directory)
        assert summary is not None
        change_summary(driver.wired.directory, {"model": "xai/grok-gone"}, summary)
        asked = {"GROKMINI_MODEL": "fake-model"}
        async with session(tmp_path, server, mode="", model=None, env=asked, continue_last=True) as driver:
            started = await driver.until(events.SessionStarted)
            assert started.model == "fake-model"
            notice = await driver.until(events.Notice, lambda notice: notice.code == "model")
            assert "xai/grok-gone" in notice.text
            assert "fake-model" in notice.text


async def test_what_goes_on_is_named_with_the_way_to_see_it_for_a_person_who_has_a_screen(
    tmp_path: Path,
) -> None:
    told = 'going on with "one", 1 prompt so far'
    with ModelServer([reply("ok")], repeat=True) as server:
        await begin(tmp_path, server, mode=PermissionMode.ASK)
        for interactive, hint in ((True, "; /repaint shows the last ones"), (False, "")):
            async with session(tmp_path, server, interactive=interactive, continue_last=True) as driver:
                notice = await driver.until(events.Notice, lambda notice: notice.code == "resumed")
                assert notice.text == told + hint


async def test_opening_alone_writes_nothing_into_the_summary(tmp_path: Path) -> None:
    with ModelServer([reply("ok")], repeat=True) as server:
        driver = await begin(tmp_path, server, mode=PermissionMode.ASK)
        path = driver.wired.directory / "summary.json"
        before = path.read_bytes(), path.stat().st_mtime_ns
        async with session(tmp_path, server, mode="plan", continue_last=True) as driver:
            await driver.until(events.SessionStarted)
        assert (path.read_bytes(), path.stat().st_mtime_ns) == before


async def test_a_mode_that_a_newer_version_wrote_is_passed_over(tmp_path: Path) -> None:
    with ModelServer([reply("ok")], repeat=True) as server:
        driver = await begin(tmp_path, server, mode=PermissionMode.ASK)
        summary = read_summary(driver.wired.directory)
        assert summary is not None
        change_summary(driver.wired.directory, {"mode": "telepathic"}, summary)
        async with session(tmp_path, server, mode="", continue_last=True) as driver:
            assert (await driver.until(events.SessionStarted)).mode is PermissionMode.ASK


async def test_a_call_that_was_cut_off_by_the_end_has_a_result_right_behind_it(tmp_path: Path) -> None:
    """H22"""
    with ModelServer([reply("ok")], repeat=True, strict=True) as server:
        driver = await begin(tmp_path, server, mode=PermissionMode.ASK)
        dangling = [user_text("two", prompt_index=1), AssistantItem("", (ToolCall("call_9", "grep", "{}"),))]
        with (driver.wired.directory / "chat_history.jsonl").open("ab") as file:
            file.writelines(encode(item) + b"\n" for item in dangling)
        async with session(tmp_path, server, continue_last=True) as driver:
            assert (await driver.ask("go on")).outcome == "completed"
        roles = [message["role"] for message in server.bodies[-1]["messages"]]
        assert roles[-3:] == ["assistant", "tool", "user"]
        answer = server.bodies[-1]["messages"][-2]
        assert answer["tool_call_id"] == "call_9"
        assert "interrupted" in answer["content"]
        kept = [item.call_id for item in driver.history() if isinstance(item, ToolResultItem)]
        assert kept == ["call_9"]

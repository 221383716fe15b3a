"""Slash commands on stored sessions: what each asks for and says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from grokmini.protocol import commands, events
from grokmini.protocol.codec import encode_event
from grokmini.protocol.errors import SessionError, UsageError
from grokmini.protocol.events import SessionStarted, TextDelta, TurnEnded, TurnStarted
from grokmini.protocol.model import Usage
from grokmini.protocol.permission import PermissionMode
from grokmini.protocol.tools import ToolEnvelope, ToolKind, ToolNamespace
from grokmini.render.lines import plain
from grokmini.render.look import Look
from grokmini.repl.commands import table
from grokmini.repl.commands.result import CommandContext, Copy, GoOn, Pick, Result, Say
from grokmini.repl.dispatch import Slash, classify
from grokmini.repl.ports import FoundSession
from grokmini.repl.session_state import SessionState
from tests.fakes.disk import files_limited_to
from tests.repl.scripted_session import Figures, ScriptedFactory, ScriptedSession, row

OWN = 7


class Scene:
    """A session among stored ones, its own under number 7."""

    def __init__(self, cwd: str = "/work") -> None:
        self.session = ScriptedSession()
        own = row(OWN, "the open one")._replace(session_id=self.session.handle.session_id)
        elsewhere = row(3, "elsewhere", folder="~/other")
        self.factory = ScriptedFactory(rows=[row(1, "flaky login"), own, row(2, "busy", live=True), elsewhere])
        self.state = SessionState()
        self.state.apply(SessionStarted("0.1.0", cwd, "test-model", PermissionMode.ASK, "none"), 0.0)
        self.width = 80

    async def do(self, text: str) -> Result:
        """What `/text` gives back."""
        slash = classify(text)
        assert isinstance(slash, Slash)
        found = table.find(slash.name)
        assert found is not None
        context = CommandContext(
            self.session.opened, self.factory, self.state, self.width, Look(), "/home/someone"
        )
        return await table.load(found)(slash.argument, context)

    async def said(self, text: str) -> list[str]:
        """The rows that it prints."""
        result = await self.do(text)
        assert isinstance(result, Say), result
        return [plain(line) for line in result.lines]

    def run_a_turn(self) -> None:
        """A turn runs from now on."""
        self.state.apply(TurnStarted("p", 0, "go"), 0.0)


def turn(number: int, prompt: str, answer: str) -> list[events.SessionEvent]:
    """A whole turn."""
    return [
        TurnStarted(str(number), number, prompt),
        TextDelta(answer),
        TurnEnded(number, "completed", 0, answer, Usage()),
    ]


async def test_resume_by_name_goes_on_in_the_session_and_prints_its_last_turns() -> None:
    scene = Scene()
    result = await scene.do("/resume flaky login")
    assert isinstance(result, GoOn)
    assert scene.factory.did == [("resume", row(1, "").session_id)]
    assert plain(result.lines[1]) == "── flaky login"


async def test_resume_alone_lets_choose_among_the_others_of_this_folder_or_of_all() -> None:
    scene = Scene()
    result = await scene.do("/resume")
    assert isinstance(result, Pick)
    assert [found.title for found in result.load(False)] == ["flaky login", "busy"]
    assert [found.title for found in result.load(True)] == ["flaky login", "busy", "elsewhere"]
    scene.factory.said = [FoundSession(row(3, "elsewhere"), "prompt 2", "… words …")]
    assert [found.title for found in result.search("words")] == ["elsewhere"]
    assert isinstance(await result.chosen(row(3, "").session_id), GoOn)


async def test_a_session_that_another_window_drives_is_watched_or_copied_instead() -> None:
    scene = Scene()
    said = await scene.said("/resume busy")
    assert scene.factory.did == []
    assert "open in another window" in said[0]
    assert "/follow " in said[1]
    assert "/takeover" in said[1]
    assert "/fork " in said[2]
    followed = await scene.do("/follow busy")
    assert isinstance(followed, GoOn)
    assert followed.opened.watched
    listed = await scene.do("/follow")
    assert isinstance(listed, Pick)
    assert [found.title for found in listed.load(True)] == ["busy"]


@pytest.mark.parametrize("text", ["/resume", "/resume flaky login", "/fork", "/follow busy", "/new"])
async def test_no_session_is_left_while_its_turn_runs(text: str) -> None:
    scene = Scene()
    scene.run_a_turn()
    assert "Ctrl-C" in (await scene.said(text))[0]
    assert scene.factory.did == []


async def test_taking_over_loads_the_session_that_was_watched() -> None:
    scene = Scene()
    assert await scene.said("/takeover") == ["this session is yours already"]
    scene.session.opened = scene.session.opened._replace(watched=True)
    assert isinstance(await scene.do("/takeover"), GoOn)
    assert scene.factory.did == [("resume", scene.session.handle.session_id)]


@pytest.mark.parametrize(("text", "before"), [("/fork", None), ("/fork 3", 2), ("/fork 1", 0)])
async def test_fork_goes_on_in_a_copy_whole_or_up_to_a_prompt(text: str, before: int | None) -> None:
    scene = Scene()
    result = await scene.do(text)
    assert isinstance(result, GoOn)
    assert scene.factory.did == [("fork", scene.session.handle.session_id, before)]
    assert plain(result.lines[1]) == "── a copy"


@pytest.mark.parametrize(
    "text", ["/fork 0", "/rename", "/delete", "/search", "/copy none", "/copy 0", "/copy -1", "/copy ²"]
)
async def test_a_wrong_argument_says_what_is_right(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        await Scene().do(text)
    assert raised.value.hint


async def test_a_title_is_the_persons_or_made_again() -> None:
    assert await Scene().do("/rename a better name") == commands.SetTitle("a better name")
    assert await Scene().do("/title --auto") == commands.SetTitle("")


async def test_pinning_is_a_switch_of_this_session_or_another() -> None:
    scene = Scene()
    await scene.said("/pin")
    scene.factory.rows[0] = row(1, "flaky login", pinned=True)
    said = await scene.said("/pin flaky login")
    assert scene.factory.did == [
        ("pin", scene.session.handle.session_id, True),
        ("pin", row(1, "").session_id, False),
    ]
    assert "no longer pinned" in said[0]


async def test_deleting_says_what_goes_and_wants_a_yes_and_spares_the_open_session() -> None:
    scene = Scene()
    assert "would be gone for good" in (await scene.said("/delete flaky login"))[0]
    assert "the session you are in" in (await scene.said("/delete the open one yes"))[0]
    assert scene.factory.did == []
    await scene.said("/delete flaky login yes")
    assert scene.factory.did == [("delete", row(1, "").session_id)]
    with pytest.raises(SessionError):
        await scene.do("/delete nobody yes")


async def test_search_shows_session_place_and_words_within_the_width() -> None:
    scene = Scene()
    scene.width = 40
    assert await scene.said("/search nothing of it") == ["nothing fits 'nothing of it'"]
    scene.factory.said = [
        FoundSession(row(1, "flaky login"), "prompt 3", "… the words that were said, and more …")
    ]
    said = await scene.said("/search words")
    assert said[0] == "00000001  1 min  prompt 3  flaky login"
    assert said[1].startswith("    … the words")
    assert max(map(len, said)) <= 40


async def test_copy_takes_the_last_reply_or_an_earlier_one() -> None:
    scene = Scene()
    assert await scene.said("/copy") == ["there is no reply to copy yet"]
    scene.session.past = [*turn(0, "a", "**first**"), *turn(1, "b", "second")]
    assert await scene.do("/copy") == Copy("second", "the last reply")
    assert await scene.do("/copy 2") == Copy("**first**", "reply 2 from the end")
    assert await scene.said("/copy 3") == ["there is no such reply"]


async def test_export_writes_markdown_or_json_lines_and_spares_what_is_there(tmp_path: Path) -> None:
    scene = Scene(str(tmp_path))
    scene.session.past = turn(0, "what is it?", "It is **this**. Süß.")
    said = await scene.said("/export")
    (made,) = tmp_path.iterdir()
    assert str(made) in said[0]
    text = made.read_text()
    assert "what is it?" in text
    assert "It is **this**." in text
    await scene.said("/export all of it.jsonl")
    lines = (tmp_path / "all of it.jsonl").read_text().splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["turn_started", "text_delta", "turn_ended"]
    said = await scene.said("/export all.JSON")
    listed = (tmp_path / "all.JSON").read_bytes()
    assert [event["type"] for event in json.loads(listed)] == ["turn_started", "text_delta", "turn_ended"]
    assert f"({len(listed):,} bytes)" in said[0]
    made.write_text("mine")
    with pytest.raises(SessionError, match="is there already"):
        await scene.do(f"/export {made.name}")
    assert made.read_text() == "mine"
    await scene.said(f"/export {made.name} --force")
    assert "It is **this**." in made.read_text()
    with pytest.raises(SessionError, match="cannot be written"):
        await scene.do("/export no/such/folder/x.md")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [made.name, "all of it.jsonl", "all.JSON"]
    )


@pytest.mark.parametrize("force", ["", " --force"])
async def test_an_export_that_fails_midway_leaves_nothing_and_spares_what_was_there(
    tmp_path: Path, force: str
) -> None:
    scene = Scene(str(tmp_path))
    scene.session.past = turn(0, "what is it?", "It is **this**." * 10_000)
    there = tmp_path / "there.md"
    if force:
        there.write_text("mine")
    with files_limited_to(4_096), pytest.raises(SessionError, match="cannot be written: File too large"):
        await scene.do(f"/export there.md{force}")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == (
        [("there.md", "mine")] if force else []
    )


async def test_what_is_exported_as_json_has_the_shape_of_the_record(tmp_path: Path) -> None:
    scene = Scene(str(tmp_path))
    scene.session.past = turn(0, "what is it?", "Süß.")
    kept = [json.loads(encode_event(record)) for record in scene.session.opened.records()]
    assert all({"v", "seq", "time", "session_id", "type"} <= set(line) for line in kept)
    await scene.said("/export a.jsonl")
    assert [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()] == kept
    await scene.said("/export a.json")
    assert json.loads((tmp_path / "a.json").read_bytes()) == kept
    scene.session.past = []
    await scene.said("/export none.json")
    assert json.loads((tmp_path / "none.json").read_bytes()) == []


@pytest.mark.parametrize("force", ["", " --force"])
async def test_an_export_whose_record_cannot_be_read_to_its_end_leaves_nothing(
    tmp_path: Path, force: str
) -> None:
    scene = Scene(str(tmp_path))

    def records() -> Iterator[events.EventRecord]:
        yield events.EventRecord(1, 1.0, "s", TextDelta("x" * 100_000))
        raise SessionError("the record of this session cannot be read: Input/output error")

    scene.session.opened = scene.session.opened._replace(records=records)
    with pytest.raises(SessionError, match="cannot be read"):
        await scene.do(f"/export all.jsonl{force}")
    assert list(tmp_path.iterdir()) == []


async def test_nobody_sees_half_an_export_and_a_file_that_came_meanwhile_is_spared(tmp_path: Path) -> None:
    scene = Scene(str(tmp_path))
    seen: list[bool] = []

    def records() -> Iterator[events.EventRecord]:
        yield events.EventRecord(1, 1.0, "s", TextDelta("x" * 100_000))
        seen.append((tmp_path / "all.jsonl").exists())
        (tmp_path / "all.jsonl").write_text("another's")
        yield events.EventRecord(2, 2.0, "s", TextDelta("y"))

    scene.session.opened = scene.session.opened._replace(records=records)
    with pytest.raises(SessionError, match="is there already"):
        await scene.do("/export all.jsonl")
    assert seen == [False]
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("all.jsonl", "another's")]


async def test_context_is_a_bar_and_a_row_for_each_category_that_has_something() -> None:
    said = await Scene().said("/context")
    assert said[0] == "test-model: ~400 of 1.0k tokens, 40 %"
    assert [line.split()[1] for line in said[2:]] == ["system", "prompts", "free"]


async def test_session_info_tells_facts_and_what_is_in_force() -> None:
    said = await Scene().said("/status")
    assert said[0] == "title     a title"
    assert "mode      ask" in said
    assert "sandbox   none" in said


async def test_usage_tells_kinds_of_work_apart_and_what_is_still_to_come() -> None:
    scene = Scene()
    main = Usage(calls=2, input=100, output=10, cost_usd=0.25)
    sub = Usage(calls=1, input=50, output=5, cost_usd=0.5)
    both = {"test-model": main + sub}
    scene.session.usage = Figures({}, both, {"main": {"test-model": main}, "subagent": {"test-model": sub}}, 1)
    said = await scene.said("/usage")
    assert said[:4] == [
        "session:",
        "  test-model: 3 requests, 150 in, 15 out, $0.7500 reported",
        "of that, subagent:",
        "  test-model: 1 request, 50 in, 5 out, $0.5000 reported",
    ]
    assert "1 figure still to come" in said


async def test_a_cost_that_is_not_reported_is_computed_from_a_price_and_said_to_be() -> None:
    scene = Scene()
    scene.session.usage = Figures({}, {"other-model": Usage(calls=1, input=100, output=50)}, {}, 0)
    assert "  other-model: 1 request, 100 in, 50 out, $0.2000 computed" in await scene.said("/usage")
    lost = Usage(calls=1, input=100, output=50, incomplete=True)
    scene.session.usage = Figures({}, {"other-model": lost}, {}, 0)
    assert "  other-model: 1 request, 100 in, 50 out, not all of it was reported" in await scene.said("/usage")


async def test_expand_prints_a_call_with_all_of_its_output() -> None:
    scene = Scene()
    with pytest.raises(UsageError, match="no call in this session"):
        await scene.do("/expand")
    tool = ToolEnvelope("run_terminal_command", ToolKind.EXECUTE, ToolNamespace.GROK_BUILD, "Run", False)
    for number in (1, 2):
        output = "".join(f"{number} line {line}\n" for line in range(20))
        scene.session.past += [
            events.ToolCallReady(f"0-{number}", tool, '{"command":"seq"}'),
            events.ToolStarted(f"0-{number}"),
            events.ToolFinished(f"0-{number}", "ok", output, 0.1),
        ]
    whole = [line.strip() for line in await scene.said("/expand 0-1")]
    assert [f"1 line {line}" for line in range(20)] == [line for line in whole if line.startswith("1 line")]
    last = [line.strip() for line in await scene.said("/expand")]
    assert "2 line 0" in last
    with pytest.raises(UsageError, match="no call 9-9"):
        await scene.do("/expand 9-9")

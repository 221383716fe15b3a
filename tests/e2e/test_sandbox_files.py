"""The file tools of the installed program under a sandbox profile."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest

from tests.e2e.program import Place
from tests.fakes.model_server import Call, ModelServer, Recorded, Reply, call, reply
from tests.sandbox.places import not_temporary


@pytest.fixture
def place(place: Place) -> Iterator[Place]:
    """A place whose home is in no temporary folder, where every profile lets be written."""
    with not_temporary() as home:
        yield Place(home, place.project)


def _run(place: Place, profile: str, *calls: Call) -> tuple[list[str], str]:
    """What the model read of each call, made one after the other, and what was said to the person."""
    with ModelServer([*(reply(calls=[each]) for each in calls), reply("done")], strict=True) as server:
        done = place.run("-p", "go", "--yolo", "--sandbox", profile, server=server)
        messages = server.bodies[-1]["messages"]
    return [message["content"] for message in messages if message["role"] == "tool"], done.stderr


def _profile(place: Place, text: str) -> None:
    config = place.home / ".config" / "grokmini" / "sandbox.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(text)


def test_strict_lets_the_model_read_on_where_an_output_was_cut(place: Place) -> None:
    def answer(request: Recorded) -> Reply:
        texts = [message["content"] for message in request.body["messages"] if message["role"] == "tool"]
        if not texts:
            return reply(calls=[call("run_terminal_command", call_id="a", command="seq 200000")])
        kept = re.search(r"/\S+/tool_output/[\w.-]+", texts[0])
        assert kept, texts[0]
        if len(texts) == 1:
            return reply(calls=[call("read_file", call_id="b", target_file=kept[0], offset=100_000, limit=1)])
        if len(texts) == 2:
            return reply(calls=[call("grep", call_id="c", pattern="^123456$", path=kept[0])])
        read.extend(texts[1:])
        return reply("done")

    read: list[str] = []
    with ModelServer(answer) as server:
        done = place.run("-p", "go", "--yolo", "--sandbox", "strict", server=server)
    assert len(read) == 2, done.stderr
    assert read[0].startswith("100000→100000")
    assert "123456:123456" in read[1]


def test_a_denied_file_is_out_of_reach_for_tools_and_commands_alike(place: Place) -> None:
    """H52"""
    cfg = place.project / "cfg"
    cfg.mkdir()
    (cfg / "key").write_text("top secret\n")
    (cfg / "other").write_text("fine\n")
    _profile(place, '[profiles.mine]\nextends = "workspace"\ndeny = ["cfg/key"]\n')
    script = "print(open('cfg/key').read())"
    results, _ = _run(
        place,
        "mine",
        call("read_file", call_id="a", target_file="cfg/key"),
        call("run_terminal_command", call_id="b", command="cat cfg/key"),
        call("run_terminal_command", call_id="c", command=f'python3 -c "{script}"'),
        call("write", call_id="d", file_path="cfg/key", content="x"),
        call("read_file", call_id="e", target_file="cfg/other"),
    )
    assert not any("top secret" in text for text in results)
    assert f"{cfg}/key is denied" in results[0]
    assert "Permission denied" in results[1] and "Permission" in results[2]
    assert "fine" in results[4]
    assert (cfg / "key").read_text() == "top secret\n"


@pytest.mark.parametrize("profile", ["workspace", "off"])
def test_a_folder_link_out_of_the_project_is_written_through_by_nobody_unasked(
    place: Place, profile: str
) -> None:
    """H53"""
    outside = place.home / "outside"
    outside.mkdir()
    (outside / "e.txt").write_text("theirs\n")
    (place.project / "box").symlink_to(outside)
    calls = (
        call("read_file", call_id="a", target_file="box/e.txt"),
        call("write", call_id="b", file_path="box/n.txt", content="x"),
        call("search_replace", call_id="c", file_path="box/e.txt", old_string="theirs", new_string="x"),
    )
    results, _ = _run(place, profile, *calls)
    if profile == "off":  # the control: this is what the profile stops
        assert sorted(os.listdir(outside)) == ["e.txt", "n.txt"]
    else:
        assert all("/outside/" in text and "outside of the sandbox" in text for text in results[1:]), results
        assert os.listdir(outside) == ["e.txt"] and (outside / "e.txt").read_text() == "theirs\n"


def test_instructions_that_lead_out_of_the_project_are_not_sent_and_the_person_hears_of_it(
    place: Place,
) -> None:
    (place.home / "secret").write_text("top secret")
    (place.project / "AGENTS.md").symlink_to(place.home / "secret")
    with ModelServer([reply("done")]) as server:
        done = place.run("-p", "go", server=server)
        assert b"top secret" not in server.requests[-1].raw
    assert "AGENTS.md is a link that leads out of the project" in done.stderr

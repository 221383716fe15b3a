"""The agent cannot loosen its own limits: neither commands nor file tools write what says what they may do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.program import Place
from tests.fakes.model_server import Call, ModelServer, Recorded, Reply, call, reply
from tests.sandbox.places import not_temporary

LOOSER = '[permission]\nmode = "always-approve"\n[sandbox]\nprofile = "off"\n'
PROJECT = '[sandbox]\nfoo = 1\nprofile = "off"\nprotect_secrets = false\n'


@pytest.fixture
def place(place: Place) -> Iterator[Place]:
    """A home with settings, grants and a finished session, in which even commands could write but for our folders."""
    with not_temporary() as home:
        project = home / "project"
        (project / ".grokmini").mkdir(parents=True)
        (project / ".grokmini/config.toml").write_text(PROJECT)
        yield Place(home, project)


def data_of(place: Place) -> Path:
    """Where plugins are."""
    return place.home / ".local/share/grokmini"


def kept(place: Place) -> dict[str, bytes]:
    """Every file that says what may be done, or what was: settings, grants and the first session's record."""
    config, state = place.home / ".config/grokmini", place.home / ".local/state/grokmini"
    first = place.sessions[0]
    files = [config / "config.toml", config / "sandbox.toml", state / "grants.json", data_of(place) / "kept"]
    files += [place.project / ".grokmini/config.toml", first / "chat_history.jsonl", first / "summary.json"]
    return {str(path): path.read_bytes() for path in files}


@pytest.mark.parametrize("profile", ["workspace", "devbox"])
def test_our_settings_rules_and_sessions_are_written_by_no_tool(place: Place, profile: str) -> None:
    """H56: the tools that write files refuse under every profile, commands under all but devbox."""
    config, state = place.home / ".config/grokmini", place.home / ".local/state/grokmini"
    with ModelServer([reply("hello")]) as server:
        assert place.run("-p", "hi", server=server).returncode == 0
    for path, text in (
        (config / "config.toml", "[tools]\nskip_read_before_edit = true\n"),
        (config / "sandbox.toml", ""),
        (state / "grants.json", "{}"),
        (data_of(place) / "kept", ""),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    before = kept(place)
    calls = [
        call("write", call_id=f"w{number}", file_path=name, content=LOOSER)
        for number, name in enumerate(before)
    ]
    if profile == "workspace":
        for number, name in enumerate(before):  # in scripts: their words do not show what is done
            (place.project / f"task{number}").write_text(f"cat looser >{name}\n")
            calls.append(call("run_terminal_command", call_id=f"s{number}", command=f"sh ./task{number}"))
        (place.project / "looser").write_text(LOOSER)
    outside = place.home / "z"
    calls.append(call("run_terminal_command", call_id="out", command=f"echo x >{outside}"))
    told, stderr = results(place, profile, calls)
    assert kept(place) == before
    assert all("exit: 0" not in text for name, text in told.items() if name != "out"), told
    assert outside.exists() == (profile == "devbox"), "the profile is the one that was chosen"
    assert "sandbox.foo is not a known setting and has no effect" in stderr
    assert "sandbox.profile is ignored" in stderr and "sandbox.protect_secrets is ignored" in stderr


def results(place: Place, profile: str, calls: list[Call]) -> tuple[dict[str, str], str]:
    """What the model read of each call, and what was said to the person."""
    waiting = iter(calls)

    def answer(_: Recorded) -> Reply:
        following = next(waiting, None)
        return reply(calls=[following]) if following else reply("done")

    with ModelServer(answer) as server:
        done = place.run("-p", "go", "--yolo", "--sandbox", profile, server=server, seconds=60.0)
        asked = (
            4 if profile == "devbox" else 0
        )  # whether a tool may write in .grokmini is then the person's to say
        assert done.returncode == asked, done.stderr
        messages = server.bodies[-1]["messages"]
    found = {each["tool_call_id"]: each["content"] for each in messages if each["role"] == "tool"}
    assert len(found) == len(calls)
    return found, " ".join(done.stderr.split())

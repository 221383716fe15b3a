"""Our own folders where commands may write around them: a command cannot set up the next session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.program import Place
from tests.e2e.sandboxed import Result, session
from tests.fakes.model_server import ModelServer, call, reply
from tests.sandbox.places import not_temporary

SETTINGS = '[sandbox]\nprofile = "off"\n[permission]\nmode = "always-approve"\n'
CAN_BE_REPLACED = "is a symbolic link and can be replaced"


@pytest.fixture
def place(fresh_home: Path) -> Iterator[Place]:
    """A session in the home folder itself, which is no temporary one."""
    with not_temporary() as folder:
        home = folder / "home"
        home.mkdir()
        (home / "settings").write_text(SETTINGS)
        yield Place(home, home)


def attacks(place: Place, *scripts: str, env: dict[str, str] | None = None) -> list[Result]:
    """Have commands run that do these things, and whose words do not show what they do."""
    for number, script in enumerate(scripts):
        (place.project / f"task{number}").write_text(script)
    return session(place, *(f"sh ./task{number}" for number in range(len(scripts))), env=env)


def settings_in(folder: str) -> str:
    """What makes settings there."""
    return f"mkdir -p {folder} && cp settings {folder}/config.toml"


def test_in_the_home_folder_a_command_cannot_make_the_settings_of_the_next_session(place: Place) -> None:
    config = ".config/grokmini"
    made = attacks(
        place,
        settings_in(config),
        f"mv .config was; {settings_in(config)}",
        f"rm -rf .config; {settings_in(config)}",
        settings_in(".local/share/grokmini"),
        "mkdir -p .config/other && echo x >.config/other/file; echo x >.local/share/file; echo x >.cache/file",
    )
    assert list(place.home.rglob("config.toml")) == []
    assert (place.home / config).stat().st_mode & 0o777 == 0o700
    assert made[-1].head == "exit: 0", made[-1]


def test_a_link_to_the_settings_cannot_be_replaced_by_a_folder(place: Place) -> None:
    config = place.home / ".config/grokmini"
    (place.home / "dotfiles/grokmini").mkdir(parents=True)
    config.parent.mkdir()
    config.symlink_to("../dotfiles/grokmini")
    attacks(
        place,
        f"rm .config/grokmini; {settings_in('.config/grokmini')}",
        f"mv .config/grokmini away; {settings_in('.config/grokmini')}",
        f"mv .config was; {settings_in('.config/grokmini')}",
        f"mv dotfiles was; {settings_in('dotfiles/grokmini')}",
    )
    assert config.is_symlink() and list(config.iterdir()) == []


def test_a_link_that_nothing_can_keep_is_told_and_a_named_profile_refused(place: Place) -> None:
    (place.home / "dotfiles/config/grokmini").mkdir(parents=True)
    (place.home / ".config").symlink_to("dotfiles/config")
    first = reply(calls=[call("run_terminal_command", command="true")])
    with ModelServer([first, reply("done"), reply("done")]) as server:
        done = place.run("-p", "go", "--yolo", server=server)
        assert f"{place.home}/.config {CAN_BE_REPLACED}" in " ".join(done.stderr.split()), done.stderr
        done = place.run("-p", "go", "--yolo", "--sandbox", "workspace", server=server)
        assert done.returncode != 0 and CAN_BE_REPLACED in " ".join(done.stderr.split())
        assert "another folder" in done.stderr
        best = place.run("-p", "go", "--yolo", "--sandbox", "workspace", "--sandbox-best-effort", server=server)
        assert best.returncode == 0, best.stderr


def test_our_folders_within_the_project_are_made_before_a_command_can_make_them(place: Place) -> None:
    ours = place.home / "ours"
    attacks(
        place,
        settings_in("ours/config"),
        f"mv ours was; {settings_in('ours/config')}",
        env={"GROKMINI_HOME": str(ours)},
    )
    assert list(place.home.rglob("config.toml")) == []
    assert (ours / "config").is_dir()


def test_the_tools_that_write_files_leave_our_folders_and_the_links_to_them_alone(place: Place) -> None:
    config = place.home / ".config/grokmini"
    (place.home / "dotfiles/grokmini").mkdir(parents=True)
    config.parent.mkdir()
    config.symlink_to("../dotfiles/grokmini")
    paths = (".config/grokmini/config.toml", "dotfiles/grokmini/config.toml", ".config/grokmini")
    calls = [
        reply(calls=[call("write", call_id=f"c{number}", file_path=path, content="x")])
        for number, path in enumerate(paths)
    ]
    with ModelServer([*calls, reply("done")], strict=True) as server:
        done = place.run("-p", "go", "--yolo", server=server)
        assert done.returncode == 0, done.stderr
        told = [each["content"] for each in server.bodies[-1]["messages"] if each["role"] == "tool"]
    assert len(told) == 3 and all("read-only" in text or "folder" in text for text in told), told
    assert config.is_symlink() and list(config.iterdir()) == []

"""What a yes would run outside is said where commands can change it; the shell itself is none that one planted."""

from __future__ import annotations

from pathlib import Path

from grokmini.config.settings import ShellSettings
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.runner import CommandSpec
from grokmini.sandbox.unconfined import UnconfinedRunner
from grokmini.tools.always import changeable_programs
from grokmini.tools.shell_state import ShellState
from tests.session.test_escalation import place
from tests.session.test_leave_question import asked_about

__all__ = ["place"]


def planted(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return folder


def spec(cwd: Path, path: str) -> CommandSpec:
    return CommandSpec(("bash", "-c", ""), cwd, {"PATH": path})


def test_programs_are_named_by_where_the_search_path_finds_them(tmp_path: Path) -> None:
    tools = planted(tmp_path / "work/.venv/bin", "git", "pip")
    planted(tmp_path / "mine", "own")
    policy = Policy("workspace", write_roots=(str(tmp_path / "work"),))
    path = f"{tools}:{tmp_path}/mine:/usr/bin:/bin"
    found = changeable_programs(
        "own x && git push | tee log; FOO=1 pip list", spec(tmp_path / "work", path), policy
    )
    assert found == (f"{tools}/git", f"{tools}/pip")
    assert changeable_programs("own x; ls; nothing-like-it", spec(tmp_path / "work", path), policy) == ()
    assert changeable_programs("git push", spec(tmp_path / "work", "/usr/bin:/bin"), policy) == ()


def test_a_link_to_a_program_elsewhere_can_be_changed_itself(tmp_path: Path) -> None:
    tools = planted(tmp_path / "work/bin")
    (tools / "git").symlink_to("/bin/true")
    policy = Policy("workspace", write_roots=(str(tmp_path / "work"),))
    assert changeable_programs("git x", spec(tmp_path, f"{tools}:/bin"), policy) == (f"{tools}/git",)


async def test_the_question_says_which_programs_commands_can_change(place: Path) -> None:
    planted(place / "work/tools", "build")
    asked = await asked_about(place, f"./tools/build; touch {place}/out/new")
    (told,) = [line for line in asked.details if line.startswith("runs ")]
    assert told.endswith("work/tools/build, which commands can change")
    asked = await asked_about(place, f"touch {place}/out/new")
    assert not [line for line in asked.details if line.startswith("runs ")]


async def test_the_shell_is_not_one_that_a_command_may_have_planted(tmp_path: Path) -> None:
    planted(tmp_path / "project/.venv/bin", "bash")
    (tmp_path / "project/.venv/pyvenv.cfg").touch()
    environ = {"PATH": f"{tmp_path}/project/.venv/bin:/usr/bin:/bin"}
    state = ShellState(tmp_path, environ, ShellSettings(), UnconfinedRunner())
    assert state.spec("true").argv[0] == "/usr/bin/bash"

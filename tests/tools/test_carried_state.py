"""The state that commands hand on: only their shell writes it, and nothing of it is trusted outside of the sandbox."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grokmini.config.settings import ShellSettings
from grokmini.tools.going_along import MAX_VARIABLES, chooses_programs, going_along
from tests.sandbox.places import workspace
from tests.tools.room import Room, room

FORGES = """
import os
said = b'/\\0declare -x FORGED="1"\\nexport FORGED=\\'1\\'\\n'
def tell(fd):
    try:
        os.write(fd, said)
    except OSError:
        pass
for fd in range(3, 300):
    tell(fd)
for pid in (os.getppid(), os.getpid()):
    for name in os.listdir(f"/proc/{pid}/fd"):
        target = os.readlink(f"/proc/{pid}/fd/{name}") if os.path.lexists(f"/proc/{pid}/fd/{name}") else ""
        if int(name) > 2 and target.startswith(("pipe:", "socket:")):
            try:
                tell(os.open(f"/proc/{pid}/fd/{name}", os.O_WRONLY))
            except OSError:
                pass
"""
"""Writes a state to every descriptor it has, and to each of its parent's that it can open again."""


async def _run(made: Room, command: str) -> str:
    return await made.call("run_terminal_command", command=command)


@pytest.mark.parametrize("end", ["", "; kill -9 $$", "; exec true"])
@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize("confined", [True, False])
async def test_a_child_cannot_forge_the_carried_over_state(
    tmp_path: Path, shell: str, end: str, confined: bool
) -> None:
    policy = workspace(tmp_path) if confined else None
    folder = tmp_path / "cwd"
    folder.mkdir(exist_ok=True)
    script = folder / "forge.py"
    script.write_text(FORGES)
    python = os.path.realpath("/usr/bin/env") + f" PATH={os.environ['PATH']} python3"
    env = {**os.environ, **({"PATH": str(tmp_path)} if shell == "sh" else {})}
    async with room(folder, env, policy=policy) as made:
        assert made.shell.shell_name == shell
        await _run(made, f"{python} {script}{end}")
        assert made.shell.cwd == folder
        assert await _run(made, 'echo "[$FORGED]"') == "exit: 0\n[]\n"


@pytest.mark.parametrize("shell", ["bash", "sh"])
async def test_a_command_finds_its_input_empty_and_no_descriptor_besides(tmp_path: Path, shell: str) -> None:
    env = {**os.environ, **({"PATH": str(tmp_path)} if shell == "sh" else {})}
    async with room(tmp_path, env, policy=workspace(tmp_path)) as made:
        assert await _run(made, "/bin/cat; /bin/ls /proc/self/fd") == "exit: 0\n0\n1\n2\n3\n", "3 is ls's own"


async def test_a_state_with_a_second_one_in_it_is_not_kept(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        spec = made.shell.spec("true")
        made.shell.absorb(spec, b'/\0declare -x A="1"\n/\0declare -x A="2"\n', made.shell.age)
        assert made.shell.cwd == tmp_path
        assert "A" not in made.shell.env


async def test_what_was_exported_is_forgotten_around_a_change_and_so_is_what_ends_later(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        shell = made.shell
        before, age = shell.spec("true"), shell.age
        dump = str(tmp_path).encode() + b'\0declare -x A="1"\n'
        shell.absorb(before, dump, age)
        assert shell.env["A"] == "1"
        with shell.forgetting():
            assert "A" not in shell.env
            meanwhile = shell.age
            shell.absorb(before, dump, meanwhile)
            assert "A" not in shell.env
        for old in (age, meanwhile):
            shell.absorb(before, dump, old)
            assert "A" not in shell.env
        shell.absorb(before, dump, shell.age)
        assert shell.env["A"] == "1"


@pytest.mark.parametrize(
    "name",
    [
        "PATH", "BASH_ENV", "ENV", "PROMPT_COMMAND", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES",
        "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PERL5OPT", "PERL5LIB", "RUBYOPT", "NODE_OPTIONS",
        "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "GIT_EXEC_PATH", "GIT_EDITOR", "SHELLOPTS", "BASHOPTS", "IFS", "EDITOR",
        "VISUAL", "PAGER", "GCONV_PATH", "LESSOPEN", "HOME", "XDG_CONFIG_HOME", "MAKEFLAGS", "CC", "RUSTC_WRAPPER",
        "CARGO_HOME", "JAVA_TOOL_OPTIONS", "npm_config_script_shell", "KUBECONFIG", "DOCKER_HOST", "TMPDIR", "SHELL",
        "_JAVA_OPTIONS", "SUDO_ASKPASS", "OPENSSL_CONF", "PS4", "CDPATH", "VIMINIT", "https_proxy", "BROWSER",
    ],
)  # fmt: skip
def test_a_variable_that_chooses_what_runs_never_goes_along(name: str) -> None:
    assert chooses_programs(name)
    assert going_along(f"echo {name}", {}, {name: "x"}).env == {}


@pytest.mark.parametrize(
    "name", ["N", "TARGET", "out_dir", "GIT_AUTHOR_NAME", "GIT_COMMITTER_EMAIL", "AWS_REGION"]
)
def test_an_ordinary_variable_goes_along_when_the_command_names_it(name: str) -> None:
    assert going_along(f"echo ${name}", {}, {name: "x y"}) == ({name: "x y"}, (f"{name}=x y",), "")
    assert going_along("echo", {}, {name: "x y"}) == ({}, (), "")
    assert going_along(f"echo ${name}", {name: "x y"}, {name: "x y"}) == ({}, (), "")


@pytest.mark.parametrize("value", ["x" * 201, "two\nlines", "\x1b[31mred", "\u202etxt", "tab\there"])
def test_a_command_that_uses_what_cannot_be_shown_is_not_offered_to_leave(value: str) -> None:
    along = going_along('rm -rf "$OUT/x"', {}, {"OUT": value})
    assert along.env == {}
    assert along.objection.startswith("it uses $OUT, which does not go along outside of the sandbox")


def test_a_command_that_uses_the_path_gets_the_one_of_the_start() -> None:
    assert going_along("echo $PATH", {"PATH": "/usr/bin"}, {"PATH": "/tmp/bin:/usr/bin"}) == ({}, (), "")


def test_no_more_variables_go_along_than_a_person_reads() -> None:
    carried = {f"V{number}": "x" for number in range(MAX_VARIABLES + 1)}
    along = going_along(" ".join(f"${name}" for name in carried), {}, carried)
    assert len(along.env) == MAX_VARIABLES
    assert along.objection


async def test_a_key_reaches_commands_only_when_the_settings_name_it(tmp_path: Path) -> None:
    env = {**os.environ, "OPENAI_KEY": "a", "SENTRY_DSN": "b", "DATABASE_URL": "postgres://u:pw@h/d"}
    command = 'echo "[$OPENAI_KEY$SENTRY_DSN$DATABASE_URL]"'
    async with room(tmp_path, env) as made:
        assert await _run(made, command) == "exit: 0\n[]\n"
    async with room(tmp_path, env, ShellSettings(keep_env=("SENTRY_DSN",))) as made:
        assert await _run(made, command) == "exit: 0\n[b]\n"
        assert made.shell.leaving(command).spec.env["SENTRY_DSN"] == "b"

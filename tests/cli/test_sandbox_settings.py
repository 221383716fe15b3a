"""What `[sandbox]` of the settings says reaches the sandbox that commands run in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from grokmini.cli.options import Options
from grokmini.cli.root import Root, load_root
from grokmini.cli.sandboxed import Choice, agree, choose, confine, is_agreed, profiles_of
from grokmini.sandbox.profile import built_in
from tests.sandbox.places import not_temporary, said

SECRETS = {
    ".netrc": "machine x login y password z\n",
    ".ssh/id_ed25519": "-----BEGIN OPENSSH PRIVATE KEY-----\n",
}


def root_of(folder: Path, text: str) -> Root:
    """A process in a project, with secrets and these settings in its home."""
    home, project = folder / "home", folder / "project"
    for name, content in {**SECRETS, ".config/grokmini/config.toml": text}.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(content)
    project.mkdir()
    return load_root(Options(cwd=str(project)), {"HOME": str(home), "PATH": os.environ["PATH"]})


def own_profile(folder: Path, text: str) -> Root:
    """The same with a profile of the person's own named in the settings."""
    root = root_of(folder, '[sandbox]\nprofile = "own"\n')
    (folder / "home/.config/grokmini/sandbox.toml").write_text(f"[profiles.own]\n{text}\n")
    return root


async def shown(root: Root) -> str:
    """What a command prints that shows the secrets."""
    runner = confine(root, choose(root)).runner
    try:
        paths = " ".join(f"{root.env['HOME']}/{name}" for name in SECRETS)
        return await said(runner, f"cat {paths}; :", root.cwd)
    finally:
        await runner.close()


@pytest.mark.parametrize("text", ["", "[sandbox]\nprotect_secrets = true\n"])
async def test_keys_and_tokens_are_masked_as_a_matter_of_course(tmp_path: Path, text: str) -> None:
    output = await shown(root_of(tmp_path, text))
    assert "password z" not in output and "PRIVATE KEY" not in output
    assert output.count("Permission denied") == len(SECRETS)


async def test_the_setting_that_shows_them_shows_them(tmp_path: Path) -> None:
    output = await shown(root_of(tmp_path, "[sandbox]\nprotect_secrets = false\n"))
    assert output == "".join(SECRETS.values())


def test_a_session_s_own_profile_comes_before_that_of_the_settings_and_an_option_before_both(
    tmp_path: Path,
) -> None:
    root = root_of(tmp_path, '[sandbox]\nprofile = "read-only"\n')
    choice = choose(root)
    assert (choice.profile.name, choice.explicit) == ("read-only", True)
    assert choose(root, "strict") == Choice(built_in("strict"), explicit=True), "as the session was left"
    root = root._replace(options=Options(sandbox="devbox"))
    assert choose(root, "strict").profile.name == "devbox"
    unnamed = choose(root_of(tmp_path / "other", ""))
    assert (unnamed.profile.name, unnamed.explicit) == ("workspace", False)


async def test_a_file_that_comes_to_match_a_denied_pattern_is_hidden_from_the_next_command(
    tmp_path: Path,
) -> None:
    root = own_profile(tmp_path, 'deny = ["*.pem"]')
    runner = confine(root, choose(root)).runner
    try:
        assert await said(runner, "echo key >new.pem; cat new.pem", root.cwd) == "key\n"
        assert "Permission denied" in await said(runner, "cat new.pem", root.cwd)
    finally:
        await runner.close()


async def test_commands_get_folders_for_what_package_managers_keep_and_may_write_there(tmp_path: Path) -> None:
    root = root_of(tmp_path, "")
    confined = confine(root, choose(root))
    names = ("PIP_CACHE_DIR", "npm_config_cache", "CARGO_HOME", "GOCACHE", "XDG_CACHE_HOME")
    try:
        for name in names:
            assert await said(confined.runner, f"echo kept >{confined.env[name]}/new", root.cwd) == ""
    finally:
        await confined.runner.close()
    tools = tmp_path / "home/.cache/grokmini/tools"
    assert sorted(path.parent.name for path in tools.glob("*/new")) == ["cargo", "go", "npm", "pip", "xdg"]
    assert not list((tmp_path / "home/.cache").glob("[!g]*")), "nothing else in the home folder"


def test_no_command_can_be_the_one_to_make_the_folder_of_tmux(tmp_path: Path) -> None:
    root = root_of(tmp_path, "")
    program = tmp_path / "bin/tmux"
    program.parent.mkdir()
    program.touch(mode=0o755)
    root = root._replace(env={**root.env, "PATH": str(program.parent), "TMUX_TMPDIR": str(tmp_path)})
    confine(root, choose(root))
    assert (tmp_path / f"tmux-{os.getuid()}").stat().st_mode & 0o777 == 0o700


async def test_a_repository_whose_git_folder_is_a_link_can_be_committed_in() -> None:
    script = "git -c user.name=n -c user.email=e@x commit -q --allow-empty -m one && git log --format=%s"
    with not_temporary() as folder:
        root = root_of(folder, "")
        subprocess.run(["git", "init", "-q", "--bare", folder / "store"], check=True)
        subprocess.run(["git", "-C", folder / "store", "config", "core.bare", "false"], check=True)
        (root.cwd / ".git").symlink_to(folder / "store")
        runner = confine(root, choose(root)).runner
        try:
            assert await said(runner, script, root.cwd) == "one\n"
            assert "Device or resource busy" in await said(runner, "git config core.pager x", root.cwd)
        finally:
            await runner.close()


def test_a_yes_to_a_projects_profile_is_none_to_the_same_words_in_another(tmp_path: Path) -> None:
    first, second = root_of(tmp_path / "first", ""), root_of(tmp_path / "second", "")
    second = second._replace(places=first.places)
    for root in (first, second):
        (root.cwd / ".grokmini").mkdir()
        (root.cwd / ".grokmini/sandbox.toml").write_text('[profiles.build]\nwrite = ["../out"]\n')
    profile = profiles_of(first).find("build")
    assert not is_agreed(first, profile)
    agree(first, profile)
    assert is_agreed(first, profile)
    assert not is_agreed(second, profiles_of(second).find("build"))

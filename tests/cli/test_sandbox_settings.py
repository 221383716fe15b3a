"""What `[sandbox]` of the settings says reaches the sandbox that commands run in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grokmini.cli.options import Options
from grokmini.cli.root import Root, load_root
from grokmini.cli.sandboxed import Choice, choose, confine
from grokmini.sandbox.profile import built_in
from tests.sandbox.places import said

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

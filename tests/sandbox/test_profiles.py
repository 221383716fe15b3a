"""Profiles and their files: strictly read, never weakened by a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.profile import Profile
from grokmini.sandbox.profile_file import Profiles, read_profiles


def _read(tmp_path: Path, user: str = "", project: str = "") -> Profiles:
    files = (tmp_path / "user.toml", tmp_path / "project.toml")
    for file, text in zip(files, (user, project), strict=True):
        if text:
            file.write_text(text)
    return read_profiles(*files)


def test_a_profile_takes_over_what_it_extends_and_adds_to_it(tmp_path: Path) -> None:
    profiles = _read(
        tmp_path,
        '[profiles.a]\nextends = "read-only"\ndeny = ["*.pem"]\nenv = { A = "1" }\n'
        '[profiles.b]\nextends = "a"\ndeny = ["~/x"]\nnetwork = "open"\n',
    )
    assert profiles.find("b") == Profile(
        "b", "read-only", deny=("*.pem", "~/x"), network="open", env=(("A", "1"),)
    )


@pytest.mark.parametrize(
    "text",
    [
        "[profiles.a]\nextends = 'off'\n",
        "[profiles.a]\nextends = 'b'\n[profiles.b]\nextends = 'a'\n",
        "[profiles.a]\nextends = 'a'\n",
        "[profiles.a]\nextends = 'nothing'\n",
        "[profiles.a]\ndenied = []\n",
        "[profiles.a]\ndeny = 'x'\n",
        '[profiles.a]\ndeny = ["x\\u0007"]\n',
        "[profiles.a]\nnetwork = 'half'\n",
        "[profiles.strict]\n",
        "[other]\n",
        "[profiles.a\n",
        "profiles = 1\n",
    ],
)
@pytest.mark.parametrize("whose", ["user", "project"])
def test_what_cannot_be_understood_is_refused(tmp_path: Path, text: str, whose: str) -> None:
    with pytest.raises(SandboxError):
        _read(tmp_path, **{whose: text}).find("a")


@pytest.mark.parametrize(
    ("line", "takes"),
    [
        ("extends = 1", "the name of a profile"),
        ("deny = 'x'", "a list of paths and globs"),
        ("network = 'half'", '"open" or "blocked"'),
        ("allow_unix = 1", "true or false"),
        ("env = ['A']", "a table of names and texts"),
    ],
)
def test_a_wrong_value_is_told_what_the_key_takes(tmp_path: Path, line: str, takes: str) -> None:
    with pytest.raises(SandboxError) as caught:
        _read(tmp_path, f"[profiles.a]\n{line}\n")
    assert takes in caught.value.hint


def test_a_project_cannot_redefine_a_profile_of_the_users(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="redefines"):
        _read(tmp_path, "[profiles.a]\n", "[profiles.a]\nwrite = ['/']\n")


def test_a_damaged_file_of_the_users_stops_a_project_from_filling_the_gap(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="no valid TOML"):
        _read(tmp_path, "[profiles.a\n", "[profiles.a]\n")


def test_a_projects_profile_has_a_hash_that_changes_with_it(tmp_path: Path) -> None:
    one = _read(tmp_path, project="[profiles.a]\nwrite = ['/x']\n").find("a")
    other = _read(tmp_path, project="[profiles.a]\nwrite = ['/y']\n").find("a")
    assert one.digest and one.digest != other.digest and one.grants_more


@pytest.mark.parametrize(
    ("profile", "more"),
    [
        (Profile("a", "workspace"), False),
        (Profile("a", "strict", deny=("x",)), False),
        (Profile("a", "devbox"), True),
        (Profile("a", "workspace", write=("/x",)), True),
        (Profile("a", "workspace", env=(("PATH", "/x"),)), True),
    ],
)
def test_a_profile_that_opens_more_than_workspace_is_known(profile: Profile, more: bool) -> None:
    assert profile.grants_more is more

"""What a package manager keeps is run by the next one: no command fills a cache for commands that may do more."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from grokmini.sandbox.compare import grants_more
from grokmini.sandbox.environment import profile_environment, tools_folder
from grokmini.sandbox.profile import BUILT_IN, OFF, Profile, built_in
from grokmini.sandbox.profile_file import read_profiles
from tests.sandbox.places import said
from tests.sandbox.resolved import around_of, resolved, working

NAMES = ("read-only", "strict", "devbox")
MINE = Profile("mine", "workspace", deny=("~/key",))


@pytest.mark.parametrize("profile", [*map(built_in, NAMES), MINE], ids=[*NAMES, "mine"])
async def test_what_a_command_leaves_in_a_cache_is_in_no_cache_of_another_profile(
    tmp_path: Path, profile: Profile
) -> None:
    around = around_of(tmp_path)
    usual = Path(profile_environment(built_in("workspace"), around.cache)["CARGO_HOME"], "config.toml")
    own = Path(profile_environment(profile, around.cache)["CARGO_HOME"], "config.toml")
    resolved(around)
    async with working(around, profile) as runner:
        await said(runner, f"echo planted >{own}; echo planted >{usual}", around.cwd)
    assert own.read_text() == "planted\n"
    assert usual.exists() == (profile.base == "devbox"), "devbox writes everywhere"
    async with working(around) as runner:
        await said(runner, f"echo other >{own}; mv {own.parent} {own.parent}2", around.cwd)
    assert own.read_text() == "planted\n"


def test_sessions_under_one_profile_share_their_caches_and_all_variables_lead_there(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    for profile in (built_in("workspace"), built_in("strict"), MINE):
        variables = profile_environment(profile, around.cache)
        assert variables == profile_environment(profile, around.cache)
        caches = resolved(around, profile).caches
        assert all(any(Path(path).is_relative_to(one) for one in caches) for path in variables.values())
        assert all(Path(path).is_dir() for path in caches)
    assert profile_environment(built_in(OFF), around.cache) == {}


def test_a_projects_profile_has_caches_for_each_content_and_project(tmp_path: Path) -> None:
    found = set()
    for project, network in (("one", "blocked"), ("two", "blocked"), ("one", "open"), ("one", "blocked")):
        file = tmp_path / project / "sandbox.toml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f'[profiles.build]\nnetwork = "{network}"\n')
        found.add(tools_folder(read_profiles(None, file).find("build"), "/cache"))
    assert len(found) == 3


def test_no_name_of_a_profile_leads_into_the_caches_of_another(tmp_path: Path) -> None:
    names = ("pip", "npm", "cargo", "go", "xdg", "tools", "in", "a-b", *BUILT_IN)
    folders = {name: tools_folder(Profile(name, "workspace"), "/cache") for name in names}
    usual = [f"{folders['workspace']}/{name}" for name in ("pip", "npm", "cargo", "go", "xdg")]
    others = [folder for name, folder in folders.items() if name != "workspace"]
    assert len(set(others)) == len(others)
    assert not [one for one in others if any(Path(one).is_relative_to(cache) for cache in usual)]
    assert not [one for one in others for other in others if one != other and Path(one).is_relative_to(other)]


def test_a_change_of_profile_grants_no_more_for_the_caches_that_come_with_it(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    policies = [resolved(around, name) for name in ("devbox", "workspace", "read-only", "strict")]
    for wider, narrower in itertools.pairwise(policies):
        told = grants_more(narrower, wider)
        assert not [text for text in told if "tools" in text], told
    assert grants_more(policies[2], policies[1]) == ()
    assert [text for text in grants_more(policies[1], policies[2]) if f"write in {around.cwd}" in text]

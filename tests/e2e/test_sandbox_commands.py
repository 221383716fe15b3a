"""`grokmini sandbox` and its commands, as people run them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.program import Place


def settings(place: Place, text: str) -> None:
    """The person's own settings."""
    file = place.home / ".config/grokmini/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def without_bwrap(tmp_path: Path) -> dict[str, str]:
    """An environment in which bubblewrap fails."""
    stub = tmp_path / "bin/bwrap"
    stub.parent.mkdir()
    stub.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    stub.chmod(0o755)
    return {"PATH": f"{stub.parent}:/usr/bin:/bin"}


@pytest.mark.parametrize("dashes", [(), ("--",)])
def test_a_command_with_options_of_its_own_is_run_with_and_without_two_dashes(
    place: Place, dashes: tuple[str, ...]
) -> None:
    (place.project / "file").write_text("x")
    done = place.run("sandbox", "run", "--profile", "read-only", *dashes, "ls", "-a", "--", "file")
    assert (done.returncode, done.stdout, done.stderr) == (0, "file\n", "")


def test_the_usage_of_run_shows_where_the_command_begins(place: Place) -> None:
    assert place.run("sandbox", "run", "--help").stdout.startswith(
        "Usage: grokmini sandbox run [OPTIONS] [--] CMD…"
    )


def test_what_a_refused_run_advises_works_when_it_is_done(place: Place, tmp_path: Path) -> None:
    env = without_bwrap(tmp_path)
    words = ("--profile", "workspace", "--", "echo", "ran")
    refused = place.run("sandbox", "run", *words, env=env)
    assert (refused.returncode, refused.stdout) == (9, "")
    (advice,) = {word.strip(".,") for word in refused.stderr.split() if word.startswith("--")}
    done = place.run("sandbox", "run", advice, *words, env=env)
    assert (done.returncode, done.stdout) == (0, "ran\n")


def test_check_tries_the_profile_in_force(place: Place) -> None:
    settings(place, '[sandbox]\nprofile = "read-only"\n')
    assert place.run("sandbox", "check").stdout.startswith("profile read-only\n")
    settings(place, '[sandbox]\nprofile = "off"\n')
    done = place.run("sandbox", "check")
    assert "nothing to check" in done.stdout
    assert "--profile" in done.stdout

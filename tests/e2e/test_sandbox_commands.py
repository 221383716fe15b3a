"""`grokmini sandbox` and its commands, as people run them."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.e2e.program import Place
from tests.e2e.test_commands import healthy
from tests.fakes.model_server import ModelServer, reply


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


def test_a_line_for_the_shell_that_run_cannot_start_is_given_back_as_one_that_works(place: Place) -> None:
    refused = place.run("sandbox", "run", "echo one; echo two")
    assert refused.returncode == 2
    advice = shlex.split(refused.stderr.splitlines()[-1].partition("grokmini ")[2])
    assert place.run(*advice).stdout == "one\ntwo\n"


def test_asked_about_a_command_explain_tells_only_what_is_in_its_way(place: Place) -> None:
    (place.project / ".git").mkdir()
    done = place.run("sandbox", "explain", 'git push -u origin main && eval "$(x)"')
    lines = done.stdout.splitlines()
    assert lines[0] == 'git push -u origin main && eval "$(x)":'
    assert lines[1].startswith("  git push -u:")
    assert any("may do more than its words tell" in line for line in lines)
    assert lines[-1] == "All that workspace allows: grokmini sandbox explain --profile workspace"
    assert len(lines) < 8


@pytest.mark.parametrize("words", [("-p", "hi"), ("sandbox", "explain"), ("sandbox", "run", "true")])
def test_a_profile_named_by_an_empty_word_is_an_error_and_not_the_default(
    place: Place, words: tuple[str, ...]
) -> None:
    model = {"GROKMINI_BASE_URL": "http://127.0.0.1:9/v1", "GROKMINI_MODEL": "m"}
    done = place.run(*words[:2], "--sandbox=", *words[2:], env=model)
    assert (done.returncode, done.stdout) == (2, "")
    assert "empty" in done.stderr


def test_a_profile_that_is_not_there_is_told_with_who_named_it(place: Place) -> None:
    settings(place, '[sandbox]\nprofile = "strickt"\n')
    with ModelServer([reply("hi")]) as server:
        assert "'strickt', which your settings name" in place.run("-p", "hi", server=server).stderr
        settings(place, "")
        profiles = place.home / ".config/grokmini/sandbox.toml"
        profiles.write_text('[profiles.mine]\nextends = "read-only"\n')
        assert place.run("-p", "hi", "--sandbox", "mine", server=server).returncode == 0
        profiles.unlink()
        gone = place.run("-c", "-p", "hi", server=server)
    assert gone.returncode == 9
    assert "'mine', which this session ran under; --sandbox NAME goes on" in gone.stderr


def test_a_file_of_profiles_that_is_no_toml_is_told_with_the_place(place: Place) -> None:
    settings(place, "")
    (place.home / ".config/grokmini/sandbox.toml").write_text("[profiles.a]\nextends = \n")
    done = place.run("sandbox")
    assert done.returncode == 9
    assert "line 2" in done.stderr


def test_explain_says_that_a_profile_is_not_agreed_to_yet(place: Place) -> None:
    folder = place.project / ".grokmini"
    folder.mkdir()
    (folder / "sandbox.toml").write_text('[profiles.build]\nwrite = ["/opt/x"]\n')
    assert place.run("sandbox", "explain", "--profile", "build").stdout.endswith(
        ": grokmini sandbox trust build\n"
    )
    assert place.run("sandbox", "trust", "build").returncode == 0
    assert "trust build" not in place.run("sandbox", "explain", "--profile", "build").stdout


def test_check_tries_the_profile_in_force(place: Place) -> None:
    settings(place, '[sandbox]\nprofile = "read-only"\n')
    assert place.run("sandbox", "check").stdout.startswith("profile read-only\n")
    settings(place, '[sandbox]\nprofile = "off"\n')
    done = place.run("sandbox", "check")
    assert "nothing to check" in done.stdout
    assert "--profile" in done.stdout


PROJECT = """\
[profiles.build]
write = ["../out", "/opt/x"]
deny = ["*.pem", "secrets"]
network = "blocked"
allow_unix = true

[profiles.tight-as-can-be-in-here]
extends = "strict"

[profiles.loop]
extends = "loop"
"""


def rows(text: str) -> dict[str, str]:
    """The rest of each line by its first word, a mark in front included; one space between words."""
    lines = (line.split() for line in text.replace("\n* ", "\n  *").splitlines() if line)
    return {words[0]: " ".join(words[1:]) for words in lines}


def test_the_list_tells_the_profiles_apart_and_the_layers_of_the_machine(place: Place, tmp_path: Path) -> None:
    (place.project / ".grokmini").mkdir()
    (place.project / ".grokmini/sandbox.toml").write_text(PROJECT)
    settings(place, '[sandbox]\nprofile = "strict"\n')
    done = place.run("sandbox")
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80
    found = rows(done.stdout)
    builtin = [found[name].split() for name in ("off", "workspace", "read-only", "*strict", "devbox")]
    assert len(set(map(tuple, builtin))) == len(builtin)
    assert found["build"].split()[-5:] == ["temp,", "2", "more", "local", "untrusted"]
    assert found["tight-as-can…"].endswith("blocked project's")
    assert "extend each other" in found["loop"]
    assert "in force: strict" in done.stdout
    assert "Landlock" in found
    assert "bubblewrap" in found
    assert place.run("sandbox", "trust", "build").returncode == 0
    assert rows(place.run("sandbox").stdout)["build"].endswith("local project's")


def test_the_list_says_why_a_layer_does_not_work(place: Place, tmp_path: Path) -> None:
    done = place.run("sandbox", env=without_bwrap(tmp_path))
    assert "no: bwrap: No permissions to create a new namespace" in rows(done.stdout)["bubblewrap"]
    assert "secrets" not in done.stdout, "without it nothing hides them"


def test_a_list_in_which_none_can_be_in_force_says_so(place: Place) -> None:
    settings(place, '[sandbox]\nprofile = "nosuch"\n')
    done = place.run("sandbox")
    assert done.returncode == 9
    assert "in force: none, for nosuch cannot be used" in done.stdout
    assert "there is no sandbox profile" in done.stderr


def test_doctor_tests_each_layer_of_the_sandbox(place: Place, tmp_path: Path) -> None:
    with ModelServer(healthy) as server:
        well = place.run("doctor", server=server)
        in_part = place.run("doctor", server=server, env=without_bwrap(tmp_path))
        settings(place, '[sandbox]\nprofile = "workspace"\n')
        refused = place.run("doctor", server=server, env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"})
    assert (well.returncode, in_part.returncode, refused.returncode) == (0, 0, 9)
    assert [line[:2] for line in well.stdout.splitlines() if "Landlock" in line or "sandbox" in line] == [
        "ok"
    ] * 2
    assert "!   bubblewrap          bwrap: No permissions" in in_part.stdout
    assert "- chmod, chown" in in_part.stdout
    assert f"outside the writable\n{' ' * 26}folders\n" in in_part.stdout
    assert "x   sandbox " in refused.stdout
    assert "--sandbox-best-effort" in refused.stdout

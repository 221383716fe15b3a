"""What commands find in their environment."""

from __future__ import annotations

import subprocess

import pytest

from grokmini.sandbox.environment import is_secret_name, neutral_environment


@pytest.mark.parametrize(
    "name",
    [
        "XAI_API_KEY",
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "DB_PASSWORD",
        "npm_config_token",
        "APIKEY",
        "DEPLOY_PRIVATE_KEY",
        "GOOGLE_APPLICATION_CREDENTIALS",
    ],
)
def test_a_key_token_or_password_is_known_by_its_name(name: str) -> None:
    assert is_secret_name(name)
    assert name not in neutral_environment({name: "x"})


@pytest.mark.parametrize(
    "name",
    ["PATH", "HOME", "TOKENIZERS_PARALLELISM", "KEYBOARD", "SSH_AUTH_SOCK", "PATTERN", "LANG", "PYTHONPATH"],
)
def test_an_ordinary_variable_is_kept(name: str) -> None:
    assert neutral_environment({name: "x"})[name] == "x"


def test_pagers_editors_and_prompts_never_wait() -> None:
    env = neutral_environment(
        {"PAGER": "less", "GIT_PAGER": "less", "EDITOR": "vi", "TERM": "xterm", "GPG_TTY": "/dev/pts/1"}
    )
    assert env["PAGER"] == env["GIT_PAGER"] == env["MANPAGER"] == "cat"
    assert env["GIT_EDITOR"] == env["EDITOR"] == "true"
    assert (env["TERM"], env["CI"], env["NO_COLOR"]) == ("dumb", "1", "1")
    assert (env["DEBIAN_FRONTEND"], env["GIT_TERMINAL_PROMPT"], env["GPG_TTY"]) == ("noninteractive", "0", "")


def test_start_up_files_askpass_programs_and_our_own_variables_are_left_out() -> None:
    given = dict.fromkeys(
        ["BASH_ENV", "ENV", "SSH_ASKPASS", "GIT_ASKPASS", "GROKMINI_HOME", "BASH_FUNC_ls%%", "FORCE_COLOR"], "x"
    )
    assert not given.keys() & neutral_environment(given).keys()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"LANG": "de_DE.UTF-8", "LC_TIME": "fr_FR.UTF-8"}, {"LANG": "de_DE.UTF-8", "LC_TIME": "fr_FR.UTF-8"}),
        ({"LANG": "C", "LC_ALL": "de_DE.UTF-8", "LC_TIME": "C"}, {"LANG": "de_DE.UTF-8"}),
        ({"LC_ALL": "", "LC_MESSAGES": "de_DE.UTF-8", "LANGUAGE": "de:en"}, {}),
        ({"LC_ALL": "C.UTF-8"}, {"LANG": "C.UTF-8"}),
        ({}, {}),
    ],
)
def test_messages_are_in_english_and_the_rest_of_the_locale_stays(
    given: dict[str, str], kept: dict[str, str]
) -> None:
    env = neutral_environment(given)
    locale = {name: value for name, value in env.items() if name.startswith(("LANG", "LC_"))}
    assert locale == {**kept, "LC_MESSAGES": "C"}


def test_characters_stay_utf_8_under_a_locale_for_everything() -> None:
    env = neutral_environment({"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"})
    done = subprocess.run(["locale", "charmap"], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "UTF-8\n"

"""What commands find in their environment."""

from __future__ import annotations

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

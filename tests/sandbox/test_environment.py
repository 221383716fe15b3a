"""What commands find in their environment."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.sandbox.environment import is_secret_name, is_secret_value, neutral_environment


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
        "PGPASSWORD",
        "MYSQL_PWD",
        "DB_PASS",
        "OPENAI_KEY",
        "STRIPE_KEY",
        "SECRETKEY",
        "SENTRY_DSN",
        "SLACK_WEBHOOK_URL",
        "npm_config__authToken",
        "npm_config__auth",
        "NPM_CONFIG_//registry.npmjs.org/:_authToken",
        "SSHPASS_PASSWD",
        "AZURE_STORAGE_CONNECTION_STRING",
        "SIGNING_KEYS",
        "HF_TOKENS",
        "GITHUB_PAT",
        "SERVICE_JWT",
        "ANSIBLE_VAULT_PASSWORD_FILE",
    ],
)
def test_a_key_token_or_password_is_known_by_its_name(name: str) -> None:
    assert is_secret_name(name)
    assert name not in neutral_environment({name: "x"})


@pytest.mark.parametrize(
    "name",
    [
        "PATH", "HOME", "TOKENIZERS_PARALLELISM", "KEYBOARD", "SSH_AUTH_SOCK", "PATTERN", "LANG", "PYTHONPATH",
        "GPG_KEY", "MONKEY", "MONKEY_PATCH", "XKB_DEFAULT_LAYOUT", "PWD", "OLDPWD", "PUBLIC_KEY", "CACHE_KEY",
        "BYPASS", "COMPASS_HOME", "PASSWORD_STORE_DIR", "MAX_TOKENS", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "XAUTHORITY",
        "HTTP_PROXY", "DATABASE_URL", "KEYMAP", "INIT_CWD", "PATCH", "DSNAME", "SSH_CONNECTION",
        "DBUS_SESSION_BUS_ADDRESS", "npm_config_cache",
    ],
)  # fmt: skip
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


@pytest.mark.parametrize(
    "value",
    [
        "postgres://app:hunter2@db/x",
        "postgresql+psycopg://:hunter2@db",
        "http://me:pw@proxy:3128",
        "first, https://a:b@c/d",
        "amqps://u:p%40x@host:5671/v",
        "jdbc:postgresql://db/x?user=a&password=b",
        "redis://default:x@h:6379/0",
    ],
)
def test_a_password_in_an_address_is_known_by_the_value(value: str) -> None:
    assert is_secret_value(value)
    assert "DATABASE_URL" not in neutral_environment({"DATABASE_URL": value})


@pytest.mark.parametrize(
    "value",
    [
        "http://proxy:3128",
        "https://example.org/a:b@c",
        "ssh://git@host:22/x",
        "unix:path=/run/user/0/bus",
        "me@example.org",
        "http://localhost:11434",
        "postgres://db/x?sslmode=require",
        "",
    ],
)
def test_an_address_without_a_password_is_kept(value: str) -> None:
    assert neutral_environment({"DATABASE_URL": value})["DATABASE_URL"] == value


def test_what_the_person_names_is_kept_all_the_same() -> None:
    base = {"STRIPE_KEY": "sk", "DATABASE_URL": "postgres://a:b@c", "OPENAI_KEY": "x", "BASH_ENV": "x"}
    kept = neutral_environment(base, ("STRIPE_KEY", "DATABASE_URL", "BASH_ENV"))
    assert base.keys() & kept.keys() == {"STRIPE_KEY", "DATABASE_URL"}


@settings(max_examples=200)
@given(
    st.text("ABCXYZ_abz0", max_size=8),
    st.sampled_from(
        ["_KEY", "_PASS", "PWD", "PASSWORD", "SECRET", "TOKEN", "_TOKEN", "CREDENTIAL", "WEBHOOK", "_DSN"]
    ),
    st.booleans(),
)
def test_whatever_stands_before_it_the_end_of_a_name_tells(before: str, end: str, lower: bool) -> None:
    name = before + end
    if name.upper() not in ("PWD", "OLDPWD"):
        assert is_secret_name(name.lower() if lower else name)


@settings(max_examples=200)
@given(
    st.text("abcXYZ09+.-", min_size=1, max_size=6),
    st.text("ab%40!$&", min_size=1, max_size=8),
    st.text(max_size=4),
)
def test_any_user_and_password_in_an_address_is_seen(user: str, password: str, around: str) -> None:
    assert is_secret_value(f"{around}s3://{user}:{password}@host/{around}")

"""What must never leave the program, and what must not be mistaken for it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.text.redact import RULES, redact
from tests.cost import LINEAR, growth

LONG = "abcdefghijklmnopqrstuvwxyz0123456789ABCD"

SECRETS = [
    ("sk-proj-" + LONG, "api key"),
    ("xai-" + LONG, "api key"),
    ("sk-ant-api03-" + LONG, "api key"),
    ("gsk_" + LONG, "api key"),
    ("AKIAIOSFODNN7EXAMPLE", "aws key"),
    ("ghp_" + LONG, "github token"),
    ("github_pat_" + LONG, "github token"),
    ("glpat-" + LONG[:20], "gitlab token"),
    ("xoxb-1234567890-abcdef", "slack token"),
    ("AIza" + LONG[:35], "google key"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "jwt"),
]


@pytest.mark.parametrize(("secret", "name"), SECRETS)
@pytest.mark.parametrize("around", ["{}", "key is {}.", '"{}"', "X={}\n", "a\n{}\nb", "({})"])
def test_a_key_is_replaced_wherever_it_stands(secret: str, name: str, around: str) -> None:
    out = redact(around.format(secret))
    assert secret not in out
    assert secret[-12:] not in out
    assert out.count("<") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer <authorization>"),
        ("password=hunter2hunter2", "password=<secret>"),
        ('{"api_key": "abc123def456"}', '{"api_key": "<secret>"}'),
        ("export DB_PASSWORD='s3cret-pw'", "export DB_PASSWORD='<secret>'"),
        ("client_secret => abcdef123", "client_secret => <secret>"),
        ("https://u:p4ssw0rd@host/x", "https://u:<url password>@host/x"),
        ("GET /x?key=abcdef123&b=1", "GET /x?key=<query secret>&b=1"),
        ("/home/alice/src/x", "/home/<user>/src/x"),
        ("/Users/alice", "/Users/<user>"),
        ("C:\\Users\\alice\\x", "C:\\Users\\<user>\\x"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest", "<private key>\nrest"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE never closed", "<private key>"),
    ],
)
def test_secrets_are_known_by_their_surroundings(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "task-management-and-risk-assessment-for-everyone",
        "task-abcdefghijklmnopqrstuvwxyz",
        "risk-abcdefghijklmnopqrstuvwxyz",
        "disk_abcdefghijklmnopqrstuvwxyz",
        "the password is asked for",
        "max_tokens: 4096",
        "token: str",
        "password: $PASSWORD",
        "api_key = {key}",
        "secret=<set>",
        "/Users/Shared/x",
        "/home/linuxbrew/bin",
        "https://example.org/a?page=2",
        "a bearer of news",
        "key=value",
        "eyJ is not a token",
        "01930c5e-7b1a-7c3d-9e2f-a1b2c3d4e5f6",
    ],
)
def test_ordinary_words_are_left_alone(text: str) -> None:
    assert redact(text) == text


def test_the_common_case_copies_nothing() -> None:
    text = "plain output of a command, 12 files\n" * 50
    assert redact(text) is text


def test_the_first_pass_lets_through_nothing_that_a_rule_would_find() -> None:
    samples = {
        "private key": "-----BEGIN PRIVATE KEY-----x",
        "authorization": "bearer abcdefghijkl",
        "url password": "ftp://a:b@c",
        "secret": "passphrase=abcdef",
        "query secret": "?sig=abcdef",
        "home": "/home/a",
        **{name: secret for secret, name in reversed(SECRETS)},
    }
    assert sorted(samples) == sorted(rule.name for rule in RULES)
    for rule in RULES:
        assert rule.pattern.search(samples[rule.name])
        assert redact(samples[rule.name]) != samples[rule.name]


@settings(max_examples=50)
@given(st.text(max_size=200))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize("part", ["a_", "password", "-----BEGIN PRIVATE KEY-----", "x://"])
def test_no_text_makes_it_slow(part: str) -> None:
    assert growth(lambda count: redact(part * (count // len(part))), 200_000) < LINEAR

"""The text that Seatbelt gets on macOS, as golden files: changing one is a visible decision."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.globs import matches
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import SANDBOX_EXEC
from grokmini.sandbox.seatbelt import SeatbeltProfile, forms, seatbelt_profile, seatbelt_words

GOLDEN = Path(__file__).parent.parent / "golden" / "seatbelt"
HOME = "/Users/ada"
CWD = f"{HOME}/work"
STATE = f"{HOME}/.local/state/grokmini"
SCRATCH = f"{STATE}/sessions/1/scratch"
TEMP = ("/private/tmp", "/private/var/tmp", "/private/var/folders/x1/T")
PROTECTED = (
    f"{CWD}/.git/hooks",
    f"{CWD}/.git/config",
    f"{CWD}/.grokmini",
    f"{HOME}/.config/grokmini",
    STATE,
)
KEY = f"{HOME}/.ssh/id_ed25519"


def policy_of(name: str) -> Policy:
    """Each of the built-in profiles as it is on a Mac, and one of a person's own that denies."""
    whole = Policy(
        "workspace",
        write_roots=(CWD,),
        protected=PROTECTED,
        denied=(KEY,),
        scratch=SCRATCH,
        temp=TEMP,
        caches=(f"{HOME}/Library/Caches/grokmini/tools/pip",),
    )
    match name:
        case "workspace":
            return whole
        case "read-only":
            return Policy("read-only", protected=PROTECTED, scratch=SCRATCH, temp=TEMP, network="blocked")
        case "strict":
            roots = ("/usr", "/bin", CWD, f"{HOME}/.pyenv/versions")
            return Policy(
                "strict",
                read_all=False,
                read_roots=roots,
                write_roots=(CWD,),
                protected=PROTECTED,
                scratch=SCRATCH,
                temp=TEMP,
                network="blocked",
            )
        case "devbox":
            return Policy("devbox", write_all=True, protected=("/data",), temp=TEMP)
    return Policy(
        "careful",
        write_roots=(CWD,),
        protected=PROTECTED,
        denied=(f"{CWD}/deep/er/.env", f'{CWD}/a "quoted" name', f"{CWD}/secrets"),
        denied_globs=(f"{CWD}/**/.env", f"{CWD}/*.pem", "/tmp/[ab]?/key-[!0-9]"),
        scratch=SCRATCH,
        temp=TEMP,
        network="blocked",
        allow_unix=True,
    )


def whole_text(profile: SeatbeltProfile) -> str:
    """The text, then the parameters as remarks."""
    return profile.text + "".join(f"; {name}={value}\n" for name, value in profile.parameters)


@pytest.mark.parametrize("name", ["workspace", "read-only", "strict", "devbox", "careful"])
def test_a_profile_becomes_the_text_that_is_kept(name: str) -> None:
    text = whole_text(seatbelt_profile(policy_of(name)))
    file = GOLDEN / f"{name}.sb"
    if "UPDATE_GOLDEN" in os.environ:
        file.write_text(text, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text


def without_strings(text: str) -> str:
    return re.sub(r'#?"[^"]*"', "", text)


@pytest.mark.parametrize("name", ["workspace", "read-only", "strict", "devbox", "careful"])
def test_parentheses_close_and_every_parameter_is_given_once(name: str) -> None:
    profile = seatbelt_profile(policy_of(name))
    depth = 0
    for character in without_strings(profile.text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    named = re.findall(r'\(param "([A-Z]+_\d+)"\)', profile.text)
    assert set(named) == {name for name, _ in profile.parameters}
    assert len(dict(profile.parameters)) == len(profile.parameters)


def rule_of(profile: SeatbeltProfile, kind: str, path: str) -> int:
    """Where the last rule stands that names the path as a parameter of that kind."""
    (name,) = [name for name, value in profile.parameters if value == path and name.startswith(kind)]
    return profile.text.rindex(f'(param "{name}")')


def test_the_deeper_of_two_folders_counts_since_its_rule_comes_later() -> None:
    profile = seatbelt_profile(policy_of("workspace"))
    assert rule_of(profile, "WRITE", CWD) < rule_of(profile, "PROTECTED", f"{CWD}/.git/hooks")
    assert rule_of(profile, "PROTECTED", STATE) < rule_of(profile, "WRITE", SCRATCH)
    assert rule_of(profile, "WRITE", SCRATCH) < rule_of(profile, "DENIED", KEY)


def test_a_folder_is_deeper_by_where_it_really_is_not_by_how_it_is_written() -> None:
    policy = Policy("workspace", write_roots=("/private/etc/a",), protected=("/etc/a/b",), temp=("/tmp",))
    profile = seatbelt_profile(policy)
    assert rule_of(profile, "WRITE", "/private/etc/a") < rule_of(profile, "PROTECTED", "/etc/a/b")


def test_what_is_denied_is_denied_last_and_nothing_is_allowed_after_it() -> None:
    for name in ("workspace", "careful"):
        text = seatbelt_profile(policy_of(name)).text
        assert text.index('(param "DENIED_0")') > text.rindex("(allow ")


def test_every_folder_on_the_way_to_what_is_protected_or_denied_keeps_its_name() -> None:
    profile = seatbelt_profile(policy_of("careful"))
    pinned = {value for name, value in profile.parameters if name.startswith("PIN")}
    assert {CWD, f"{CWD}/.git", f"{CWD}/deep", f"{CWD}/deep/er", SCRATCH, "/tmp", "/private/tmp"} <= pinned
    assert HOME not in pinned  # not writable anyway
    everywhere = seatbelt_profile(Policy("devbox", write_all=True, protected=("/data/a/b",)))
    assert {"/data", "/data/a"} == {value for name, value in everywhere.parameters if name.startswith("PIN")}


@pytest.mark.parametrize(
    ("path", "both"),
    [
        ("/tmp", ("/private/tmp", "/tmp")),
        ("/private/var/folders/x", ("/private/var/folders/x", "/var/folders/x")),
        ("/etc/ssh", ("/private/etc/ssh", "/etc/ssh")),
        ("/tmpfiles/x", ("/tmpfiles/x",)),
        ("/Users/ada/tmp", ("/Users/ada/tmp",)),
    ],
)
def test_links_that_are_on_every_mac_are_written_in_both_forms(path: str, both: tuple[str, ...]) -> None:
    assert forms(path) == both
    profile = seatbelt_profile(Policy("workspace", write_roots=(path,)))
    assert {value for name, value in profile.parameters if name.startswith("WRITE")} == set(both)


@pytest.mark.parametrize(
    "name", ['a"b', "back\\slash", "new\nline", "ümlaut 漢字", "(deny default)", "a=b", "-D"]
)
def test_a_path_goes_as_a_parameter_and_needs_no_quoting(name: str) -> None:
    path = f"/w/{name}"
    profile = seatbelt_profile(
        Policy("workspace", write_roots=(path,), protected=(path + "/p",), denied=(path,))
    )
    assert name not in without_strings(profile.text)
    words = seatbelt_words(profile)
    assert f"WRITE_0={path}" in words
    assert f"DENIED_0={path}" in words
    assert words[0] == SANDBOX_EXEC
    assert words[1:3] == ("-p", profile.text)
    assert words[-1] == "--"
    assert words.count("-D") == len(profile.parameters)


@pytest.mark.parametrize("path", ["relative", "", "/w/\0", "/w/\udcff"])
def test_a_path_that_cannot_be_said_is_refused(path: str) -> None:
    with pytest.raises(SandboxError):
        seatbelt_profile(Policy("careful", denied=(path,)))


@pytest.mark.parametrize("folder", ['/w/a"b', "/w/a\nb", "/w/a\x7fb", "/w/\udcff"])
def test_a_pattern_below_a_folder_that_cannot_stand_in_an_expression_is_refused(folder: str) -> None:
    with pytest.raises(SandboxError):
        seatbelt_profile(Policy("careful", denied_globs=(f"{folder}/*.pem",)))


@pytest.mark.parametrize("pattern", ["/w/**/.env", "/w/*.pem", "/tmp/[ab]?/key-[!0-9]", "/w/a.b+(c)$/**"])
def test_the_expressions_in_the_text_match_what_the_pattern_means_and_what_lies_below(pattern: str) -> None:
    text = seatbelt_profile(Policy("careful", denied_globs=(pattern,))).text
    denials = text[text.rindex("(deny file-read*") :]
    found = [re.compile(one) for one in re.findall(r'\(regex #"([^"]*)"\)', denials)]
    paths = [
        *("/w/.env", "/w/a/b/.env", "/w/.envx", "/w/x.pem", "/w/a/x.pem", "/w/a.b+(c)$/x", "/w/a"),
        *("/tmp/a1/key-x", "/tmp/a1/key-5", "/tmp/c1/key-x"),
    ]
    for path in paths:
        meant = matches(pattern, path)
        for form in forms(path):
            assert any(one.match(form) for one in found) == meant
            assert any(one.match(form + "/below/it") for one in found) >= meant


def test_the_network_is_blocked_or_kept_to_sockets_in_the_own_folders() -> None:
    assert "network*" not in seatbelt_profile(policy_of("workspace")).text
    assert "(deny network*)" in seatbelt_profile(policy_of("read-only")).text
    text = seatbelt_profile(policy_of("careful")).text
    assert "remote ip" not in text
    assert text.index("(deny network*)") < text.index("(allow network-outbound")


def test_strict_begins_with_nothing_allowed() -> None:
    lines = seatbelt_profile(policy_of("strict")).text.splitlines()
    assert lines[:2] == ["(version 1)", "(deny default)"]
    assert "(allow default)" not in lines

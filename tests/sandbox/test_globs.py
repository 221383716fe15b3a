"""Denied globs: one translation, the same paths on every platform."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.globs import (
    MAX_MATCHES,
    anchored,
    expand,
    expression,
    matches,
    quoted,
    unquoted,
    without_links,
)

_PIECES = st.sampled_from(["a", "b", ".", "*", "?", "/", "**", "/**/", "[ab]", "[!a]", "[a-c]", "+", "(", "$"])
_PATTERNS = st.lists(_PIECES, min_size=1, max_size=6).map(lambda parts: "/" + "".join(parts))
_PATHS = st.lists(st.sampled_from(["a", "b", "c", ".", "/", "+", "(", "$", "d"]), min_size=1, max_size=8).map(
    lambda parts: "/" + "".join(parts)
)


@settings(max_examples=40)
@given(_PATTERNS, st.lists(_PATHS, min_size=5, max_size=20))
def test_the_expression_means_the_same_in_python_and_as_an_extended_posix_expression(
    pattern: str, paths: list[str]
) -> None:
    found = subprocess.run(
        ["grep", "-E", "--", expression(pattern)],
        input="\n".join(paths) + "\n",
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
        check=False,
    )
    assert found.returncode in (0, 1), found.stderr
    assert found.stdout.splitlines() == [path for path in paths if matches(pattern, path)]


@pytest.mark.parametrize(
    ("pattern", "path", "meant"),
    [
        ("/w/*.pem", "/w/a.pem", True),
        ("/w/*.pem", "/w/sub/a.pem", False),
        ("/w/**/.env", "/w/.env", True),
        ("/w/**/.env", "/w/a/b/.env", True),
        ("/w/**/.env", "/w/a/.envx", False),
        ("/w/[!a]", "/w//", False),
        ("/w/a?c", "/w/a/c", False),
    ],
)
def test_wildcards_do_not_cross_folders_unless_they_are_doubled(pattern: str, path: str, meant: bool) -> None:
    assert matches(pattern, path) is meant


def test_what_is_expanded_is_what_matches(tmp_path: Path) -> None:
    for name in ("a.pem", "sub/b.pem", "sub/deep/c.pem", "sub/c.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    every = [str(path) for path in tmp_path.rglob("*")]
    for written in ("*.pem", "sub/*.pem", "./*.pem", "sub/**"):
        pattern = anchored(written, str(tmp_path), "/nowhere")
        found = expand(pattern)
        wanted = [path for path in every if matches(pattern, path)]
        assert set(found) <= set(wanted)
        assert all(any(path == top or path.startswith(top + "/") for top in found) for path in wanted)


@settings(max_examples=60)
@given(_PATTERNS, st.lists(_PATHS, min_size=5, max_size=20))
def test_the_expression_for_what_lies_below_matches_just_that_and_the_paths_themselves(
    pattern: str, paths: list[str]
) -> None:
    below = re.compile(expression(pattern, below=True))
    for path in paths:
        parts = path.split("/")
        above = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
        assert bool(below.match(path)) == any(matches(pattern, one) for one in above)


@pytest.mark.parametrize("name", ["[x]", "a*b", "what?", "back\\slash", 'a"b', "$(x)", "[", "x]", "*"])
def test_a_folder_whose_name_holds_wildcards_is_meant_literally(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    other = tmp_path / "x"
    for place in (folder, other):
        (place / "sub").mkdir(parents=True)
        (place / "sub/a.pem").touch()
        (place / "plain").touch()
    assert expand(anchored("*.pem", str(folder), "/nowhere")) == (str(folder / "sub/a.pem"),)
    assert expand(anchored("~/sub/*", "/nowhere", str(folder))) == (str(folder / "sub/a.pem"),)
    assert expand(anchored("plain", str(folder), "/nowhere")) == (str(folder / "plain"),)
    assert unquoted(quoted(str(folder))) == str(folder)
    assert matches(quoted(str(folder)), str(folder))
    assert not matches(quoted(str(folder)), str(other))


def test_patterns_in_the_root_folder_begin_with_one_slash() -> None:
    assert matches(anchored("*.pem", "/", "/root"), "/etc/a.pem")
    assert anchored("~/x", "/w", "/") == "/x"
    assert anchored("//etc/x", "/w", "/root") == "/etc/x"


def test_links_in_the_part_that_is_named_in_full_are_resolved(tmp_path: Path) -> None:
    (tmp_path / "real[1]").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real[1]")
    pattern = without_links(f"{tmp_path}/link/**/*.pem")
    assert matches(pattern, f"{tmp_path}/real[1]/a/b.pem")
    assert not matches(pattern, f"{tmp_path}/link/a.pem")
    assert without_links("/*.pem") == "/*.pem"
    assert unquoted(without_links(f"{tmp_path}/link")) == f"{tmp_path}/real[1]"


@pytest.mark.parametrize("pattern", ["", "a\nb", "{a,b}", "a\\*", 'a"b', "a\x7f"])
def test_what_cannot_be_said_safely_on_every_platform_is_refused(pattern: str) -> None:
    with pytest.raises(SandboxError):
        anchored(pattern, "/w", "/home/x")


@pytest.mark.parametrize("pattern", ["~other/x", "~other", "$HOME/x", "/home/$USER/x", "~/$KEYS", "!x", "!~/x"])
def test_a_path_that_only_a_shell_would_understand_is_refused(pattern: str) -> None:
    with pytest.raises(SandboxError, match="would not mean what it seems to"):
        anchored(pattern, "/w", "/home/x")


@pytest.mark.parametrize("name", ["~other", "$HOME", "!x", "a$b", "a/b~", "a!"])
def test_a_name_that_looks_like_a_shells_word_can_be_meant(name: str) -> None:
    assert anchored(f"./{name}", "/w", "/home/x") == f"/w/{name}"


def test_too_many_matches_are_refused(tmp_path: Path) -> None:
    for number in range(MAX_MATCHES + 1):
        (tmp_path / f"{number}.pem").touch()
    with pytest.raises(SandboxError, match="more than"):
        expand(f"{tmp_path}/*.pem")


def test_a_match_with_control_characters_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a\nb.pem").touch()
    with pytest.raises(SandboxError, match="control characters"):
        expand(f"{tmp_path}/*.pem")

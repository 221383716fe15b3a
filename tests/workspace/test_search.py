"""Our own search, walking and ignoring."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from grokmini.workspace.ignore import rules_for
from grokmini.workspace.search import OutputMode, SearchQuery, read_ripgrep, ripgrep_argv, search_files
from grokmini.workspace.walk import walk_files


def _never() -> None:
    return None


def _search(query: SearchQuery) -> str:
    return "".join(search_files(query, lambda path: path.name, _never))


def test_a_pattern_that_would_never_end_costs_its_time_and_keeps_what_was_found(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("aab\n" + "a" * 60 + "!\n")
    (tmp_path / "b").write_text("ab\n")
    started = time.process_time()
    found = _search(SearchQuery(r"^(a|a)+b", tmp_path, file_seconds=0.05))
    assert time.process_time() - started < 2
    assert found == "a\n1:aab\n\nb\n1:ab\n"


def test_files_in_other_encodings_are_searched_and_binary_ones_are_not(tmp_path: Path) -> None:
    (tmp_path / "u16").write_bytes("wörd\r\n".encode("utf-16"))
    (tmp_path / "latin").write_bytes("wörd\n".encode("latin-1"))
    (tmp_path / "bin").write_bytes(b"\x7fELF\0w\xc3\xb6rd")
    assert _search(SearchQuery("wörd", tmp_path)) == "latin\n1:wörd\n\nu16\n1:wörd\n"


def test_places_apart_are_separated_when_lines_around_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("1\n2\nx\n4\n5\n6\n7\nx\n")
    assert _search(SearchQuery("x", tmp_path, before=1, after=1)) == "f\n2-2\n3:x\n4-4\n--\n7-7\n8:x\n"


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        (SearchQuery("(", Path("/")), "no regular expression"),
        (SearchQuery("x", Path("/"), file_type="elvish"), "no file type"),
        (SearchQuery("x", Path("/"), glob="/"), "empty"),
    ],
)
def test_a_bad_question_is_refused_before_any_file_is_read(query: SearchQuery, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        _search(query)


def test_nothing_in_a_question_becomes_an_option_of_ripgrep() -> None:
    argv = ripgrep_argv("rg", SearchQuery("--pre=evil", Path("/w/-f"), glob="-g", file_type="--x"), Path("/w"))
    assert "--regexp=--pre=evil" in argv and "--glob=-g" in argv and "--type=--x" in argv
    assert argv[-2:] == ("--", "-f")
    assert "--no-config" in argv


def test_deeper_ignore_files_beat_higher_ones_up_to_the_repository_root(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.txt\n")
    repository = tmp_path / "repo"
    (repository / ".git" / "info").mkdir(parents=True)
    (repository / ".git" / "info" / "exclude").write_text("local\n")
    (repository / ".gitignore").write_text("*.log\n/only_here\n")
    inner = repository / "inner"
    inner.mkdir()
    (inner / ".gitignore").write_text("!keep.log\n")
    for name in ("a.txt", "b.log", "keep.log", "local", "only_here"):
        (inner / name).touch()
    assert [entry.relative for entry in walk_files(inner, _never)] == ["a.txt", "keep.log", "only_here"]
    assert [entry.relative for entry in walk_files(repository, _never)] == [
        "inner/a.txt",
        "inner/keep.log",
        "inner/only_here",
    ]


def test_a_bad_line_in_an_ignore_file_does_not_spoil_the_others(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(b"*.log\n!\n///\n\xff\xfe\n")
    assert rules_for(tmp_path).ignores(f"{tmp_path}/a.log", is_dir=False)
    assert not rules_for(tmp_path).ignores(f"{tmp_path}/a.txt", is_dir=False)


def test_links_to_folders_are_not_walked(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "f").touch()
    assert [entry.relative for entry in walk_files(tmp_path, _never)] == ["f", "loop"]


@pytest.mark.parametrize(
    ("mode", "printed", "read"),
    [
        ("content", "", ""),
        ("content", "a\0001:x\n2-y\n\nb\nc\0007:z\n", 'a\n1:x\n2-y\n\n"b\\nc"\n7:z\n'),
        ("content", "a\0001:x\n--\n9:x\n\ncut off", "a\n1:x\n--\n9:x\n"),
        (
            "content",
            'a\0001:x\na\n2:fake: binary file matches (found "\\0")\n',
            "a\n1:x\n[the rest of this file is binary and was not searched]\n",
        ),
        ("content", "a\n1:fake: binary file matches\n", '"a\\n1:fake: binary file matches"\n'),
        ("files_with_matches", "a\0b\nc\0cut off", 'a\n"b\\nc"\n'),
        ("count", "a\00012\nb\nc\0003\n", 'a:12\n"b\\nc":3\n'),
    ],
)
def test_what_ripgrep_prints_is_read_whatever_the_names(mode: OutputMode, printed: str, read: str) -> None:
    assert read_ripgrep(printed, mode) == read


def test_a_git_link_to_where_one_cannot_look_leaves_the_rules_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").symlink_to("x" * 300)
    (tmp_path / ".gitignore").write_text("*.log\n")
    assert rules_for(tmp_path).ignores(f"{tmp_path}/a.log", is_dir=False)

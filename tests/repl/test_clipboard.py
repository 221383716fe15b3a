"""The clipboard by way of helper programs, which here are scripts of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.repl.clipboard import NoClipboardError, read_clipboard
from tests.waiting import SECONDS


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A helper may start late."""
    monkeypatch.setattr("grokmini.repl.clipboard.LIMIT_SECONDS", SECONDS)


def helper(folder: Path, name: str, script: str) -> None:
    """A program on the PATH."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_the_first_helper_that_works_gives_the_text(tmp_path: Path) -> None:
    helper(tmp_path, "wl-paste", "printf 'from wayland'")
    helper(tmp_path, "xclip", "printf 'from x'")
    path = str(tmp_path)
    assert read_clipboard({"PATH": path, "WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}) == "from wayland"
    assert read_clipboard({"PATH": path, "DISPLAY": ":0"}) == "from x"


def test_a_helper_that_fails_is_followed_by_the_next(tmp_path: Path) -> None:
    helper(tmp_path, "xclip", "echo no >&2; exit 1")
    helper(tmp_path, "xsel", "printf 'two\\nlines'")
    assert read_clipboard({"PATH": str(tmp_path), "DISPLAY": ":0"}) == "two\nlines"


def test_h20_a_helper_that_prints_nothing_means_an_empty_clipboard(tmp_path: Path) -> None:
    """H20."""
    helper(tmp_path, "xclip", "exit 0")
    assert read_clipboard({"PATH": str(tmp_path), "DISPLAY": ":0"}) == ""


def test_bytes_that_are_no_text_do_not_stop_it(tmp_path: Path) -> None:
    helper(tmp_path, "xclip", "printf 'a\\377b'")
    assert read_clipboard({"PATH": str(tmp_path), "DISPLAY": ":0"}) == "a\ufffdb"


def test_an_image_is_preferred_to_text(tmp_path: Path) -> None:
    kinds = '*list-types*|*TARGETS*) printf "text/plain\\nimage/png\\n";;'
    script = f'case "$*" in {kinds} *image/png*) printf PNG;; *) printf text;; esac'
    helper(tmp_path, "xclip", script)
    path = str(tmp_path)
    assert read_clipboard({"PATH": path, "DISPLAY": ":0"}) == b"PNG"
    helper(tmp_path, "wl-paste", script.replace("image/png", "image/svg"))
    assert read_clipboard({"PATH": path, "WAYLAND_DISPLAY": "w"}) == "text"


def test_without_any_helper_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NoClipboardError, match="no clipboard program"):
        read_clipboard({"PATH": str(tmp_path), "DISPLAY": ":0"})

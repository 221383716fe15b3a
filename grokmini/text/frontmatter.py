"""The block between two `---` lines at the very top of a Markdown file."""

from __future__ import annotations

from typing import NamedTuple


class FrontMatter(NamedTuple):
    """A file in two: the lines between the marks (empty when there are none), and what follows."""

    header: str
    body: str


def split_frontmatter(text: str) -> FrontMatter:
    """Take the front matter off.

    It begins on the first line with exactly `---` and ends with a line `---` or `...`; a block that never ends
    is text. A byte order mark in front is dropped.
    """
    text = text.removeprefix("\ufeff")
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].rstrip() != "---":
        return FrontMatter("", text)
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            return FrontMatter("".join(lines[1:number]), "".join(lines[number + 1 :]))
    return FrontMatter("", text)


def strip_frontmatter(text: str) -> str:
    """The text without its front matter and without blank lines at its start."""
    return split_frontmatter(text).body.lstrip("\r\n")

"""Wrapping prose to a width, so that copying long words gives them back whole."""

from __future__ import annotations

import re

from grokmini.text.width import cell_width, graphemes

_PIECES = re.compile(r" +|[^ ]+")


def wrap_text(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` cells; newlines in it end lines, an empty text is one empty line.

    Breaks at spaces, which are dropped there, and between wide characters; a word too long for a line is
    split between graphemes with nothing inserted. Only a grapheme wider than `width` may stick out.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        lines.extend(_wrap_line(line, max(1, width)))
    return lines


def _wrap_line(text: str, width: int) -> list[str]:
    if cell_width(text) <= width:
        return [text.rstrip(" ")]
    lines: list[str] = []
    current, used = "", 0
    for piece in _split(text):
        cells = cell_width(piece)
        if used + cells <= width:
            current, used = current + piece, used + cells
            continue
        if piece[0] == " ":
            lines.append(current.rstrip(" "))
            current, used = "", 0
            continue
        if current.strip(" "):
            lines.append(current.rstrip(" "))
            current, used = "", 0
        for cluster in graphemes(piece):
            cells = cell_width(cluster)
            if used + cells > width and current:
                lines.append(current.rstrip(" "))
                current, used = "", 0
            current, used = current + cluster, used + cells
    if current.strip(" ") or not lines:
        lines.append(current.rstrip(" "))
    return lines


def _split(text: str) -> list[str]:
    """Runs of spaces, words, and wide characters one by one."""
    pieces: list[str] = []
    for piece in _PIECES.findall(text):
        if piece.isascii():
            pieces.append(piece)
            continue
        word = ""
        for cluster in graphemes(piece):
            if cell_width(cluster) < 2:
                word += cluster
                continue
            if word:
                pieces.append(word)
            pieces.append(cluster)
            word = ""
        if word:
            pieces.append(word)
    return pieces

"""Wrapping prose to a width, so that copying long words gives them back whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grokmini.text.width import cell_width, graphemes

_PIECES = re.compile(r" +|[^ ]+")
_NEVER_FIRST = frozenset("、。，．：；！？）」』】〕》〉’”…・ー々")


def wrap_text(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` cells; newlines in it end lines, an empty text is one empty line."""
    return [text[start:end] for start, end in wrap_ranges(text, width)]


def wrap_ranges(text: str, width: int) -> list[tuple[int, int]]:
    """Where the lines of the wrapped text begin and end in it.

    Lines break at spaces, which are left out there, and around wide characters; a word too long for a line is
    split between graphemes. Only a single grapheme wider than `width` may stick out.
    """
    ranges: list[tuple[int, int]] = []
    start = 0
    for line in text.split("\n"):
        ranges.extend((start + a, start + b) for a, b in _wrap_line(line, max(1, width)))
        start += len(line) + 1
    return ranges


def _wrap_line(text: str, width: int) -> list[tuple[int, int]]:
    if cell_width(text) <= width:
        return [(0, len(text.rstrip(" ")))]
    lines: list[tuple[int, int]] = []
    start = end = at = used = 0  # the line so far is [start, end) without, [start, at) with trailing spaces
    for piece in _pieces(text):
        cells = cell_width(piece)
        if not piece.strip(" "):
            if used + cells > width or (not used and lines):
                if end > start:
                    lines.append((start, end))
                start = end = at + len(piece)
                used = 0
            else:
                used += cells
        elif used + cells <= width:
            used += cells
            end = at + len(piece)
        else:
            if end > start:
                lines.append((start, end))
            start = at
            cuts, used = _split_word(piece, width)
            for cut in cuts:
                lines.append((start, at + cut))
                start = at + cut
            end = at + len(piece)
        at += len(piece)
    if end > start or not lines:
        lines.append((start, max(start, end)))
    return lines


def _split_word(word: str, width: int) -> tuple[list[int], int]:
    """Where to cut a word that begins a line, and the cells that its last part takes."""
    cuts: list[int] = []
    used = at = 0
    for cluster in graphemes(word):
        cells = cell_width(cluster)
        if used and used + cells > width:
            cuts.append(at)
            used = 0
        used += cells
        at += len(cluster)
    return cuts, used


def _pieces(text: str) -> Iterator[str]:
    """Runs of spaces, words, and wide characters one by one with what may not begin a line."""
    if text.isascii():
        yield from _PIECES.findall(text)
        return
    piece, wide = "", False
    for cluster in graphemes(text):
        blank = cluster == " "
        broad = not blank and cell_width(cluster) == 2
        sticks = cluster in _NEVER_FIRST and piece[-1:] != " "
        if piece and not sticks and (wide or broad or blank != (piece[-1] == " ")):
            yield piece
            piece, wide = "", False
        piece += cluster
        wide = broad or (wide and sticks)
    if piece:
        yield piece

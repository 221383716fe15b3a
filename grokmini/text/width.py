"""How many cells text takes on a terminal: the one authority, by grapheme cluster.

The usual scripts, where each character is a cluster of known width, are counted without wcwidth, whose import
alone costs more than most answers; a test holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_WIDE = r"\u3041-\u3096\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60"
_NARROW = (
    r" -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0373\u0376\u0377\u037b-\u037f\u0391-\u03a1\u03a3-\u03ff"
    r"\u0400-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2190-\u21ff\u2500-\u259f"
)
_SIMPLE = re.compile(f"[{_NARROW}{_WIDE}]*")
_WIDE_ONE = re.compile(f"[{_WIDE}]")


def graphemes(text: str) -> Iterator[str]:
    """The grapheme clusters of the text, in order; joined they are the text."""
    if _SIMPLE.fullmatch(text):
        return iter(text)
    from wcwidth import iter_graphemes

    return iter_graphemes(text)


def cell_width(text: str) -> int:
    """The number of cells that the text takes. Control characters count as nothing: sanitise first.

    The width of a text is the sum of the widths of its grapheme clusters, so that wrapping adds up.
    """
    if text.isascii() and text.isprintable():
        return len(text)
    if _SIMPLE.fullmatch(text):
        return len(text) + len(_WIDE_ONE.findall(text))
    return sum(map(_cluster_width, graphemes(text)))


def _cluster_width(cluster: str) -> int:
    from wcwidth import wcswidth, wcwidth

    cells = wcswidth(cluster)
    return min(cells, 2) if cells >= 0 else max(0, *map(wcwidth, cluster))


def cut_to_width(text: str, cells: int, ellipsis: str = "…") -> str:
    """The text itself if it fits into `cells`, else as much of its beginning as fits before the ellipsis.

    Never wider than `cells`; with no room even for the ellipsis, the beginning that fits.
    """
    if cell_width(text) <= cells:
        return text
    room = cells - cell_width(ellipsis)
    if room < 0:
        room, ellipsis = cells, ""
    kept: list[str] = []
    for cluster in graphemes(text):
        room -= cell_width(cluster)
        if room < 0:
            break
        kept.append(cluster)
    return "".join(kept) + ellipsis

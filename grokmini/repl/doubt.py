"""Characters about whose width terminals disagree, so that the painter never builds on one of their answers.

Emoji sequences, variation selectors, conjuncts: some terminals take them for more cells than we do, some for
fewer. Behind such a character no column is certain, and a row that holds one is measured at its widest.
"""

from __future__ import annotations

import re

from grokmini.render.lines import Line, Span, Style
from grokmini.text.width import cell_width, graphemes

_CERTAIN = re.compile(
    r"[ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0373\u0376\u0377\u037b-\u037f\u0391-\u03a1\u03a3-\u03ff"
    r"\u0400-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2190-\u21ff\u2400-\u2426\u2500-\u259f"
    r"\u3001-\u3029\u3041-\u3096\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]*"
)
_EMOJI_LOOK = "\ufe0f"


def certain_length(text: str) -> int:
    """How many characters from the start have a width that every terminal agrees on.

    A character that is followed by a doubtful one (an accent, say) is doubtful with it.
    """
    match = _CERTAIN.match(text)
    assert match is not None
    end = match.end()
    return end if end == len(text) else max(0, end - 1)


def is_certain(text: str) -> bool:
    """Whether every terminal agrees on the width."""
    return certain_length(text) == len(text)


def widest(text: str) -> int:
    """The most cells that any terminal takes for the text."""
    if is_certain(text):
        return cell_width(text)
    return sum(map(_widest_cluster, graphemes(text)))


def _widest_cluster(cluster: str) -> int:
    apart = sum(map(cell_width, cluster))
    return max(cell_width(cluster), apart + (_EMOJI_LOOK in cluster))


def fit(line: Line, cells: int) -> Line:
    """The line itself if no terminal takes it for more than `cells`, else its beginning that fits.

    Spaces at its end go: nobody sees them, and terminals disagree on whether they are part of the row.
    """
    while line.spans and line.spans[-1].text.endswith(" ") and not shows_spaces(line.spans[-1].style):
        *others, last = line.spans
        text = last.text.rstrip(" ")
        line = Line((*others, Span(text, last.style)) if text else tuple(others))
    if sum(widest(span.text) for span in line.spans) <= cells:
        return line
    kept: list[Span] = []
    for span in line.spans:
        text = _beginning(span.text, cells)
        if text:
            kept.append(Span(text, span.style))
        if text != span.text:
            break
        cells -= widest(text)
    return Line(tuple(kept))


def shows_spaces(style: Style) -> bool:
    """Whether a space in this style can be seen."""
    return style.underline or style.strike or bool(style.link)


def _beginning(text: str, cells: int) -> str:
    kept: list[str] = []
    for cluster in graphemes(text):
        cells -= widest(cluster)
        if cells < 0:
            break
        kept.append(cluster)
    return "".join(kept)

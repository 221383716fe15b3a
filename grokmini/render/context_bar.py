"""What fills the model's window: a drawn bar and a row for each category. Figures are estimates, so `~`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from grokmini.render.figures import count_text
from grokmini.render.lines import Colour, Line, Span, Style, line_of
from grokmini.render.look import DIM, Look
from grokmini.text.width import cut_to_width

MOST_CELLS = 60
_UNICODE = "█▓▒░▞▚▣▤▥▦"
_ASCII = "#@%&*+=o~x"
_FREE, _FREE_ASCII = "·", "."
_COLOURS: tuple[Colour, ...] = ("cyan", "green", "yellow", "magenta", "blue", "red")


class Share(Protocol):
    """One category and its tokens."""

    @property
    def category(self) -> str:
        """What it is called."""

    @property
    def tokens(self) -> int:
        """Its share."""


class Filling(Protocol):
    """What a window is filled with."""

    @property
    def model(self) -> str:
        """Whose window it is."""

    @property
    def window(self) -> int:
        """Its size in tokens; 0 when it is not known."""

    @property
    def tokens(self) -> int:
        """What the next request takes."""

    @property
    def parts(self) -> Sequence[Share]:
        """The same by category; the sum is `tokens`."""


class _Part(NamedTuple):
    name: str
    tokens: int
    mark: str
    style: Style


def context_lines(filling: Filling, width: int, look: Look) -> list[Line]:
    """The bar and the rows, none wider than `width`."""
    marks = _UNICODE if look.unicode else _ASCII
    parts = [
        _Part(
            share.category,
            share.tokens,
            marks[place % len(marks)],
            Style(colour=_COLOURS[place % len(_COLOURS)]),
        )
        for place, share in enumerate(filling.parts)
        if share.tokens
    ]
    head = f"{filling.model}: {_total(filling, look)}"
    lines = [line_of(cut_to_width(head, width, look.glyphs.ellipsis))]
    if filling.window:
        lines.append(_bar(parts, filling.window, min(MOST_CELLS, max(1, width - 2)), look))
    free = filling.window - filling.tokens
    names = max([len(part.name) for part in parts] + [len("free")])
    lines += [_row(part, filling.window, names, width) for part in parts]
    if filling.window:
        mark = _FREE if look.unicode else _FREE_ASCII
        lines.append(_row(_Part("free", max(0, free), mark, DIM), filling.window, names, width))
    return lines


def _total(filling: Filling, look: Look) -> str:
    if not filling.window:
        return f"~{count_text(filling.tokens)} tokens{look.glyphs.dot}its window is not known"
    percent = 100.0 * filling.tokens / filling.window
    return f"~{count_text(filling.tokens)} of {count_text(filling.window)} tokens, {_percent(percent)}"


def _bar(parts: Sequence[_Part], window: int, cells: int, look: Look) -> Line:
    """A cell for each equal share of the window. Each category that has tokens has a cell while there are any."""
    whole = max(window, sum(part.tokens for part in parts))
    spans: list[Span] = [Span("  ")]
    used = done = 0
    for part in parts:
        done += part.tokens
        upto = min(cells, max(used + 1, round(cells * done / whole)))
        spans.append(Span(part.mark * (upto - used), part.style))
        used = upto
    spans.append(Span((_FREE if look.unicode else _FREE_ASCII) * (cells - used), DIM))
    return Line(tuple(span for span in spans if span.text))


def _row(part: _Part, window: int, names: int, width: int) -> Line:
    share = f"  {_percent(100.0 * part.tokens / window)}" if window else ""
    text = f"{part.name:<{names}}  {'~' + count_text(part.tokens):>6}{share:>8}"
    return Line((Span("  "), Span(part.mark, part.style), Span(cut_to_width(f" {text}", max(0, width - 3)))))


def _percent(value: float) -> str:
    return f"{value:.0f} %" if value >= 10 else f"{value:.1f} %"

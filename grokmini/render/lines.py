"""Styled lines: what everything visible becomes, and the two ways out, plain text and ANSI.

A `Span` guards itself: its text is made safe when it is built, so nothing from outside can reach a terminal
through a line, whoever made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from grokmini.text.sanitise import sanitise
from grokmini.text.width import cell_width

Colour = Literal[
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
    "bright_black", "bright_red", "bright_green", "bright_yellow",
    "bright_blue", "bright_magenta", "bright_cyan", "bright_white",
]  # fmt: skip

_COLOUR_CODES: dict[str, str] = {
    name: str(30 + index)
    for index, name in enumerate(("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"))
}
_BEL = "\x07"


class Style(NamedTuple):
    """How text looks, in the terminal's own 16 colours. `link` is the target of a hyperlink."""

    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    colour: Colour | None = None
    link: str = ""

    def over(self, base: Style) -> Style:
        """This style laid over another: attributes add up, colour and link replace."""
        if base is PLAIN or base == PLAIN:
            return self
        return Style(
            self.bold or base.bold,
            self.dim or base.dim,
            self.italic or base.italic,
            self.underline or base.underline,
            self.strike or base.strike,
            self.colour or base.colour,
            self.link or base.link,
        )


PLAIN = Style()


class _SpanFields(NamedTuple):
    text: str
    style: Style


class Span(_SpanFields):
    """A piece of a line in one style. Building it sanitises the text: no control character survives."""

    __slots__ = ()

    def __new__(cls, text: str, style: Style = PLAIN) -> Span:
        return super().__new__(cls, text if text.isprintable() else sanitise(text, newlines=False), style)


class Line(NamedTuple):
    """One line, without its newline. It may be wider than the screen only where that is meant (code)."""

    spans: tuple[Span, ...] = ()

    @property
    def width(self) -> int:
        """Cells that the line takes."""
        return sum(cell_width(span.text) for span in self.spans)


EMPTY = Line()


def line_of(text: str, style: Style = PLAIN) -> Line:
    """A line in one style."""
    return Line((Span(text, style),)) if text else EMPTY


def join_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The spans with neighbours of one style put together and empty ones left out."""
    joined: list[Span] = []
    for style, same in groupby((span for span in spans if span.text), key=_style_of):
        first, *others = same
        joined.append(Span("".join([first.text, *(span.text for span in others)]), style) if others else first)
    return tuple(joined)


def _style_of(span: Span) -> Style:
    return span.style


def indented(lines: Sequence[Line], first: Span, rest: Span) -> list[Line]:
    """The lines with `first` before the first and `rest` before each other one; empty lines stay empty."""
    result: list[Line] = []
    for index, line in enumerate(lines):
        lead = rest if index else first
        if not line.spans:
            result.append(line_of(lead.text.rstrip(" "), lead.style))
        else:
            result.append(Line(join_spans((lead, *line.spans))))
    return result


def plain(line: Line) -> str:
    """The line as text without any styling."""
    return "".join(span.text for span in line.spans)


def ansi(line: Line, level: int, *, links: bool = False) -> str:
    """The line with SGR sequences. At colour level 0 there is no escape at all, so it equals `plain`.

    `links` writes hyperlinks (OSC 8) for spans that have a target.
    """
    if level <= 0:
        return plain(line)
    return "".join(_ansi_span(span, links) for span in line.spans)


def _ansi_span(span: Span, links: bool) -> str:
    style = span.style
    codes = [code for on, code in zip(style[:5], ("1", "2", "3", "4", "9"), strict=True) if on]
    if style.colour:
        codes.append(_colour_code(style.colour))
    text = f"\x1b[{';'.join(codes)}m{span.text}\x1b[0m" if codes else span.text
    if links and style.link:
        target = "".join(c for c in style.link if "!" <= c <= "~")
        text = f"\x1b]8;;{target}{_BEL}{text}\x1b]8;;{_BEL}"
    return text


def _colour_code(colour: Colour) -> str:
    base = colour.removeprefix("bright_")
    code = _COLOUR_CODES[base]
    return code if base == colour else str(int(code) + 60)

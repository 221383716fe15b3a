"""How things look: the glyphs, with ASCII forms for terminals that lack them, and the named styles."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

from grokmini.render.lines import Style


class Glyphs(NamedTuple):
    """The marks that carry meaning, and a few that only please."""

    prompt: str = "›"
    bullet: str = "•"
    ellipsis: str = "…"
    rule: str = "─"
    dot: str = " · "
    warning: str = "!"
    info: str = "="
    failed: str = "x"
    ok: str = "ok"


ASCII_GLYPHS = Glyphs(prompt=">", bullet="*", ellipsis="...", rule="-", dot=" - ")
_ASCII_SPELLING = MappingProxyType(
    {
        ord(mark.strip()): plain.strip()
        for mark, plain in zip(Glyphs(), ASCII_GLYPHS, strict=True)
        if mark != plain
    }
)


class Look(NamedTuple):
    """What the renderer may use: Unicode glyphs, and hyperlinks instead of `text (url)`."""

    unicode: bool = True
    links: bool = False

    @property
    def glyphs(self) -> Glyphs:
        """The marks for this terminal."""
        return Glyphs() if self.unicode else ASCII_GLYPHS

    def spelled(self, text: str) -> str:
        """Our own words with the marks that this terminal has."""
        return text if self.unicode else text.translate(_ASCII_SPELLING)


DIM = Style(dim=True)
BOLD = Style(bold=True)
HEADING = Style(bold=True)
HEADING_MARK = Style(dim=True)
EMPHASIS = Style(italic=True)
STRIKE = Style(strike=True)
CODE = Style(colour="cyan")
LINK = Style(underline=True)
TARGET = Style(dim=True)
PROMPT = Style(bold=True, colour="cyan")
ADDED = Style(colour="green")
REMOVED = Style(colour="red")
SUCCESS = Style(colour="green")
FAILURE = Style(colour="red")
WARNING = Style(colour="yellow")

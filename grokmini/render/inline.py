"""Inline Markdown tokens to styled text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from grokmini.render.lines import PLAIN, Span, Style
from grokmini.render.look import CODE, EMPHASIS, LINK, STRIKE, TARGET, Look
from grokmini.render.spans import StyledText
from grokmini.text.sanitise import sanitise

Token = Mapping[str, Any]

_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_STRONG = Style(bold=True)


def styled_text(tokens: Iterable[Token], look: Look, base: Style = PLAIN) -> StyledText:
    """The text of inline tokens in lines as hard breaks divide it; never without a line."""
    writer = _InlineWriter(look)
    writer.write(tokens, base)
    return tuple(tuple(line) for line in writer.lines)


class _InlineWriter:
    def __init__(self, look: Look) -> None:
        self.lines: list[list[Span]] = [[]]
        self._look = look

    def write(self, tokens: Iterable[Token], style: Style) -> None:
        for token in tokens:
            self._write_token(token, style)

    def _write_token(self, token: Token, style: Style) -> None:
        match token["type"]:
            case "text":
                self._put(_unescape(token["raw"]), style)
            case "codespan":
                ticks = "``" if "`" in token["raw"] else "`"
                self._put(f"{ticks}{token['raw']}{ticks}", CODE.over(style))
            case "strong":
                self.write(token["children"], _STRONG.over(style))
            case "emphasis":
                self.write(token["children"], EMPHASIS.over(style))
            case "strikethrough":
                struck = STRIKE.over(style)
                self._put("~~", struck)
                self.write(token["children"], struck)
                self._put("~~", struck)
            case "link":
                self._write_link(token, style)
            case "image":
                self._put("image: ", TARGET.over(style))
                self._write_link(token, style)
            case "softbreak":
                self._put(" ", style)
            case "linebreak":
                self.lines.append([])
            case "math":
                self._put(token["raw"], CODE.over(style))
            case "inline_html" if _BREAK.fullmatch(token["raw"]):
                self.lines.append([])
            case _:
                self._write_unknown(token, style)

    def _write_unknown(self, token: Token, style: Style) -> None:
        """HTML stays text; what a token holds is shown whatever it is called."""
        if "children" in token:
            self.write(token["children"], style)
        else:
            self._put(token.get("raw", ""), style)

    def _write_link(self, token: Token, style: Style) -> None:
        url = sanitise(token["attrs"]["url"], newlines=False)
        start = len(self.lines), len(self.lines[-1])
        linked = LINK.over(style)._replace(link=url) if self._look.links else LINK.over(style)
        self.write(token["children"], linked)
        label = self._text_since(*start)
        if not label:
            self._put(url, linked)
        elif not self._look.links and url and label not in (url, _readable(url), url.removeprefix("mailto:")):
            self._put(f" ({url})", TARGET.over(style))

    def _text_since(self, line: int, span: int) -> str:
        first = "".join(piece.text for piece in self.lines[line - 1][span:])
        return first + "".join(piece.text for later in self.lines[line:] for piece in later)

    def _put(self, text: str, style: Style) -> None:
        text = text.replace("\n", " ").replace("\t", "    ")
        if text:
            self.lines[-1].append(Span(text, style))


def _unescape(text: str) -> str:
    if "&" not in text:
        return text
    from mistune.util import unescape

    return str(unescape(text))


def _readable(url: str) -> str:
    from urllib.parse import unquote

    return unquote(url)

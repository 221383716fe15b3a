"""Markdown source to lines: mistune's token tree and our own renderer.

A `MarkdownRenderer` draws one piece of source at a time and remembers the link definitions it has seen; cutting
a streamed text into such pieces is the work of `pieces`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from grokmini.render.code import Languages
from grokmini.render.inline import Token, styled_text
from grokmini.render.lines import EMPTY, PLAIN, Line, Span, Style
from grokmini.render.look import DIM, HEADING, HEADING_MARK, Look
from grokmini.render.pieces import Align
from grokmini.render.spans import StyledText, hanging, wrap_spans, wrap_styled
from grokmini.render.table import plan_columns, table_head, table_rows

if TYPE_CHECKING:
    from mistune import InlineParser, InlineState, Markdown

MAX_DEPTH = 12
"""Nesting of lists and quotes that is parsed; deeper marks stay text."""

_MATH = r"\\\((?P<math_inline>[^\n]{1,500}?)\\\)|\\\[(?P<math_display>[\s\S]{1,2000}?)\\\]"
_TASK = re.compile(r"\[([ xX])\][ \t]+")


def _parse_math(inline: InlineParser, match: re.Match[str], state: InlineState) -> int:
    """LaTeX in its own delimiters comes out in dollars, its content untouched."""
    display = match.group("math_display")
    raw = f"${match.group('math_inline').strip()}$" if display is None else f"$${display.strip()}$$"
    state.append_token({"type": "math", "raw": raw})
    return match.end()


def make_parser() -> Markdown:
    """A mistune parser that gives token trees, with the extensions we draw."""
    from mistune import BlockParser, InlineParser, Markdown
    from mistune.plugins.formatting import strikethrough
    from mistune.plugins.table import table, table_in_list, table_in_quote
    from mistune.plugins.task_lists import task_lists
    from mistune.plugins.url import url

    inline = InlineParser(max_nested_level=MAX_DEPTH)
    parser = Markdown(None, BlockParser(max_nested_level=MAX_DEPTH), inline)
    for plugin in (strikethrough, table, table_in_list, table_in_quote, task_lists, url):
        plugin(parser)
    inline.register("math", _MATH, _parse_math, before="escape", start_chars="\\")
    return parser


class MarkdownRenderer:
    """Draws Markdown at a width. `width` may be set anew between pieces; `base` lies under every style."""

    def __init__(self, width: int, look: Look, languages: Languages, base: Style = PLAIN) -> None:
        self.width = max(1, width)
        self.look = look
        self.languages = languages
        self.base = base
        self._definitions: dict[str, Any] = {}
        self._parser: Markdown | None = None

    def copy(self) -> MarkdownRenderer:
        """A renderer that goes on by itself: what it learns stays its own."""
        twin = MarkdownRenderer(self.width, self.look, self.languages, self.base)
        twin._definitions = dict(self._definitions)
        twin._parser = self._parser
        return twin

    def blocks(self, source: str, width: int | None = None, *, dense: bool = False) -> list[Line]:
        """The lines of a piece of source that stands by itself. Its link definitions count from here on."""
        from mistune import BlockState

        if self._parser is None:
            self._parser = make_parser()
        state = BlockState()
        state.env["ref_links"] = self._definitions
        try:
            tokens, _ = self._parser.parse(source, state)
        except RecursionError:
            return wrap_lines(source, width or self.width, self.base)
        assert isinstance(tokens, list)
        return self._draw_all(tokens, width or self.width, dense=dense)

    def text(self, source: str) -> StyledText:
        """The styled text of inline source (a table's cell)."""
        if self._parser is None:
            self._parser = make_parser()
        tokens = self._parser.inline(source, {"ref_links": self._definitions})
        return styled_text(tokens, self.look, self.base)

    def item(self, source: str, mark: str, width: int) -> list[Line]:
        """A list item: its source without the mark, drawn beside the mark."""
        if task := _TASK.match(source):
            mark, source = f"{mark}[{task[1].lower()}] ", source[task.end() :]
        return hanging(lambda inner: self.blocks(source, inner, dense=True), Span(mark, self.base), width)

    def code_line(self, spans: Sequence[Span]) -> Line:
        """A finished line of code with the base style under it."""
        if self.base == PLAIN:
            return Line(tuple(spans))
        return Line(tuple(Span(span.text, span.style.over(self.base)) for span in spans))

    def _draw_all(self, tokens: Sequence[Token], width: int, *, dense: bool = False) -> list[Line]:
        lines: list[Line] = []
        before = ""
        for token in tokens:
            kind = token["type"]
            if kind == "blank_line":
                continue
            drawn = self._draw(token, width)
            if not drawn:
                continue
            if lines and not (dense and ("list" in (before, kind) or "block_code" in (before, kind))):
                lines.append(EMPTY)
            lines.extend(drawn)
            before = kind
        return lines

    def _draw(self, token: Token, width: int) -> list[Line]:
        match token["type"]:
            case "paragraph" | "block_text":
                return wrap_styled(styled_text(token["children"], self.look, self.base), width)
            case "heading":
                return self._draw_heading(token, width)
            case "block_code":
                return self._draw_code(token)
            case "block_quote":
                quote = Span("> ", DIM.over(self.base))
                return hanging(lambda inner: self._draw_all(token["children"], inner), quote, width, quote)
            case "list":
                return self._draw_list(token, width)
            case "thematic_break":
                return [self.rule(width)]
            case "table":
                return self._draw_table(token, width)
            case _:
                return wrap_lines(token.get("raw", "").strip("\n"), width, self.base)

    def _draw_heading(self, token: Token, width: int) -> list[Line]:
        mark = Span("#" * token["attrs"]["level"] + " ", HEADING_MARK.over(self.base))
        first, *others = styled_text(token["children"], self.look, HEADING.over(self.base))
        return wrap_styled(((mark, *first), *others), width)

    def rule(self, width: int) -> Line:
        """A thematic break."""
        return Line((Span(self.look.glyphs.rule * min(width, 24), DIM.over(self.base)),))

    def _draw_code(self, token: Token) -> list[Line]:
        info = token.get("attrs", {}).get("info", "")
        highlighter = self.languages.highlighter(language_of(info))
        source = token["raw"].removesuffix("\n")
        return [self.code_line(highlighter.line(line)) for line in source.split("\n")]

    def _draw_list(self, token: Token, width: int) -> list[Line]:
        number = token["attrs"].get("start", 1) if token["attrs"]["ordered"] else None
        lines: list[Line] = []
        for item in token["children"]:
            mark = f"{self.look.glyphs.bullet} " if number is None else f"{number}{token['bullet']} "
            if item["type"] == "task_list_item":
                mark += "[x] " if item["attrs"]["checked"] else "[ ] "
            lines.extend(hanging(self._inside(item["children"]), Span(mark, self.base), width))
            number = None if number is None else number + 1
        return lines

    def _inside(self, tokens: Sequence[Token]) -> Callable[[int], list[Line]]:
        return lambda width: self._draw_all(tokens, width, dense=True)

    def _draw_table(self, token: Token, width: int) -> list[Line]:
        head = token["children"][0]["children"]
        body = token["children"][1]["children"] if len(token["children"]) > 1 else []
        header = [styled_text(cell["children"], self.look, self.base) for cell in head]
        aligns: list[Align] = [cell["attrs"]["align"] or "left" for cell in head]
        rows = [[styled_text(c["children"], self.look, self.base) for c in row["children"]] for row in body]
        columns = plan_columns(header, aligns, rows, width)
        return [*table_head(columns, self.look), *table_rows(columns, rows, first=True)]


def wrap_lines(text: str, width: int, style: Style = PLAIN) -> list[Line]:
    """Text as it is, its own lines kept, wrapped to the width."""
    return [line for part in text.split("\n") for line in wrap_spans((Span(part, style),), width)]


def language_of(info: str) -> str:
    """The language that a fence's info string names: its first word, without decoration."""
    word = info.strip().split(None, 1)[0] if info.strip() else ""
    return word.strip("{}.,;").split(",")[0].lower()

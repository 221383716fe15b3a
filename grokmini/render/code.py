"""Colouring code line by line, carrying the lexer's state from one line to the next.

Line-incremental by definition, so that code cut anywhere comes out the same: our own loop drives the plain
state-machine lexers of Pygments; any other lexer starts afresh on each line. A token over several lines may
lose its colour, never its text. Whatever goes wrong in a lexer gives plain text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grokmini.render.lines import PLAIN, Span, Style, join_spans

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LONGEST_COLOURED_LINE = 1_000
"""Characters; longer lines stay plain."""

TAB_WIDTH = 4

_STYLES: dict[str, Style] = {
    "Comment": Style(dim=True),
    "Keyword": Style(colour="magenta"),
    "Keyword.Constant": Style(colour="yellow"),
    "Operator.Word": Style(colour="magenta"),
    "Literal.String": Style(colour="green"),
    "Literal.Number": Style(colour="yellow"),
    "Name.Function": Style(colour="blue"),
    "Name.Class": Style(colour="blue"),
    "Name.Tag": Style(colour="blue"),
    "Name.Decorator": Style(colour="cyan"),
    "Name.Builtin": Style(colour="cyan"),
    "Name.Attribute": Style(colour="cyan"),
    "Generic.Heading": Style(bold=True),
    "Generic.Subheading": Style(colour="cyan"),
    "Generic.Inserted": Style(colour="green"),
    "Generic.Deleted": Style(colour="red"),
    "Generic.Prompt": Style(dim=True),
    "Generic.Output": Style(dim=True),
}

_LEXER_FAULTS = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    ImportError,
)


class Languages:
    """The lexers of one renderer: looked up once by name or file name, loaded when first needed."""

    def __init__(self) -> None:
        self._aliases: dict[str, str] | None = None
        self._lexers: dict[str, Lexer | None] = {}
        self._styles: dict[Any, Style] = {}

    def highlighter(self, language: str) -> Highlighter:
        """A fresh highlighter for a language, a file name's ending (`.py`), or anything else: then plain."""
        name = language.lower()
        if name not in self._lexers:
            self._lexers[name] = self._load(name) if name else None
        return Highlighter(self._lexers[name], self._styles)

    def _load(self, name: str) -> Lexer | None:
        from pygments.lexers import get_all_lexers, get_lexer_by_name

        if self._aliases is None:
            self._aliases = {}
            for _, aliases, patterns, _ in get_all_lexers(plugins=False):
                for alias in aliases:
                    self._aliases[alias.lower()] = alias
                for pattern in patterns:
                    if aliases and pattern.startswith("*."):
                        self._aliases.setdefault(pattern[1:].lower(), aliases[0])
        known = self._aliases.get(name)
        if known is None:
            return None
        try:
            return get_lexer_by_name(known, ensurenl=False, stripnl=False)
        except _LEXER_FAULTS:
            return None


class Highlighter:
    """Colours the lines of one piece of code, in order."""

    def __init__(self, lexer: Lexer | None, styles: dict[Any, Style]) -> None:
        self._lexer = lexer
        self._styles = styles
        self._stack: list[str] = ["root"]
        self._stateful = lexer is not None and _is_plain_state_machine(lexer)

    def copy(self) -> Highlighter:
        """A highlighter that goes on from the same state by itself."""
        twin = Highlighter(self._lexer, self._styles)
        twin._stack = list(self._stack)
        return twin

    def line(self, text: str) -> tuple[Span, ...]:
        """The spans of the next line (given without its newline); tabs come out as spaces."""
        text = text.expandtabs(TAB_WIDTH)
        if self._lexer is None or len(text) > LONGEST_COLOURED_LINE:
            return (Span(text),) if text else ()
        try:
            tokens = self._tokens(self._lexer, text + "\n")
        except _LEXER_FAULTS:
            self._lexer = None
            return (Span(text),) if text else ()
        spans = join_spans(Span(value.replace("\n", ""), self._style(kind)) for kind, value in tokens)
        if "".join(span.text for span in spans) != Span(text).text:
            return (Span(text),) if text else ()
        return spans

    def _tokens(self, lexer: Lexer, text: str) -> list[tuple[Any, str]]:
        if self._stateful:
            return _lex_line(lexer, text, self._stack)
        return [(kind, value) for _, kind, value in lexer.get_tokens_unprocessed(text)]

    def _style(self, kind: Any) -> Style:
        style = self._styles.get(kind)
        if style is None:
            style = self._styles[kind] = _style_of(kind)
        return style


def _style_of(kind: Any) -> Style:
    name = ".".join(kind)
    while name:
        if name in _STYLES:
            return _STYLES[name]
        name = name.rpartition(".")[0]
    return PLAIN


def _is_plain_state_machine(lexer: Lexer) -> bool:
    from pygments.lexer import RegexLexer

    return type(lexer).get_tokens_unprocessed is RegexLexer.get_tokens_unprocessed


def _lex_line(lexer: Any, text: str, stack: list[str]) -> list[tuple[Any, str]]:
    """The tokens of one line (with its newline). `stack` holds the open states and is left as the line ends.

    Raises `ValueError` when the rules go round without getting on.
    """
    from pygments.token import Error, Text, _TokenType

    rules, tokens, at = lexer._tokens, list[tuple[Any, str]](), 0
    for _ in range(4 * len(text) + 50):
        if at >= len(text):
            return tokens
        for match_rule, action, change in rules[stack[-1]]:
            match = match_rule(text, at)
            if match is None:
                continue
            if isinstance(action, _TokenType):
                tokens.append((action, match.group()))
            elif action is not None:
                tokens.extend((kind, value) for _, kind, value in action(lexer, match))
            at = match.end()
            if change is not None:
                _change_state(stack, change)
            break
        else:
            if text[at] == "\n":
                stack[:] = ["root"]
            tokens.append((Text if text[at] == "\n" else Error, text[at]))
            at += 1
    raise ValueError("the lexer does not get on")


def _change_state(stack: list[str], change: Any) -> None:
    """Apply a rule's transition: a number of states to leave (negative), names to enter, `#pop`, `#push`."""
    if isinstance(change, int):
        keep = max(1, len(stack) + change)
        del stack[keep:]
        return
    for name in change if isinstance(change, tuple) else (change,):
        if name == "#pop":
            if len(stack) > 1:
                stack.pop()
        elif name == "#push":
            stack.append(stack[-1])
        else:
            stack.append(name)

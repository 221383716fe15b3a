"""A conservative reader of shell commands, for deciding what may run unasked.

It takes a command apart only as far as that is beyond doubt: simple commands joined by `&&`, `||`, `;`, `|` and
newlines, with quotes, escapes, globs and plain variables. Whatever else it meets is a doubt, told in words, and a
command with a doubt is never let pass by a rule for its parts. Commands inside what it doubts are still listed,
as well as it can, so that deny rules find them.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, NamedTuple

MAX_CHARACTERS = 131_072
"""More than this cannot be passed to a shell in one argument on Linux."""

MAX_DEPTH = 16

OBSCURE = ("it is too long to be read", "it is nested too deeply to be read")
"""Doubts that mean: parts of the text were not looked at."""

WordKind = Literal["literal", "glob", "dynamic"]


class Word(NamedTuple):
    """A word after quotes are gone.

    `literal`: the shell passes on exactly `text`. `glob`: it may put file names in its place. `dynamic`: only the
    running shell knows what it becomes.
    """

    text: str
    kind: WordKind = "literal"

    @property
    def may_be_option(self) -> bool:
        """Whether the shell could turn it into a word that begins with `-`."""
        if self.kind == "literal":
            return self.text.startswith("-")
        return self.kind == "dynamic" or self.text[:1] in ("*", "?", "[", "-")


class Command(NamedTuple):
    """A simple command: its words (assignments in front included), the files it is redirected to and from, the bodies
    of its here-documents and here-strings, and whether it reads what the command before it writes.
    """

    words: tuple[Word, ...]
    writes: tuple[Word, ...] = ()
    reads: tuple[Word, ...] = ()
    inputs: tuple[str, ...] = ()
    piped: bool = False


class Script(NamedTuple):
    """A command text taken apart. `nested` holds the commands found in substitutions and subshells; `doubts` says
    why the text cannot be judged by its parts, empty when it can.
    """

    commands: tuple[Command, ...]
    nested: tuple[Command, ...] = ()
    doubts: tuple[str, ...] = ()


RESERVED = frozenset(
    {"if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "select",
     "function", "in", "{", "}", "!", "[[", "]]", "time", "coproc"}
)  # fmt: skip

_BLANK = " \t"
_ENDS_WORD = frozenset(" \t\n;|&<>()")
SIMPLE_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "v": "\v",
}
"""What a letter behind a backslash means in `$'…'`."""


def parse(text: str) -> Script:
    """Take a command apart. Never fails: what is not understood becomes a doubt."""
    reader = _Reader(_joined(text[:MAX_CHARACTERS]), 0)
    if "$\\\n" in text:
        reader.doubt("it breaks a line behind a $")
    if len(text) > MAX_CHARACTERS:
        reader.doubt(OBSCURE[0])
    if any(_is_hidden(char) for char in text):
        reader.doubt("it holds invisible or control characters")
    reader.read_list("")
    return Script(tuple(reader.commands), tuple(reader.nested), tuple(dict.fromkeys(reader.doubts)))


def _is_hidden(char: str) -> bool:
    if char < "\x7f":
        return char < " " and char not in "\n\t"
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp")


def _joined(text: str) -> str:
    """The text with `$` joined to what follows on the next line, as the shell does before it looks at it."""
    return re.sub(r"\$(?:\\\n)+", "$", text)


class _Reader:
    """One pass over the text. `commands` are those of the list itself, `nested` those inside of something."""

    def __init__(self, text: str, depth: int) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.commands: list[Command] = []
        self.nested: list[Command] = []
        self.doubts: list[str] = []
        self._fresh()
        self._pending: list[tuple[str, bool, list[str]]] = []

    def _fresh(self) -> None:
        self.words: list[Word] = []
        self.writes: list[Word] = []
        self.reads: list[Word] = []
        self.inputs: list[str] = []
        self.piped = False
        self.is_group = False
        self.redirects = False

    def doubt(self, reason: str) -> None:
        self.doubts.append(reason)

    def _starts(self, token: str) -> bool:
        return self.text.startswith(token, self.at)

    def _is_empty(self) -> bool:
        return not (self.words or self.redirects)

    def _end_command(self) -> None:
        if not self._is_empty():
            if self.words and self.words[0].kind == "literal" and self.words[0].text in RESERVED:
                self.doubt("it has control words")
            self.commands.append(
                Command(
                    tuple(self.words), tuple(self.writes), tuple(self.reads), tuple(self.inputs), self.piped
                )
            )
        self._fresh()

    def read_list(self, until: str) -> None:
        """Read commands up to the end of the text, or to a closing `until`, which is passed over."""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in _BLANK:
                self.at += 1
            elif self._starts("\\\n"):
                self.at += 2
            elif char == "\n":
                self.at += 1
                self._end_after_newline()
            elif char == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif char == until and char:
                self.at += 1
                self._end_command()
                return
            elif char in ";|&()":
                self._operator(char)
            elif char in "<>":
                self._redirect("")
            else:
                self._word()
        self._end_command()
        if until:
            self.doubt("something opened is never closed")
        if self._pending:
            self.doubt("a here-document is never closed")

    def _end_after_newline(self) -> None:
        """A newline: bodies of here-documents come first, then the next command."""
        pending, self._pending = self._pending, []
        for mark, tabs, inputs in pending:
            inputs.append(self._here_body(mark, tabs))
            self._inner_text('"' + inputs[0].replace('"', "") + '"', only_nested=True)
        if pending:
            self._refill(pending)
        self._end_command()

    def _refill(self, pending: list[tuple[str, bool, list[str]]]) -> None:
        """Give the bodies to the command that is still open, else to the one that ended on the line."""
        bodies = [body for _, _, inputs in pending for body in inputs]
        if self.words:
            self.inputs += bodies
        elif self.commands:
            last = self.commands[-1]
            self.commands[-1] = last._replace(inputs=(*last.inputs, *bodies))

    def _here_body(self, mark: str, tabs: bool) -> str:
        lines: list[str] = []
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            line = self.text[self.at : end] if end >= 0 else self.text[self.at :]
            self.at = len(self.text) if end < 0 else end + 1
            if (line.lstrip("\t") if tabs else line) == mark:
                break
            lines.append(line)
        return "\n".join(lines)

    def _operator(self, char: str) -> None:
        if self._starts("&>"):
            self.at += 3 if self._starts("&>>") else 2
            self.redirects = True
            self.writes.append(self._target())
            return
        if char in ";|&" and self._is_empty() and not self.is_group:
            self.doubt(f"no command stands before a {char}")
        for operator in ("&&", "||", "|&", ";;"):
            if self._starts(operator):
                self.at += 2
                if operator == ";;":
                    self.doubt("it has control words")
                self._end_command()
                self.piped = operator == "|&"
                return
        self.at += 1
        if char == "&":
            self.doubt("it leaves a command running in the background")
        elif char == "(":
            self.doubt("it has a subshell or a function")
            self._end_command()
            self._inner(")")
            self.is_group = True
            return
        elif char == ")":
            self.doubt("it has an unmatched bracket")
        self._end_command()
        self.piped = char == "|"

    def _inner(self, until: str) -> None:
        """Read a list inside of something; its commands are nested."""
        if self.depth >= MAX_DEPTH:
            self.doubt(OBSCURE[1])
            self.at = len(self.text)
            return
        inner = _Reader(self.text, self.depth + 1)
        inner.at = self.at
        inner.read_list(until)
        self.at = inner.at
        self._take(inner)

    def _inner_text(self, text: str, *, only_nested: bool = False) -> None:
        if self.depth >= MAX_DEPTH:
            self.doubt(OBSCURE[1])
            return
        inner = _Reader(_joined(text), self.depth + 1)
        inner.read_list("")
        if only_nested:
            inner.commands.clear()
        self._take(inner)

    def _take(self, inner: _Reader) -> None:
        self.nested += inner.commands
        self.nested += inner.nested
        self.doubts += inner.doubts

    def _redirect(self, descriptor: str) -> None:
        """A redirection, its number already read."""
        for operator in ("<<<", "<<-", "<<", "<&", "<>", "<(", "<", ">>", ">|", ">&", ">(", ">"):
            if self._starts(operator):
                break
        self.at += len(operator)
        self.redirects = True
        if operator in ("<(", ">("):
            self.doubt("it has a process substitution")
            self._inner(")")
        elif operator in ("<<", "<<-"):
            self.doubt("it has a here-document")
            self._pending.append((self._target().text, operator == "<<-", []))
        elif operator == "<<<":
            self.inputs.append(self._target().text)
        elif operator in ("<&", ">&"):
            target = self._target()
            if target.kind != "literal" or not (target.text.rstrip("-").isdigit() or target.text == "-"):
                self.writes.append(target)
        elif operator == "<":
            self.reads.append(self._target())
        else:
            self.writes.append(self._target())

    def _target(self) -> Word:
        """The word after a redirection."""
        while self.at < len(self.text) and (self.text[self.at] in _BLANK or self._starts("\\\n")):
            self.at += 1 if self.text[self.at] in _BLANK else 2
        if self.at >= len(self.text) or self.text[self.at] in _ENDS_WORD:
            self.doubt("a redirection has no target")
            return Word("", "dynamic")
        return self._one_word()

    def _word(self) -> None:
        start = self.at
        word = self._one_word()
        digits = self.text[start : self.at]
        if digits.isascii() and digits.isdigit() and self.at < len(self.text) and self.text[self.at] in "<>":
            self._redirect(word.text)
            return
        self.words.append(word)

    def _one_word(self) -> Word:
        pieces: list[str] = []
        bare: list[str] = []  # what stands outside of quotes, for globs and braces
        dynamic = False
        while self.at < len(self.text) and self.text[self.at] not in _ENDS_WORD:
            char = self.text[self.at]
            if char == "\\":
                pieces.append("" if self._starts("\\\n") else self.text[self.at + 1 : self.at + 2])
                if self.at + 1 >= len(self.text):
                    self.doubt("it ends in a backslash")
                self.at += 2
            elif char == "'":
                pieces.append(self._single())
            elif char == '"':
                dynamic |= self._double(pieces)
            elif char == "$":
                dynamic |= self._dollar(pieces, quoted=False)
            elif char == "`":
                dynamic = True
                self._backtick(pieces)
            else:
                pieces.append(char)
                bare.append(char)
                self.at += 1
        return Word("".join(pieces), "dynamic" if dynamic else _kind("".join(bare)))

    def _single(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            self.doubt("a quote is never closed")
            end = len(self.text)
        found = self.text[self.at + 1 : end]
        self.at = end + 1
        return found

    def _double(self, pieces: list[str]) -> bool:
        """A double-quoted part; whether it holds an expansion."""
        self.at += 1
        dynamic = False
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                return dynamic
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\", "\n"):
                pieces.append("" if self._starts("\\\n") else self.text[self.at + 1])
                self.at += 2
            elif char == "$":
                dynamic |= self._dollar(pieces, quoted=True)
            elif char == "`":
                dynamic = True
                self._backtick(pieces)
            else:
                pieces.append(char)
                self.at += 1
        self.doubt("a quote is never closed")
        return dynamic

    def _dollar(self, pieces: list[str], *, quoted: bool) -> bool:
        """What follows a `$`; whether it is an expansion."""
        start = self.at
        following = self.text[start + 1 : start + 2]
        if self._starts("$(("):
            self.doubt("it has arithmetic")
        if following == "(":
            self.doubt("it has a command substitution")
            self.at += 2
            self._inner(")")
        elif following == "{":
            self._braced()
        elif following == "[":
            self.doubt("it has arithmetic")
            self.at += 2
        elif following == "'" and not quoted:
            self.doubt("it has $'…' quoting")
            self.at += 1
            pieces.append(self._ansi_quoted())
            return True
        elif following == '"' and not quoted:
            self.doubt('it has $"…" quoting')
            self.at += 1
            self._double(pieces)
            return True
        elif following == "_" or following.isalnum() or (following and following in "@*#?-$!"):
            self.at += 2
            while (following == "_" or following.isalpha()) and self.at < len(self.text):
                if not (self.text[self.at] == "_" or self.text[self.at].isalnum()):
                    break
                self.at += 1
        else:
            pieces.append("$")
            self.at += 1
            return False
        pieces.append(self.text[start : self.at])
        return True

    def _braced(self) -> None:
        """`${…}`: a plain name is only dynamic, anything more is a doubt."""
        self.at += 2
        start = self.at
        while self.at < len(self.text) and self.text[self.at] != "}":
            char = self.text[self.at]
            if char == "`" or self._starts("$("):
                self.doubt("it has a command substitution")
                scrap: list[str] = []
                if char == "`":
                    self._backtick(scrap)
                else:
                    self.at += 2
                    self._inner(")")
            elif char == "\\":
                self.at += 2
            elif self._starts("${"):
                self._braced()
            else:
                self.at += 1
        name = self.text[start : self.at]
        if not name.replace("_", "a").isalnum():
            self.doubt("it has a parameter expansion that does more than name a variable")
        if self.at >= len(self.text):
            self.doubt("something opened is never closed")
        self.at += 1

    def _backtick(self, pieces: list[str]) -> None:
        self.doubt("it has a command substitution")
        start = self.at
        self.at += 1
        inside: list[str] = []
        while self.at < len(self.text) and self.text[self.at] != "`":
            if self.text[self.at] == "\\" and self.text[self.at + 1 : self.at + 2] in ("`", "\\", "$"):
                self.at += 1
            inside.append(self.text[self.at : self.at + 1])
            self.at += 1
        if self.at >= len(self.text):
            self.doubt("a quote is never closed")
        self.at += 1
        pieces.append(self.text[start : self.at])
        self._inner_text("".join(inside))

    def _ansi_quoted(self) -> str:
        """The text of `'…'` in which backslash escapes count; read only to know what deny rules should see."""
        self.at += 1
        out: list[str] = []
        while self.at < len(self.text) and self.text[self.at] != "'":
            char = self.text[self.at]
            self.at += 1
            if char != "\\" or self.at >= len(self.text):
                out.append(char)
                continue
            code = self.text[self.at]
            self.at += 1
            base, longest = {"x": (16, 2), "u": (16, 4), "U": (16, 8)}.get(code, (8, 3))
            if base == 8:
                self.at -= 1
            allowed = tuple("01234567" if base == 8 else "0123456789abcdefABCDEF")
            digits = ""
            while len(digits) < longest and self.text[self.at : self.at + 1] in allowed:
                digits += self.text[self.at]
                self.at += 1
            if digits and int(digits, base) < 0x110000:
                out.append(chr(int(digits, base)))
            elif not digits:
                self.at += base == 8
                out.append(SIMPLE_ESCAPES.get(code, code))
        self.at += 1
        return "".join(out)


def _kind(bare: str) -> WordKind:
    """What a word's unquoted part makes of it."""
    brace = bare.find("{")
    if brace >= 0 and "}" in bare[brace:] and ("," in bare[brace:] or ".." in bare[brace:]):
        return "dynamic"
    if "*" in bare or "?" in bare or ("[" in bare and "]" in bare):
        return "glob"
    return "literal"

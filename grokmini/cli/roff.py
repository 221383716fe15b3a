"""Manual pages in the language of `man`: the few requests that every formatter knows."""

from __future__ import annotations

from collections.abc import Iterable

from grokmini import __version__
from grokmini.cli.made_by import made_by


class Page:
    """A manual page in the making. Texts are plain; `bold` and `italic` mark words in them."""

    def __init__(self, name: str, section: int, purpose: str) -> None:
        self._lines = [
            f'.\\" {made_by()}',
            f'.TH {name.upper()} {section} "" "grokmini {__version__}" "grokmini manual"',
            ".nh",
            ".SH NAME",
            f"{escaped(name)} \\- {escaped(purpose)}",
        ]

    def section(self, title: str) -> None:
        """Begin a section."""
        self._lines.append(f".SH {title}")

    def subsection(self, title: str) -> None:
        """Begin a part of a section."""
        self._lines.append(f'.SS "{escaped(title)}"')

    def paragraph(self, *marked: str) -> None:
        """A paragraph, of texts that are escaped or marked already."""
        self._lines += [".PP", *map(_line, marked)]

    def term(self, marked: str, *texts: str) -> None:
        """Something and what it means, indented below it; each of the texts begins a sentence."""
        self._lines += [".TP", _line(marked), *(_line(escaped(text)) for text in texts if text)]

    def example(self, lines: Iterable[str]) -> None:
        """Lines to be typed, as they are."""
        self._lines += [".PP", ".nf", ".RS 4", *(_line(escaped(line)) for line in lines), ".RE", ".fi"]

    def text(self) -> str:
        """The page."""
        return "\n".join(self._lines) + "\n"


def escaped(text: str) -> str:
    """The text with nothing in it that is a command; dashes stay what is typed."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")


def bold(text: str) -> str:
    """What is typed as it stands."""
    return f"\\fB{escaped(text)}\\fR"


def italic(text: str) -> str:
    """What stands for something else."""
    return f"\\fI{escaped(text)}\\fR"


def _line(marked: str) -> str:
    """A line that is no request whatever it begins with."""
    return f"\\&{marked}" if marked.startswith((".", "'")) else marked

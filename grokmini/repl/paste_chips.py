"""Large pastes folded to one mark: a unit to move over and to delete, sent in full.

In a draft a chip is a single lone surrogate, which no decoded text can hold, so that an editor that works by
characters handles it as one. The texts stay here for as long as the program runs: undo and yank may bring a
mark back.
"""

from __future__ import annotations

import re

CHIP_LINES = 20
CHIP_CHARACTERS = 4_000
"""A paste of more lines or characters than these is shown as one mark and sent in full (spec: terminal.md)."""
FIRST_WORDS = 30
"""Cells of a paste's beginning that its mark shows."""

_FIRST_MARK, _LAST_MARK = 0xD800, 0xDFFF
MARKS = re.compile("[\ud800-\udfff]")
"""One chip in a draft."""


def line_count(text: str) -> int:
    """Lines of the text; a newline at its end begins no further one."""
    return text.count("\n") + (not text.endswith("\n"))


def is_large(text: str) -> bool:
    """Whether a paste is too long to be shown."""
    return len(text) > CHIP_CHARACTERS or line_count(text) > CHIP_LINES


def first_words(text: str) -> str:
    """How a paste begins, in one safe line of at most `FIRST_WORDS` cells."""
    from grokmini.text.sanitise import sanitise
    from grokmini.text.width import cut_to_width

    return cut_to_width(sanitise(" ".join(text[:200].split()), newlines=False), FIRST_WORDS)


def without_marks(text: str) -> str:
    """Text from outside with lone surrogates made U+FFFD, so that it holds no chip."""
    return MARKS.sub("\ufffd", text)


class Chips:
    """The large pastes of one program run, and the labels of its images."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._labels: set[str] = set()

    def fold(self, text: str) -> str:
        """What stands in a draft for a pasted text: a mark if it is large, else itself (marks may run out)."""
        text = without_marks(text)
        return self._mark(text) if is_large(text) else text

    def fold_label(self, label: str) -> str:
        """What stands in a draft for something that is named by a label: a mark, which is shown and sent as it."""
        self._labels.add(label)
        return self._mark(label)

    def is_label(self, mark: str) -> bool:
        """Whether the mark stands for a label, so that there is nothing to open."""
        return self.text_of(mark) in self._labels

    def _mark(self, text: str) -> str:
        if text in self._texts:
            return chr(_FIRST_MARK + self._texts.index(text))
        if len(self._texts) > _LAST_MARK - _FIRST_MARK:
            return text
        self._texts.append(text)
        return chr(_FIRST_MARK + len(self._texts) - 1)

    def refold(self, text: str) -> str:
        """Text from outside as a draft: what chips stand for is folded where it is in it unchanged."""
        text = without_marks(text)
        for number, pasted in enumerate(self._texts):
            if len(pasted) <= len(text):
                text = text.replace(pasted, chr(_FIRST_MARK + number))
        return text

    def text_of(self, mark: str) -> str:
        """What a mark stands for."""
        return self._texts[ord(mark) - _FIRST_MARK]

    def expand(self, draft: str) -> str:
        """The draft in full."""
        return MARKS.sub(lambda match: self.text_of(match[0]), draft)

    def label(self, mark: str) -> str:
        """How a chip is shown."""
        text = self.text_of(mark)
        if text in self._labels:
            return text
        lines = line_count(text)
        size = f"{lines} lines" if lines > 1 else f"{len(text)} characters"
        return f"[paste {size}: {first_words(text)}]"

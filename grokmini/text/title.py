"""What a session may be called: one line of at most 80 characters that is safe to show."""

from __future__ import annotations

import re

from grokmini.text.sanitise import sanitise

TITLE_LIMIT = 80

_LONGEST_ANSWER = 200
"""Characters of a line over which a model has written something else than a title."""

_AROUND = " \t\"'`*_#“”‘’«»„"
_LABEL = re.compile(r"(?:session |suggested |the )?title\s*[:：-]\s*", re.IGNORECASE)


def title_of(words: str) -> str:
    """The first line that says something, blanks run together; "" when none does."""
    for line in words.splitlines():
        text = " ".join(sanitise(line).split())
        if text:
            return text if len(text) <= TITLE_LIMIT else text[: TITLE_LIMIT - 1] + "…"
    return ""


def quoted(title: str) -> str:
    """A title within a sentence: in quotes, and those that are in it told from them."""
    return '"' + title.replace('"', "'") + '"'


def title_from_model(answer: str) -> str:
    """The title that a model's answer is; "" for an answer that is none.

    Quotes, emphasis, a label and a full stop around it go. Nothing, no word at all, markup, a number of lines or
    a whole paragraph is no title.
    """
    lines = [line for line in answer.splitlines() if line.strip()]
    if not lines or len(lines) > 2 or len(lines[0]) > _LONGEST_ANSWER:
        return ""
    text = " ".join(_LABEL.sub("", lines[0].strip(_AROUND), count=1).strip(_AROUND).split())
    if text[:1] in ("<", "{", "[") or not any(map(str.isalnum, text)) or sanitise(text, newlines=False) != text:
        return ""
    return _cut_at_word(text.removesuffix("."))


def _cut_at_word(text: str) -> str:
    if len(text) <= TITLE_LIMIT:
        return text
    cut = text[: TITLE_LIMIT - 1]
    whole, space, _ = cut.rpartition(" ")
    return (whole if space and len(whole) > TITLE_LIMIT // 2 else cut).rstrip(" ,;:-") + "…"

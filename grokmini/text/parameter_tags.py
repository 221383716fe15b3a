"""Parameters in tags, as some models write the arguments of a call: `<parameter=NAME>VALUE</parameter>`."""

from __future__ import annotations

import re
from typing import Final

_OPENING: Final = re.compile(r"<parameter=([A-Za-z_][A-Za-z0-9_-]*)>\n?")
_CLOSING: Final = "</parameter>"


def read_parameters(text: str) -> tuple[dict[str, str], str]:
    """The parameters, and what stands around them. One newline at either end of a value belongs to the tags."""
    found: dict[str, str] = {}
    around: list[str] = []
    at = 0
    while (opening := _OPENING.search(text, at)) and (end := text.find(_CLOSING, opening.end())) >= 0:
        around.append(text[at : opening.start()])
        found[opening[1]] = text[opening.end() : end].removesuffix("\n")
        at = end + len(_CLOSING)
    return found, "".join((*around, text[at:]))

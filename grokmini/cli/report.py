"""How errors reach the person: one line that says what happened, one that says what to do."""

from __future__ import annotations

import sys

from grokmini.protocol.errors import GrokminiError
from grokmini.text.sanitise import sanitise


def complain(error: GrokminiError) -> None:
    """Print an error on stderr; text that may come from a file or a server is made harmless."""
    lines = [_fitted(f"grokmini: {error.message}")]
    if error.hint:
        lines += [f"  {line}" for line in error.hint.splitlines()]
    say("\n".join(lines))


def _fitted(text: str) -> str:
    """A long line broken between words where a terminal would break it within one; what has no spaces stays whole."""
    if sys.stderr is None or not sys.stderr.isatty():
        return text
    import shutil
    import textwrap

    width = max(20, shutil.get_terminal_size().columns)
    if len(text) < width or "\n" in text:
        return text
    return textwrap.fill(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def tell(text: str) -> None:
    """One thing on stderr, made harmless; a terminal gets it broken between words."""
    say(_fitted(text))


def say(text: str) -> None:
    """One or more lines on stderr, made harmless."""
    say_as_is(sanitise(text) + "\n")


def say_as_is(text: str) -> None:
    """Harmless text on stderr. A stderr that is closed or gone is nobody to talk to: nothing happens."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        return

"""What the terminal is and can do: one value, made once, from the environment alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

NO_COLOUR = 0
BASIC = 16
PALETTE = 256
TRUE_COLOUR = 16_777_216

DEFAULT_WIDTH = 80

_TRUE_COLOUR_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "ghostty", "vscode", "Hyper", "rio", "Tabby"})
_TRUE_COLOUR_VARIABLES = (
    "KITTY_WINDOW_ID",
    "WT_SESSION",
    "KONSOLE_VERSION",
    "ALACRITTY_WINDOW_ID",
    "VTE_VERSION",
)


class Capabilities(NamedTuple):
    """`colour_level` is the number of colours: 0, 16, 256 or 16,777,216. `dumb` has no cursor control.

    `accessible` asks for output that never ticks or repaints; `width` is in cells.
    """

    colour_level: int
    unicode: bool
    dumb: bool
    accessible: bool
    width: int


def detect(env: Mapping[str, str], *, is_tty: bool, width: int, encoding: str) -> Capabilities:
    """What can be written to a stream. A width of 0 or less counts as 80 (some terminals report 0x0)."""
    dumb = not is_tty or env.get("TERM", "") in ("", "dumb", "unknown")
    return Capabilities(
        colour_level=_colour_level(env, is_tty=is_tty),
        unicode=_is_unicode(env, encoding),
        dumb=dumb,
        accessible=env.get("ACCESSIBLE", "") not in ("", "0", "false", "no"),
        width=width if width > 0 else DEFAULT_WIDTH,
    )


def _is_unicode(env: Mapping[str, str], encoding: str) -> bool:
    """Python writes UTF-8 also where the locale is plain C; who asks for that locale by name wants ASCII."""
    locale = next((env[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if env.get(name)), "")
    if locale in ("C", "POSIX"):
        return False
    return encoding.lower().replace("-", "").replace("_", "").startswith(("utf8", "utf16", "utf32"))


def _colour_level(env: Mapping[str, str], *, is_tty: bool) -> int:
    """NO_COLOR beats all; a dumb terminal gets no escapes at all; then what is forced, then what is known."""
    if env.get("NO_COLOR") or env.get("TERM") == "dumb":
        return NO_COLOUR
    forced = _forced(env)
    if forced is not None:
        return max(forced, _known_level(env)) if forced else NO_COLOUR
    if not is_tty or not env.get("TERM") or env.get("CLICOLOR") == "0":
        return NO_COLOUR
    return _known_level(env)


def _forced(env: Mapping[str, str]) -> int | None:
    """The least level that the user demands; 0 forbids colour, None leaves it open."""
    value = env.get("FORCE_COLOR", "").lower()
    if value:
        levels = {"0": NO_COLOUR, "false": NO_COLOUR, "2": PALETTE, "3": TRUE_COLOUR}
        return levels.get(value, BASIC)
    return BASIC if env.get("CLICOLOR_FORCE", "0") not in ("", "0") else None


def _known_level(env: Mapping[str, str]) -> int:
    term = env.get("TERM", "")
    if env.get("COLORTERM", "").lower() in ("truecolor", "24bit") or term.endswith("-direct"):
        return TRUE_COLOUR
    inside = "TMUX" in env or term.startswith(("screen", "tmux"))
    if not inside and (
        env.get("TERM_PROGRAM") in _TRUE_COLOUR_PROGRAMS or any(name in env for name in _TRUE_COLOUR_VARIABLES)
    ):
        return TRUE_COLOUR
    return PALETTE if inside or "256" in term or env.get("TERM_PROGRAM") == "Apple_Terminal" else BASIC

"""Numbers as people read them."""

from __future__ import annotations


def seconds_text(seconds: float) -> str:
    """A duration: `0.8 s`, `14 s`, `2 min 5 s`, `1 h 3 min`."""
    return f"{max(0.0, seconds):.1f} s" if seconds < 9.95 else clock_text(round(seconds))


def clock_text(whole: int) -> str:
    """Seconds that are counted while something goes on: `0 s`, `14 s`, `2 min 5 s`, `1 h 3 min`."""
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def ago(seconds: float) -> str:
    """A time gone by in two units of size: `now`, `12 min`, `5 h`, `3 days`, `7 weeks`, `2 years`."""
    minutes = int(max(0.0, seconds) // 60)
    if minutes < 1:
        return "now"
    if minutes < 120:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h"
    days = minutes // (24 * 60)
    if days < 28:
        return f"{days} days"
    return f"{days // 7} weeks" if days < 730 else f"{days // 365} years"


def count_text(count: int) -> str:
    """A large number, shortened: `950`, `3.1k`, `218k`, `1.2M`."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= size * 0.9995:
            value = count / size
            return f"{value:.1f}{unit}" if value < 9.95 else f"{value:.0f}{unit}"
    return str(count)


def plural(count: int, noun: str) -> str:
    """`1 step`, `5 steps`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def money_text(dollars: float) -> str:
    """US dollars with as many digits as say something."""
    return f"${dollars:.2f}" if dollars >= 0.995 else f"${dollars:.4f}"


def short_path(path: str, cwd: str = "", home: str = "") -> str:
    """A path as short as it stays clear: relative inside the working folder, `~` inside the home folder."""
    if cwd and path == cwd:
        return "."
    for base, lead in ((cwd, ""), (home, "~/")):
        if base and base != "/" and path.startswith(base.rstrip("/") + "/"):
            return lead + path[len(base.rstrip("/")) + 1 :]
    return "~" if home and path == home else path

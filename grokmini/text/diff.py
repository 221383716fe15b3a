"""Unified diffs that stay quick whatever the texts are."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from difflib import SequenceMatcher
from typing import NamedTuple

from grokmini.text.sanitise import sanitise

PRODUCT_LIMIT = 1_000_000
"""Lines before times lines after up to which difflib looks for the smallest change."""

_NO_NEWLINE = "\\ No newline at end of file\n"
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


class _Match(NamedTuple):
    """`size` equal lines: from `a` in the old text, from `b` in the new."""

    a: int
    b: int
    size: int


class _Change(NamedTuple):
    """Old lines [a, a_end) became new lines [b, b_end)."""

    a: int
    a_end: int
    b: int
    b_end: int


def unified_diff(before: str, after: str, path: str, context: int = 3) -> str:
    """The change as a unified diff with `--- a/path` and `+++ b/path`; empty when nothing changed.

    Lines end at `\\n` alone, and a missing final newline is marked as git does. Texts too large for difflib are
    aligned by the lines that occur once in both, which costs time in proportion to their length.
    """
    if before == after:
        return ""
    old, new = _lines(before), _lines(after)
    name = sanitise(path, newlines=False)
    parts = [f"--- a/{name}\n", f"+++ b/{name}\n"]
    for hunk in _hunks(_changes(old, new), context):
        parts.extend(_format_hunk(hunk, old, new, context))
    return "".join(parts)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    kept = [line + "\n" for line in lines]
    return [*kept, last] if last else kept


def _changes(old: list[str], new: list[str]) -> list[_Change]:
    changes: list[_Change] = []
    a = b = 0
    for match in [*_matches(old, new), _Match(len(old), len(new), 0)]:
        if match.a > a or match.b > b:
            changes.append(_Change(a, match.a, b, match.b))
        a, b = match.a + match.size, match.b + match.size
    return changes


def _matches(old: list[str], new: list[str]) -> list[_Match]:
    """Runs of equal lines, in order."""
    head = _common(old, new)
    rest_old, rest_new = old[head:], new[head:]
    tail = _common(rest_old[::-1], rest_new[::-1])
    rest_old, rest_new = rest_old[: len(rest_old) - tail], rest_new[: len(rest_new) - tail]
    inner = (
        _difflib_matches(rest_old, rest_new)
        if len(rest_old) * len(rest_new) <= PRODUCT_LIMIT
        else _anchored_matches(rest_old, rest_new)
    )
    matches = [_Match(0, 0, head), *(_Match(m.a + head, m.b + head, m.size) for m in inner)]
    matches.append(_Match(len(old) - tail, len(new) - tail, tail))
    return [match for match in matches if match.size]


def _common(first: list[str], second: list[str]) -> int:
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count


def _difflib_matches(old: list[str], new: list[str]) -> list[_Match]:
    if not old or not new:
        return []
    return [_Match(*block) for block in SequenceMatcher(None, old, new).get_matching_blocks() if block.size]


def _anchored_matches(old: list[str], new: list[str]) -> list[_Match]:
    """Matches around lines that occur exactly once on both sides and keep their order."""
    anchors = _longest_rising(_unique_pairs(old, new))
    matches: list[_Match] = []
    a = b = 0
    for anchor_a, anchor_b in [*anchors, (len(old), len(new))]:
        gap_old, gap_new = old[a:anchor_a], new[b:anchor_b]
        if len(gap_old) * len(gap_new) <= PRODUCT_LIMIT:
            matches.extend(_Match(m.a + a, m.b + b, m.size) for m in _difflib_matches(gap_old, gap_new))
        if anchor_a < len(old):
            matches.append(_Match(anchor_a, anchor_b, 1))
        a, b = anchor_a + 1, anchor_b + 1
    return matches


def _unique_pairs(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    counts_old, counts_new = Counter(old), Counter(new)
    place = {line: index for index, line in enumerate(new) if counts_new[line] == 1}
    return [(i, place[line]) for i, line in enumerate(old) if counts_old[line] == 1 and line in place]


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence whose second numbers rise (the first ones do already)."""
    ends: list[int] = []
    tops: list[int] = []
    previous: list[int] = []
    for index, (_, b) in enumerate(pairs):
        pile = bisect_left(ends, b)
        previous.append(tops[pile - 1] if pile else -1)
        if pile == len(ends):
            ends.append(b)
            tops.append(index)
        else:
            ends[pile], tops[pile] = b, index
    chain: list[tuple[int, int]] = []
    at = tops[-1] if tops else -1
    while at >= 0:
        chain.append(pairs[at])
        at = previous[at]
    return chain[::-1]


def _hunks(changes: list[_Change], context: int) -> list[list[_Change]]:
    """Changes whose surroundings touch, together."""
    hunks: list[list[_Change]] = []
    for change in changes:
        if hunks and change.a - hunks[-1][-1].a_end <= 2 * context:
            hunks[-1].append(change)
        else:
            hunks.append([change])
    return hunks


def _format_hunk(hunk: list[_Change], old: list[str], new: list[str], context: int) -> list[str]:
    first, last = hunk[0], hunk[-1]
    lead = min(context, first.a)
    trail = min(context, len(old) - last.a_end)
    old_range = _range(first.a - lead, last.a_end + trail)
    new_range = _range(first.b - lead, last.b_end + trail)
    parts = [f"@@ -{old_range} +{new_range} @@\n"]
    at = first.a - lead
    for change in hunk:
        parts.extend(_format_line(" ", line) for line in old[at : change.a])
        parts.extend(_format_line("-", line) for line in old[change.a : change.a_end])
        parts.extend(_format_line("+", line) for line in new[change.b : change.b_end])
        at = change.a_end
    parts.extend(_format_line(" ", line) for line in old[at : at + trail])
    return parts


def _range(start: int, end: int) -> str:
    """A range of lines as the unified format writes it: from 1, and one line before an empty range."""
    count = end - start
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _format_line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n{_NO_NEWLINE}"


def count_changes(diff: str) -> tuple[int, int]:
    """How many lines a unified diff adds and removes, by its hunks' counts, not by what lines look like."""
    added = removed = old_left = new_left = 0
    for line in diff.split("\n"):
        if old_left <= 0 and new_left <= 0:
            if header := _HUNK.match(line):
                old_left, new_left = (int(count) if count is not None else 1 for count in header.groups())
            continue
        sign = line[:1]
        added += sign == "+"
        removed += sign == "-"
        old_left -= sign in ("-", " ", "")
        new_left -= sign in ("+", " ", "")
    return added, removed

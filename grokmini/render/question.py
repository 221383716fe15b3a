"""A permission question as lines: what will be done, whole, then the numbered answers."""

from __future__ import annotations

from grokmini.protocol.events import PermissionAsked
from grokmini.protocol.permission import PermissionOption
from grokmini.render.diffview import diff_lines
from grokmini.render.lines import Line, Span, indented, line_of
from grokmini.render.look import BOLD, DIM, WARNING, Look
from grokmini.render.markdown import wrap_lines
from grokmini.render.spans import hanging, wrap_spans
from grokmini.text.diff import count_changes
from grokmini.text.sanitise import sanitise
from grokmini.text.width import cut_to_width

FOLDED_ROWS = 3
"""Rows of a subject folded as far as it goes: its first, its last and one between them that says so."""
MAX_RULE = 60
"""Characters of a rule that is put behind a label."""


def question_lines(
    asked: PermissionAsked, width: int, look: Look, *, subject_rows: int | None = None
) -> list[Line]:
    """The question without its answers. Nothing that a person decides about is cut; with `subject_rows` the middle of
    a longer subject is folded away, and a row says how much.
    """
    title = [Span(asked.title, WARNING._replace(bold=True))]
    if asked.diff:
        added, removed = count_changes(asked.diff)
        title.append(Span(f"  +{added} -{removed}"))
    lines = wrap_spans(title, width)
    body: list[Line] = []
    inner = max(1, width - 2)
    if asked.subject and asked.subject not in asked.title:
        subject = wrap_lines(sanitise(asked.subject.expandtabs(4)), inner, BOLD)
        body += subject if subject_rows is None else _folded(subject, subject_rows, inner, look)
    if asked.diff:
        body += diff_lines(asked.diff, inner, look, whole=True)
    for detail in asked.details:
        body += wrap_lines(sanitise(detail.expandtabs(4)), inner, DIM)
    lead = Span("  " if width > 2 else "")
    return [*lines, *indented(body, lead, lead)]


def _folded(rows: list[Line], most: int, width: int, look: Look) -> list[Line]:
    """Beginning and end of the rows, in `most` rows or `FOLDED_ROWS`."""
    most = max(FOLDED_ROWS, most)
    if len(rows) <= most:
        return rows
    head = most // 2
    tail = most - 1 - head
    hidden = len(rows) - head - tail
    text = look.spelled(f"… {hidden} rows more here · PgDn shows all")
    return [*rows[:head], line_of(cut_to_width(text, width), WARNING), *rows[len(rows) - tail :]]


def option_lines(options: tuple[PermissionOption, ...], width: int, look: Look) -> list[Line]:
    """The answers, with the key that chooses each and the rule it would store, unless that is no short line."""
    return [line for option in options for line in _option(option, width, look)]


def _option(option: PermissionOption, width: int, look: Look) -> list[Line]:
    label, rule = Span(look.spelled(option.label)).text, Span(option.rule).text
    apart = rule not in label and len(option.rule.splitlines()) == 1 and len(rule) <= MAX_RULE
    spans = (Span(f"{label} ({rule})" if apart else label),)
    return hanging(lambda inner: wrap_spans(spans, inner), Span(f"  {option.key} ", BOLD), width)

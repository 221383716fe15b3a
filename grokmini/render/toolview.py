"""Tool calls as lines: what, on what, how long, how it ended; below it at most a little of what matters."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, TypeAlias

import msgspec

from grokmini.protocol.events import ShellFinished, ToolFinished
from grokmini.protocol.tools import (
    CommandDisplay,
    DiffDisplay,
    SummaryDisplay,
    TodoEntry,
    ToolEnvelope,
    ToolKind,
)
from grokmini.render.blocks import ToolBlock
from grokmini.render.diffview import diff_lines
from grokmini.render.figures import clock_text, plural, seconds_text, short_path
from grokmini.render.lines import EMPTY, PLAIN, Line, Span, Style, indented, join_spans, plain
from grokmini.render.look import ADDED, BOLD, DIM, FAILURE, REMOVED, SUCCESS, Look
from grokmini.render.spans import wrap_spans
from grokmini.text.sanitise import sanitise, strip_ansi
from grokmini.text.width import cell_width, cut_to_width

VERB_WIDTH = 5
HEAD_LINES = 3
"""Lines that the subject of a call (a long command) may take."""

WORTH_TIMING = 2.0
"""Seconds from which a call that is no command shows how long it took."""

_VERBS = {
    ToolKind.READ: "Read",
    ToolKind.EDIT: "Edit",
    ToolKind.WRITE: "Write",
    ToolKind.DELETE: "Delete",
    ToolKind.LIST_DIR: "List",
    ToolKind.LIST: "Find",
    ToolKind.SEARCH: "Find",
    ToolKind.EXECUTE: "Run",
    ToolKind.PLAN: "Todo",
}
_TOLD_IN_ONE_LINE = frozenset(
    {
        ToolKind.READ,
        ToolKind.LIST_DIR,
        ToolKind.LIST,
        ToolKind.SEARCH,
        ToolKind.PLAN,
        ToolKind.EDIT,
        ToolKind.WRITE,
    }
)
_FAILURES = {
    "invalid_arguments": "wrong arguments",
    "not_found": "not found",
    "permission_denied": "denied",
    "denied_by_hook": "denied by a hook",
    "plan_mode": "not in plan mode",
    "conflict": "changed meanwhile",
    "timeout": "timeout",
    "cancelled": "cancelled",
    "rate_limited": "too many requests",
    "network": "no connection",
    "sandbox_denied": "denied by the sandbox",
    "sandbox_unavailable": "no sandbox to run in",
    "too_large": "too large",
    "binary": "not text",
    "io": "not usable",
    "unsupported": "not possible",
    "requires_other_tool": "not read yet",
    "internal": "internal error",
}
"""Kinds of `ToolErrorKind` in a person's words."""

_TODO_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]", "cancelled": "[-]"}


class Preview(NamedTuple):
    """How many lines of a result are shown: of a command's end, of another tool's beginning, of a failure, of
    a diff. `expand` is what a person may type to see all, with the call's id put in for `{id}`. `cut` False leaves
    long lines whole: they are for a pager, a pipe or a file.
    """

    run: int = 4
    listing: int = 3
    failure: int = 12
    diff: int = 40
    expand: str = ""
    cut: bool = True


WHOLE = Preview(run=sys.maxsize, listing=sys.maxsize, failure=sys.maxsize, diff=sys.maxsize, cut=False)
"""Everything, for whoever asks for the whole session."""


class ToolLook(NamedTuple):
    """Where tool lines are drawn."""

    width: int
    look: Look
    preview: Preview
    cwd: str = ""
    home: str = ""

    @property
    def indent(self) -> int:
        """Columns before the lines below a call."""
        return VERB_WIDTH + 3 if self.width >= 40 else min(2, self.width // 8)


_Fact: TypeAlias = tuple[Span, ...]


class _End(NamedTuple):
    """How a call ended, in a word."""

    text: str
    style: Style = PLAIN
    failed: bool = False


class Told(NamedTuple):
    """A call in words: what was done, on what (whole, as it was given), and what is said of how it went."""

    verb: str
    subject: str
    remarks: tuple[str, ...]


def told(block: ToolBlock, place: ToolLook) -> Told:
    """The words of a call's first line, for views that have no columns."""
    remarks = ["".join(span.text for span in fact) for fact in _remarks(block)]
    end = _end_of(block, place.look).text
    return Told(_verb(block.tool), subject_of(block, place), (*remarks, end) if end else tuple(remarks))


def tool_lines(block: ToolBlock, place: ToolLook, seconds: float = 0.0) -> list[Line]:
    """A call that has ended, or as far as it has come in so many seconds."""
    result, verb, subject = block.result, _verb(block.tool), subject_of(block, place)
    if result is None and block.state != "interrupted":
        lines = under_way(verb, subject, seconds, place)
        return [*lines, *_last_lines(block.progress, place.preview.run, block.call_id, place)]
    end = _end_of(block, place.look)
    lines = _head(verb, subject, _remarks(block), end, place)
    if result is None:
        return [*lines, *_last_lines(block.progress, place.preview.run, block.call_id, place)]
    return [*lines, *_body(block, result, end, place)]


def shell_lines(event: ShellFinished, place: ToolLook) -> list[Line]:
    """The user's own command with the end of its output."""
    end = _exit_end(event.exit_code, "", place.look)
    head = _head("Shell", event.command, ((Span(seconds_text(event.seconds), DIM),),), end, place)
    return [*head, *_last_lines(event.output, place.preview.failure, "", place)]


def under_way(verb: str, subject: str, seconds: float, place: ToolLook) -> list[Line]:
    """The line of what goes on, a call of the model's or not. The seconds stand at the right where there is room."""
    lines = _head(verb, subject, (), _End(""), place)
    clock = Span(clock_text(int(seconds)), DIM)
    gap = place.width - lines[0].width - cell_width(clock.text)
    if seconds < 1 or len(lines) > 1 or gap < 2:
        return lines
    return [Line(join_spans((*lines[0].spans, Span(" " * gap if place.width >= 60 else "  "), clock)))]


def todo_lines(todos: tuple[TodoEntry, ...], place: ToolLook) -> list[Line]:
    """The todo list, one line an entry, under the call that changed it."""
    lines: list[Line] = []
    for todo in todos:
        style = DIM if todo.status in ("completed", "cancelled") else PLAIN
        mark = Span(f"{_TODO_MARKS[todo.status]} ", style)
        room = max(1, place.width - place.indent - 4)
        wrapped = wrap_spans((Span(todo.content.replace("\n", " "), style),), room)
        lines.extend(indented(wrapped, mark, Span("    ")))
    return _fitted(indented(lines, Span(" " * place.indent), Span(" " * place.indent)), place)


def _verb(tool: ToolEnvelope) -> str:
    return _VERBS.get(tool.kind) or (tool.label if tool.kind is not ToolKind.OTHER else tool.name) or tool.name


def subject_of(block: ToolBlock, place: ToolLook) -> str:
    """What a call is about: a command, a path, a pattern and where."""
    given = dict(block.tool.input) or _arguments(block.arguments)
    path = next(
        (str(given[key]) for key in ("path", "file_path", "directory", "target_directory") if given.get(key)),
        "",
    )
    path = short_path(path, place.cwd, place.home)
    if block.tool.kind is ToolKind.PLAN:
        return ""
    for key in ("command", "pattern", "glob_pattern", "query", "url", "name"):
        if given.get(key):
            where = f" in {path}" if path and key != "command" else ""
            return f"{given[key]}{where}"
    if block.tool.kind in (ToolKind.LIST_DIR, ToolKind.LIST):
        return path or "."
    offset, limit = given.get("offset"), given.get("limit")
    if path and isinstance(offset, int) and offset > 0:
        last = f"-{offset + limit - 1}" if isinstance(limit, int) and limit > 0 else "-"
        return f"{path}:{offset}{last}"
    return path


def _arguments(raw: str) -> dict[str, Any]:
    """The arguments if they are an object; shown only, so anything else is nothing."""
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _remarks(block: ToolBlock) -> tuple[_Fact, ...]:
    """Short facts behind the subject."""
    result = block.result
    if result is None:
        return ()
    timing = (Span(seconds_text(result.seconds), DIM),)
    match result.display:
        case DiffDisplay(added=added, removed=removed):
            return ((Span(f"+{added}", ADDED), Span(" "), Span(f"-{removed}", REMOVED)),)
        case CommandDisplay(outside=outside, left_over=left):
            where: tuple[_Fact, ...] = ((Span("outside the sandbox"),),) if outside else ()
            ended: tuple[_Fact, ...] = ((Span(f"{left} left running, stopped", DIM),),) if left else ()
            return (*where, *ended, timing)
        case SummaryDisplay(text):
            facts: tuple[_Fact, ...] = ((Span(text, DIM),),) if text else ()
        case None:
            count = len(result.output.rstrip("\n").split("\n")) if result.output.strip() else 0
            counted = result.status == "ok" and block.tool.kind in _TOLD_IN_ONE_LINE
            facts = ((Span(plural(count, "line"), DIM),),) if counted else ()
    began = result.status not in ("denied", "cancelled") or result.seconds > 0
    if (block.tool.kind is ToolKind.EXECUTE and began) or result.seconds >= WORTH_TIMING:
        return (*facts, timing)
    return facts


def _end_of(block: ToolBlock, look: Look) -> _End:
    result = block.result
    if result is None:
        return (
            _End(f"{look.glyphs.failed} interrupted", FAILURE, True)
            if block.state == "interrupted"
            else _End("")
        )
    failed = look.glyphs.failed
    if result.status == "denied":
        return _End(f"{failed} denied", FAILURE, True)
    if result.status == "cancelled":
        return _End(f"{failed} cancelled", FAILURE, True)
    if isinstance(result.display, CommandDisplay):
        return _exit_end(result.display.exit_code, result.display.reason, look)
    if result.status == "error":
        return _End(f"{failed} {_FAILURES.get(result.error_kind, 'failed')}", FAILURE, True)
    return _End(look.glyphs.ok, SUCCESS) if block.tool.kind is ToolKind.EXECUTE else _End("")


def _exit_end(exit_code: int | None, reason: str, look: Look) -> _End:
    if exit_code == 0 and not reason:
        return _End(look.glyphs.ok, SUCCESS)
    why = reason or ("stopped" if exit_code is None else str(exit_code))
    return _End(f"{look.glyphs.failed} {why}", FAILURE, True)


def _head(verb: str, subject: str, remarks: tuple[_Fact, ...], end: _End, place: ToolLook) -> list[Line]:
    """The call's line; where it does not fit, the subject wraps and the figures move under it."""
    lead = Span(f"{place.look.glyphs.bullet} ", end.style if end.failed else DIM)
    name = Span(f"{verb:<{VERB_WIDTH}} ", BOLD)
    facts = [*remarks, (Span(end.text, end.style),)] if end.text else list(remarks)
    figures: list[Span] = []
    for fact in facts:
        figures += [Span("  "), *fact]
    if not subject:
        figures = figures[1:]
    about = Span(_one_line(subject, place.look))
    used = sum(cell_width(span.text) for span in (lead, name, about))
    right = sum(cell_width(span.text) for span in figures)
    if used + right <= place.width:
        timed = end.text and len(remarks) > 0
        gap = Span(" " * (place.width - used - right)) if timed and place.width >= 60 else Span("")
        return [_trim_end(Line(join_spans((lead, name, about, gap, *figures))))]
    return _head_in_lines(lead, name, about, figures[1:] if subject else figures, place)


def _head_in_lines(lead: Span, name: Span, about: Span, figures: list[Span], place: ToolLook) -> list[Line]:
    indent = Span(" " * place.indent)
    room = max(1, place.width - place.indent)
    if place.indent == VERB_WIDTH + 3:
        wrapped = wrap_spans((about,), max(1, place.width - cell_width(lead.text + name.text)))
        lines = indented(_at_most(wrapped, HEAD_LINES, room, place.look), Span(""), indent)
        lines[0] = Line(join_spans((lead, name, *lines[0].spans)))
    else:
        lines = wrap_spans((lead, name, about), place.width)
        lines = _at_most(lines, HEAD_LINES + 1, place.width, place.look)
    if figures:
        lines += indented(wrap_spans(figures, room), indent, indent)
    return _fitted([_trim_end(line) for line in lines], place)


def _at_most(lines: list[Line], count: int, width: int, look: Look) -> list[Line]:
    if len(lines) <= count:
        return lines
    last = lines[count - 1]
    room = max(0, width - cell_width(look.glyphs.ellipsis))
    kept = cut_to_width(plain(last), room, "")
    style = last.spans[-1].style if last.spans else PLAIN
    return [*lines[: count - 1], Line((Span(kept + cut_to_width(look.glyphs.ellipsis, width, ""), style),))]


def _trim_end(line: Line) -> Line:
    if not line.spans or not line.spans[-1].text.endswith(" "):
        return line
    last = line.spans[-1]
    return _trim_end(Line(join_spans((*line.spans[:-1], Span(last.text.rstrip(" "), last.style)))))


def _one_line(text: str, look: Look) -> str:
    """The first line, and how many more there are."""
    text = sanitise(text.strip().expandtabs(4))
    first, *others = text.split("\n")
    return f"{first} {look.glyphs.ellipsis} +{plural(len(others), 'line')}" if others else first


def _body(block: ToolBlock, result: ToolFinished, end: _End, place: ToolLook) -> list[Line]:
    preview = place.preview
    if isinstance(result.display, DiffDisplay) and not end.failed:
        inner = max(1, place.width - place.indent)
        lines = diff_lines(result.display.diff, inner, place.look)
        return _below(_with_more(lines, preview.diff, block.call_id, place), place)
    if isinstance(result.display, CommandDisplay) or block.tool.kind is ToolKind.EXECUTE:
        count = preview.failure if end.failed else preview.run
        whole = result.display.lines if isinstance(result.display, CommandDisplay) else 0
        return _last_lines(result.output, count, block.call_id, place, whole)
    if end.failed:
        room = max(1, place.width - place.indent)
        rows = [line for row in output_rows(result.output) for line in wrap_spans((Span(row),), room)]
        return _below(_with_more(rows, preview.failure, block.call_id, place), place)
    if block.tool.kind in _TOLD_IN_ONE_LINE:
        return []
    return _first_lines(result.output, preview.listing, block.call_id, place)


def output_rows(output: str) -> list[str]:
    """A tool's output in rows fit to show: no sequences, of a line drawn over itself the last state."""
    rows = [row.rstrip("\r").rpartition("\r")[2].rstrip() for row in strip_ansi(output).split("\n")]
    while rows and not rows[-1]:
        rows.pop()
    while rows and not rows[0]:
        rows.pop(0)
    return [sanitise(row.expandtabs(8), newlines=False) for row in rows]


def _first_lines(output: str, count: int, call_id: str, place: ToolLook) -> list[Line]:
    return _below(_with_more([_row(text) for text in output_rows(output)], count, call_id, place), place)


def _last_lines(output: str, count: int, call_id: str, place: ToolLook, whole: int = 0) -> list[Line]:
    """The last lines of an output that had `whole` of them, where the text is but a part."""
    lines = [_row(text) for text in output_rows(output)]
    hidden = len(lines) - count
    if hidden <= 1:
        return _below(lines, place)
    earlier = max(hidden, whole - count)
    return _below([_more(earlier, "earlier", call_id, place), *lines[hidden:]], place)


def _with_more(lines: list[Line], count: int, call_id: str, place: ToolLook) -> list[Line]:
    hidden = len(lines) - count
    return lines if hidden <= 1 else [*lines[:count], _more(hidden, "more", call_id, place)]


def _more(count: int, which: str, call_id: str, place: ToolLook) -> Line:
    noun = "line" if count == 1 else "lines"
    hint = place.look.glyphs.dot + place.preview.expand.replace("{id}", call_id) if place.preview.expand else ""
    return Line((Span(f"{place.look.glyphs.ellipsis} {count:,} {which} {noun}{hint}", DIM),))


def _row(text: str) -> Line:
    return Line((Span(text, DIM),)) if text else EMPTY


def _below(lines: list[Line], place: ToolLook) -> list[Line]:
    lead = Span(" " * place.indent)
    return _fitted(indented(lines, lead, lead), place)


def _fitted(lines: list[Line], place: ToolLook) -> list[Line]:
    """Lines cut to the width; a preview is no place for the terminal's own wrap."""
    if not place.preview.cut:
        return lines
    return [line if line.width <= place.width else _cut(line, place) for line in lines]


def _cut(line: Line, place: ToolLook) -> Line:
    room = place.width - cell_width(place.look.glyphs.ellipsis)
    kept: list[Span] = []
    for span in line.spans:
        cells = cell_width(span.text)
        if cells > room:
            kept.append(
                Span(cut_to_width(span.text, max(0, room), "") + place.look.glyphs.ellipsis, span.style)
            )
            break
        kept.append(span)
        room -= cells
    text = "".join(span.text for span in kept)
    if cell_width(text) > place.width:
        return Line((Span(cut_to_width(text, place.width, "")),))
    return Line(join_spans(kept))

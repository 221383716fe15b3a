"""Why an edit was not made, in words that lead to one that works."""

from __future__ import annotations

from typing import Final

from grokmini.protocol.errors import ToolError, ToolErrorKind
from grokmini.protocol.tools import ToolKind
from grokmini.tools.contract import ToolNames
from grokmini.workspace.confusables import Confusable
from grokmini.workspace.edit import MAX_LINES_NAMED, Refusal

_MARKS: Final = str.maketrans({" ": "·", "\t": "→"})


def refusal_error(refusal: Refusal, shown: str, names: ToolNames) -> ToolError:
    """The error for an edit that was refused."""
    if refusal.reason == "same":
        return ToolError(
            ToolErrorKind.INVALID_ARGUMENTS,
            f"`old_string` and `new_string` give the same text; {shown} was left as it is. "
            "Make them differ, or go on if nothing has to change.",
        )
    if refusal.reason == "ambiguous":
        return ToolError(ToolErrorKind.INVALID_ARGUMENTS, _ambiguous(refusal, shown))
    hints = [f"`old_string` was not found in {shown}; nothing was changed.", *_hints(refusal)]
    hints.append(f"Read the place again with {names.of(ToolKind.READ)} and copy the text exactly.")
    return ToolError(ToolErrorKind.NOT_FOUND, " ".join(hints))


def _ambiguous(refusal: Refusal, shown: str) -> str:
    named = ", ".join(str(line) for line in refusal.lines[:MAX_LINES_NAMED])
    more = ", …" if len(refusal.lines) > MAX_LINES_NAMED else ""
    return (
        f"`old_string` is in {shown} {len(refusal.lines)} times (lines {named}{more}); nothing was changed. "
        "Add lines around it until it is unique, or set `replace_all` to true."
    )


def _hints(refusal: Refusal) -> list[str]:
    if refusal.confusables:
        return [_look_alikes(refusal.confusables)]
    if refusal.numbered:
        return ["It begins with a line number (`N→`) from a listing: leave those out."]
    if refusal.indentation_at is not None:
        number, line = refusal.indentation_at
        return [
            f"Only white space differs from line {number} on, which is `{_visible(line)}` (→ tab, · space)."
        ]
    if refusal.nearest is not None:
        number, line = refusal.nearest
        return [f"The nearest line is {number}: `{line}`."]
    return []


def _visible(line: str) -> str:
    """The line with the white space at both ends made visible."""
    body = line.strip(" \t")
    lead = line[: len(line) - len(line.lstrip(" \t"))] if body else line
    tail = line[len(lead) + len(body) :]
    return f"{lead.translate(_MARKS)}{body}{tail.translate(_MARKS)}"


def _look_alikes(found: tuple[Confusable, ...]) -> str:
    if found[0].line:
        places = "; ".join(
            f"line {one.line} has {one.name}" + (f" where `{one.plain}` is expected" if one.plain else "")
            for one in found
        )
        return f"The file has characters that only look the same: {places}. Use the file's characters."
    chars = ", ".join(one.name for one in found)
    return f"`old_string` has characters that only look like the file's: {chars}. Use the plain ones."

"""The permission question in the live region: what will be done, the numbered answers, one key each.

It takes no key until none has come for `GUARD` seconds; keys before that belong to the draft, and who types on there
answers with a letter no more. Esc does nothing here; Ctrl-C denies and stops, which is the application's business.
"""

from __future__ import annotations

from grokmini.protocol.events import PermissionAsked
from grokmini.protocol.permission import PermissionAnswer, PermissionOption
from grokmini.render.lines import Line, line_of
from grokmini.render.look import DIM, Look
from grokmini.render.question import FOLDED_ROWS, option_lines, question_lines
from grokmini.repl.doubt import fit
from grokmini.repl.question import GUARD, answer_of, read_answer
from grokmini.text.width import cell_width, cut_to_width

REASON_PROMPT = "what should it do instead? "


class Overlay:
    """One question while it is open. `now` values are of the monotonic clock that keys are stamped with."""

    def __init__(self, asked: PermissionAsked, now: float, last_key: float) -> None:
        self.asked = asked
        self.guard_until = max(now, last_key) + GUARD
        self.reason_for: PermissionOption | None = None
        self.drafted = ""
        self._top = 0
        self._page = 1
        self._folding = False
        self._unfolded = False

    def guarded(self, now: float) -> bool:
        """Whether keys still belong to the draft."""
        return now < self.guard_until

    def key_went_by(self, now: float, typed: str = "") -> None:
        """A key came that was none of ours: the guard waits on. What was typed went into the draft."""
        self.guard_until = now + GUARD
        self.drafted += typed

    def choose(self, typed: str) -> PermissionAnswer | None:
        """What one typed character answers; None when it is no answer, or asks for a reason first."""
        if self.drafted and typed.isalpha():
            return None
        option = read_answer(typed, self.asked.options)
        if option is None:
            return None
        if option.wants_text:
            self.reason_for = option
            return None
        return answer_of(option)

    def reason(self, text: str) -> PermissionAnswer:
        """The answer with the reason that was typed."""
        assert self.reason_for is not None
        return answer_of(self.reason_for, text.strip())

    def back(self) -> None:
        """No reason after all: to the choices again."""
        self.reason_for = None

    def scroll(self, rows: int) -> None:
        """Show other rows of a question that is longer than its room, from its beginning on and all of it."""
        if self._folding:
            self._folding, rows = False, 0
        self._unfolded = True
        self._top = max(0, self._top + rows)

    @property
    def page(self) -> int:
        """How many rows of a long question are shown at once."""
        return self._page

    def view(self, width: int, room: int, look: Look, waiting: int) -> list[Line]:
        """At most `room` rows: the question, then the answers; `waiting` more.

        Of a question that is too long the middle of the command is folded at first, so that its end and what is said
        of it are seen beside its beginning. Then it scrolls above its answers; where there is little room, all of it
        scrolls, so that what will be done is what is seen first.
        """
        answers = option_lines(self.asked.options, width, look)
        if waiting:
            answers.append(line_of(cut_to_width(f"  {waiting} more to answer", width), DIM))
        body = [fit(line, width) for line in question_lines(self.asked, width, look)]
        if len(body) + len(answers) <= room:
            return [*body, *answers]
        roomy = len(answers) <= room // 2 and room - len(answers) > FOLDED_ROWS + 2
        if not self._unfolded:
            space = room - len(answers) if roomy else room - 1
            whole, body = len(body), self._folded(width, look, space)
            self._folding = len(body) < whole
            if len(body) + len(answers) <= room:
                return [*body, *answers]
        if roomy:
            return [*self._window(body, room - len(answers), "", width, look), *answers]
        keys = "  ".join(f"{option.key} {option.label}" for option in self.asked.options if _is_short(option))
        return self._window([*body, *answers], room, f"{keys}{look.glyphs.dot}", width, look)[: max(0, room)]

    def _folded(self, width: int, look: Look, space: int) -> list[Line]:
        """The question with as much of its command as leaves room for all else."""
        shortest = question_lines(self.asked, width, look, subject_rows=0)
        most = FOLDED_ROWS + max(0, space - len(shortest))
        return [fit(line, width) for line in question_lines(self.asked, width, look, subject_rows=most)]

    def _window(self, lines: list[Line], space: int, lead: str, width: int, look: Look) -> list[Line]:
        """A part of what does not fit and a row that says how much there is; `lead` begins that row."""
        self._page = max(1, space - 1)
        self._top = min(self._top, max(0, len(lines) - self._page))
        shown = lines[self._top : self._top + self._page]
        last = min(len(lines), self._top + self._page)
        rows = f"{last}/{len(lines)}"
        full = f"  {lead}rows {self._top + 1}-{last} of {len(lines)}{look.glyphs.dot}PgUp PgDn scroll"
        text = f"{full}{look.glyphs.dot}d whole diff" if self.asked.diff else full
        for shorter in filter(None, (full, f"  {lead}PgDn {rows}", lead and f"{lead}PgDn", f"PgDn {rows}")):
            text = text if cell_width(text) <= width else shorter
        return [*shown, line_of(cut_to_width(text, width), DIM)]


def _is_short(option: PermissionOption) -> bool:
    return option.scope == "once" and not option.wants_text

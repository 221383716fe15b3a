"""prompt-toolkit's buffer as a draft: Up and Down go by the rows on the screen and on into the history."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.history import History as ToolkitHistory

from grokmini.repl.draft_layout import Layout, Place, boundary


class RecalledHistory(ToolkitHistory):
    """Shows texts (newest first) to the toolkit's commands that look for words in former prompts."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__()
        self._texts = texts

    def get_strings(self) -> list[str]:
        """Every text, oldest first."""
        return list(reversed(self._texts))

    def load_history_strings(self) -> Sequence[str]:
        """Every text, newest first."""
        return self._texts

    def store_string(self, string: str) -> None:
        """Nothing: what was sent is stored by whoever sends it."""


class DraftBuffer(Buffer):
    """The draft. `older` are texts to recall, newest first, made a draft by `fold`; `layout` wraps the text as
    it is shown now.
    """

    def __init__(
        self, older: Sequence[str], fold: Callable[[str], str], layout: Callable[[str], Layout]
    ) -> None:
        super().__init__(multiline=True, history=RecalledHistory(older))
        self._older = older
        self._fold = fold
        self._layout = layout
        self._recalled: int | None = None
        self._recalled_document = Document()
        self._draft = Document()
        self._goal: tuple[Document, int] | None = None

    @property
    def recalled(self) -> int | None:
        """The place in the history of what the draft is, as long as it is unchanged."""
        return self._recalled if self.text == self._recalled_document.text else None

    def recall(self, place: int) -> None:
        """Make an entry of the history the draft."""
        if self.recalled is None:
            self._draft = self.document
        self._recalled = place
        text = self._fold(self._older[place])
        self._show(Document(text, len(text)))

    def start_over(self) -> None:
        """Be empty, with nothing to undo."""
        self._recalled = None
        self.reset()

    def history_backward(self, count: int = 1) -> None:
        """Go to an older text, if there is one."""
        place = (-1 if self.recalled is None else self.recalled or 0) + count
        if len(self._older):
            self.recall(min(place, len(self._older) - 1))

    def history_forward(self, count: int = 1) -> None:
        """Go to a newer text; behind the newest is the draft that was left."""
        if self.recalled is None:
            return
        if self.recalled >= count:
            self.recall(self.recalled - count)
            return
        self._recalled = None
        self._show(self._draft)

    def go_to_history(self, index: int) -> None:
        """Go to the oldest text for 0, else to the draft."""
        if index == 0:
            self.history_backward(len(self._older))
        else:
            self.history_forward(len(self._older))

    def validate_and_handle(self) -> None:
        """Nothing: no key of the toolkit sends the draft."""

    def auto_up(self, count: int = 1, go_to_start_of_line_if_history_changes: bool = False) -> None:
        """Up: a row up, or back in the history from the first row."""
        self._step(-count)

    def auto_down(self, count: int = 1, go_to_start_of_line_if_history_changes: bool = False) -> None:
        """Down: a row down, or forward in the history from the last row."""
        self._step(count)

    def delete(self, count: int = 1) -> str:
        """Delete behind the cursor; a grapheme is never left in parts."""
        end = boundary(self.text, min(len(self.text), self.cursor_position + count), forward=True)
        return super().delete(end - self.cursor_position)

    def delete_before_cursor(self, count: int = 1) -> str:
        """Delete before the cursor; a grapheme is never left in parts."""
        start = boundary(self.text, max(0, self.cursor_position - count), forward=False)
        return super().delete_before_cursor(self.cursor_position - start)

    def settle_cursor(self, before: int) -> None:
        """After a movement from `before`, do not stay inside a grapheme."""
        at = boundary(self.text, self.cursor_position, forward=self.cursor_position > before)
        if at != self.cursor_position:
            self.cursor_position = at

    def _step(self, rows: int) -> None:
        """Move by rows. Right after recalling a text, go on through the history, whatever its rows."""
        layout = self._layout(self.text)
        place = layout.place_of(self.cursor_position)
        browsing = self.recalled is not None and self.document == self._recalled_document
        target = place.row + rows
        if not browsing and 0 <= target < len(layout):
            goal = self._goal[1] if self._goal and self._goal[0] == self.document else place.column
            self.cursor_position = layout.index_at(Place(target, goal))
            self._goal = (self.document, goal)
        elif not self.selection_state:
            self.history_backward(-rows) if rows < 0 else self.history_forward(rows)

    def replace(self, text: str, cursor: int) -> None:
        """Make another text the draft, as one step of undo."""
        self.save_to_undo_stack()
        self.exit_selection()
        self.document = Document(text, cursor)

    def _show(self, document: Document) -> None:
        self.replace(document.text, document.cursor_position)
        self._recalled_document = self.document

"""The draft of the inline REPL: keys in, what they ask of the program out, and rows to draw.

Knows no terminal, no loop and no clock. prompt-toolkit edits; what lies over the draft (menu, history search)
takes its keys first. Loading it costs more than all else of a start, so it waits for `load` or the first key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from grokmini.render.lines import Line, Span
from grokmini.render.look import DIM, Look
from grokmini.repl.commands.table import CommandRow
from grokmini.repl.decoder import pasted_text
from grokmini.repl.draft_layout import Layout, Wrapper
from grokmini.repl.draft_view import Draft, columns, draft_view, empty_view, fitted, scrolled
from grokmini.repl.history import History
from grokmini.repl.history_search import HistorySearch
from grokmini.repl.images import Album, ImageError
from grokmini.repl.input_actions import Action, Hint, OpenEditor, Signal, Submit
from grokmini.repl.keys import Burst, Chord, Key, Paste, Press, Text
from grokmini.repl.menus import MENU_ROWS, Menu, argument_hint
from grokmini.repl.painter import Cursor
from grokmini.repl.paste_chips import MARKS, Chips
from grokmini.repl.path_search import PathSearch
from grokmini.repl.suggestions import Suggestions

if TYPE_CHECKING:
    from prompt_toolkit.document import Document

    from grokmini.repl.draft_buffer import DraftBuffer
    from grokmini.repl.input_keys import DraftKeys

ENTER_SENDS = "pasted lines are in the draft: Enter to send"
NOTHING_OLDER = "nothing older that was sent has this"
CLIPBOARD_EMPTY = "clipboard is empty"
CHIP_HINT = "Tab opens it · Backspace removes it"
LABEL_HINT = "Backspace removes it"

_ALWAYS = {
    Key.INTERRUPT: Signal.INTERRUPT,
    Key.SHIFT_TAB: Signal.NEXT_MODE,
    Key.SUSPEND: Signal.SUSPEND,
    Key.REDRAW: Signal.REDRAW,
}
_CHORDS = {"\x0f": Signal.TRANSCRIPT, "\x16": Signal.PASTE}
_ERASES = (Key.BACKSPACE, Key.KILL_LINE, Key.KILL_WORD, Key.KILL_PART)
_CTRL_B, _CTRL_G, _CTRL_S = "\x02", "\x07", "\x13"


class InputView(NamedTuple):
    """Rows that fit the width: the draft, the cursor's place among them, and what is under the draft."""

    rows: tuple[Line, ...]
    cursor: Cursor
    menu: tuple[Line, ...]


class Input:
    """One draft and what is needed to write it. `album` takes images, `cwd` gives the session's folder; `on_change`
    is called when something looks different although no key was pressed.
    """

    def __init__(
        self,
        look: Look,
        history: History,
        commands: Sequence[CommandRow],
        paths: PathSearch,
        *,
        album: Album,
        cwd: Callable[[], str],
        on_change: Callable[[], None],
        vi: bool = False,
        arguments: Callable[[str], Sequence[str]] = lambda command: (),
    ) -> None:
        self._look = look
        self._history = history
        self._commands = commands
        self._on_change = on_change
        self._album = album
        self._cwd = cwd
        self._chips = Chips()
        self._wrapper = Wrapper(self._chips.label)
        self._width = 80
        self._top = 0
        self._vi = vi
        self._editor: tuple[DraftBuffer, DraftKeys] | None = None
        self._suggestions = Suggestions(commands, paths, cwd, self._found, arguments)
        self._search: HistorySearch | None = None
        self._actions: list[Action] = []

    @property
    def text(self) -> str:
        """The draft in full."""
        return self._chips.expand(self._buffer.text) if self._editor else ""

    @property
    def empty(self) -> bool:
        """Whether there is no draft."""
        return not (self._editor and self._buffer.text)

    @property
    def commanding(self) -> bool:
        """Whether vi mode waits for commands instead of text."""
        return self._editor is not None and self._keys.commanding

    def load(self) -> None:
        """Load the editor, if it is not yet. Takes a few tenths of a second, once."""
        if self._editor is None:
            from grokmini.repl.draft_buffer import DraftBuffer
            from grokmini.repl.input_keys import DraftKeys

            buffer = DraftBuffer(self._history, self._chips.refold, self._layout)
            self._editor = buffer, DraftKeys(buffer, vi=self._vi, open_editor=self._open_editor)

    def set_text(self, text: str) -> None:
        """Make this the draft, whatever it was."""
        self._leave_overlays()
        folded = self._chips.refold(text)
        self._buffer.replace(folded, len(folded))

    def edited(self, text: str) -> None:
        """Take what came back from the person's editor; the newline that editors put at the end goes."""
        self.set_text(text.removesuffix("\n"))

    def insert(self, text: str) -> list[Action]:
        """Paste the clipboard's text at the cursor."""
        text = pasted_text(text)
        if not text:
            return [Hint(CLIPBOARD_EMPTY)]
        return self.press([Paste(text)])

    def insert_image(self, name: str, data: bytes) -> list[Action]:
        """Put an image at the cursor, shown as a chip."""
        try:
            chip = self._chips.fold_label(self._album.add(name, data))
        except ImageError as error:
            return [Hint(str(error))]
        self._keys.insert(chip)
        self._suggestions.close()
        return [Signal.CHANGED]

    def clear(self) -> None:
        """Drop the draft; Up brings it back."""
        if self.text.strip():
            self._history.remember(self.text)
        self._leave_overlays()
        if self._editor:
            self._keys.start_over()

    def interrupt(self) -> bool:
        """Ctrl-C while nothing runs: leave the search, else drop the draft. Whether there was anything."""
        if self._search:
            self._leave_overlays()
            return True
        there_was = not self.empty
        self.clear()
        return there_was

    def press(self, presses: Sequence[Press]) -> list[Action]:
        """Apply presses, in order; what they ask for."""
        for press in _joined(presses):
            self._press(press)
        actions, self._actions = self._actions, []
        return actions

    def view(self, width: int, rows: int = 10, menu_rows: int = MENU_ROWS) -> InputView:
        """What to draw: at most `rows` rows of the draft around the cursor and `menu_rows` below them."""
        self._width = width
        if self._editor is None:
            return InputView(*empty_view(self._look, width), ())
        if self._search:
            return self._search_view(self._search, width, rows)
        layout = self._layout(self._buffer.text)
        cursor = self._buffer.cursor_position
        self._top = scrolled(self._top, layout.row_of(cursor), len(layout), rows)
        ghost = argument_hint(layout.text, self._commands)
        draft = Draft(layout, cursor, self._selected(), ghost)
        view = draft_view(draft, self._look, width, self._top, rows)
        return InputView(view.rows, view.cursor, self._below(width, menu_rows))

    @property
    def _buffer(self) -> DraftBuffer:
        self.load()
        assert self._editor is not None
        return self._editor[0]

    @property
    def _keys(self) -> DraftKeys:
        self.load()
        assert self._editor is not None
        return self._editor[1]

    def _layout(self, text: str) -> Layout:
        return self._wrapper.wrap(text, columns(self._look, self._width).room)

    def _selected(self) -> range:
        if not self._buffer.selection_state:
            return range(0)
        start, end = self._buffer.document.selection_range()
        return range(start, end)

    def _below(self, width: int, height: int) -> tuple[Line, ...]:
        menu = self._suggestions.menu
        if menu:
            return menu.rows(self._look, width, height)
        at = self._chip_at_cursor()
        if at is not None and height > 0:
            label = self._chips.is_label(self._buffer.text[at])
            return (fitted([Span(LABEL_HINT if label else self._look.spelled(CHIP_HINT), DIM)], width),)
        return ()

    def _search_view(self, search: HistorySearch, width: int, rows: int) -> InputView:
        found = search.found
        line = search.view(width, self._look)
        layout = self._layout(self._buffer.text if found is None else self._chips.refold(found))
        match = range(0)
        if found is not None:
            start = max(0, layout.text.casefold().find(search.query.casefold()))
            match = range(start, start + len(search.query))
        top = scrolled(0, layout.row_of(match.start), len(layout), max(1, rows - 1))
        above = (
            draft_view(Draft(layout, match.start, match), self._look, width, top, rows - 1).rows
            if rows > 1
            else ()
        )
        return InputView((*above, line.line), line.cursor._replace(row=len(above)), ())

    def _press(self, press: Press) -> None:
        if isinstance(press, Key) and press in _ALWAYS:
            self._actions.append(_ALWAYS[press])
        elif press is Key.ESCAPE:
            self._escape()
        elif self._search:
            self._press_search(self._search, press)
            self._changed()
        elif not (self._suggestions.menu and self._press_menu(self._suggestions.menu, press)):
            self._press_draft(press)

    def _changed(self) -> None:
        if Signal.CHANGED not in self._actions:
            self._actions.append(Signal.CHANGED)

    def _escape(self) -> None:
        """Close the nearest open thing."""
        if self._search:
            self._search = None
        elif self._suggestions.menu:
            self._suggestions.dismiss()
        elif not self._keys.escape() or self.empty:
            self._actions.append(Signal.ESCAPE)
        self._changed()

    def _press_search(self, search: HistorySearch, press: Press) -> None:
        if isinstance(press, Text | Paste):
            search.type(press.text)
        elif press is Key.SEARCH or press is Key.UP:
            self._hint_unless(search.older())
        elif press is Key.DOWN or press == Chord(_CTRL_S):
            search.newer()
        elif press is Key.BACKSPACE:
            search.erase()
        elif press in _ERASES:
            search.clear()
        elif press == Chord(_CTRL_G):
            self._search = None
        elif not isinstance(press, Burst) and press is not Key.PASTE_ENDED:
            self._take_found(search)
            if press is not Key.ENTER and press is not Key.TAB:
                self._press_draft(press)

    def _hint_unless(self, found: bool) -> None:
        if not found:
            self._actions.append(Hint(NOTHING_OLDER))

    def _take_found(self, search: HistorySearch) -> None:
        self._search = None
        if search.place is not None:
            self._buffer.recall(search.place)

    def _press_menu(self, menu: Menu, press: Press) -> bool:
        """Whether the menu took the press."""
        if press is Key.UP or press is Key.DOWN:
            menu.move(-1 if press is Key.UP else 1)
        elif press is Key.TAB or (press is Key.ENTER and not self._suggestions.exact()):
            self._accept(menu)
            if press is Key.ENTER and menu.chosen.complete:
                self._submit()
        else:
            return False
        self._changed()
        return True

    def _accept(self, menu: Menu) -> None:
        """Put the chosen item where its beginning was typed. A folder lets the menu go on inside it."""
        document = self._buffer.document
        text, after = menu.chosen.text, document.text_after_cursor
        if text.endswith(" ") and after[:1].isspace():
            text = text[:-1]
        before = document.text[: menu.token.start] + text
        self._buffer.replace(before + after, len(before))
        self._suggestions.close()
        if text.endswith("/") and menu.token.kind == "path":
            self._suggestions.follow(before, after)

    def _found(self) -> None:
        """Paths came in; the only one for a word that Tab asked for is taken at once."""
        menu = self._suggestions.menu
        if menu and menu.token.kind == "word" and len(menu.items) == 1:
            self._accept(menu)
        self._on_change()

    def _press_draft(self, press: Press) -> None:
        before = self._buffer.document
        if isinstance(press, Text):
            self._keys.type(press.text)
        elif isinstance(press, Paste):
            self._keys.insert(self._image_at(press.text) or self._chips.fold(press.text))
        elif isinstance(press, Burst):
            self._fold_burst(press.text)
        elif isinstance(press, Chord):
            self._press_chord(press.raw)
        else:
            self._press_key(press)
        self._follow(before, typed=isinstance(press, Text) or press in _ERASES)
        self._changed()

    def _follow(self, before: Document, *, typed: bool) -> None:
        """Let the menu follow the draft; only typing opens one."""
        document = self._buffer.document
        if document == before:
            return
        if typed:
            self._suggestions.follow(document.text_before_cursor, document.text_after_cursor)
        else:
            self._suggestions.close()

    def _image_at(self, pasted: str) -> str:
        """The chip of the image whose path was pasted, "" when it is none or cannot be sent."""
        try:
            label = self._album.add_path(pasted, self._cwd())
        except ImageError as error:
            self._actions.append(Hint(str(error)))
            return ""
        return self._chips.fold_label(label) if label else ""

    def _fold_burst(self, text: str) -> None:
        document = self._buffer.document
        if document.text_before_cursor.endswith(text):
            kept = document.text_before_cursor[: -len(text)] + self._chips.fold(text)
            self._buffer.replace(kept + document.text_after_cursor, len(kept))

    def _press_chord(self, raw: str) -> None:
        if raw == _CTRL_B and self.empty:
            self._actions.append(Signal.BACKGROUND)
        elif raw == _CTRL_G:
            if not self._keys.escape():
                self._open_editor()
        elif raw in _CHORDS and not self._keys.commanding:
            self._actions.append(_CHORDS[raw])
        else:
            self._keys.chord(raw)

    def _press_key(self, key: Key) -> None:
        if key is Key.ENTER:
            self._enter()
        elif key is Key.NEWLINE:
            self._keys.insert("\n")
        elif key is Key.PASTE_ENDED:
            self._keys.insert("\n")
            self._actions.append(Hint(ENTER_SENDS))
        elif key is Key.TAB:
            self._tab()
        elif key is Key.SEARCH and not self._keys.commanding:
            self._search = HistorySearch(self._history)
        elif key is Key.END_OF_FILE and self.empty:
            self._actions.append(Signal.END_OF_FILE)
        else:
            self._keys.key(key)

    def _enter(self) -> None:
        """Send, or with a backslash at the end go on in a new line."""
        document = self._buffer.document
        text = document.text
        backslashes = len(text) - len(text.rstrip("\\"))
        if document.is_cursor_at_the_end and backslashes % 2:
            self._buffer.replace(text[:-1] + "\n", len(text))
        else:
            self._submit()

    def _submit(self) -> None:
        text = self.text
        self._leave_overlays()
        self._keys.start_over()
        self._actions.append(Submit(text) if text.strip() else Signal.EMPTY_ENTER)

    def _tab(self) -> None:
        """Open the chip at the cursor, or complete a path."""
        at = self._chip_at_cursor()
        document = self._buffer.document
        if at is None:
            self._suggestions.complete(document.text_before_cursor)
        if at is None or self._chips.is_label(document.text[at]):
            return
        text = self._chips.text_of(document.text[at])
        self._buffer.replace(document.text[:at] + text + document.text[at + 1 :], at)

    def _chip_at_cursor(self) -> int | None:
        """Where the chip is that the cursor stands right behind or on."""
        text, cursor = self._buffer.text, self._buffer.cursor_position
        return next((at for at in (cursor - 1, cursor) if at >= 0 and MARKS.fullmatch(text[at : at + 1])), None)

    def _open_editor(self) -> None:
        self._actions.append(OpenEditor(self.text))

    def _leave_overlays(self) -> None:
        self._search = None
        self._suggestions.close()


def _joined(presses: Iterable[Press]) -> Iterator[Press]:
    """The presses with neighbouring text put together, line ends of a burst being part of it."""
    pieces: list[str] = []
    for press in presses:
        if isinstance(press, Text) or press is Key.PASTED_NEWLINE:
            pieces.append(press.text if isinstance(press, Text) else "\n")
            continue
        if pieces:
            yield Text("".join(pieces))
            pieces.clear()
        yield press
    if pieces:
        yield Text("".join(pieces))

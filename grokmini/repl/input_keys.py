"""prompt-toolkit as the machine behind the draft: key bindings, kill ring, undo, Emacs and vi modes.

Its Application is built on a dummy output and never run; its renderer draws nothing. Keys are fed to its
processor, and the buffer is looked at afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prompt_toolkit.application import Application
from prompt_toolkit.application.current import set_app
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import emacs_mode, vi_navigation_mode
from prompt_toolkit.input import DummyInput
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.key_binding import KeyBindings, KeyPress, KeyPressEvent
from prompt_toolkit.key_binding.bindings.named_commands import get_by_name
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, Layout, Window
from prompt_toolkit.output import DummyOutput

from grokmini.repl.draft_buffer import DraftBuffer
from grokmini.repl.keys import Key

_RAW: dict[Key, str] = {
    Key.BACKSPACE: "\x7f",
    Key.KILL_LINE: "\x15",
    Key.KILL_WORD: "\x17",
    Key.KILL_PART: "\x1b\x7f",
    Key.UP: "\x1b[A",
    Key.DOWN: "\x1b[B",
    Key.SEARCH: "\x12",
    Key.END_OF_FILE: "\x04",
}
"""Keys that are the editor's, as a terminal sends them."""


class DraftKeys:
    """Applies keys to a buffer. `open_editor` is called for Ctrl-X Ctrl-E."""

    def __init__(self, buffer: DraftBuffer, *, vi: bool, open_editor: Callable[[], None]) -> None:
        self._buffer = buffer
        self._app: Application[None] = Application(
            layout=Layout(Window(BufferControl(buffer))),
            key_bindings=_bindings(open_editor),
            editing_mode=EditingMode.VI if vi else EditingMode.EMACS,
            input=DummyInput(),
            output=DummyOutput(),
        )
        self._app.timeoutlen = None  # type: ignore[assignment]  # documented to be possible; no timers then
        self._typing = False

    @property
    def inserting(self) -> bool:
        """Whether typed text goes into the draft as it is: no command is under way."""
        app = self._app
        processor = app.key_processor
        state = app.vi_state
        busy = processor.key_buffer or processor.arg or app.quoted_insert or self._buffer.selection_state
        if busy or app.emacs_state.is_recording or state.recording_register:
            return False
        if app.editing_mode is EditingMode.EMACS:
            return True
        return state.input_mode is InputMode.INSERT and not state.waiting_for_digraph

    @property
    def commanding(self) -> bool:
        """Whether vi mode waits for commands instead of text."""
        return (
            self._app.editing_mode is EditingMode.VI and self._app.vi_state.input_mode is not InputMode.INSERT
        )

    def type(self, text: str) -> None:
        """Typed text. What is typed without another key between is undone together.

        Line ends in it come from a burst of lines; they are never commands.
        """
        for at, character in enumerate(text):
            if self.inserting:
                self._type(text[at:])
                return
            if character == "\n":
                self.insert("\n")
            else:
                self._feed([KeyPress(character, character)])

    def _type(self, text: str) -> None:
        if not self._typing:
            self._buffer.save_to_undo_stack()
        self._buffer.insert_text(text)
        self._typing = True

    def insert(self, text: str) -> None:
        """Put text at the cursor or in the place of what is selected, as one step of undo."""
        self._buffer.save_to_undo_stack()
        if self._buffer.selection_state:
            self._buffer.cut_selection()
        self._buffer.insert_text(text)
        self._typing = False

    def key(self, key: Key) -> None:
        """A key that edits or moves; others do nothing."""
        if key in _RAW:
            self.chord(_RAW[key])

    def chord(self, raw: str) -> None:
        """A key as the terminal sends it; unknown ones do nothing."""
        self._feed(_presses(raw))

    def escape(self) -> bool:
        """Leave what is under way in the editor: a command, a selection, vi's insert mode. Whether there was."""
        processor = self._app.key_processor
        state = self._app.vi_state
        if self._app.editing_mode is EditingMode.EMACS:
            under_way = bool(processor.key_buffer or processor.arg or self._buffer.selection_state)
        else:
            resting = state.input_mode is InputMode.NAVIGATION and state.operator_func is None
            under_way = not resting or bool(processor.key_buffer or processor.arg)
            under_way = under_way or self._buffer.selection_state is not None
        if under_way:
            processor.reset()
            self._app.quoted_insert = False
            self._buffer.exit_selection()
            if self._app.editing_mode is EditingMode.VI:
                self._feed([KeyPress(Keys.Escape, "\x1b")])
        return under_way

    def start_over(self) -> None:
        """Take an empty draft; nothing is under way."""
        self._app.key_processor.reset()
        self._app.vi_state.reset()
        self._app.quoted_insert = False
        self._buffer.start_over()
        self._typing = False

    def _feed(self, presses: Sequence[KeyPress]) -> None:
        self._typing = False
        with set_app(self._app):
            for press in presses:
                before = self._buffer.cursor_position
                self._app.key_processor.feed(press)
                self._app.key_processor.process_keys()
                self._buffer.settle_cursor(before)


def _presses(raw: str) -> list[KeyPress]:
    """What the toolkit calls a sequence; empty for one it does not know."""
    keys = ANSI_SEQUENCES.get(raw)
    if isinstance(keys, Keys):
        return [KeyPress(keys, raw)]
    if isinstance(keys, tuple):
        return [KeyPress(key, raw if index == 0 else "") for index, key in enumerate(keys)]
    if raw[0] == "\x1b" and len(raw) == 2:
        return [KeyPress(Keys.Escape, "\x1b"), *(_presses(raw[1]) or [KeyPress(raw[1], raw[1])])]
    return []


def _bindings(open_editor: Callable[[], None]) -> KeyBindings:
    """What differs from the toolkit's own bindings."""
    bindings = KeyBindings()

    def edit(event: KeyPressEvent) -> None:
        open_editor()

    def redo(event: KeyPressEvent) -> None:
        event.current_buffer.redo()

    def nothing(event: KeyPressEvent) -> None:
        """An unknown Alt key would type its letter otherwise."""

    bindings.add("escape", Keys.Any, filter=emacs_mode)(nothing)
    bindings.add("c-x", "c-e", filter=emacs_mode)(edit)
    bindings.add("c-r", filter=vi_navigation_mode, save_before=lambda event: False)(redo)
    bindings.add("escape", "left", filter=emacs_mode)(get_by_name("backward-word"))
    bindings.add("escape", "right", filter=emacs_mode)(get_by_name("forward-word"))
    return bindings

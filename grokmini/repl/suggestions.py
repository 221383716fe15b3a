"""When a menu is open, and with what: it follows what is typed at the cursor."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grokmini.repl.commands.table import CommandRow
from grokmini.repl.menus import (
    Menu,
    MenuItem,
    Token,
    argument_at,
    command_items,
    name_items,
    path_item,
    token_at,
    word_at,
)
from grokmini.repl.path_match import letters_in_order
from grokmini.repl.path_search import Found, PathSearch


class Suggestions:
    """The menu of a draft. `on_found` is called when paths were found later than they were asked for; `arguments`
    gives the names that a command takes.
    """

    def __init__(
        self,
        commands: Sequence[CommandRow],
        paths: PathSearch,
        cwd: Callable[[], str],
        on_found: Callable[[], None],
        arguments: Callable[[str], Sequence[str]] = lambda command: (),
    ) -> None:
        self.menu: Menu | None = None
        self._commands = commands
        self._paths = paths
        self._cwd = cwd
        self._on_found = on_found
        self._arguments = arguments
        self._token: Token | None = None
        self._dismissed: Token | None = None

    def follow(self, before: str, after: str) -> None:
        """Text was typed or erased: open, change or close the menu for what stands around the cursor."""
        token = token_at(before, after)
        dismissed = self._dismissed
        if token is None or (dismissed and (token.kind, token.start) != (dismissed.kind, dismissed.start)):
            self._dismissed = None
        if token is None or self._dismissed:
            self.close()
        else:
            self._open(token)

    def complete(self, before: str) -> None:
        """Tab: open a menu for a path in a shell command or behind `/cd`, or for a name behind another command."""
        token = word_at(before)
        if token:
            self._open(token)
        elif argument := argument_at(before):
            command, self._token = argument
            self._show(name_items(self._token.typed, self._arguments(command)))

    def dismiss(self) -> None:
        """Close the menu, and leave it closed for as long as the same thing is typed."""
        self._dismissed = self._token
        self.close()

    def close(self) -> None:
        """No menu."""
        self.menu = self._token = None
        self._paths.forget()

    def exact(self) -> bool:
        """Whether a path is typed in full already."""
        menu = self.menu
        return menu is not None and any(item.label == menu.token.typed for item in menu.items)

    def _open(self, token: Token) -> None:
        former, self._token = self.menu, token
        if token.kind == "command":
            self._show(command_items(token.typed, self._commands))
            return
        self.menu = None
        if former and (former.token.kind, former.token.start) == (token.kind, token.start):
            matches = letters_in_order(token.typed.casefold()).match
            self._show([item for item in former.items if matches(item.label.casefold())])
        lead = "./" if token.kind == "word" and not token.typed.startswith(("/", "~", ".")) else ""
        self._paths.search(self._cwd(), lead + token.typed, lambda found: self._found(token, lead, found))

    def _found(self, token: Token, lead: str, found: Found) -> None:
        mention = token.kind == "path"
        self._show([path_item(path.removeprefix(lead), mention=mention) for path in found.paths])
        self._on_found()

    def _show(self, items: Sequence[MenuItem]) -> None:
        former, self.menu = self.menu, None
        if items and self._token:
            self.menu = Menu(self._token, items)
            if former:
                self.menu.keep(former)

"""The generated files of the repository. `python -m tests.house.shipped` writes them."""

from __future__ import annotations

from collections.abc import Callable

from grokmini.cli.man import command_page
from grokmini.cli.man_config import settings_page
from grokmini.cli.shells import SCRIPTS
from tests.house.sources import ROOT

SHIPPED: dict[str, Callable[[], str]] = {
    "man/grokmini.1": command_page,
    "man/grokmini-config.5": settings_page,
    "completions/grokmini.bash": SCRIPTS["bash"],
    "completions/_grokmini": SCRIPTS["zsh"],
    "completions/grokmini.fish": SCRIPTS["fish"],
}


def main() -> None:
    """Write every file anew."""
    for name, text in SHIPPED.items():
        (ROOT / name).parent.mkdir(exist_ok=True)
        (ROOT / name).write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()

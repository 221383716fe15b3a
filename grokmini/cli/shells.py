"""The shells whose completions we make, and how their scripts are known as ours.

What stands in the tables is written into the script, so that it completes without starting anything; sessions and
models are looked up by `grokmini completions words`, from the PATH and never from where a typed path points.
"""

from __future__ import annotations

from collections.abc import Callable

from grokmini.cli.shell_bash import bash
from grokmini.cli.shell_fish import fish
from grokmini.cli.shell_zsh import zsh

SCRIPTS: dict[str, Callable[[], str]] = {"bash": bash, "zsh": zsh, "fish": fish}

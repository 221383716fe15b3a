"""`grokmini sandbox trust NAME`: agree to a profile of the project's, as its file holds it now."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed

SPEC = CommandSpec(
    words="NAME",
    examples=("grokmini sandbox trust build",),
    about="Needed once for a project's profile that grants more than workspace, and again after it changed.",
)


def run(parsed: Parsed) -> int:
    """Remember the content's hash. Raises `UsageError`, `SandboxError` and `ConfigError`."""
    from grokmini.cli.options import Options
    from grokmini.cli.root import load_root
    from grokmini.cli.sandboxed import agree, profiles_of
    from grokmini.protocol.errors import UsageError

    root = load_root(Options())
    if len(parsed.words) != 1:
        raise UsageError("name one sandbox profile", "as in: grokmini sandbox trust build")
    if root.places is None:
        raise UsageError("there is no home to remember it in", "set HOME or GROKMINI_HOME")
    profile = profiles_of(root).find(parsed.words[0])
    if not profile.digest:
        raise UsageError(f"{profile.name} is no profile of the project's", "your own need no agreement")
    agree(root, profile)
    sys.stdout.write(f"agreed to {profile.name} as it is now\n")
    return 0

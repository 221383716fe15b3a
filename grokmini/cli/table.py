"""The subcommands: name -> the module that holds its `SPEC` and `run`, and what it is for.

A new one is a file in this package and a line here; the module is imported when the command is used.
"""

from __future__ import annotations

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("grokmini.cli.demo", "watch a session, no key"),
    "doctor": ("grokmini.cli.doctor", "test model and sandbox"),
    "models": ("grokmini.cli.models", "list the usable models"),
    "config": ("grokmini.cli.config", "settings and their origin"),
    "prompt": ("grokmini.cli.prompt", "what the model is told"),
    "sessions": ("grokmini.cli.sessions", "list, search, fork, delete"),
    "log": ("grokmini.cli.log", "print or follow a session"),
    "sandbox": ("grokmini.cli.sandbox", "explain, run in it, check"),
    "keys": ("grokmini.cli.keys", "what the terminal sends"),
    "completions": ("grokmini.cli.completions", "for bash, zsh and fish"),
}
"""A summary has 26 characters at most: the short help shows two columns. `CommandSpec.about` says more."""

LATER = frozenset(
    {
        "acp",
        "compaction",
        "mcp",
        "memory",
        "plugin",
        "policy",
        "rewind",
        "worktree",
    }
)
"""Commands of later versions. Typed first they are refused: whoever types one does not mean to ask a model."""

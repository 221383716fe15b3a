"""The subcommands: name -> the module that holds its `SPEC` and `run`, and what it is for.

A new one is a file in this package and a line here; the module is imported when the command is used.
"""

from __future__ import annotations

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("grokmini.cli.demo", "watch a whole session, without any key"),
    "doctor": ("grokmini.cli.doctor", "test key, endpoint, streaming, tool calls; say what to fix"),
    "models": ("grokmini.cli.models", "list the models that can be used"),
    "config": ("grokmini.cli.config", "show every setting and where it comes from"),
    "prompt": ("grokmini.cli.prompt", "show what the model is told, part by part"),
    "keys": ("grokmini.cli.keys", "show what this terminal sends for a key"),
    "completions": ("grokmini.cli.completions", "print completions for bash, zsh or fish"),
}

LATER = frozenset(
    {
        "acp",
        "compaction",
        "log",
        "mcp",
        "memory",
        "plugin",
        "policy",
        "rewind",
        "sandbox",
        "sessions",
        "worktree",
    }
)
"""Commands of later versions. Typed first they are refused: whoever types one does not mean to ask a model."""

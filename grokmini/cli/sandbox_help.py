"""What is said of sandbox profiles of one's own, in manual and help: every key of `sandbox.toml`, and an example."""

from __future__ import annotations

from typing import Final

ABOUT: Final = (
    "Profiles of your own are in sandbox.toml beside config.toml (~/.config/grokmini/sandbox.toml unless "
    "XDG_CONFIG_HOME or GROKMINI_HOME says otherwise), those of a project in .grokmini/sandbox.toml at the root of its "
    "repository. Each is a table [profiles.NAME] and is chosen like a built-in one: by --sandbox NAME, by "
    '/sandbox NAME, or by profile = "NAME" in [sandbox]. A file that cannot be understood stops the start: it never '
    "counts as empty.",
    "A project's file may add names. It cannot redefine one of yours or a built-in one. A profile of it that grants "
    "more than workspace (it writes elsewhere, sets variables, or extends devbox) is asked about at a terminal once, "
    "and again when it changes; elsewhere it is refused until you agree by `grokmini sandbox trust NAME`.",
    "A relative path is one of the folder that is worked in, ~/ one of your home; variables such as $HOME, ~NAME and a "
    "leading ! are refused, since they would not mean what a shell makes of them. Lists add to those of the profile "
    "that is extended.",
)

KEYS: Final = {
    "extends": "Where it begins: workspace unless set. A built-in one or another of these, but not off.",
    "read": "What else can be read; only profiles that extend strict keep anything from being read.",
    "write": "What else can be written, with all below. Never grokmini's own settings and sessions.",
    "deny": "What no command and no file tool can read or write, wherever it lies. * and ? stop at a slash, ** does "
    "not, [abc] is one of several characters; a name with a wildcard and without a slash is meant at any depth. A path "
    "that is not there is told; `grokmini sandbox explain` lists patterns that match nothing. On Linux it needs "
    "bubblewrap: without it the profile is refused.",
    "network": "Whether commands have the network. Blocked: they can make no socket but pairs among themselves.",
    "allow_unix": "With a blocked network: whether they can make local (Unix) sockets, as multiprocessing's managers "
    "and ssh-agent need. Those that other programs listen on at the start stay out of reach.",
    "env": "Variables that commands get besides.",
}
"""What each key does; the loader's table says what it takes."""

EXAMPLE: Final = """\
[profiles.careful]
extends = "workspace"
write = ["~/build"]
deny = ["*.pem", "secrets", "~/Documents"]
network = "blocked"
allow_unix = true
env = { CI = "1" }

[profiles.very-careful]
extends = "strict"
read = ["~/reference"]
"""
"""A whole file of one's own."""

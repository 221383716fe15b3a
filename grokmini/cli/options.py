"""The options of `grokmini` itself: one table, and the frozen record that a command line becomes."""

from __future__ import annotations

from typing import NamedTuple

from grokmini.cli.option import HELP, Option

OUTPUT_FORMATS = ("plain", "json", "stream-json", "streaming-json")

PERMISSION_MODES = ("ask", "accept-edits", "plan", "auto", "always-approve")
"""The modes in our spelling; `config.modes` knows every spelling that is accepted."""

SANDBOX_PROFILES = ("off", "workspace", "read-only", "strict", "devbox")
"""The built-in profiles; `sandbox.toml` may hold more."""

MAIN, SESSION, PERMISSION, HEADLESS, OTHER = (
    "Main",
    "Sessions",
    "Permissions",
    "Headless",
    "Other",
)

OPTIONS: tuple[Option, ...] = (
    Option(
        ("-p", "--print", "--single"),
        "print_mode",
        "answer PROMPT and exit; - reads it from stdin",
        HEADLESS,
        "maybe",
        "PROMPT",
        main=True,
    ),
    Option(
        ("-m", "--model"), "model", "the model to use", MAIN, "value", "NAME", main=True, completes="models"
    ),
    Option(("--cwd",), "cwd", "work in DIR", MAIN, "value", "DIR", main=True, completes="folders"),
    Option(("-c", "--continue"), "continue_last", "go on with this folder's last session", SESSION, main=True),
    Option(
        ("-r", "--resume"),
        "resume",
        "go on with a session, by id or title",
        SESSION,
        "maybe",
        "ID",
        main=True,
        completes="sessions",
        about="ID is a session's id, 8 or more of its first characters, or its title. Alone: choose from a list.",
    ),
    Option(
        ("--fork", "--fork-session"),
        "fork",
        "with -c or -r: go on in a copy",
        SESSION,
        about="The session itself stays as it is.",
    ),
    Option(
        ("--follow",),
        "follow",
        "watch a session that runs elsewhere",
        SESSION,
        "maybe",
        "ID",
        completes="live-sessions",
        about="Without ID the newest one that runs in this folder.",
    ),
    Option(("-s", "--session-id"), "session_id", "give the new session this UUID", SESSION, "value", "UUID"),
    Option(("--no-save",), "no_save", "keep nothing of the session on disk", SESSION),
    Option(
        ("--permission-mode",),
        "permission_mode",
        "ask, accept-edits, plan, auto, always-approve",
        PERMISSION,
        "value",
        "MODE",
        suggestions=PERMISSION_MODES,
        main=True,
    ),
    Option(
        ("--yolo", "--always-approve", "--dangerously-skip-permissions"),
        "permission_mode",
        "never ask (= always-approve)",
        PERMISSION,
        fixed="always-approve",
        main=True,
    ),
    Option(
        ("--allow", "--allowedTools"),
        "allow",
        "allow without asking, as 'Bash(npm test)'",
        PERMISSION,
        "repeat",
        "RULE",
        main=True,
    ),
    Option(("--deny",), "deny", "never allow; beats --allow", PERMISSION, "repeat", "RULE", main=True),
    Option(
        ("--sandbox",),
        "sandbox",
        "off, workspace, read-only, strict, devbox, own",
        PERMISSION,
        "value",
        "NAME",
        suggestions=SANDBOX_PROFILES,
        about="What commands and file tools may do; workspace where nothing is named. Own profiles are in "
        "sandbox.toml. A profile named so is kept whole or refused.",
    ),
    Option(
        ("--sandbox-best-effort",),
        "sandbox_best_effort",
        "keep a profile as far as this machine can",
        PERMISSION,
    ),
    Option(
        ("--output-format",),
        "output_format",
        "plain, json, stream-json, streaming-json",
        HEADLESS,
        "value",
        "FORMAT",
        choices=OUTPUT_FORMATS,
        main=True,
    ),
    Option(("--max-turns",), "max_turns", "stop after N model rounds", HEADLESS, "value", "N"),
    Option(("--tools",), "tools", "offer only these tools (ids, comma list)", HEADLESS, "value", "IDS"),
    Option(("--disallowed-tools",), "without_tools", "offer all tools but these", HEADLESS, "value", "IDS"),
    Option(("--plain",), "plain", "linear output: nothing is redrawn", OTHER),
    Option(("--debug",), "debug", "write a detailed log and say where", OTHER),
    Option(("-V", "--version", "-v"), "version", "show the version", OTHER, main=True),
    HELP._replace(help="this help; --help all shows every option", group=OTHER),
)


class Options(NamedTuple):
    """What the command line asks for. None and empty mean that nothing was said.

    `read_stdin` (the word `-`) joins all of stdin to the prompt. `permission_mode` is one of our own five; with
    `never_ask` (the spelling `dontAsk`) every question is answered No. `resume` "" is the bare `--resume`,
    `follow` "" the bare `--follow`; `fork` goes on in a copy of what `continue_last` or `resume` chooses.
    `tools` and `without_tools` are tool ids. `max_turns` counts model rounds, at least 1.
    """

    prompt: str | None = None
    read_stdin: bool = False
    print_mode: bool = False
    cwd: str | None = None
    model: str | None = None
    permission_mode: str | None = None
    never_ask: bool = False
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    without_tools: tuple[str, ...] = ()
    sandbox: str | None = None
    sandbox_best_effort: bool = False
    max_turns: int | None = None
    continue_last: bool = False
    resume: str | None = None
    fork: bool = False
    follow: str | None = None
    session_id: str | None = None
    save: bool = True
    output_format: str = "plain"
    plain: bool = False
    debug: bool = False
    version: bool = False
    help: str = ""

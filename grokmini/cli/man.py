"""The manual page grokmini(1), made from the tables of options and commands."""

from __future__ import annotations

from collections.abc import Iterable

from grokmini.cli.command_tree import CommandLine, command_lines
from grokmini.cli.help import GROUPS
from grokmini.cli.option import Option
from grokmini.cli.options import OPTIONS
from grokmini.cli.roff import Page, bold, escaped, italic

ENVIRONMENT = (
    (
        "XAI_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY, OPENROUTER_API_KEY",
        "Keys; the first that is set counts.",
    ),
    ("GROKMINI_BASE_URL, GROKMINI_MODEL, GROKMINI_API_KEY", "Any other OpenAI-compatible server."),
    ("GROKMINI_HOME", "An absolute path: settings, sessions and caches are kept below it and nowhere else."),
    ("XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME, XDG_DATA_HOME", "Where they are kept otherwise."),
    ("NO_COLOR, FORCE_COLOR, CLICOLOR", "Colours off or on."),
    ("ACCESSIBLE", "1: whole lines only, for screen readers."),
    ("VISUAL, EDITOR", "The editor that Ctrl-G opens."),
    ("PAGER", "What shows long texts; less -R unless set."),
)
FILES = (
    ("~/.config/grokmini/config.toml", "Settings, see grokmini-config(5)."),
    ("~/.local/state/grokmini/sessions/", "Sessions: JSON lines, one folder each, for your eyes only."),
    ("~/.local/state/grokmini/logs/", "Warnings, and with --debug all that was done; no keys."),
    ("~/.cache/grokmini/", "What can be made again."),
    ("AGENTS.md", "Instructions for the agent, from the repository's root down to the folder."),
    ("~/.config/grokmini/sandbox.toml", "Sandbox profiles of your own, see grokmini-config(5)."),
    (".grokmini/sandbox.toml", "A project's sandbox profiles; what grants more than workspace needs your yes."),
    (".grokmini/config.toml", "A project's own settings; they can only make things stricter."),
)
EXITS = (
    ("0", "Done; also when the model refused."),
    ("1", "An error: a session in use, a disk, a loop that was stopped."),
    ("2", "A wrong command line or setting."),
    ("3", "The limit of --max-turns was reached."),
    ("4", "A call was denied for want of permission."),
    ("5", "The key was refused."),
    ("6", "Rate limit or quota."),
    ("7", "The context is full."),
    ("8", "The server or the network failed."),
    ("9", "The sandbox or a policy refused, or commands could not be confined."),
    ("10", "The answer does not fit the schema."),
    ("129, 130, 143", "Ended by SIGHUP, SIGINT, SIGTERM."),
)
EXAMPLES = (
    "grokmini",
    "grokmini 'why does test_cart fail?'",
    "grokmini --continue",
    "grokmini -p 'fix the failing test' --permission-mode accept-edits",
    "git diff | grokmini -p 'review this' -",
    "grokmini log | less -R",
)


def command_page() -> str:
    """grokmini(1)."""
    page = Page("grokmini", 1, "an AI coding agent that lives in your scrollback")
    page.section("SYNOPSIS")
    page.paragraph(f"{bold('grokmini')} [{italic('OPTIONS')}] [{italic('PROMPT')}]")
    page.paragraph(f"{bold('grokmini')} {italic('COMMAND')} [{italic('OPTIONS')}] [{italic('WORDS')}]")
    page.section("DESCRIPTION")
    page.paragraph(
        escaped(
            "Works with a language model on the code in the current folder: it looks around, edits files, runs"
        ),
        escaped("commands and checks its work, and asks before it changes anything."),
        escaped("With -p it answers and exits, as a plain command with exit codes and JSON."),
        escaped("Every session is saved as it goes and can be taken up again."),
    )
    page.section("OPTIONS")
    for group in GROUPS:
        page.subsection(group)
        _options(page, (option for option in OPTIONS if option.group == group))
    page.section("COMMANDS")
    for line in command_lines():
        _command(page, line)
    _in_a_session(page)
    _not_kept(page)
    for title, rows in (("EXIT STATUS", EXITS), ("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)):
        page.section(title)
        for left, right in rows:
            page.term(bold(left), right)
    page.section("EXAMPLES")
    page.example(EXAMPLES)
    page.section("SEE ALSO")
    page.paragraph(f"{bold('grokmini-config')}(5), {bold('less')}(1)")
    return page.text()


def _options(page: Page, options: Iterable[Option]) -> None:
    for option in options:
        page.term(spelled(option), _meaning(option), option.about)


def _meaning(option: Option) -> str:
    """What the option does; where its help is the list of its words, or does not name them, they are listed."""
    listed = ", ".join(option.choices or option.suggestions)
    if listed and option.help.startswith(listed):
        return f"One of {option.help}."
    how = "One of" if option.choices else "Such as"
    return f"{_sentence(option.help)} {how} {listed}." if listed else _sentence(option.help)


def spelled(option: Option) -> str:
    """Every spelling of an option, and its word."""
    names = ", ".join(map(bold, option.names))
    word = f"[{italic(option.value)}]" if option.kind == "maybe" else italic(option.value)
    return f"{names} {word}" if option.value else names


def _command(page: Page, line: CommandLine) -> None:
    spec = line.spec
    words = f" {italic(spec.words)}" if spec.words else ""
    page.subsection(line.name)
    page.paragraph(f"{bold(f'grokmini {line.name}')} [{italic('OPTIONS')}]{words}")
    for part in filter(None, (spec.about or _sentence(line.summary)).split("\n")):
        page.paragraph(escaped(part))
    _options(page, spec.options)
    page.example(spec.examples)


def _in_a_session(page: Page) -> None:
    from grokmini.repl.commands.table import COMMANDS

    page.section("IN A SESSION")
    page.paragraph(
        escaped(
            "Enter sends, Ctrl-J makes a new line, @ finds files, ! runs a command of yours, Shift-Tab changes"
        ),
        escaped("what runs unasked, Ctrl-C stops the work, Ctrl-D leaves. Commands:"),
    )
    for row in COMMANDS:
        names = ", ".join(bold(f"/{name}") for name in (row.name, *row.aliases))
        page.term(f"{names} {italic(row.arguments)}" if row.arguments else names, _sentence(row.summary))


def _not_kept(page: Page) -> None:
    from grokmini.sandbox.cannot import LIMITS

    page.section("WHAT NO SANDBOX KEEPS")
    page.paragraph(escaped("`grokmini sandbox explain` says what of this is so under the profile at hand."))
    for limit in LIMITS:
        page.term(bold(limit.when), limit.text)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."

"""From words on the command line to values, by the option tables. Everything wrong is a `UsageError`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from grokmini.cli.option import HELP, CommandSpec, Option
from grokmini.cli.options import OPTIONS, Options
from grokmini.protocol.errors import UsageError
from grokmini.text.nearest import nearest


class _Parser(argparse.ArgumentParser):
    """argparse that raises instead of printing and leaving."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message[:1].lower() + message[1:], f"{self.prog} --help shows what there is")


class Parsed:
    """The values of one command line by the `dest` of their options, and its free words, `guarded` of them behind
    a `--`.
    """

    def __init__(self, values: dict[str, Any], words: list[str], guarded: int = 0) -> None:
        self._values = values
        self.words = words
        self.guarded = guarded

    def flag(self, dest: str) -> bool:
        """Whether a flag was given."""
        return bool(self._values[dest])

    def text(self, dest: str) -> str | None:
        """The word of an option; None when it was not given, "" when given without a word."""
        value = self._values[dest]
        return None if value is None else str(value)

    def many(self, dest: str) -> tuple[str, ...]:
        """The words of a repeatable option."""
        return tuple(self._values[dest] or ())


def parse_words(prog: str, options: Iterable[Option], argv: Sequence[str], *, runs: bool = False) -> Parsed:
    """Read a command line. What follows `--` is free words only. Raises `UsageError`.

    With `runs` the first free word begins a command line of its own: whatever follows belongs to it.
    """
    table = tuple(options)
    parser = _Parser(prog=prog, add_help=False, allow_abbrev=False)
    for option in table:
        _add(parser, option)
    parser.add_argument("words", nargs="*")
    words = list(argv)
    rest: list[str] = []
    cut = _own_words(table, words) if runs else [*words, "--"].index("--")
    if cut < len(words):
        words, rest = words[:cut], words[cut + (words[cut] == "--") :]
    found, left = parser.parse_known_args(words)
    for word in left:
        if word.startswith("-") and word != "-":
            raise _unknown(prog, word.partition("=")[0], table)
    values = vars(found)
    return Parsed(values, [*values.pop("words"), *left, *rest], len(rest))


def _own_words(options: Iterable[Option], words: Sequence[str]) -> int:
    """How many words come before the command line that is to be run, or before the `--` in front of it."""
    taking = {name for option in options if option.kind in ("value", "repeat") for name in option.names}
    count = 0
    while count < len(words) and words[count].startswith("-") and words[count] != "--":
        count += 2 if words[count] in taking else 1
    return count


def parse_subcommand(name: str, spec: CommandSpec, argv: Sequence[str]) -> Parsed:
    """The command line of a subcommand; its free words are checked against the ones it takes.

    Of a command that has commands, the words that are none of them are told so.
    """
    prog = f"grokmini {name}"
    parsed = parse_words(prog, (*spec.options, HELP), argv, runs=spec.runs)
    if parsed.words and spec.commands and not spec.words:
        raise _no_command(prog, parsed.words[0], spec)
    if parsed.words and not spec.words:
        raise UsageError(
            f"{prog} takes no words, but got {parsed.words[0]!r}", f"{prog} --help shows what there is"
        )
    for word in parsed.words:
        if spec.choices and word not in spec.choices:
            raise UsageError(f"{prog} does not know {word!r}", "it takes: " + ", ".join(spec.choices))
    return parsed


def _no_command(prog: str, word: str, spec: CommandSpec) -> UsageError:
    known = [row.name for row in spec.commands]
    near = nearest(word, known, 1)
    hint = f"did you mean {prog} {near[0]}?" if near else "it knows: " + ", ".join(known)
    return UsageError(f"{prog} has no command {word!r}", hint)


def parse_options(argv: Sequence[str]) -> Options:
    """The command line of `grokmini` itself. Raises `UsageError`."""
    parsed = parse_words("grokmini", OPTIONS, argv)
    if parsed.flag("help"):
        topic = " ".join(parsed.words)
        if topic not in ("", "all"):
            raise UsageError(f"there is no help on {topic!r}", "grokmini --help, grokmini --help all")
        return Options(help=topic or "short")
    unguarded = parsed.words[: len(parsed.words) - parsed.guarded]
    if unguarded and parsed.text("print_mode") is None:
        from grokmini.cli.first_word import check_first_word  # most command lines have no free word

        check_first_word(unguarded)
    words = [_text(word) for word in (parsed.text("print_mode"), *parsed.words) if word]
    mode, never_ask = _mode(parsed.text("permission_mode"))
    options = Options(
        prompt=_prompt(words),
        read_stdin="-" in words,
        print_mode=parsed.text("print_mode") is not None,
        cwd=parsed.text("cwd"),
        model=_maybe_text(parsed.text("model")),
        permission_mode=mode,
        never_ask=never_ask,
        allow=parsed.many("allow"),
        deny=parsed.many("deny"),
        tools=_comma_list(parsed.text("tools")),
        without_tools=_comma_list(parsed.text("without_tools")),
        sandbox=_maybe_text(parsed.text("sandbox")),
        sandbox_best_effort=parsed.flag("sandbox_best_effort"),
        max_turns=at_least_one("--max-turns", parsed.text("max_turns")),
        continue_last=parsed.flag("continue_last"),
        resume=_maybe_text(parsed.text("resume")),
        fork=parsed.flag("fork"),
        follow=_maybe_text(parsed.text("follow")),
        session_id=_session_id(parsed.text("session_id")),
        save=not parsed.flag("no_save"),
        output_format=parsed.text("output_format") or "plain",
        plain=parsed.flag("plain"),
        debug=parsed.flag("debug"),
        version=parsed.flag("version"),
    )
    _check_together(options)
    return options


def _add(parser: argparse.ArgumentParser, option: Option) -> None:
    choices = option.choices or None
    if option.kind == "flag":
        default = False if option.fixed is True else None
        parser.add_argument(
            *option.names, dest=option.dest, action="store_const", const=option.fixed, default=default
        )
    elif option.kind == "repeat":
        parser.add_argument(*option.names, dest=option.dest, action="append", choices=choices)
    elif option.kind == "maybe":
        parser.add_argument(*option.names, dest=option.dest, nargs="?", const="", choices=choices)
    else:
        parser.add_argument(*option.names, dest=option.dest, choices=choices)


def _unknown(prog: str, name: str, options: tuple[Option, ...]) -> UsageError:
    near = nearest(name, [known for option in options for known in option.names], 1)
    hint = f"did you mean {near[0]}?" if near else f"{prog} --help shows what there is"
    return UsageError(f"unknown option {name}", hint)


def _prompt(words: list[str]) -> str | None:
    """The one prompt, given to `-p` or as the free word; `-` stands for stdin and is none."""
    prompts = [word for word in words if word != "-"]
    if len(prompts) > 1:
        raise UsageError("more than one word for a prompt: quote the prompt", f"grokmini '{' '.join(prompts)}'")
    return prompts[0] if prompts else None


def _mode(text: str | None) -> tuple[str | None, bool]:
    """The mode in our spelling, and whether it answers every question with No."""
    if text is None:
        return None, False
    from grokmini.config.modes import parse_mode  # loads the protocol types: not needed for --help

    choice = parse_mode(text)
    return choice.mode.value, choice.never_ask


def _text(word: str) -> str:
    """A word that is no path: bytes that are no UTF-8 become U+FFFD. (A path keeps its true bytes.)"""
    if word.isascii():
        return word
    from grokmini.protocol.codec import join_surrogates  # loads the protocol types: not needed for --help

    return join_surrogates(word)


def _maybe_text(word: str | None) -> str | None:
    return None if word is None else _text(word)


def _session_id(text: str | None) -> str | None:
    if text is None:
        return None
    from grokmini.protocol.ids import is_session_id

    if not is_session_id(text):
        raise UsageError(
            f"--session-id needs a UUID in small letters, not {text!r}", "leave it out to get one made"
        )
    return text


def _comma_list(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def at_least_one(name: str, text: str | None) -> int | None:
    """The number behind an option; None when it was not given. Raises `UsageError`."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise UsageError(f"{name} needs a whole number of at least 1, not {text!r}", f"as in {name} 20")
    return int(text)


def _instead(ways: list[str]) -> str:
    if ways == ["--continue", "--follow"]:
        return "--follow alone watches this folder's session that runs, or its latest"
    return "--follow=ID watches that session" if ways == ["--resume", "--follow"] else "give one of them"


def _check_together(options: Options) -> None:
    """Options that exclude each other."""
    ways = [
        name
        for name, given in (
            ("--continue", options.continue_last),
            ("--resume", options.resume is not None),
            ("--follow", options.follow is not None),
            ("--session-id", options.session_id is not None),
        )
        if given
    ]
    if len(ways) > 1:
        raise UsageError(f"{ways[0]} and {ways[1]} exclude each other", _instead(ways))
    if options.fork and ways[:1] not in (["--continue"], ["--resume"]):
        raise UsageError("--fork needs a session to copy", "give --continue or --resume=ID with it")
    if options.follow is not None and (options.print_mode or options.read_stdin or options.prompt):
        raise UsageError("--follow only watches: it takes no prompt", "for scripts: grokmini log --follow")
    if not options.save and len(ways) == 1 and ways[0] != "--session-id":
        raise UsageError(f"--no-save and {ways[0]} exclude each other", "give one of them")

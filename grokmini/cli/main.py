"""The entry point. `--version` is answered before anything is imported; the rest comes when it is needed."""

import os
import sys


def main(argv: list[str] | None = None) -> int:
    """Run the program. Returns the exit code (decisions.md, "Exit codes"); no exception leaves it."""
    _open_missing_streams()
    words = sys.argv[1:] if argv is None else argv
    if words[:1] in (["--version"], ["-V"], ["-v"]):
        return _print_version()
    if sys.platform == "win32":
        sys.stderr.write("grokmini: native Windows is not supported; run it inside WSL (wsl --install)\n")
        return 1
    try:
        return _run(words)
    except KeyboardInterrupt:
        return 130


def _open_missing_streams() -> None:
    """Put the null device where standard input, output or error was closed.

    Else the next file or socket would get that number, and what is meant for the reader would end up in it.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free number: this one
        if getattr(sys, name) is None:
            mode = "r" if descriptor == 0 else "w"
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8", errors="replace", closefd=False))


def _print_version() -> int:
    from grokmini import __version__

    try:
        sys.stdout.write(f"grokmini {__version__}\n")
        sys.stdout.flush()
    except OSError as error:
        return _cannot_write(error)
    return 0


def _run(words: list[str]) -> int:
    from grokmini.cli.report import complain
    from grokmini.protocol.errors import GrokminiError, exit_code_of

    try:
        code = _dispatch(words)
    except GrokminiError as error:
        complain(error)
        code = exit_code_of(error)
    except BrokenPipeError as error:
        return _cannot_write(error)
    except Exception as error:  # noqa: BLE001 - the outermost frame of the program
        from grokmini.cli.faults import fault

        complain(fault(error))
        code = 1
    try:
        sys.stdout.flush()
    except OSError as error:
        return _cannot_write(error)
    return code


def _dispatch(words: list[str]) -> int:
    if words[:2] == ["completions", "words"] and words[2:3] not in (["-h"], ["--help"]):
        # A shell asks while somebody waits at the Tab key: nothing else is loaded.
        from grokmini.cli.completion_words import answer

        return answer(words[2:])
    from grokmini.cli.table import COMMANDS, LATER

    if words and words[0] in COMMANDS:
        return _subcommand(words[0], words[1:])
    if words and words[0] in LATER:
        from grokmini.protocol.errors import UsageError

        raise UsageError(
            f"this version has no command {words[0]!r}",
            f"as a prompt: grokmini -- {words[0]}; commands: --help",
        )
    from grokmini.cli.parse import parse_options

    options = parse_options(words)
    if options.version:
        return _print_version()
    if options.help:
        from grokmini.cli.help import full_help, short_help

        sys.stdout.write(full_help() if options.help == "all" else short_help())
        return 0
    from grokmini.cli.front import run_front

    return run_front(options)


def _subcommand(name: str, words: list[str]) -> int:
    from importlib import import_module

    from grokmini.cli.help import command_help
    from grokmini.cli.parse import parse_subcommand
    from grokmini.cli.table import COMMANDS

    path, summary = COMMANDS[name]
    module = import_module(path)
    for row in module.SPEC.commands:
        if words[:1] == [row.name]:
            name, summary, words, module = (
                f"{name} {row.name}",
                row.summary,
                words[1:],
                import_module(row.module),
            )
            break
    parsed = parse_subcommand(name, module.SPEC, words)
    if parsed.flag("help"):
        sys.stdout.write(command_help(name, summary, module.SPEC))
        return 0
    code: int = module.run(parsed)
    return code


def _cannot_write(error: OSError) -> int:
    """Standard output takes no more. A reader who has left (`| head`) is no error, a full disk is."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still in the buffer goes there
    if isinstance(error, BrokenPipeError):
        return 0
    sys.stderr.write(f"grokmini: standard output cannot be written: {error.strerror}\n")
    sys.stderr.write("  make room there or send it elsewhere\n")
    return 1

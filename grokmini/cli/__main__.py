"""The entry point. `--version` is answered before anything is imported; the rest comes when it is needed."""

import sys


def main(argv: list[str] | None = None) -> int:
    """Run the program. Returns the exit code (decisions.md, "Exit codes")."""
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


def _print_version() -> int:
    from grokmini import __version__

    sys.stdout.write(f"grokmini {__version__}\n")
    return 0


def _run(words: list[str]) -> int:
    from grokmini.cli.report import complain
    from grokmini.protocol.errors import GrokminiError, exit_code_of

    try:
        return _dispatch(words)
    except BrokenPipeError:
        return _reader_is_gone()
    except GrokminiError as error:
        complain(error)
        return exit_code_of(error)


def _dispatch(words: list[str]) -> int:
    from grokmini.cli.table import COMMANDS

    if words and words[0] in COMMANDS:
        return _subcommand(words[0], words[1:])
    from grokmini.cli.parse import parse_options

    options = parse_options(words)
    if options.version:
        return _print_version()
    if options.help:
        from grokmini.cli.help import full_help, short_help

        sys.stdout.write(full_help() if options.help == "all" else short_help())
        sys.stdout.flush()
        return 0
    from grokmini.cli.front import run_front

    return run_front(options)


def _subcommand(name: str, words: list[str]) -> int:
    from importlib import import_module

    from grokmini.cli.help import command_help
    from grokmini.cli.parse import parse_subcommand
    from grokmini.cli.table import COMMANDS

    module = import_module(COMMANDS[name][0])
    parsed = parse_subcommand(name, module.SPEC, words)
    if parsed.flag("help"):
        sys.stdout.write(command_help(name, module.SPEC))
        sys.stdout.flush()
        return 0
    code: int = module.run(parsed)
    sys.stdout.flush()
    return code


def _reader_is_gone() -> int:
    """Whoever read our output has left (`| head`): nothing more to say, and no error."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0

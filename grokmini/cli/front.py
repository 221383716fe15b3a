"""Which front end a command line gets: headless or the REPL."""

from __future__ import annotations

import os
import sys

from grokmini.cli.options import Options
from grokmini.cli.report import say
from grokmini.protocol.errors import UsageError


def run_front(options: Options) -> int:
    """Run it. Returns the exit code; raises `GrokminiError`."""
    if options.resume == "":
        from grokmini.cli.pick_session import pick_session

        chosen = pick_session()
        if chosen is None:
            return 0
        options = options._replace(resume=chosen)
    _start_log(options)
    if is_headless(options, stdin_is_terminal=_is_terminal()):
        if options.follow is not None:
            raise UsageError("--follow needs a terminal", "in a pipe: grokmini log --follow")
        from grokmini.cli.headless_run import run_headless

        return run_headless(options)
    if sys.stderr is not None and sys.stderr.isatty() and (options.continue_last or options.resume):
        from grokmini.cli.busy_session import settle_busy

        options = settle_busy(options)
    from grokmini.cli.repl_run import run_repl

    return run_repl(without_headless_options(options))


def _start_log(options: Options) -> None:
    from grokmini.cli.logs import start_logging
    from grokmini.config.paths import find_places

    places = find_places(os.environ)
    path = start_logging(places.state if places else None, debug=options.debug)
    if options.debug:
        say(f"log: {path}" if path else "! no log: there is no home folder to keep it in")


def is_headless(options: Options, *, stdin_is_terminal: bool) -> bool:
    """`-p`, `-`, or something other than a person at stdin."""
    return options.print_mode or options.read_stdin or not stdin_is_terminal


def without_headless_options(options: Options) -> Options:
    """The options without those that only `-p` knows; each one left out is said."""
    none = Options()
    given = {
        "--output-format": options.output_format != none.output_format,
        "--max-turns": options.max_turns is not None,
        "--tools": bool(options.tools),
        "--disallowed-tools": bool(options.without_tools),
    }
    for name, is_given in given.items():
        if is_given:
            say(f"! {name} works with -p only and is ignored")
    return options._replace(output_format=none.output_format, max_turns=None, tools=(), without_tools=())


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()

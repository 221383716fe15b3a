"""A session that is open elsewhere, at the start and with a person there: watch it, copy it, or wait for it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Literal

from grokmini.cli.find_session import find_session, latest_session
from grokmini.cli.folder import working_folder
from grokmini.cli.options import Options
from grokmini.cli.report import say
from grokmini.config.paths import find_places
from grokmini.store.driver_lock import SessionBusyError, holder
from grokmini.store.sessions import SessionInfo, SessionStore
from grokmini.text.sanitise import sanitise
from grokmini.text.title import quoted

Choice = Literal["follow", "fork", "wait"]

CHOICES: dict[Choice, str] = {
    "follow": "watch here what happens there",
    "fork": "go on in a copy, as it is now",
    "wait": "until it is free",
}
ASK_AGAIN_SECONDS = 0.2


def settle_busy(options: Options) -> Options:
    """The options, with what the person chose if the session that they ask for is open elsewhere.

    Waits for it when that is the choice. Raises `SessionBusyError` when none is made, `SessionError` when there is
    no such session.
    """
    places = find_places(os.environ)
    if not (options.continue_last or options.resume) or options.fork or places is None:
        return options
    store, cwd = SessionStore(places.state), working_folder(options.cwd)
    info = find_session(store, options.resume, cwd) if options.resume else latest_session(store, cwd)
    other = holder(info.directory)
    if other is None:
        return options
    choice = ask(info, other, sys.stdin.readline)
    named = options._replace(continue_last=False, resume=info.session_id)
    match choice:
        case "fork":
            return named._replace(fork=True)
        case "follow":
            if options.prompt:
                say("! watching sends nothing: the prompt is left out")
            return named._replace(resume=None, follow=info.session_id, prompt=None)
        case "wait":
            say(f"waiting for {other}; Ctrl-C leaves")
            while holder(info.directory) is not None:
                time.sleep(ASK_AGAIN_SECONDS)
            return named


def ask(info: SessionInfo, other: str, read_line: Callable[[], str]) -> Choice:
    """Put the question until it is answered by a number or a word. Raises `SessionBusyError` for an empty line."""
    title = sanitise(info.summary.title, newlines=False) or info.session_id
    say(f"{quoted(title)} is open in {other}.")
    names = list(CHOICES)
    for number, name in enumerate(names, 1):
        say(f"  {number} {name}: {CHOICES[name]}")
    while True:
        sys.stderr.write("number, or Enter to leave: ")
        sys.stderr.flush()
        typed = read_line().strip().casefold()
        if not typed:
            raise SessionBusyError(info.session_id, other)
        for number, name in enumerate(names, 1):
            if typed == str(number) or (len(typed) > 1 and name.startswith(typed)):
                return name
        say(f"a number from 1 to {len(names)}")

"""The keeper: a tiny process that outlives the agent and puts right what its last commands did to git folders.

A command can leave a file in one that leads git to other settings than the protected ones; the agent takes it away
when the command ends. A shell waits for the end of the agent, however that comes about, and does so then: commands
are being killed meanwhile, so it looks several times.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection, Sequence
from typing import Final

from grokmini.sandbox.outliving import python_words, start_outliving
from grokmini.sandbox.redirections import remove_redirections

PAUSE: Final = 0.04
"""Seconds between two looks; commands are gone 0.03 s after the agent."""
QUIET: Final = 3
"""So many looks in a row have to find nothing: then it ends, well within the second after which nothing is left."""
MOST: Final = 15
_WAIT: Final = 'read -r line; exec "$@"'


class Keeper:
    """The agent's side: it lives as long as the commands that can write these folders. Raises `OSError`."""

    def __init__(self, folders: Sequence[str], spared: Collection[str]) -> None:
        python = python_words("grokmini.sandbox.keeper")
        self._process, self._pipe = start_outliving(
            ("/bin/sh", "-c", _WAIT, "sh", *python, str(len(folders)), *folders, *spared)
        )

    def close(self) -> None:
        """It is not needed any more: what there was to do has been done."""
        self._process.kill()
        self._process.wait()
        os.close(self._pipe)


def main() -> None:
    """The agent is gone. Arguments: where the code is, how many folders, these, and the files to leave alone."""
    count = int(sys.argv[2])
    folders, spared = sys.argv[3 : 3 + count], sys.argv[3 + count :]
    quiet = 0
    for _ in range(MOST):
        quiet = 0 if remove_redirections(folders, spared) else quiet + 1
        if quiet == QUIET:
            break
        time.sleep(PAUSE)

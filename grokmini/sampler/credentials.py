"""Keys: where they come from, and getting them only when a request is made.

A key is never part of a model's spec, a repr, a log line or an error. Errors name its source.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence

from grokmini.protocol.errors import SampleError, SampleErrorKind
from grokmini.text.quiet import quiet_environment

COMMAND_SECONDS = 30.0


class Credential:
    """One way to a key: a variable of the environment, a literal from a config file, or a command.

    `source` names it for people (`XAI_API_KEY`, `api_key of [model.work]`). Without any of the three there is
    no key, which is right for local servers.
    """

    def __init__(
        self,
        source: str = "",
        *,
        variables: Sequence[str] = (),
        literal: str = "",
        command: str = "",
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.source = source
        self._variables = tuple(variables)
        self._literal = literal
        self._command = command
        self._env: Mapping[str, str] = {} if env is None else env
        self._made = ""

    def __repr__(self) -> str:
        return f"Credential({self.source!r})"

    @property
    def can_refresh(self) -> bool:
        """Whether asking again may give another key."""
        return bool(self._command)

    async def key(self, *, fresh: bool = False) -> str:
        """The key, or `` when none is needed; `fresh` runs the command again.

        Raises `SampleError` of kind `auth` when there should be one and is none, or it cannot be a key.
        """
        if self._command:
            if fresh or not self._made:
                self._made = await self._run()
            return self._checked(self._made)
        if self._literal:
            return self._checked(self._literal)
        for name in self._variables:
            if self._env.get(name, "").strip():
                return self._checked(self._env[name])
        if self._variables:
            raise SampleError(
                SampleErrorKind.AUTH, f"there is no key: {self.source} is not set", f"Set {self.source}."
            )
        return ""

    def _checked(self, key: str) -> str:
        key = key.strip()
        if not key.isascii() or not key.isprintable():
            raise SampleError(
                SampleErrorKind.AUTH,
                f"the key from {self.source} holds characters that no key has",
                f"Copy it again into {self.source}: one line, no quotes.",
            )
        return key

    async def _run(self) -> str:
        process = await asyncio.create_subprocess_shell(
            self._command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=quiet_environment(self._env),  # not the neutral one: a token may be what it gets the key with
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(COMMAND_SECONDS):
                output, _ = await process.communicate()
        except TimeoutError as error:
            raise self._command_failed(f"did not end within {COMMAND_SECONDS:g} s") from error
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
        if process.returncode:
            raise self._command_failed(f"ended with code {process.returncode}")
        if not output.strip():
            raise self._command_failed("printed nothing")
        return output.decode("utf-8", "replace")

    def _command_failed(self, what: str) -> SampleError:
        return SampleError(
            SampleErrorKind.AUTH,
            f"the command that gives the key ({self.source}) {what}",
            "Run it in a shell to see why; it has to print the key and nothing else.",
        )


NO_KEY = Credential()
"""For servers that want none."""

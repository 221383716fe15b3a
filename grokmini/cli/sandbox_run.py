"""`grokmini sandbox run [--profile P] -- CMD`: run one command as the agent's would be."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec, Option
from grokmini.cli.report import tell
from grokmini.cli.sandbox_explain import PROFILE

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed
    from grokmini.cli.root import Root
    from grokmini.sandbox.policy import Policy
    from grokmini.sandbox.runner import Enforcement

_LOOKED_AT = 65_536
"""Bytes at the end of the output that are looked through for what the sandbox stopped."""

SPEC = CommandSpec(
    options=(
        PROFILE,
        Option(
            ("--best-effort", "--sandbox-best-effort"),
            "best_effort",
            "keep it as far as this machine can",
        ),
    ),
    words="[--] CMD…",
    runs=True,
    examples=(
        "grokmini sandbox run -- make test",
        "grokmini sandbox run --profile read-only -- sh -c 'id; pwd'",
    ),
    about="Runs one command the way the agent's commands run: no terminal, no input, a neutral environment, "
    "nothing left at its end. Its exit code is the command's; 128 and the number for a signal.",
)


def run(parsed: Parsed) -> int:
    """Run it. Raises `UsageError` and `SandboxError`."""
    import asyncio

    from grokmini.cli.options import Options
    from grokmini.cli.root import load_root
    from grokmini.protocol.errors import UsageError

    if not parsed.words:
        raise UsageError("no command to run", "as in: grokmini sandbox run -- make test")
    options = Options(sandbox=parsed.text("profile"), sandbox_best_effort=parsed.flag("best_effort"))
    return asyncio.run(_run(load_root(options), tuple(parsed.words)))


async def _run(root: Root, argv: tuple[str, ...]) -> int:
    import asyncio

    from grokmini.cli.sandboxed import choose, confine
    from grokmini.protocol.errors import UsageError
    from grokmini.sandbox.environment import neutral_environment
    from grokmini.sandbox.runner import CommandSpec as Command

    choice = choose(root)
    confinement = await asyncio.to_thread(confine, root, choice)
    runner = confinement.runner
    try:
        env = neutral_environment({**root.env, **confinement.env}, root.settings.shell.keep_env)
        before = await runner.prepare()
        _tell(choice.profile.name, before)
        try:
            handle = await runner.start(Command(argv, Path(root.cwd), env))
        except OSError as error:
            raise UsageError(f"{argv[0]} cannot be started: {error.strerror}", _advice(argv)) from error
        write = _to_terminal() if sys.stdout.isatty() else sys.stdout.buffer.write
        end = b""
        async for piece in handle.output():
            write(piece)
            sys.stdout.flush()
            end = (end + piece)[-_LOOKED_AT:]
        status = await handle.wait()
        await _tell_stopped(end, runner.policy, argv, root.cwd, status.code)
        for notice in runner.enforcement.notices:
            if notice not in before.notices:
                tell(f"! {notice}")
    finally:
        await runner.close()
    if status.lost:
        tell(f"! {argv[0]} was killed, since what watches over it died; how far it got is not known")
    return status.code if status.code is not None else 128 + (status.signal or 0)


def _tell(profile: str, now: Enforcement) -> None:
    """Say what this machine does not keep of what the profile promises."""
    from grokmini.cli.sandbox_notice import losses_text
    from grokmini.sandbox.degraded import breaks_promises

    if breaks_promises(now.lost):
        tell(f"! {losses_text(profile, now)}")
    for notice in now.notices:
        tell(f"! {notice}")


async def _tell_stopped(
    output: bytes, policy: Policy | None, argv: tuple[str, ...], cwd: Path, code: int | None
) -> None:
    """Say what the sandbox stopped, going by what was printed."""
    from grokmini.tools.leaving import what_was_stopped

    command = argv[2] if len(argv) > 2 and argv[1] == "-c" else shlex.join(argv)
    stopped = await what_was_stopped(output.decode(errors="replace"), policy, command, (cwd,), code)
    if stopped.sentence:
        tell(f"! The sandbox stopped {stopped.sentence}")
    else:
        for note in stopped.notes:
            tell(f"! {note}")


def _to_terminal() -> Callable[[bytes], object]:
    """What writes pieces of output so that they cannot drive the terminal."""
    from grokmini.tools.command_output import PROGRESS_LIMIT, ProgressText

    text = ProgressText()

    def write(piece: bytes) -> None:
        for begin in range(0, len(piece), PROGRESS_LIMIT):
            text.feed(piece[begin : begin + PROGRESS_LIMIT])
            sys.stdout.write(text.take())

    return write


def _advice(argv: tuple[str, ...]) -> str:
    if len(argv) == 1 and " " in argv[0]:
        return f"a line for the shell is run as: grokmini sandbox run -- sh -c {shlex.quote(argv[0])}"
    return "check its name"

"""`grokmini doctor`: does the model answer, stream and call tools, does the sandbox hold, and what to fix if not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec, Option

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed
    from grokmini.cli.root import Root
    from grokmini.sampler.check import Check

SPEC = CommandSpec(
    options=(
        Option(
            ("-m", "--model"),
            "model",
            "the model to test, else the one in use",
            kind="value",
            value="NAME",
        ),
    ),
    examples=("grokmini doctor", "grokmini doctor --model openai"),
    about="Tests key, endpoint, streaming and tool calls of the model, then each layer of the sandbox and the whole of "
    "it, and says what to fix. Exit 0 when all is well, 5 when the key is the trouble, 9 when the sandbox is, else 1.",
)

_MARKS = {"ok": "ok", "warning": "! ", "failed": "x ", "skipped": "--"}


def run(parsed: Parsed) -> int:
    """Test model and sandbox step by step; the exit code is in `SPEC`.

    A model that calls no tools can talk but not work: that is a failure too. A sandbox that this machine keeps in
    part only is none, as long as nobody asked for the whole.
    """
    import asyncio

    return asyncio.run(_examine(parsed.text("model")))


async def _examine(name: str | None) -> int:
    from grokmini.cli.choose_model import choose_model
    from grokmini.cli.options import Options
    from grokmini.cli.root import load_root
    from grokmini.protocol.errors import ExitCode
    from grokmini.sampler.check import check_model

    root = load_root(Options(model=name))
    for warning in root.warnings:
        _print(f"!   {warning}")
    spec = await choose_model(root)
    _print(f"{spec.name} at {spec.base_url or 'no server'}, API {spec.api_backend}")
    failed: list[str] = []
    async for check in check_model(spec, root.catalogue.credential(spec)):
        for line in lines(check):
            _print(line)
        if check.verdict == "failed" or (check.step == "tool_call" and check.verdict == "warning"):
            failed.append(check.step)
    held = await _examine_sandbox(root)
    if not failed:
        return ExitCode.OK if held else ExitCode.SANDBOX
    return ExitCode.AUTH if failed == ["key"] else ExitCode.ERROR


async def _examine_sandbox(root: Root) -> bool:
    """Say which layers work, and what the profile in force really keeps. Whether commands can run under it."""
    import asyncio

    from grokmini.cli.sandboxed import choose, confine
    from grokmini.protocol.errors import SandboxError
    from grokmini.sandbox.layers import layers
    from grokmini.sandbox.probe import probe

    for name, works, detail in layers(await asyncio.to_thread(probe)):
        _print(f"{_MARKS['ok' if works else 'warning']}  {name:<19} {detail}")
    try:
        runner = (await asyncio.to_thread(confine, root, choose(root))).runner
        try:
            proved = await runner.prepare()
        finally:
            await runner.close()
    except SandboxError as error:
        _print(f"{_MARKS['failed']}  {'sandbox':<19} {error.message}")
        _print(f"    {'':<19} {error.hint}")
        return False
    whole = proved.confined and not proved.hint
    what = "tried: what it forbids fails" if proved.confined else "commands can do what you can"
    _print(f"{_MARKS['ok' if whole else 'warning']}  {'sandbox':<19} {proved.label}: {what}")
    if proved.confined:
        for text in (*(f"not kept: {lost}" for lost in proved.lost), *filter(None, [proved.hint])):
            _print(f"    {'':<19} {text}")
    return True


def lines(check: Check) -> list[str]:
    """A finding, and what to do about it."""
    found = [f"{_MARKS[check.verdict]}  {check.step.replace('_', ' '):<10} {check.detail}"]
    return [*found, f"    {'':<10} {check.fix}"] if check.fix else found


def _print(text: str) -> None:
    from grokmini.text.sanitise import sanitise

    sys.stdout.write(sanitise(text, newlines=False) + "\n")
    sys.stdout.flush()

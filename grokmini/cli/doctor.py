"""`grokmini doctor`: does the model answer, stream and call tools, and what to fix if not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec, Option

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed
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
    about="Tests key, endpoint, streaming and tool calls of the model, and says what to fix.",
)

_MARKS = {"ok": "ok", "warning": "! ", "failed": "x ", "skipped": "--"}


def run(parsed: Parsed) -> int:
    """Test the model step by step. Exit 0 when it can do the work, 5 when the key is the trouble, else 1.

    A model that calls no tools can talk but not work: that is a failure too.
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
    if not failed:
        return ExitCode.OK
    return ExitCode.AUTH if failed == ["key"] else ExitCode.ERROR


def lines(check: Check) -> list[str]:
    """A finding, and what to do about it."""
    found = [f"{_MARKS[check.verdict]}  {check.step.replace('_', ' '):<10} {check.detail}"]
    return [*found, f"    {'':<10} {check.fix}"] if check.fix else found


def _print(text: str) -> None:
    from grokmini.text.sanitise import sanitise

    sys.stdout.write(sanitise(text, newlines=False) + "\n")
    sys.stdout.flush()

"""`grokmini doctor`: does the model answer, stream and call tools, does the sandbox hold, and what to fix if not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec, Option

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed
    from grokmini.cli.root import Root

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
    from grokmini.cli.choose_model import NoModelError, choose_model
    from grokmini.cli.options import Options
    from grokmini.cli.root import load_root
    from grokmini.protocol.errors import ExitCode
    from grokmini.sampler.check import check_model

    root = load_root(Options(model=name))
    for warning in root.warnings:
        _print(f"!   {warning}")
    try:
        spec = await choose_model(root)
    except NoModelError:
        await _examine_sandbox(root)
        raise
    _print(f"{spec.name} at {spec.base_url or 'no server'}, API {spec.api_backend}")
    failed: list[str] = []
    local = root.catalogue.local_row(spec)
    async for check in check_model(spec, root.catalogue.credential(spec), local):
        _tell(_MARKS[check.verdict], check.step.replace("_", " "), check.detail, check.fix)
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
    from grokmini.sandbox.degraded import parted
    from grokmini.sandbox.layers import layers
    from grokmini.sandbox.probe import probe

    for name, works, detail in layers(await asyncio.to_thread(probe)):
        _tell(_MARKS["ok" if works else "warning"], name, detail)
    try:
        runner = (await asyncio.to_thread(confine, root, choose(root))).runner
        try:
            proved = await runner.prepare()
        finally:
            await runner.close()
    except SandboxError as error:
        _tell(_MARKS["failed"], "sandbox", error.message, error.hint)
        return False
    whole = proved.confined and not proved.hint
    what = "tried, what it forbids fails" if proved.confined else "commands can do what you can"
    told: list[str] = []
    if proved.confined:
        lost, without = parted(proved.lost)
        told = [f"not kept: {lost[0]}"] if len(lost) == 1 else ["not kept:"] if lost else []
        told += [f"- {text}" for text in lost] if len(lost) > 1 else []
        told += [f"commands have {text}" for text in without]
    _tell(_MARKS["ok" if whole else "warning"], "sandbox", f"{proved.label}: {what}", *told, proved.hint)
    return True


def _tell(mark: str, about: str, finding: str, *more: str) -> None:
    """A finding, and below it what else there is to say or to do; broken between words where it is long."""
    import textwrap

    for text in filter(None, (finding, *more)):
        hang = "  " if text.startswith("- ") else ""
        for line in textwrap.wrap(
            text, 56, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False
        ):
            _print(f"{mark:<3} {about:<19} {line}")
            mark = about = ""


def _print(text: str) -> None:
    from grokmini.text.sanitise import sanitise

    sys.stdout.write(sanitise(text, newlines=False) + "\n")
    sys.stdout.flush()

"""`grokmini prompt`: what the model is told at the start, part by part."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec, Option

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed

SPEC = CommandSpec(
    options=(
        Option(("--dump",), "dump", "the whole text as JSON, with origins"),
        Option(("--concise",), "concise", "the short form that small windows get"),
    ),
    examples=("grokmini prompt", "grokmini prompt --dump | less"),
    about="Shows what the model is told at the start, part by part, with the size of each.",
)


def run(parsed: Parsed) -> int:
    """Print a table of the parts, or all of it as JSON. Asks no model and needs none."""
    import datetime

    from grokmini.cli.options import Options
    from grokmini.cli.root import load_root
    from grokmini.prompt.context import gather
    from grokmini.prompt.dump import dump, dump_json
    from grokmini.text.sanitise import sanitise
    from grokmini.text.tokens import estimate_tokens
    from grokmini.tools.registry import ToolRegistry
    from grokmini.tools.table import build_tools

    root = load_root(Options())
    concise = parsed.flag("concise")
    context = gather(
        cwd=root.cwd,
        env=os.environ,
        config_folder=root.places.config if root.places else None,
        today=datetime.date.today(),
        interactive=True,
        concise=concise,
    )
    registry = ToolRegistry(build_tools())
    registry.finalize()
    if parsed.flag("dump"):
        sys.stdout.write(dump_json(context, registry.names))
        return 0
    found = dump(context, registry.names)
    rows = [(part.part, part.tokens, part.origin) for part in found.parts]
    for spec in registry.specs(concise):
        text = spec.name + spec.description + bytes(spec.parameters).decode()
        rows.append((f"tool {spec.name}", estimate_tokens(text), "tools/table.py"))
    for name, tokens, origin in rows:
        sys.stdout.write(sanitise(f"{tokens:>6}  {name:<28} {origin}", newlines=False) + "\n")
    sys.stdout.write(f"{sum(tokens for _, tokens, _ in rows):>6}  tokens in all, estimated\n")
    for skipped in found.skipped:
        sys.stdout.write(sanitise(f"   not  {skipped['path']}: {skipped['reason']}", newlines=False) + "\n")
    return 0

"""/usage: tokens and cost so far, by model."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from grokmini.protocol.model import Price, Usage, cost_of
from grokmini.render.figures import money_text, plural
from grokmini.repl.commands.result import CommandContext, Say, say
from grokmini.text.tokens import percent_of


async def run(argument: str, context: CommandContext) -> Say:
    """One line for each model, of the session and of the last prompt, and how full the window is."""
    figures = await context.opened.usage()
    if not figures.session:
        return say("no request has been made in this session yet")
    price = context.factory.price
    rows = ["session:", *_rows(figures.session, price)]
    for kind, by_model in figures.rows.items():
        if kind != "main" and by_model:
            rows += [f"of that, {kind}:", *_rows(by_model, price)]
    if figures.outstanding:
        rows.append(f"{plural(figures.outstanding, 'figure')} still to come")
    rows += ["last prompt:", *_rows(figures.prompt, price)]
    state = context.state
    if state.context_window:
        percent = round(percent_of(state.context_tokens, state.context_window))
        rows.append(f"context: about {percent} % of {state.context_window:,} tokens")
    return say(*rows)


def _rows(by_model: Mapping[str, Usage], price: Callable[[str], Price | None]) -> list[str]:
    return [f"  {model}: {describe(usage, price(model))}" for model, usage in by_model.items()]


def describe(usage: Usage, price: Price | None) -> str:
    """Usage in one line. A cost is named with where it is from: reported, or computed from a price that is set."""
    parts = [f"{usage.calls} request{'' if usage.calls == 1 else 's'}", f"{usage.total_input:,} in"]
    if usage.cached_input:
        parts[-1] += f" ({usage.cached_input:,} cached)"
    parts.append(f"{usage.output:,} out")
    if usage.reasoning:
        parts[-1] += f" ({usage.reasoning:,} reasoning)"
    cost, source = cost_of(usage, price)
    if cost is not None:
        parts.append(f"{money_text(cost)} {source}")
    if usage.incomplete:
        parts.append("not all of it was reported")
    return ", ".join(parts)

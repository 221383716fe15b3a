"""The status line at any width."""

from __future__ import annotations

import pytest

from grokmini.render.lines import plain
from grokmini.render.look import Look
from grokmini.repl.status import StatusFacts, status_line

FACTS = StatusFacts(
    model="grok-4.5",
    mode="ask",
    sandbox="workspace",
    context_tokens=5_000,
    context_window=256_000,
    branch="main",
    seconds=12,
    hint="Ctrl-C stops",
)


def text(width: int, facts: StatusFacts = FACTS) -> str:
    return plain(status_line(facts, width, Look()))


def test_with_room_it_says_everything_and_the_key_at_the_right() -> None:
    line = text(80)
    assert line.startswith("grok-4.5 · ask · sandbox workspace · ~2% of 256k · 12 s · main  ")
    assert line.endswith("  Ctrl-C stops") and len(line) == 80


@pytest.mark.parametrize(
    ("seconds", "left"),
    [
        (5, "fake-model · always-approve · workspace · ~2% · 5 s waiting"),
        (45, "fake-model · always-approve · workspace · ~2% · 45 s waiting"),
    ],
)
def test_what_stops_the_work_is_said_at_eighty_columns_in_every_mode(seconds: int, left: str) -> None:
    facts = FACTS._replace(
        model="fake-model", mode="always-approve", seconds=seconds, waiting=True, tokens=12_345
    )
    line = text(80, facts)
    assert line.removesuffix("Ctrl-C stops").rstrip(" ") == left
    assert line.endswith("  Ctrl-C stops")


@pytest.mark.parametrize("width", range(1, 120))
def test_it_is_one_row_at_any_width(width: int) -> None:
    for urgent in (False, True):
        assert status_line(FACTS._replace(urgent=urgent), width, Look()).width <= width


def test_tokens_and_a_known_cost_are_said_and_dropped_before_what_is_in_force() -> None:
    facts = FACTS._replace(tokens=12_345, cost=0.0421, hint="", seconds=None)
    assert text(120, facts) == "grok-4.5 · ask · sandbox workspace · ~2% of 256k · 12k tokens · $0.0421 · main"
    assert text(75, facts) == "grok-4.5 · ask · sandbox workspace · ~2% of 256k · $0.0421 · main"
    assert text(55, facts) == "grok-4.5 · ask · sandbox workspace · ~2% of 256k"
    assert "$" not in text(120, facts._replace(cost=None))


def test_vi_s_commands_are_told_as_long_as_they_fit() -> None:
    assert text(40, FACTS._replace(keys="vi: commands", hint="")) == "grok-4.5 · ask · vi: commands"
    assert text(20, FACTS._replace(keys="vi: commands")) == "grok-4.5 · ask · ~2%"


def test_narrow_it_keeps_model_mode_and_percent() -> None:
    assert text(40) == "grok-4.5 · ask · ~2% of 256k · 12 s"
    assert text(30) == "grok-4.5 · ask · ~2% of 256k"
    assert text(20) == "grok-4.5 · ask · ~2%"
    assert text(12) == "ask · ~2%"
    assert text(5) == "ask …"


@pytest.mark.parametrize("sandbox", ["off", "none", "workspace, in part"])
def test_a_sandbox_that_is_missing_or_not_whole_is_said_as_long_as_anything(sandbox: str) -> None:
    facts = FACTS._replace(sandbox=sandbox, hint="")
    assert text(60, facts).startswith(f"grok-4.5 · ask · sandbox {sandbox} · ~2%")
    assert text(40, facts).endswith(f"ask · sandbox {sandbox} · ~2%")
    assert f"sandbox {sandbox}" not in text(30, FACTS._replace(sandbox="workspace", hint=""))


def test_an_urgent_hint_goes_before_all_else() -> None:
    facts = FACTS._replace(hint="Ctrl-D again leaves", urgent=True)
    assert text(40, facts) == "grok-4.5 · ask       Ctrl-D again leaves"
    assert text(12, facts) == "Ctrl-D agai…"


def test_what_is_not_known_is_not_said() -> None:
    assert text(80, StatusFacts("m", "plan", "")) == "m · plan"
    assert text(80, StatusFacts("m", "ask", "none", 1, 9_000)) == "m · ask · sandbox none · <1% of 9.0k"

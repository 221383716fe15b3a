"""The notice of what a sandbox does not enforce: readable, and each thing said once and for what it is."""

from __future__ import annotations

import pytest

from grokmini.cli.sandbox_notice import losses_text
from grokmini.render.blockview import notice_lines
from grokmini.render.lines import plain
from grokmini.render.look import Look
from grokmini.sandbox.degraded import losses, remedy
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms
from grokmini.sandbox.runner import Enforcement

WORKSPACE = Policy(
    "workspace",
    write_roots=("/home/someone/project",),
    protected=tuple(f"/home/someone/project/{name}" for name in (".git/hooks", ".git/config", ".grokmini")),
)
MISSING = Mechanisms(
    7, seccomp=True, bwrap=None, bwrap_network=False, reasons={"bubblewrap": "bwrap is not installed"}
)
REASONS = {"bubblewrap": "bwrap: setting up uid map: Permission denied", "AppArmor": "restricts"}


def text_of(mechanisms: Mechanisms, *, confined: bool = True) -> str:
    lost = losses(WORKSPACE, mechanisms)
    return losses_text("workspace", Enforcement("x", confined=confined, lost=lost, hint=remedy(mechanisms)))


@pytest.mark.parametrize("mechanisms", [MISSING, MISSING._replace(reasons=REASONS, landlock_abi=2)])
def test_it_is_a_list_that_fits_80_columns_as_it_is_and_as_it_is_rendered(mechanisms: Mechanisms) -> None:
    text = text_of(mechanisms)
    head, *rest = text.splitlines()
    assert head == "Not enforced by the sandbox here:"
    assert len([line for line in rest if line.startswith("- ")]) >= 3
    assert max(map(len, text.splitlines())) <= 78
    shown = notice_lines("warning", text, 80, Look())
    assert len(shown) == len(text.splitlines()), "no line is broken again"


def test_what_commands_do_without_is_no_item_of_it_and_the_remedy_is_said_once() -> None:
    text = text_of(MISSING)
    assert "\nCommands have no pseudo-terminals.\n" in text
    assert text.count("terminal") == 1
    assert text.endswith("To get it: `apt install bubblewrap`.")
    assert text.count("apt install") == 1


def test_a_single_thing_is_one_sentence() -> None:
    one = Enforcement("workspace", confined=True, lost=("the number of processes",))
    assert losses_text("workspace", one) == "Not enforced by the sandbox here: the number of processes."


def test_a_single_thing_is_one_line_which_is_broken_where_it_is_shown() -> None:
    one = Enforcement("workspace", confined=True, lost=("the number of processes: " + "words " * 20 + "end",))
    text = losses_text("workspace", one)
    assert "\n" not in text
    shown = [plain(line) for line in notice_lines("info", text, 60, Look())]
    assert [len(line) > 50 for line in shown] == [True] * (len(shown) - 1) + [False]


def test_where_nothing_confines_it_says_what_follows_and_what_goes_on_without() -> None:
    text = text_of(MISSING._replace(landlock_abi=0, seccomp=False), confined=False)
    assert text.startswith("Nothing confines commands here, so each command and each edit asks.\n")
    assert text.endswith("`--sandbox off` goes on without.")

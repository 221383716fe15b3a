"""The main job in a real terminal: fix the failing test, cancelled, resized and continued on the way."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from grokmini.cli.demo_project import CHECK
from tests.e2e.inline_terminal import InlineTerminal, inline_terminal
from tests.e2e.program import Place, fixing
from tests.fakes.model_server import ModelServer, Reply, call, reply

STORY = "".join(f"S{number:02} of the story.\n\n" for number in range(40))
ANSWER_END = "test is green."


def held(whole: Reply, piece: int, gate: threading.Event) -> Reply:
    """The reply, waiting for the gate before that piece."""
    return Reply(chunks=whole.chunks, gates={piece: gate})


def once(terminal: InlineTerminal, *texts: str) -> None:
    """Each text stands in exactly one line of history and screen."""
    lines = terminal.lines
    counts = {text: sum(text in line for line in lines) for text in texts}
    assert counts == dict.fromkeys(texts, 1), "\n".join(lines)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (40, 10)])
def test_the_main_job_cancelled_resized_and_continued_loses_and_doubles_nothing(
    place: Place, tmp_path: Path, columns: int, rows: int
) -> None:
    place.add_calc()
    gate = threading.Event()
    story = reply(
        STORY,
        calls=[call("run_terminal_command", call_id="a1", command="printf be%s gun; touch runs; sleep 1000")],
    )
    script = [held(story, len(story.chunks) // 3, gate), *fixing()]
    with (
        ModelServer(script, strict=True) as server,
        inline_terminal(place, server, tmp_path, columns, rows) as terminal,
    ):
        terminal.start()
        terminal.prompt("tell, then fix it")
        terminal.see("S14 of")  # where it stops, in the midst of a line: no frame and resize cross each other
        terminal.tmux.resize(columns + 13, rows + 3)
        gate.set()
        terminal.see("S39")
        terminal.see_on_screen("1 yes")
        terminal.tmux.resize(columns, rows)
        terminal.see_on_screen("1 yes", "fake-model")
        terminal.answer("1")
        terminal.wait_until((place.project / "runs").exists, "the call that runs")
        terminal.see_gone("1 yes")
        terminal.see_on_screen("fake-model")
        if columns > 50:  # else a notice may leave no room for what the call prints
            terminal.see_on_screen("sleep 1000", "begun", "Ctrl-C stops")
        terminal.type("C-c")
        terminal.see("stopped")
        terminal.see_idle()
        assert terminal.leave() == 0
        once(terminal, *(f"S{number:02} of the story." for number in range(40)), "› tell, then fix it")

        terminal.start("--continue", "--permission-mode", "accept-edits")
        terminal.prompt("go on")
        terminal.answer("1")
        terminal.see("Edit")
        terminal.answer("1")
        terminal.see(ANSWER_END)
        terminal.see_idle()
        terminal.tmux.resize(columns - 5, rows)
        terminal.tmux.resize(columns, rows)
        terminal.see_idle()
        assert terminal.leave() == 0
        once(terminal, "› go on", "Running the test first.", ANSWER_END)
        assert sum(line.startswith("• Run") and CHECK[:20] in line for line in terminal.lines) == 2
    assert place.calc_is_right()
    assert len(place.sessions) == 1

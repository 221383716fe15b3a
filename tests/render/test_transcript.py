"""The transcript as one who draws it sees it."""

from __future__ import annotations

from grokmini.protocol.events import Notice
from grokmini.protocol.tools import ToolKind
from grokmini.render.lines import plain
from grokmini.render.transcript import Shown, Transcript
from tests.render.events import ready


def test_what_waits_behind_a_running_call_is_broken_anew_for_a_new_width() -> None:
    text = "Not enforced by the sandbox here: the number of processes: the kernel sets no limit."
    transcript = Transcript(53, Shown())
    transcript.apply(ready("1", ToolKind.EXECUTE, command="make"))
    transcript.apply(Notice("info", text, "sandbox"))
    transcript.resize(40)
    lines = transcript.live()
    assert all(line.width <= 40 for line in lines)
    assert text in " ".join(" ".join(map(plain, lines)).split())

"""A stream of paragraphs on terminals of each kind that change their size all the time, by emulation."""

from __future__ import annotations

import random
import re

import pytest

from grokmini.render.lines import line_of, plain
from grokmini.render.stream import MarkdownStream
from grokmini.repl.painter import Cursor, LiveView, Size
from tests.fakes.emulator import Kind
from tests.repl.drawing import Drawing

ROOM = 9


def view(stream: MarkdownStream, size: Size, draft: str) -> LiveView:
    """The tail of the stream, a draft and a status line as wide as the screen."""
    tail = [*stream.tail()][-min(ROOM, size.rows - 4) :]
    status = "status " + "." * (size.columns - 8) + "|"
    return LiveView((*tail, line_of(draft), line_of(status)), Cursor(len(tail), len(draft)))


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("seed", range(3))
def test_resizes_while_paragraphs_stream_lose_nothing_and_leave_one_live_region(
    kind: Kind, seed: int, full: bool
) -> None:
    """Each terminal's own rule of what a new size does to rows. Terminals that do not wrap cut what is too wide, so
    there only the beginnings of finished lines can be counted.
    """
    chance = random.Random(seed)
    drawing, stream = Drawing(Size(80, 24), kind), MarkdownStream(80)
    resizes, word, draft = 100 if full else 10, 0, "> draft"
    for _ in range(resizes):
        for _ in range(chance.randint(1, 8)):
            text = "".join(f"w{word + n:05} " for n in range(chance.randint(1, 12)))
            word += text.count(" ")
            lines = stream.feed(text if chance.random() < 0.7 else f"{text.rstrip()}.\n\n")
            drawing.frame(lines, view(stream, drawing.size, draft))
        drawing.resize(Size(chance.randint(30, 110), chance.randint(14, 30)))
        stream.resize(drawing.size.columns)
        for letter in chance.choice(("", "", "typed")):
            draft += letter
            drawing.terminal.feed(drawing.canvas.echo(view(stream, drawing.size, draft), drawing.size))
        draft = draft if len(draft) < 25 else "> draft"
        drawing.frame((), view(stream, drawing.size, draft))
        drawing.finish()
    lines = stream.finish()
    drawing.frame(lines, view(stream, drawing.size, draft))
    seen = "\n".join(drawing.terminal.lines)
    at = 0
    for line in drawing.committed:
        start = re.match(r"w\d+", plain(line))
        at = seen.index(start[0], at) if start else at
    if kind.reflows:
        assert set(re.findall(r"w\d{5}", seen)) == {f"w{n:05}" for n in range(word)}
    assert drawing.terminal.screen.count(draft) == 1
    assert seen.count("> draft") == 1, f"seed {seed}"

"""Standard output of a headless run: in order, whole, and quiet when its reader leaves."""

from __future__ import annotations

import os

from grokmini.headless.output import Output


async def test_everything_is_written_in_order_before_close_returns() -> None:
    reading, writing = os.pipe()
    output = Output(writing)
    for number in range(1000):
        output.write(b"%d\n" % number)
    await output.close()
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        assert file.read() == b"".join(b"%d\n" % number for number in range(1000))


async def test_a_reader_that_leaves_is_noticed_and_writing_goes_on_without_an_error() -> None:
    reading, writing = os.pipe()
    output = Output(writing)
    os.close(reading)
    output.write(b"nobody hears this")
    await output.gone.wait()
    output.write(b"nor this")
    await output.close()
    os.close(writing)
    assert isinstance(output.error, BrokenPipeError)

"""A headless run in this process: trouble inside the program is told in the formats too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grokmini.cli.headless_run import HeadlessProcess
from grokmini.cli.options import Options
from grokmini.headless.formats import Format, JsonFormat, StreamJsonFormat
from grokmini.protocol.events import SessionEvent, TurnStarted


class Faulty:
    """An onlooker with a bug."""

    def apply(self, event: SessionEvent) -> None:
        """Break in the middle of the run."""
        if isinstance(event, TurnStarted):
            raise ZeroDivisionError("a bug")


@pytest.mark.parametrize("format_", [JsonFormat(), StreamJsonFormat()])
async def test_a_fault_of_the_program_is_an_error_with_its_exit_code_in_json(
    format_: Format, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    options = Options(prompt="hi", cwd=str(tmp_path), model="demo", save=False)
    assert await HeadlessProcess(options, format_, Faulty(), None).run() == 1
    captured = capfd.readouterr()
    last = json.loads(captured.out.splitlines()[-1])
    assert (last["outcome"], last["exit_code"], last["error"]["kind"]) == ("error", 1, "internal")
    assert "ZeroDivisionError" in last["error"]["message"]
    assert captured.err.startswith("grokmini: a fault inside the program (ZeroDivisionError: a bug)")
    assert len(captured.err.splitlines()) == 2

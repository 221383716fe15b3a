"""A session that is open elsewhere: the person says whether to watch it, to copy it or to wait."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grokmini.cli.busy_session import ask, settle_busy
from grokmini.cli.options import Options
from grokmini.cli.pick_session import holding, lines_of
from grokmini.store.driver_lock import DriverLock, SessionBusyError
from grokmini.store.sessions import SessionInfo
from grokmini.store.summary import Summary
from grokmini.text.width import cell_width

ID = "01930c5e-0000-7000-8000-000000000000"
INFO = SessionInfo(
    ID, Path("/nowhere"), 1_000.0, Summary(session_id=ID, cwd="/src/shop", title="fix it", turns=2)
)


def typing(*lines: str) -> Iterator[str]:
    yield from lines


@pytest.mark.parametrize(
    ("typed", "choice"), [("1", "follow"), ("fork", "fork"), ("WAIT", "wait"), ("3", "wait"), ("fol", "follow")]
)
def test_a_number_or_a_word_answers(typed: str, choice: str) -> None:
    assert ask(INFO, "process 7", typing(f"{typed}\n").__next__) == choice


def test_what_is_no_answer_is_asked_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(INFO, "process 7 on host", typing("9\n", "f\n", "2\n").__next__) == "fork"
    said = capsys.readouterr().err
    assert '"fix it" is open in process 7 on host.' in said
    assert said.count("a number from 1 to 3") == 2


def test_an_empty_line_leaves_with_the_holder_named() -> None:
    with pytest.raises(SessionBusyError, match="process 7"):
        ask(INFO, "process 7", typing("\n").__next__)


@pytest.mark.parametrize("options", [Options(), Options(session_id=ID), Options(resume="x", fork=True)])
def test_who_opens_nothing_of_others_is_not_asked(options: Options) -> None:
    assert settle_busy(options) == options


def test_a_list_to_pick_from_has_numbers_and_fits_forty_columns(tmp_path: Path) -> None:
    infos = [INFO._replace(directory=tmp_path)] * 10
    lines = lines_of(infos, width=40, now=1_000.0 + 720)
    assert lines[0] == " 1  12 min  fix it"
    assert lines[9].startswith("10  12 min")
    assert max(map(cell_width, lines_of(infos, width=40, now=1e9))) <= 40
    lock = DriverLock.acquire(tmp_path)
    assert "live" in lines_of(infos, width=100, now=2_000.0)[0]
    lock.release()


def test_words_narrow_the_list_by_title_and_folder() -> None:
    other = INFO._replace(summary=Summary(session_id=ID, cwd="/src/bank", title="Fix that"))
    assert holding([INFO, other], "FIX") == [INFO, other]
    assert holding([INFO, other], "fix bank") == [other]
    assert holding([INFO, other], "zzz") == []

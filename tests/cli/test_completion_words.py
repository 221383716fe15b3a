"""What a shell is told when somebody presses Tab: quickly, and never with a message."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from grokmini.cli.main import main
from grokmini.store.driver_lock import DriverLock
from grokmini.store.layout import encode_cwd, make_private_directory

OLD, NEW, OTHER = (f"019a{n}000-0000-7000-8000-000000000000" for n in "123")


@pytest.fixture
def state(fresh_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sessions of the folder we are in, one of another."""
    root = fresh_home / ".local/state/grokmini/sessions"
    here = tmp_path.resolve()
    monkeypatch.chdir(here)
    for cwd, session_id, title in (
        (here, OLD, "Fix the test"),
        (here, NEW, "why\tred"),
        (Path("/x"), OTHER, "other"),
    ):
        directory = root / encode_cwd(cwd) / session_id
        make_private_directory(directory)
        (directory / "summary.json").write_text(json.dumps({"title": title}))
    return root


def words(capsys: pytest.CaptureFixture[str], *asked: str) -> list[str]:
    """What is printed for these words; never anything on stderr."""
    main(["completions", "words", *asked])
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out.splitlines()


def test_sessions_of_the_folder_come_first_and_the_newest_before_others(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words(capsys, "sessions") == [f"{NEW}\twhy red", f"{OLD}\tFix the test", f"{OTHER}\tother"]
    assert words(capsys, "sessions", "019a1") == [f"{OLD}\tFix the test"]


def test_where_no_id_begins_so_titles_do_in_any_case(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert words(capsys, "sessions", "fix") == ["Fix the test"]
    assert words(capsys, "sessions", "zzz") == []


def test_live_sessions_are_those_that_somebody_drives(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert words(capsys, "live-sessions") == []
    (directory,) = state.glob(f"*/{OLD}")
    lock = DriverLock.acquire(directory)
    assert words(capsys, "live-sessions") == [f"{OLD}\tFix the test"]
    lock.release()


def test_models_are_ones_own_those_with_a_key_and_the_demo(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123")
    (fresh_home / ".config/grokmini").mkdir(parents=True)
    (fresh_home / ".config/grokmini/config.toml").write_text('[model.work]\nmodel = "m"\n')
    assert [line.partition("\t")[0] for line in words(capsys, "models")] == ["work", "openai", "demo"]
    assert words(capsys, "models", "wo") == ["work"]


@pytest.mark.parametrize("asked", [(), ("nonsense",), ("sessions",), ("live-sessions", "x")])
def test_where_there_is_nothing_there_is_no_word_of_it(
    asked: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert words(capsys, *asked) == []


def test_damaged_files_are_no_matter(state: Path, fresh_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in state.glob("*/*/summary.json"):
        path.write_bytes(b"\xff{")
    (fresh_home / ".config/grokmini").mkdir(parents=True)
    (fresh_home / ".config/grokmini/config.toml").write_text("[[[")
    assert len(words(capsys, "sessions")) == 3
    assert words(capsys, "models") == []


def test_titles_that_could_drive_a_terminal_are_not_offered(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in state.glob(f"*/{NEW}/summary.json"):
        path.write_text(json.dumps({"title": "\x1b]0;x\x07"}))
    assert [line.partition("\t")[0] for line in words(capsys, "sessions")] == [OLD, OTHER]


def test_nothing_that_takes_time_to_load_is_loaded() -> None:
    """H62"""
    script = (
        "import sys; from grokmini.cli.main import main;"
        "[main(['completions', 'words', kind]) for kind in ('sessions', 'live-sessions', 'models')];"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert not loaded & {"asyncio", "argparse", "msgspec", "subprocess", "tempfile", "sqlite3", "platformdirs"}

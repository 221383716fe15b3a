"""Manual pages: complete, and made of requests that every formatter knows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from grokmini.cli.command_tree import command_lines
from grokmini.cli.config import DERIVED
from grokmini.cli.help import command_help
from grokmini.cli.man import command_page
from grokmini.cli.man_config import settings_page
from grokmini.cli.options import OPTIONS
from grokmini.cli.roff import Page, escaped
from grokmini.cli.sandbox_help import EXAMPLE, KEYS
from grokmini.cli.setting_help import MODEL, SETTINGS
from grokmini.config.layers import leaves
from grokmini.config.settings import Settings
from grokmini.protocol.model import ModelEntry
from grokmini.repl.commands.table import COMMANDS
from grokmini.sandbox.profile_file import TAKES, read_profiles
from grokmini.sandbox.resolve import Around, resolve

PAGES = {"grokmini(1)": command_page, "grokmini-config(5)": settings_page}
REQUESTS = {".TH", ".SH", ".SS", ".PP", ".TP", ".RS", ".RE", ".nf", ".fi", ".nh"}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_well_formed(name: str) -> None:
    """What `man --warnings` would complain of, without needing `man`."""
    lines = PAGES[name]().splitlines()
    assert lines[0].startswith('.\\" Made by grokmini')
    assert lines[1].startswith(f".TH {name.partition('(')[0].upper()} {name[-2]} ")
    requests = [line.split()[0] for line in lines[1:] if line.startswith((".", "'"))]
    assert set(requests) <= REQUESTS
    assert requests.count(".RS") == requests.count(".RE")
    assert requests.count(".nf") == requests.count(".fi")
    escapes = set(re.findall(r"\\(?:f.|\(..|.)", "\n".join(lines[1:])))
    assert escapes <= {"\\fB", "\\fI", "\\fR", "\\-", "\\e", "\\&", "\\(aq", "\\(ga"}
    sections = [line[4:] for line in lines if line.startswith(".SH ")]
    assert sections[0] == "NAME"
    assert len(set(sections)) == len(sections)


@pytest.mark.parametrize("name", PAGES)
def test_every_term_has_its_meaning_below(name: str) -> None:
    lines = PAGES[name]().splitlines()
    for number, line in enumerate(lines):
        if line == ".TP":
            assert not lines[number + 1].startswith(".")
            assert not lines[number + 2].startswith("."), lines[number + 1]


def test_the_first_page_names_every_option_command_and_slash_command() -> None:
    page = command_page()
    options = [*OPTIONS, *(option for line in command_lines() for option in line.spec.options)]
    assert [n for option in options for n in option.names if f"\\fB{escaped(n)}\\fR" not in page] == []
    assert [line.name for line in command_lines() if f'.SS "{escaped(line.name)}"' not in page] == []
    assert [row.name for row in COMMANDS if f"\\fB/{escaped(row.name)}\\fR" not in page] == []


def test_every_setting_has_a_word_on_it_and_nothing_else_has() -> None:
    """A new setting needs a line in `cli/setting_help.py`."""
    keys = {".".join(names) for names, _ in leaves(msgspec.to_builtins(Settings()))} - DERIVED
    assert set(SETTINGS) == keys
    assert set(MODEL) == set(ModelEntry.__struct_fields__)
    assert all(f"\\fB{escaped(key)}\\fR" in settings_page() for key in (*keys, *MODEL))


def test_every_key_of_a_sandbox_profile_is_told_in_the_manual_and_in_the_help() -> None:
    assert set(KEYS) == set(TAKES)
    page = settings_page()
    assert [key for key in TAKES if f"\\fB{escaped(key)}\\fR" not in page] == []
    assert all(escaped(line) in page for line in EXAMPLE.splitlines())
    (line,) = (line for line in command_lines() if line.name == "sandbox")
    shown = command_help(line.name, line.summary, line.spec)
    assert [key for key in TAKES if key not in shown] == []
    assert all(word in shown for word in ("sandbox.toml", ".grokmini", "sandbox trust", "grokmini-config(5)"))


def test_the_example_of_the_manual_is_a_file_that_can_be_used(tmp_path: Path) -> None:
    file = tmp_path / "sandbox.toml"
    file.write_text(EXAMPLE)
    (tmp_path / "cwd").mkdir()
    (tmp_path / "cwd/key.pem").write_text("secret")
    around = Around(str(tmp_path / "cwd"), str(tmp_path), {})
    profiles = read_profiles(file, None)
    careful, very = (
        resolve(profiles.find(name), around, explicit=True) for name in ("careful", "very-careful")
    )
    assert str(tmp_path / "build") in careful.write_roots
    assert str(tmp_path / "cwd/key.pem") in careful.denied
    assert (careful.network, careful.allow_unix, careful.read_all) == ("blocked", True, True)
    assert dict(profiles.find("careful").env) == {"CI": "1"}
    assert (very.read_all, str(tmp_path / "reference") in very.read_roots) == (False, True)
    told = {key for table in tomllib.loads(EXAMPLE)["profiles"].values() for key in table}
    assert told == set(TAKES), "every key is shown"


def test_text_can_be_no_request_whatever_it_begins_with() -> None:
    page = Page("x", 1, "y")
    page.example([".so /etc/passwd", "'br", "a\\fB-b"])
    assert page.text().splitlines()[-5:-2] == ["\\&.so /etc/passwd", "\\(aqbr", "a\\efB\\-b"]

"""Deny rules for reading hold for whatever would read: searches, wildcards, programs that go through folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grokmini.protocol.permission import PermissionMode
from grokmini.tools.command_reads import Sweep, sweep
from grokmini.tools.command_review import review
from grokmini.tools.protected import NOTHING
from grokmini.tools.read_denials import HiddenFiles
from grokmini.tools.verdicts import Ask, Deny
from tests.tools.judging import Ground, word
from tests.tools.room import Room, room

ALWAYS = PermissionMode.ALWAYS_APPROVE
ASK = PermissionMode.ASK


def _ground(tmp_path: Path, deny: str = "Read(secret.txt)", ask: str = "") -> Ground:
    ground = Ground(tmp_path, deny=[deny] if deny else [], ask=[ask] if ask else [])
    (ground.root / "src").mkdir()
    (ground.root / "docs").mkdir()
    (ground.root / "secret.txt").write_text("TOKEN=1\n")
    (ground.root / "src" / "a.py").write_text("x = 1\n")
    (ground.root / "docs" / "a.md").write_text("x\n")
    return ground


@pytest.mark.parametrize("mode", [ASK, ALWAYS])
@pytest.mark.parametrize(
    "command",
    [
        "cat secret.t*",
        "cat s?cret.txt",
        "cat [a-z]ecret.txt",
        "cat [!x]ecret.txt",
        "cat [[:alpha:]]ecret.txt",
        "cat {secret,other}.txt",
        "cat sec{ret,}.tx*",
        "cat < secret.*",
        "cat ./*",
        "cat $PWD/src/../secret.*; cat *.txt",
        "cd src && cat ../*.txt",
        "grep TOKEN *",
        "bash -c 'cat secret.t*'",
        'echo "$(cat sec*)"',
        "for f in *; do cat $f; done",
        "grep -r TOKEN .",
        "grep -nr TOKEN",
        "grep -R TOKEN src ..",
        "grep --recursive TOKEN",
        "grep --rec TOKEN ./",
        "grep -d recurse TOKEN .",
        "grep --directories=recurse TOKEN .",
        "egrep -r TOKEN $PWD .",
        "grep -r -A 3 src",
        "rg TOKEN",
        "rg -n TOKEN",
        "rg TOKEN .",
        "rg -e TOKEN",
        "rg -C 2 src",
        "timeout 5 rg TOKEN",
        "ag TOKEN",
        "cd src; rg TOKEN ..",
        "find . -type f -exec cat {} +",
        "find . -name '*.t*' | xargs cat",
        "cat $(find . -type f)",
        "tar cf - . | cat",
        "cp -r . /tmp/elsewhere",
        "zip -r out.zip ../work",
    ],
)
def test_a_command_that_would_read_a_denied_file_is_denied(
    tmp_path: Path, command: str, mode: PermissionMode
) -> None:
    assert word(_ground(tmp_path).run(command, mode)) == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "cat $F",
        "cat sec${X}.txt",
        "cat < $F",
        "ls | xargs cat",
        'ls | while read f; do cat "$f"; done',
        "shopt -s globstar; cat **",
        "git grep TOKEN",
    ],
)
def test_where_it_cannot_be_known_a_person_is_asked(tmp_path: Path, command: str) -> None:
    ground = _ground(tmp_path)
    verdict = ground.run(command, ALWAYS)
    assert word(verdict) in ("ask", "deny")
    assert not isinstance(verdict, Ask) or [option.key for option in verdict.options] == ["1", "3", "4"]


@pytest.mark.parametrize(
    "command",
    [
        "cat src/*.py",
        "cat s*/*",
        "grep -r x src",
        "grep -rn x src docs",
        "grep -n 'secret.*' src/a.py",
        "grep -rn -A3 x src",
        "rg x src",
        "rg -n x src",
        "rg -n -A 2 x src",
        "find . -name '*secret*'",
        "find . -name '*.py' | head",
        "ls",
        "ls src docs",
    ],
)
def test_what_stays_clear_of_denied_files_still_runs_unasked(tmp_path: Path, command: str) -> None:
    assert word(_ground(tmp_path).run(command)) == "allow"


def test_without_a_rule_about_reading_nothing_of_this_is_looked_at(tmp_path: Path) -> None:
    ground = _ground(tmp_path, deny="Bash(rm *)")
    for command in ("grep -r TOKEN .", "cat *", "rg TOKEN"):
        assert word(ground.run(command)) == "allow"
    assert word(ground.run("cat $F", ALWAYS)) == "allow"


def test_ripgrep_may_run_where_only_a_hidden_or_ignored_file_is_denied(tmp_path: Path) -> None:
    ground = _ground(tmp_path, deny="Read(.env)")
    (ground.root / ".env").write_text("TOKEN=1\n")
    assert word(ground.run("rg TOKEN")) == "allow"
    for command in ("rg --hidden TOKEN", "rg -uu TOKEN", "rg -. TOKEN", "grep -r TOKEN .", "cat .e*"):
        assert word(ground.run(command)) == "deny"
    assert word(ground.run("cat *")) == "allow"


def test_links_into_a_denied_folder_do_not_help(tmp_path: Path) -> None:
    ground = _ground(tmp_path, deny="Read(vault/**)")
    (ground.root / "vault").mkdir()
    (ground.root / "vault" / "key").write_text("k\n")
    (ground.root / "src" / "link").symlink_to("../vault/key")
    for command in ("cat src/l*", "grep -r k src", "grep -r k vault", "cat v*/*"):
        assert word(ground.run(command)) == "deny"


def test_a_folder_with_too_many_files_to_look_at_is_asked_about(tmp_path: Path) -> None:
    ground = _ground(tmp_path, deny="Read(zzz)")
    reviewed = review("grep -r x .", ground.root, ground.root, NOTHING)
    assert sweep(reviewed, ground.policy.read_denials()) == Sweep()
    doubt = sweep(reviewed, ground.policy.read_denials(), most=3).doubt
    assert doubt == "it goes through more files than can be checked"


def test_the_refusal_names_the_file_and_the_rule(tmp_path: Path) -> None:
    verdict = _ground(tmp_path).run("grep -r TOKEN .")
    assert isinstance(verdict, Deny)
    assert f"{tmp_path}/work/secret.txt" in verdict.message and "Read(secret.txt)" in verdict.message


def test_an_ask_rule_for_a_path_also_asks_for_wildcards(tmp_path: Path) -> None:
    ground = _ground(tmp_path, deny="", ask="Read(secret.txt)")
    assert word(ground.run("cat sec*", ALWAYS)) == "ask"
    assert word(ground.run("cat src/*", ALWAYS)) == "allow"


def test_an_edit_rule_holds_for_wildcards(tmp_path: Path) -> None:
    ground = _ground(tmp_path, deny="Edit(secret.txt)")
    assert word(ground.run("rm sec*", ALWAYS)) == "deny"
    assert word(ground.run("cat sec*", ALWAYS)) == "allow"


def test_a_command_allowed_letter_for_letter_is_not_asked_about_again(tmp_path: Path) -> None:
    ground = Ground(tmp_path, deny=["Read(secret.txt)"], allow=["Bash(ls | xargs wc -l)"])
    assert word(ground.run("ls | xargs wc -l")) == "allow"
    assert word(ground.run("ls | xargs wc -c")) == "ask"


def _hide(there: Room, *rules: str) -> None:
    ground = Ground(there.folder.parent / "policy", deny=rules)
    ground.root = there.folder
    there.resources.add(HiddenFiles, HiddenFiles(ground.policy.read_denials))


@pytest.mark.parametrize("ripgrep", [True, False])
async def test_searching_tools_leave_denied_files_out(tmp_path: Path, ripgrep: bool) -> None:
    folder = tmp_path / "work"
    (folder / "sub").mkdir(parents=True)
    for name in ("secret.txt", "sub/secret.txt", "open.txt"):
        (folder / name).write_text("TOKEN=1\n")
    (folder / "link.txt").symlink_to("secret.txt")
    env = dict(os.environ) if ripgrep else {**os.environ, "PATH": "/nowhere"}
    async with room(folder, env) as there:
        assert "secret.txt" in await there.call("grep", pattern="TOKEN")
        _hide(there, "Read(secret.txt)")
        for mode in ("content", "files_with_matches", "count"):
            found = await there.call("grep", pattern="TOKEN", output_mode=mode)
            assert "open.txt" in found and "secret" not in found and "link" not in found
        found = await there.call("glob", pattern="**/*.txt")
        assert "open.txt" in found and "secret" not in found and "link" not in found
        tree = await there.call("list_dir")
        assert "open.txt" in tree and "secret" not in tree and "link" not in tree
        error = await there.error("read_file", target_file="secre.txt")
        assert "secret" not in str(error)

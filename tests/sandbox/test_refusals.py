"""What the sandbox stopped is told from what commands really print, and nothing else is laid at its door."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.sandbox.error_lines import Trouble, error_lines
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms
from grokmini.sandbox.refusals import Refusal, refusals
from tests.sandbox.attacks.stage import identity, python_of, stage, users
from tests.sandbox.places import ENV, machines, read, running, shell

each_machine = pytest.mark.parametrize("machine", machines().values(), ids=machines().keys())
PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable


class Ground:
    """A project with a repository, a folder outside, a key; and policies over them."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.project, self.outside, self.home = base / "project", base / "outside", base / "home"
        for folder in (self.project / "sub", self.outside / "folder", self.home, base / "temp"):
            folder.mkdir(parents=True)
        (self.outside / "file").write_text("kept\n")
        (self.project / "a").write_text("a\n")
        (self.home / "key").write_text("secret\n")
        (self.project / ".grokmini").mkdir()
        script = (
            "git init -qb main . && git config user.email a@b.c && git config user.name n && git add a"
            " && git commit -qm one && git branch other && git init -q --bare up.git"
        )
        subprocess.run(["sh", "-c", script], cwd=self.project, check=True)

    def policy(self, profile: str = "workspace", **more: object) -> Policy:
        """The profile's policy; the one that only reads has its network blocked."""
        git = self.project / ".git"
        roots = (str(self.project),) if profile != "read-only" else ()
        policy = Policy(
            profile,
            write_roots=roots,
            protected=(f"{git}/hooks", f"{git}/config", f"{self.project}/.grokmini"),
            denied=(str(self.home / "key"),),
            temp=(str(self.base / "temp"),),
            network="open" if profile == "workspace" else "blocked",
        )
        return dataclasses.replace(policy, **more)  # type: ignore[arg-type]


@pytest.fixture
def ground() -> Iterator[Ground]:
    """Not in a folder that programs take for their temporary one."""
    base = Path(os.path.realpath(tempfile.mkdtemp(prefix="grokmini-refusals-", dir="/var/tmp")))
    try:
        yield Ground(base)
    finally:
        shutil.rmtree(base)


async def told(
    ground: Ground, command: str, policy: Policy, machine: Mechanisms | None = None
) -> tuple[Refusal, ...]:
    """Run the command for real; what its output tells."""
    env = {
        **ENV,
        "HOME": str(ground.home),
        "out": str(ground.outside),
        "TMPDIR": str(ground.base / "temp"),
        "home": str(ground.home),
    }
    async with running(policy, machine) as runner:
        spec = dataclasses.replace(shell(command, ground.project), env=env)
        bash = shutil.which("bash")
        if bash:
            spec = dataclasses.replace(spec, argv=(bash, "--norc", "-c", command))
        handle = await runner.start(spec)
        output = (await read(handle)).decode(errors="replace")
        await handle.wait()
    folders = (str(ground.outside),) if command.startswith("cd $out") else ()
    return refusals(output, policy, str(ground.project), command=command, folders=folders)


OUTSIDE = {
    "new": [
        "echo x > $out/new",
        "touch $out/new",
        "touch ../outside/new",
        "cd $out && touch new",
        "mkdir $out/new",
        "cp a $out/new",
        "mv a $out/new",
        "ln -s a $out/new",
        "echo | tee $out/new",
        "dd if=a of=$out/new",
        "install a $out/new",
        "tar cf $out/new a",
        "mkfifo $out/new",
        "git clone -q . $out/new",
        f"{PYTHON} -c \"open('$out/new', 'w')\"",
        f"{PYTHON} -c \"import os; os.mkdir('$out/new')\"",
        f"{PYTHON} -c \"import os; os.rename('a', '$out/new')\"",
        "node -e \"require('fs').writeFileSync('$out/new', '')\"",
        "node -e \"require('fs').renameSync('a', '$out/new')\"",
        'perl -e \'open(F, ">", "$ENV{out}/new") or die "$ENV{out}/new: $!"\'',
        "printf 'all:\\n\\ttouch $(out)/new\\n' > Makefile; make",
        "echo 'int main(){}' > m.c; gcc m.c -o $out/new",
        "sqlite3 $out/new 'create table a(b)'",
        "git config --file $out/new a.b c",
        "wget -qO $out/new http://127.0.0.1:1/",
    ],
    "file": [
        "echo x >> $out/file",
        "rm $out/file",
        "cp a $out/file",
        "mv $out/file here",
        "truncate -s0 $out/file",
        f"{PYTHON} -c \"import os; os.remove('$out/file')\"",
    ],
    "folder": [
        "rmdir $out/folder",
        "rm -rf $out/folder",
        f"{PYTHON} -c \"import shutil; shutil.rmtree('$out/folder')\"",
    ],
}
_ROWS = [(name, command) for name, commands in OUTSIDE.items() for command in commands]


def is_there(command: str) -> bool:
    """Whether the program that a command is about is on this machine."""
    known = ("make", "gcc", "node", "perl", "sqlite3", "wget", "git")
    return all(shutil.which(name, path=ENV["PATH"]) for name in known if re.search(rf"\b{name} ", command))


@each_machine
@pytest.mark.parametrize(("name", "command"), _ROWS, ids=[command[:40] for _, command in _ROWS])
async def test_a_write_outside_is_told_with_path_and_rule(
    ground: Ground, machine: Mechanisms, name: str, command: str
) -> None:
    found = await told(ground, command, ground.policy(), machine)
    if not is_there(command):
        assert found == (), "a program that is not there is not the sandbox's doing"
        return
    assert found[0].path in (str(ground.outside / name), f"{ground.outside}/{name}/.git")
    assert "can be written (sandbox profile workspace)" in found[0].rule
    assert str(ground.project) in found[0].rule
    assert found[0].hint
    assert sorted(path.name for path in ground.outside.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("git config --local a.b c", "config"),
        ("git config core.hooksPath .husky", "config"),
        ("git remote add o up.git", "config"),
        ("git push -u up.git HEAD:x", "config"),
        ("git branch -m other third", "config"),
        ("git branch -u main other", "config"),
        ("echo x >> .git/config", "config"),
        ("sed -i s/a/b/ .git/config", "config"),
        ("echo x > .git/hooks/pre-commit", "hooks/pre-commit"),
        ("cp a .git/hooks/pre-commit", "hooks/pre-commit"),
        ("mv .git elsewhere", ""),
    ],
)
async def test_what_steers_git_is_told_with_what_works_instead(ground: Ground, command: str, path: str) -> None:
    (one,) = await told(ground, command, ground.policy())
    assert one.path == str(ground.project / ".git" / path)
    assert f"{ground.project}/.git/" in one.rule
    assert "(sandbox profile workspace)" in one.rule
    assert "commit, switch, stash" in one.hint


async def test_our_own_folder_in_the_project_is_told(ground: Ground) -> None:
    (one,) = await told(ground, "touch .grokmini/settings.toml", ground.policy())
    assert one.path == f"{ground.project}/.grokmini/settings.toml"
    assert f"{ground.project}/.grokmini stays read-only" in one.rule


@pytest.mark.parametrize(
    "command",
    [
        "cat $home/key",
        "cp $home/key here",
        "grep -r secret $home",
        f"{PYTHON} -c \"open('$home/key')\"",
        f"{PYTHON} -c 'import socket, sys; socket.socket(1).connect(sys.argv[1])' HOME/key",
        "tar cf here.tar $home/key",
        "rm $home/key",
    ],
)
async def test_a_hidden_file_is_told(ground: Ground, command: str) -> None:
    (one,) = await told(ground, command.replace("HOME", str(ground.home)), ground.policy())
    assert (one.path, one.kind) == (f"{ground.home}/key", "read")
    assert f"{ground.home}/key is denied" in one.rule


@each_machine
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("cat $out/file", "file"),
        ("ls $out", ""),
        ("node -e \"require('fs').readFileSync('$out/file')\"", "file"),
        ("touch $out/new", "new"),
        ("echo x > $out/new", "new"),
        ("cp a $out/new", "new"),
        ("mv a $out/new", "new"),
        ("ln -s a $out/new", "new"),
        ("echo | tee $out/new", "new"),
        ("dd if=a of=$out/new", "new"),
        (f"{PYTHON} -c \"open('$out/new', 'w')\"", "new"),
        (f"{PYTHON} -c \"import pathlib; pathlib.Path('$out/new').write_text('')\"", "new"),
        ("node -e \"require('fs').writeFileSync('$out/new', '')\"", "new"),
    ],
)
async def test_what_strict_does_not_show_is_told(
    ground: Ground, machine: Mechanisms, command: str, name: str
) -> None:
    shown = ("/usr", "/bin", "/lib", "/lib64", "/etc", "/opt", str(ground.project))
    policy = ground.policy("strict", read_all=False, read_roots=shown)
    found = await told(ground, command, policy, machine)
    assert [one.path for one in found] == ([str(ground.outside / name)] if is_there(command) else [])
    assert all(f"the system, toolchains and {ground.project}" in one.rule for one in found)


@each_machine
@pytest.mark.parametrize(
    "command",
    [
        "cat $out/none",
        "cat < $out/none",
        "ls $out/none",
        "cp $out/none here",
        "mv $out/none here",
        "rm $out/none",
        "head -1 $out/none >a",
        f"{PYTHON} -c \"open('$out/none')\"",
        f"{PYTHON} $out/none.py",
        "node -e \"require('fs').readFileSync('$out/none')\"",
    ],
)
async def test_what_is_not_there_for_anybody_is_not_told_as_stopped(
    ground: Ground, machine: Mechanisms, command: str
) -> None:
    shown = ("/usr", "/bin", "/lib", "/lib64", "/etc", "/opt", str(ground.project))
    policy = ground.policy("strict", read_all=False, read_roots=shown)
    assert await told(ground, command, policy, machine) == ()


@each_machine
@pytest.mark.parametrize("start", ["{n}", "sh -c {n}", "env {n}", "timeout 5 {n}", "$home/bin/{n}"])
@pytest.mark.parametrize(("name", "at"), [("linked", "tools/linked"), ("scripted", "tools/run")])
async def test_a_program_that_strict_does_not_show_is_told(
    ground: Ground, machine: Mechanisms, monkeypatch: pytest.MonkeyPatch, start: str, name: str, at: str
) -> None:
    tools, programs = ground.home / "tools", ground.home / "bin"
    for folder in (tools, programs):
        folder.mkdir()
    for path, text in (
        (tools / "linked", "#!/bin/sh\n"),
        (tools / "run", "#!/bin/sh\n"),
        (programs / "scripted", f"#!{tools}/run\n"),
    ):
        path.write_text(text)
        path.chmod(0o755)
    (programs / "linked").symlink_to(tools / "linked")
    monkeypatch.setenv("PATH", f"{programs}:{ENV['PATH']}")
    shown = ("/usr", "/bin", "/lib", "/lib64", "/etc", str(programs), str(ground.project))
    policy = ground.policy("strict", read_all=False, read_roots=shown)
    command = f'PATH="$home/bin:$PATH"; {start.format(n=name)}'
    found = await told(ground, command, policy, machine)
    assert [(one.path, one.kind) for one in found] == [(str(ground.home / at), "read")]
    assert await told(ground, "nothing-of-this-name", policy, machine) == ()


def test_a_pipe_in_the_place_of_a_program_keeps_nobody_waiting(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(ground.project / "pipe", 0o755)
    monkeypatch.setenv("PATH", str(ground.project))
    policy = ground.policy("strict", read_all=False, read_roots=(str(ground.project),))
    assert refusals("sh: 1: pipe: not found\n", policy, str(ground.project)) == ()


async def test_a_profile_that_only_reads_names_the_file_in_the_project(ground: Ground) -> None:
    for command, name in [
        ("touch new", "new"),
        ("echo x > sub/new", "sub/new"),
        ("echo | tee new", "new"),
        ("tar cf new a", "new"),
        ("git commit --allow-empty -qm x", ".git/index.lock"),
        ("git add a", ".git/index.lock"),
        (f"{PYTHON} -m venv env", "env"),
    ]:
        found = await told(ground, command, ground.policy("read-only"))
        assert found[0].path == str(ground.project / name), (command, found)
        assert "(sandbox profile read-only)" in found[0].rule


@each_machine
@pytest.mark.parametrize(
    ("command", "host"),
    [
        ("curl -sS https://host.example", "host.example"),
        ("curl -sS http://192.0.2.1", "192.0.2.1"),
        ("git ls-remote https://host.example/x", "host.example"),
        ("git ls-remote git@host.example:x", "host.example"),
        ("node -e \"require('https').get('https://host.example')\"", "host.example"),
        ("node -e \"require('net').createServer().listen(0)\"", "the network"),
        ("echo > /dev/tcp/192.0.2.1/80", "the network"),
        (f"{PYTHON} -c \"import socket; socket.create_connection(('192.0.2.1', 80))\"", "the network"),
        (f"{PYTHON} -m http.server 0", "the network"),
        (f"{PYTHON} -c \"import urllib.request as u; u.urlopen('https://host.example')\"", "the network"),
    ],
)
async def test_a_blocked_network_is_told_with_the_host(
    ground: Ground, machine: Mechanisms, command: str, host: str
) -> None:
    found = await told(ground, command, ground.policy(network="blocked"), machine)
    assert [(one.path, one.kind) for one in found] == [(host, "network")]
    assert found[0].rule == "the network is blocked (sandbox profile workspace)"


def test_a_module_that_is_not_found_is_no_host_that_is_not_found(ground: Ground) -> None:
    for said in ("ModuleNotFoundError: No module named 'a'", "FileNotFoundError: a", "CommandNotFound: a"):
        assert refusals(said, ground.policy("read-only"), str(ground.project)) == ()


def test_a_socket_that_was_not_made_is_no_file_that_was_not_written(ground: Ground) -> None:
    said = (
        "permission denied while trying to connect to the Docker daemon socket at unix:///run/own.sock: "
        'Get "http://%2Frun%2Fown.sock/v1.50/containers/json": dial unix /run/own.sock: socket: '
        "operation not permitted\n"
    )
    (one,) = refusals(said, ground.policy("read-only"), str(ground.project))
    assert one.kind == "network" and "socket of this machine" in one.hint


async def test_a_blocked_network_is_told_with_how_a_person_allows_it(ground: Ground) -> None:
    blocked = ground.policy("read-only")
    (one,) = await told(ground, "curl -sS https://host.example", blocked)
    for way in ("/sandbox workspace", "--sandbox workspace", 'network = "open"'):
        assert way in one.hint
    assert "allow_unix" not in one.hint, "it would not help"


@pytest.mark.parametrize(
    "command",
    [
        f"{PYTHON} -c 'import multiprocessing; multiprocessing.Manager()'",
        f"{PYTHON} -c 'import multiprocessing as m; m.get_context(\"forkserver\").Process().start()'",
        "ssh-agent",
        f"{PYTHON} -m http.server 0",
        "curl -sS http://127.0.0.1:9",
    ],
)
async def test_sockets_of_this_machine_are_told_with_the_key_that_allows_them(
    ground: Ground, command: str
) -> None:
    (one,) = await told(ground, command, ground.policy("read-only"))
    assert one.kind == "network"
    assert "allow_unix = true" in one.hint and "/sandbox workspace" in one.hint
    said = "multiprocessing: PermissionError: [Errno 1] Operation not permitted: socket"
    (one,) = refusals(said, ground.policy("own", network="blocked", allow_unix=True), str(ground.project))
    assert "allow_unix" not in one.hint, "it is set"


_POWERS = [("unshare -Ur true", "unshare"), ("bwrap --ro-bind / / true", "bwrap")]
_ROOTS_OWN = [("su nobody -s /bin/sh -c id", "su"), ("chroot / true", "chroot"), ("chown 1 a", "")]
"""Others do not get so far."""


@pytest.mark.parametrize(("command", "path"), [*_POWERS, *(_ROOTS_OWN if os.geteuid() == 0 else ())])
async def test_a_power_that_no_command_has_is_told(ground: Ground, command: str, path: str) -> None:
    (one,) = await told(ground, command, ground.policy())
    assert (one.path, one.kind) == (path or str(ground.project / "a"), "power")


def test_a_program_that_says_why_it_gains_no_rights_is_understood(ground: Ground) -> None:
    for said in (
        'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.\n',
        "sudo: PERM_SUDOERS: setresuid(-1, 1, -1): Invalid argument\nsudo: no valid sudoers sources found\n",
    ):
        (one,) = refusals(said, ground.policy(), str(ground.project))
        assert (one.path, one.kind) == ("sudo", "power")
        assert "no_new_privs" in one.rule
        assert refusals(said, Policy("off", write_all=True), str(ground.project)) == ()


@each_machine
@pytest.mark.parametrize(
    "command",
    [
        "true",
        "cat missing",
        "cd missing",
        "./a",
        "$out/file",
        f"{PYTHON} -c \"import subprocess; subprocess.run(['$out/file'])\"",
        "git switch -q other && echo b > a && git commit -qam two && git stash list",
        "ls nowhere; cp a sub/b; rm sub/b; mkdir sub",
        "ln a a",
        "git switch nowhere",
        "git branch -d other 2>&1 && ! git rev-parse -q --verify other",
        "curl -sS http://127.0.0.1:1/",
        "echo 'warning: opening /proc/self/mem file failed: Permission denied (13)'",
        "echo 'warning: opening /proc/PID/mem file for lwp 7.7 failed: Permission denied (13)'",
        f'{PYTHON} -c \'raise OSError(30, "Read-only file system", "made/elsewhere")\'',
        f"{PYTHON} -c \"raise PermissionError(13, 'Permission denied', 'a')\"",
        "echo \"touch: cannot touch '$PWD/a': Read-only file system\"",
        "echo 'ssh: Could not resolve hostname host.example: Name or service not known'",
    ],
)
async def test_what_is_not_the_sandbox_s_doing_is_not_laid_at_its_door(
    ground: Ground, machine: Mechanisms, command: str
) -> None:
    assert await told(ground, command, ground.policy(), machine) == ()


@settings(max_examples=200)
@given(
    words=st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60),
    trouble=st.sampled_from([trouble.value for trouble in Trouble]),
    name=st.sampled_from(["a", "sub/b c", "new", "./sub", ".git/index.lock", ".git/objects/x"]),
    form=st.sampled_from(
        ["touch: cannot touch '{p}': {t}", "{p}: {t}", "E: {t}: '{p}'", "bash: line 1: {p}: {t}"]
    ),
)
def test_no_text_about_a_path_that_the_policy_allows_accuses_the_sandbox(
    words: str, trouble: str, name: str, form: str
) -> None:
    policy = Policy(
        "workspace", write_roots=("/srv/project",), temp=("/tmp",), protected=("/srv/project/.git/hooks",)
    )
    for path in (name, f"/srv/project/{name}", f"/tmp/{name.replace('..', 'x')}"):
        text = f"{words}\n{form.format(p=path, t=trouble)}\n"
        found = refusals(text, policy, "/srv/project")
        assert not [one for one in found if one.path.startswith(("/srv/project", "/tmp/"))]


@settings(max_examples=300)
@given(st.text(max_size=2_000))
def test_any_text_can_be_looked_at(text: str) -> None:
    policy = Policy("strict", read_all=False, write_roots=("/srv/project",), network="blocked")
    for one in refusals(text, policy, "/srv/project", command=text):
        assert one.rule and one.hint


def test_much_output_is_looked_at_quickly(ground: Ground) -> None:
    text = "".join(f"touch: cannot touch '{ground.project}/{n}': Permission denied\n" for n in range(50_000))
    assert len(list(error_lines(text + "x" * 1_000_000))) == 200
    assert refusals(text, ground.policy(), str(ground.project)) == ()


_AS_USER = """
import json, os, sys
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.refusals import refusals
base = sys.argv[1]
policy = Policy("workspace", write_roots=(f"{base}/project",))
said = lambda path, text: [one.path for one in refusals(f"touch: cannot touch '{path}': {text}", policy, base)]
os.makedirs(f"{base}/mine")
print(json.dumps({
    "theirs": said("/etc/hosts", "Read-only file system") + said("/etc/new", "Permission denied"),
    "mine": said(f"{base}/mine/new", "Read-only file system"),
}))
"""


@pytest.mark.parametrize("user", users())
def test_what_the_person_could_not_write_either_is_not_the_sandbox_s_doing(user: str) -> None:
    with stage(user) as base:
        done = subprocess.run(
            [python_of(user), "-c", _AS_USER, str(base)],
            env={"PYTHONPATH": str(base / "code"), "PATH": ENV["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            check=True,
            **identity(user),
        )
    found = json.loads(done.stdout)
    assert found["theirs"] == (["/etc/hosts", "/etc/new"] if user == "root" else [])
    assert found["mine"] == [f"{base}/mine/new"]

"""The runner of macOS with stand-ins for its program: what is really started, proved and told."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.confining import confining_runner
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms, probe, try_seatbelt
from grokmini.sandbox.runner import CommandSpec
from grokmini.sandbox.seatbelt_runner import SeatbeltRunner, with_real_paths
from grokmini.sandbox.survivors import descendants
from tests.sandbox.liveness import alive
from tests.sandbox.places import ENV, read, shell, workspace
from tests.waiting import until_now

_RECORDS = """\
#!{python} -IS
import json, os, sys
with open({log!r}, "a") as file:
    file.write(json.dumps(sys.argv) + "\\n")
words = sys.argv[sys.argv.index("--") + 1:]
os.execvpe(words[0], words, os.environ)
"""

_CONFINES = """\
#!{python} -IS
import os, sys
cut = sys.argv.index("--")
given = [word.partition("=")[::2] for word in sys.argv[1:cut] if word[:4].isupper() or word.startswith("PIN")]
bound = ["{bwrap}", "--unshare-user", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev"]
for kind, option in (("WRITE", ["--bind"]), ("PROTECTED", ["--ro-bind"])):
    for name, path in given:
        if name.startswith(kind) and os.path.exists(path):
            bound += [*option, path, path]
for name, path in given:
    if name.startswith("DENIED") and os.path.exists(path):
        bound += ["--ro-bind", "{empty}", path]
os.execv(bound[0], [*bound, *sys.argv[cut:]])
"""


def stand_in(folder: Path, text: str) -> Path:
    """An executable with that text."""
    file = folder / "sandbox-exec"
    file.write_text(text)
    file.chmod(0o755)
    return file


def mac(program: Path | None, reason: str = "") -> Mechanisms:
    """A machine with nothing but that program."""
    reasons = {"seatbelt": reason} if reason else {}
    return Mechanisms(0, False, None, False, reasons, seatbelt=str(program) if program else None)


def recording(folder: Path) -> tuple[Mechanisms, Path]:
    """A machine whose program confines nothing and writes down what it was given."""
    log = folder / "given"
    return mac(stand_in(folder, _RECORDS.format(python=sys.executable, log=str(log)))), log


def confining(folder: Path) -> Mechanisms:
    """A machine whose program does by mounts what the parameters say."""
    folder.mkdir(exist_ok=True)
    empty = folder / "empty"
    empty.touch()
    empty.chmod(0)
    return mac(stand_in(folder, _CONFINES.format(python=sys.executable, bwrap=probe().bwrap, empty=str(empty))))


async def test_each_command_is_started_under_the_program_with_the_profile_of_the_policy(tmp_path: Path) -> None:
    machine, log = recording(tmp_path)
    policy = workspace(tmp_path)
    runner = SeatbeltRunner(policy, mechanisms=machine)
    env = {**ENV, "NAME": "a b"}
    handle = await runner.start(
        CommandSpec(("/bin/sh", "-c", 'echo "$1|$NAME"; pwd; exit 7', "sh", "--"), tmp_path / "cwd", env)
    )
    assert await read(handle) == f"--|a b\n{tmp_path}/cwd\n".encode()
    assert (await handle.wait()).code == 7
    await runner.close()
    proof, command = map(json.loads, log.read_text().splitlines())
    assert proof[: proof.index("--")] == command[: command.index("--")]
    assert command[1] == "-p"
    assert command[2].startswith("(version 1)\n(allow default)\n")
    assert any(word.startswith("WRITE_") and word.endswith(f"={tmp_path}/cwd") for word in command)
    assert command[command.index("--") + 1 :] == ["/bin/sh", "-c", 'echo "$1|$NAME"; pwd; exit 7', "sh", "--"]


async def test_the_proof_names_what_a_program_that_confines_nothing_lets_through(tmp_path: Path) -> None:
    machine, _ = recording(tmp_path)
    policy = dataclasses.replace(
        workspace(tmp_path), network="blocked", denied=(f"{tmp_path}/outside",), protected=(f"{tmp_path}/cwd",)
    )
    runner = SeatbeltRunner(policy, mechanisms=machine)
    assert (await runner.prepare()).confined is False
    told = "; ".join(runner.enforcement.lost)
    assert runner.enforcement.label == "none"
    assert f"commands can create in {tmp_path}" in told
    assert f"commands can read {tmp_path}/outside" in told
    assert f"commands can write {tmp_path}/cwd" in told
    assert "commands can bind" in told
    assert not runner.enforcement.network_blocked
    await runner.close()
    named = SeatbeltRunner(dataclasses.replace(policy, explicit=True), mechanisms=machine)
    with pytest.raises(SandboxError, match="does not hold"):
        await named.start(shell("true", tmp_path))
    await named.close()


async def test_what_holds_by_the_proof_is_told_with_what_macos_cannot_keep(tmp_path: Path) -> None:
    secret = tmp_path / "cwd" / "secret"
    policy = dataclasses.replace(workspace(tmp_path), denied=(str(secret),), explicit=True)
    secret.write_text("open")
    runner = SeatbeltRunner(policy, mechanisms=confining(tmp_path / "tool"))
    told = await runner.prepare()
    assert (told.label, told.confined) == ("workspace", True)
    assert any("detach themselves twice" in text for text in told.lost)
    assert any("untested" in text for text in told.lost)
    handle = await runner.start(shell("echo x >in; cat secret; echo x >../outside/no; :", tmp_path / "cwd"))
    await handle.wait()
    assert (tmp_path / "cwd/in").exists()
    assert not (tmp_path / "outside/no").exists()
    handle = await runner.start(shell("touch ../outside/yes", tmp_path / "cwd", outside=True))
    await handle.wait()
    assert (tmp_path / "outside/yes").exists()
    await runner.close()


async def test_the_policy_is_looked_at_before_each_command_and_proved_when_it_changed(tmp_path: Path) -> None:
    machine, log = recording(tmp_path)
    policy = workspace(tmp_path)
    later = tmp_path / "cwd/later"
    proofs: list[str] = []
    runner = SeatbeltRunner(
        policy,
        mechanisms=machine,
        rescan=lambda: dataclasses.replace(policy, denied=(str(later),) if later.exists() else ()),
        on_proof=lambda: proofs.append("proved"),
    )
    for _ in range(2):
        await (await runner.start(shell("true", tmp_path))).wait()
    later.touch()
    assert proofs == ["proved"]
    await (await runner.start(shell("true", tmp_path))).wait()
    assert proofs == ["proved", "proved"]
    assert runner.policy is not None and runner.policy.denied == (str(later),)
    given = json.loads(log.read_text().splitlines()[-1])
    assert any(word.startswith("DENIED_") and word.endswith(f"={later}") for word in given)
    await runner.close()


async def test_a_policy_that_was_expected_while_the_disk_was_looked_at_is_kept(tmp_path: Path) -> None:
    machine, _ = recording(tmp_path)
    policy = workspace(tmp_path)
    other = dataclasses.replace(policy, profile="other")

    def rescan() -> Policy:
        runner.expect(other)
        return policy

    runner = SeatbeltRunner(policy, mechanisms=machine, rescan=rescan)
    for _ in range(2):
        await (await runner.start(shell("true", tmp_path))).wait()
    assert runner.policy == other
    await runner.close()


async def test_a_program_that_fails_is_told_and_a_named_profile_refused(tmp_path: Path) -> None:
    broken = stand_in(tmp_path, "#!/bin/sh\necho 'sandbox_apply: Operation not permitted' >&2\nexit 71\n")
    reasons: dict[str, str] = {}
    assert try_seatbelt(str(broken), reasons) is None
    assert "Operation not permitted" in reasons["seatbelt"]
    policy = workspace(tmp_path)
    machine = mac(None, reasons["seatbelt"])
    runner = SeatbeltRunner(policy, mechanisms=machine)
    told = await runner.prepare()
    assert (told.label, told.confined) == ("none", False)
    assert "sandbox-exec does not work" in told.lost[0]
    assert "Operation not permitted" in told.hint
    handle = await runner.start(shell("echo on", tmp_path))
    assert await read(handle) == b"on\n"
    await runner.close()
    named = dataclasses.replace(policy, explicit=True)
    runner = SeatbeltRunner(named, mechanisms=machine)
    with pytest.raises(SandboxError) as caught:
        await runner.prepare()
    assert "Operation not permitted" in (caught.value.hint or "")
    assert "--sandbox-best-effort" in (caught.value.hint or "")
    await runner.close()
    runner = SeatbeltRunner(policy, mechanisms=mac(broken))  # worked when it was tried, fails when it counts
    with pytest.raises(SandboxError, match="Operation not permitted"):
        await runner.start(shell("true", tmp_path))
    await runner.close()


async def test_a_missing_program_or_folder_is_an_os_error_though_another_program_is_started(
    tmp_path: Path,
) -> None:
    machine, log = recording(tmp_path)
    runner = SeatbeltRunner(workspace(tmp_path), mechanisms=machine)
    (tmp_path / "plain").touch()
    for argv, error in (
        (("/no/such",), FileNotFoundError),
        (("no-such",), FileNotFoundError),
        (("./plain",), PermissionError),
    ):
        with pytest.raises(error):
            await runner.start(CommandSpec(argv, tmp_path, dict(ENV)))
    with pytest.raises(FileNotFoundError):
        await runner.start(shell("true", tmp_path / "nowhere"))
    await runner.close()
    assert len(log.read_text().splitlines()) == 1  # the proof


async def test_the_whole_tree_is_killed_and_nothing_can_be_started_after_the_end(tmp_path: Path) -> None:
    machine, _ = recording(tmp_path)
    runner = SeatbeltRunner(workspace(tmp_path), mechanisms=machine)
    script = "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$; sleep 300' & sleep 300; sleep 300"
    handle = await runner.start(shell(script, tmp_path))
    child = int(await anext(handle.output()))
    await handle.kill()
    assert (await handle.wait()).signal == signal.SIGKILL
    async with asyncio.timeout(30):
        while alive(child):
            await asyncio.sleep(0.01)
    await runner.close()
    with pytest.raises(RuntimeError):
        await runner.start(shell("true", tmp_path))


async def test_the_system_decides_which_runner_confines(tmp_path: Path) -> None:
    policy = workspace(tmp_path)
    for platform, kind in (("darwin", SeatbeltRunner), ("linux", SandboxedRunner)):
        runner = confining_runner(policy, platform=platform)
        assert isinstance(runner, kind)
        assert runner.idle
        await runner.close()


async def test_a_policy_that_allows_everything_is_not_wrapped(tmp_path: Path) -> None:
    machine, log = recording(tmp_path)
    runner = SeatbeltRunner(Policy("off", write_all=True), mechanisms=machine)
    handle = await runner.start(shell("echo free", tmp_path))
    assert await read(handle) == b"free\n"
    assert runner.enforcement.label == "off"
    await runner.close()
    assert not log.exists()


def test_paths_are_real_and_a_protected_link_keeps_its_own_name_too(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real/hooks").symlink_to("elsewhere")
    link = str(tmp_path / "link")
    policy = with_real_paths(
        Policy(
            "x", write_roots=(link,), temp=(link,), scratch=link, protected=(f"{link}/hooks",), denied=(link,)
        )
    )
    real = str(tmp_path / "real")
    assert policy.write_roots == policy.temp == policy.denied == (real,)
    assert policy.scratch == real
    assert policy.protected == (f"{real}/hooks", f"{real}/elsewhere")


def test_children_are_found_by_ps_where_there_is_no_proc(tmp_path: Path) -> None:
    tree = subprocess.Popen(["sh", "-c", "sleep 300 & sh -c 'sleep 300; :' & wait"], start_new_session=True)
    try:
        until_now(lambda: len(descendants(tree.pid)) == 3)
        until_now(lambda: descendants(tree.pid, tmp_path) == descendants(tree.pid))
        assert len(descendants(tree.pid, tmp_path)) == 3
    finally:
        os.killpg(tree.pid, signal.SIGKILL)
        tree.wait()

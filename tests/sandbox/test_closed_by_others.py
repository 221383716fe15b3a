"""Root beside other users: what they keep closed is out of the reach of root's commands, and weakens no sandbox."""

from __future__ import annotations

import os
import socket
import struct
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.closed import closed_by_others
from grokmini.sandbox.policy import Policy
from tests.sandbox.attacks.stage import UID
from tests.sandbox.places import running, said
from tests.sandbox.resolved import around_of, resolved

AS_ROOT = os.getuid() == 0
CONNECT = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1]); print('connected')"


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder with a short name that everybody can go through: a socket's path has little room."""
    with tempfile.TemporaryDirectory(prefix="gs-", dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def of_another(folder: Path, mode: int) -> Path:
    """The folder, as another user's where that can be."""
    folder.mkdir()
    folder.chmod(mode)
    if AS_ROOT:
        os.chown(folder, UID, UID)
    return folder


async def test_a_socket_in_a_closed_folder_of_another_user_keeps_no_layer_from_working(base: Path) -> None:
    path = of_another(base / "ssh-x", 0o700) / "agent.1"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        path.chmod(0o777)
        policy = resolved(around_of(base))
        assert str(path) in policy.denied
        async with running(policy) as runner:
            assert (await runner.prepare()).label == "workspace"
            assert "connected" not in await said(runner, f'python3 -c "{CONNECT}" {path}', base / "work")


async def test_a_named_profile_starts_although_it_denies_what_another_user_keeps_closed(base: Path) -> None:
    folder = of_another(base / "closed", 0o700)
    (folder / "key").write_text("secret")
    policy = replace(resolved(around_of(base)), denied=(f"{folder}/key",), explicit=True)
    async with running(policy) as runner:
        assert (await runner.prepare()).label == "workspace"
        assert "secret" not in await said(runner, f"cat {folder}/key", base / "work")


@pytest.mark.parametrize(("mode", "closed"), [(0o700, True), (0o701, False), (0o711, False), (0o770, True)])
def test_a_folder_is_closed_by_what_it_lets_others_do(base: Path, mode: int, closed: bool) -> None:
    folder = of_another(base / "folder", mode)
    assert closed_by_others(f"{folder}/deep/file") == (str(folder) if closed and AS_ROOT else "")
    assert closed_by_others(str(folder)) == "", "only the way there counts"


def test_a_folder_that_says_more_about_who_may_is_not_taken_for_closed(base: Path) -> None:
    folder = of_another(base / "folder", 0o700)
    entries = ((1, 7, -1), (2, 5, 0), (4, 0, -1), (16, 5, -1), (32, 0, -1))  # root may read and go through
    packed = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    os.setxattr(folder, "system.posix_acl_access", packed)
    assert closed_by_others(f"{folder}/file") == ""


async def test_a_project_that_no_command_can_get_into_is_told_as_such(base: Path) -> None:
    folder = of_another(base / "closed", 0o700)
    (folder / "project").mkdir()
    async with running(Policy("workspace", write_roots=(f"{folder}/project",))) as runner:
        if AS_ROOT:
            with pytest.raises(
                SandboxError, match=f"no command can get into {folder}/project: {folder} is another"
            ):
                await runner.prepare()
        else:
            assert (await runner.prepare()).label == "workspace"

"""The file tools under a sandbox profile: what commands may not do there, they may not do either."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.protocol.errors import ToolErrorKind
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.profile import Profile, built_in
from grokmini.sandbox.resolve import Around, resolve
from tests.tools.room import Room, room

DENIED = ToolErrorKind.SANDBOX_DENIED


class House:
    """A project, a home with our own folders, and a folder outside of both."""

    def __init__(self, root: Path) -> None:
        self.project, self.home, self.outside = root / "project", root / "home", root / "outside"
        for folder in (self.project, self.home, self.outside):
            folder.mkdir()
        (self.outside / "e.txt").write_text("theirs\n")
        (self.project / "mine.txt").write_text("mine\n")
        self.around = Around(
            cwd=str(self.project),
            home=str(self.home),
            env={"HOME": str(self.home), "PATH": os.environ["PATH"]},
            config=str(self.home / "own" / "config"),
            state=str(self.home / "own" / "state"),
            data=str(self.home / "own" / "data"),
        )
        for name in ("config", "state", "data"):
            (self.home / "own" / name).mkdir(parents=True)

    def policy(self, profile: Profile, temp: tuple[str, ...] = ()) -> Policy:
        """The profile here; this test's folders lie in the temporary one, so that it counts only when given."""
        return replace(resolve(profile, self.around, explicit=False), temp=temp)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    assert (made.outside / "e.txt").read_text() == "theirs\n"
    assert os.listdir(made.outside) == ["e.txt"]


async def _refused(made: Room, tool: str, **arguments: object) -> str:
    error = await made.error(tool, **arguments)
    assert error.kind is DENIED, error
    return str(error)


async def test_a_folder_link_out_of_the_project_is_refused_with_the_real_path(house: House) -> None:
    (house.project / "box").symlink_to("../outside")
    async with room(house.project, policy=house.policy(built_in("workspace"))) as made:
        await made.call("read_file", target_file="box/e.txt")
        for tool, arguments in (
            ("write", {"file_path": "box/n.txt", "content": "x"}),
            ("write", {"file_path": "box/e.txt", "content": "x"}),
            ("write", {"file_path": "box/new/n.txt", "content": "x"}),
            ("search_replace", {"file_path": "box/e.txt", "old_string": "theirs", "new_string": "x"}),
            ("search_replace", {"file_path": "box/new.txt", "old_string": "", "new_string": "x"}),
        ):
            text = await _refused(made, tool, **arguments)
            assert text.startswith("The sandbox profile workspace does not let box/")
            assert f", which is {house.outside}/" in text and f"only {house.project} can be written" in text


async def test_what_the_model_reads_names_the_rule_and_what_to_do(house: House) -> None:
    (house.project / "cfg").mkdir()
    (house.project / "cfg" / "key").write_text("k")
    async with room(
        house.project, policy=house.policy(Profile("mine", "workspace", deny=("cfg/key",)))
    ) as made:
        assert await _refused(made, "read_file", target_file="cfg/key") == (
            f"The sandbox profile mine does not let cfg/key be read: {house.project}/cfg/key is denied. "
            "Do without it; if the task needs it, tell the user, who can choose another profile with /sandbox."
        )


async def test_a_denied_file_in_an_allowed_folder_is_out_of_reach_for_tools_and_commands(house: House) -> None:
    cfg = house.project / "cfg"
    cfg.mkdir()
    (cfg / "key").write_text("top secret\n")
    (cfg / "other").write_text("fine\n")
    (house.project / "alias").symlink_to("cfg/key")
    policy = house.policy(Profile("mine", "workspace", deny=("cfg/key",)))
    async with room(house.project, policy=policy) as made:
        for path in ("cfg/key", "alias", "cfg/../cfg/key", f"/proc/self/root{cfg}/key"):
            await _refused(made, "read_file", target_file=path)
            await _refused(made, "write", file_path=path, content="x")
        assert "fine" in await made.call("read_file", target_file="cfg/other")
        assert "top secret" not in await made.call("grep", pattern="secret|fine")
        for command in ("cat cfg/key", "python3 -c \"print(open('cfg/key').read())\""):
            output = await made.call("run_terminal_cmd", command=command, description="look")
            assert "Permission denied" in output and "top secret" not in output
        assert "fine" in await made.call("run_terminal_cmd", command="cat cfg/other", description="look")
    assert (cfg / "key").read_text() == "top secret\n"


async def test_another_name_of_a_denied_file_is_neither_read_nor_written(house: House) -> None:
    (house.project / "key").write_text("top secret\n")
    policy = house.policy(Profile("mine", "workspace", deny=("key",)))
    (house.project / "alias").hardlink_to(house.project / "key")
    async with room(house.project, policy=policy) as made:
        assert "by another name" in await _refused(made, "read_file", target_file="alias")
        await _refused(made, "write", file_path="alias", content="x")


async def test_our_own_settings_and_the_projects_hooks_are_not_written_by_shell_or_tool(house: House) -> None:
    for folder in (".git/hooks", ".git/objects", ".git/refs", ".grokmini"):
        (house.project / folder).mkdir(parents=True)
    (house.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (house.project / ".git" / "config").write_text("[core]\n\tbare = false\n")
    settings = house.project / ".grokmini" / "config.toml"
    settings.write_text("# settings\n")
    own = house.home / "own"
    for name in ("config/config.toml", "config/sandbox.toml", "state/grants.json", "data/rules.md"):
        (own / name).write_text("")
    policy = house.policy(built_in("workspace"), temp=(str(house.home.parent),))
    targets = [
        *(f"{own}/{name}" for name in ("config/config.toml", "config/new", "state/grants.json", "data/rules.md")),
        ".grokmini/config.toml", ".grokmini/sandbox.toml", ".git/hooks/pre-commit",
    ]  # fmt: skip
    made_by_shell = [path for path in targets if not path.endswith("new")]
    async with room(house.project, policy=policy) as made:
        made.workspace.read_before_edit = False
        for path in targets:
            assert "stays read-only" in await _refused(
                made, "write", file_path=path, content="[sandbox]\nfoo = 1\n"
            )
        for path in made_by_shell:
            output = await made.call("run_terminal_cmd", command=f"echo x > {path}", description="try")
            assert "Read-only file system" in output or "Permission denied" in output
        error = await _refused(
            made, "search_replace", file_path=".grokmini/config.toml", old_string="# settings", new_string="x"
        )
        assert f"{house.project}/.grokmini stays read-only" in error
        await made.call(
            "search_replace", file_path=".git/config", old_string="bare = false", new_string="bare = true"
        )
    assert settings.read_text() == "# settings\n"
    assert not (house.project / ".git" / "hooks" / "pre-commit").exists()
    assert "bare = true" in (house.project / ".git" / "config").read_text()


async def test_strict_reads_and_lists_the_project_and_the_system_alone(house: House) -> None:
    (house.project / "box").symlink_to("../outside")
    (house.project / "link").symlink_to("../outside/e.txt")
    async with room(house.project, policy=house.policy(built_in("strict"))) as made:
        assert "mine" in await made.call("read_file", target_file="mine.txt")
        assert await made.call("read_file", target_file=os.__file__)
        await made.call("write", file_path="sub/new.txt", content="x")
        for path in ("box/e.txt", "link", f"{house.outside}/e.txt", "/proc/self/environ"):
            await _refused(made, "read_file", target_file=path)
        for path in ("box", str(house.outside), str(house.home)):
            await _refused(made, "list_dir", target_directory=path)
            await _refused(made, "glob", pattern="*", path=path)
            await _refused(made, "grep", pattern="theirs", path=path)
        assert "theirs" not in await made.call("grep", pattern="theirs|mine")
        missing = await made.error("read_file", target_file=f"{house.outside}/e.tx")
        assert missing.kind is ToolErrorKind.NOT_FOUND and "e.txt" not in str(missing)


async def test_read_only_writes_nothing_in_the_project(house: House) -> None:
    async with room(house.project, policy=house.policy(built_in("read-only"))) as made:
        await made.call("read_file", target_file="mine.txt")
        await _refused(made, "write", file_path="mine.txt", content="x")
        await _refused(made, "write", file_path="new/f", content="x")
    assert sorted(os.listdir(house.project)) == ["mine.txt"]


async def test_devbox_writes_everywhere_but_in_data(house: House) -> None:
    data = house.home / "data"
    data.mkdir()
    policy = house.policy(built_in("devbox"))
    assert "/data" in policy.protected
    policy = replace(policy, protected=(*policy.protected, str(data)))
    async with room(house.project, policy=policy) as made:
        await made.call("write", file_path=str(house.home / "f"), content="x")
        assert f"{data} stays read-only" in await _refused(made, "write", file_path=f"{data}/f", content="x")
    assert not list(data.iterdir())


async def test_denied_globs_hold_for_files_that_come_later_and_lists_stop_at_denied_folders(
    house: House,
) -> None:
    profile = Profile("mine", "workspace", deny=("**/*.pem", "vault"))
    (house.project / "vault").mkdir()
    (house.project / "vault" / "inner.txt").write_text("top secret\n")
    async with room(house.project, policy=house.policy(profile)) as made:
        (house.project / "late.pem").write_text("top secret\n")
        await _refused(made, "read_file", target_file="late.pem")
        await _refused(made, "write", file_path="made.pem", content="x")
        tree = await made.call("list_dir")
        assert "vault/ [not counted]" in tree and "inner" not in tree
        assert "inner" not in await made.call("glob", pattern="**/*.txt")
        await _refused(made, "list_dir", target_directory="vault")
        made.shell.env["PATH"] = "/nowhere"  # our own search
        assert "No matches" in await made.call("grep", pattern="secret")


async def test_an_ignore_file_that_leads_to_a_denied_one_is_not_read(house: House) -> None:
    (house.project / "words").write_text("mine.txt\n")
    (house.project / ".gitignore").symlink_to("words")
    async with room(house.project, policy=house.policy(Profile("mine", "workspace", deny=("words",)))) as made:
        assert "mine.txt" in await made.call("list_dir")
    async with room(house.project) as made:
        assert "mine.txt" not in await made.call("list_dir")


async def test_a_sandbox_that_cannot_be_set_up_stops_a_search_and_says_why(house: House) -> None:
    (house.project / "key").write_text("top secret\n")
    (house.project / "alias").hardlink_to(house.project / "key")
    policy = replace(house.policy(Profile("mine", "workspace", deny=("key",))), explicit=True)
    async with room(house.project, policy=policy) as made:
        error = await made.error("grep", pattern="secret")
    assert error.kind is ToolErrorKind.SANDBOX_UNAVAILABLE
    assert "has 2 names (hard links)" in str(error)


async def test_an_approved_write_goes_to_the_approved_path_and_nowhere_else(tmp_path: Path) -> None:
    house = House(tmp_path)
    (house.project / "box").symlink_to("../outside")
    async with room(house.project, policy=house.policy(built_in("workspace"))) as made:
        made.approved = (house.outside / "new" / "n.txt",)
        await made.call("write", file_path="box/new/n.txt", content="let out\n")
        assert (house.outside / "new" / "n.txt").read_text() == "let out\n"
        await _refused(made, "write", file_path="box/new/other.txt", content="x")
        (house.project / "box").unlink()
        (house.project / "box").symlink_to("../home")
        await _refused(made, "write", file_path="box/new/n.txt", content="x")
        made.approved = ()
        await _refused(made, "write", file_path=f"{house.outside}/new/n.txt", content="x")
    assert os.listdir(house.home) == ["own"]

"""What commands find of the person's secrets and of sockets that lead out: nothing that can be read."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.environment import profile_environment
from grokmini.sandbox.probe import probe
from grokmini.sandbox.profile import Profile, built_in
from grokmini.sandbox.resolve import resolve
from grokmini.sandbox.secrets import secret_paths
from grokmini.sandbox.sockets import bound_sockets
from tests.sandbox.places import running, said
from tests.sandbox.resolved import around_of, resolved

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\ns3cr3t\n"
SECRET_FILES = {
    ".ssh/id_ed25519": KEY,
    ".ssh/work/deploy": KEY,
    ".aws/credentials": "s3cr3t",
    ".gnupg/private-keys-v1.d/A.key": "s3cr3t",
    ".netrc": "machine a password s3cr3t",
    ".config/gh/hosts.yml": "oauth_token: s3cr3t",
    ".config/gcloud/credentials.db": "s3cr3t",
    ".config/gcloud/application_default_credentials.json": "s3cr3t",
    ".docker/config.json": '{"auths": {"a": {"auth": "s3cr3t"}}}',
    ".npmrc": "//registry.npmjs.org/:_authToken=s3cr3t",
    ".config/pip/pip.conf": "[global]\nindex-url = https://user:s3cr3t@pypi.example/simple",
    ".pypirc": "password = s3cr3t",
    ".mozilla/firefox/p/logins.json": "s3cr3t",
    ".config/google-chrome/Default/Cookies": "s3cr3t",
    ".config/chromium/Default/Cookies": "s3cr3t",
    ".local/share/keyrings/login.keyring": "s3cr3t",
}
OPEN_FILES = {
    ".ssh/known_hosts": "host ssh-ed25519 AAAA open",
    ".ssh/config": "Host open",
    ".ssh/id_ed25519.pub": "ssh-ed25519 AAAA open",
    ".gnupg/pubring.kbx": "open",
    ".aws/config": "region = open",
    ".config/gcloud/configurations/config_default": "open",
    ".gitconfig": "[user]\n\tname = open",
}


def put(home: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)


@contextmanager
def listening(*paths: Path) -> Iterator[None]:
    """Sockets of the host at these places."""
    ends = []
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        ends.append(socket.socket(socket.AF_UNIX))
        ends[-1].bind(str(path))
        ends[-1].listen()
    try:
        yield
    finally:
        for end in ends:
            end.close()


CONNECT = (
    "import socket as s, sys\nfor p in sys.argv[1:]:\n try: s.socket(s.AF_UNIX).connect(p); print('in', p)\n"
)
CONNECT += " except OSError: pass"


@pytest.mark.parametrize("profile", ["workspace", "read-only"])
async def test_secrets_cannot_be_read_and_what_programs_need_beside_them_can(
    tmp_path: Path, profile: str
) -> None:
    around = around_of(tmp_path)
    home = Path(around.home)
    put(home, SECRET_FILES | OPEN_FILES)
    own = Path(around.config, "auth.json")
    own.write_text("s3cr3t")
    async with running(resolved(around, profile)) as runner:
        text = await said(runner, f"cat {own}; cd {home}; cat {' '.join(SECRET_FILES)} 2>/dev/null", tmp_path)
        assert "s3cr3t" not in text
        text = await said(runner, f"cd {home}; cat {' '.join(OPEN_FILES)} 2>/dev/null", tmp_path)
        assert text.count("open") == len(OPEN_FILES)
    off = replace(around, protect_secrets=False)
    async with running(resolved(off, profile)) as runner:
        text = await said(runner, f"cd {home}; cat {' '.join(SECRET_FILES)} 2>/dev/null", tmp_path)
        assert text.count("s3cr3t") == len(SECRET_FILES)


def test_secrets_are_found_where_variables_say_they_are(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "aws": "x",
            "gh/hosts.yml": "x",
            "gnupg/secring.gpg": "x",
            "npm": "_authToken=x",
            "xdg/gh/hosts.yml": "x",
        },
    )
    env = {
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "aws"),
        "GH_CONFIG_DIR": str(tmp_path / "gh"),
        "GNUPGHOME": str(tmp_path / "gnupg"),
        "npm_config_userconfig": str(tmp_path / "npm"),
        "XDG_CONFIG_HOME": str(tmp_path / "xdg"),
    }
    found = {path for path in secret_paths(str(tmp_path / "home"), env, ()) if path.startswith(str(tmp_path))}
    wanted = ("aws", "gh/hosts.yml", "gnupg/secring.gpg", "npm", "xdg/gh/hosts.yml")
    assert found == {str(tmp_path / name) for name in wanted}


async def test_npm_and_pip_go_on_without_settings_that_hold_a_token(tmp_path: Path) -> None:
    """Neither ends because its settings cannot be read."""
    around = around_of(tmp_path)
    put(Path(around.home), {name: SECRET_FILES[name] for name in (".npmrc", ".config/pip/pip.conf")})
    async with running(resolved(around)) as runner:
        home = f"HOME={around.home}"
        text = await said(runner, f"{home} {sys.executable} -m pip config list && echo fine", tmp_path)
        assert "fine" in text
        assert "s3cr3t" not in text
        if shutil.which("npm"):
            Path(around.cwd, "package.json").write_text('{"name": "x", "version": "1.0.0"}')
            cache = profile_environment(built_in("workspace"), around.cache)["npm_config_cache"]
            npm = f"{home} npm_config_update_notifier=false npm_config_cache={cache} npm"
            assert await said(runner, f"{npm} pkg get name", around.cwd) == '"x"\n'


async def test_sockets_that_lead_out_are_masked_where_the_network_is_open(tmp_path: Path) -> None:
    agent, run = tmp_path / "agent.sock", tmp_path / "run"
    sockets = [agent, tmp_path / "tmux.sock", run / "docker.sock", run / "podman/podman.sock", run / "bus"]
    sockets += [run / "gnupg/S.gpg-agent", run / "emacs/server", run / "wayland-0", tmp_path / "docker.sock"]
    around = around_of(
        tmp_path,
        {
            "SSH_AUTH_SOCK": str(agent),
            "TMUX": f"{tmp_path}/tmux.sock,1234,0",
            "WAYLAND_DISPLAY": "wayland-0",
            "DOCKER_HOST": f"unix://{tmp_path}/docker.sock",
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={run}/bus,guid=0",
        },
    )
    words = " ".join(map(str, sockets))
    with listening(*sockets):
        async with running(resolved(around)) as runner:
            assert await said(runner, f'python3 -c "{CONNECT}" {words}', tmp_path) == ""
        async with running(resolved(replace(around, protect_secrets=False))) as runner:
            text = await said(runner, f'python3 -c "{CONNECT}" {words}', tmp_path)
            assert text.count("in ") == len(sockets), "without the masks all are reached"


async def test_a_mask_over_a_socket_is_proved(tmp_path: Path) -> None:
    """A socket cannot be opened even where nothing covers it, so the proof looks at what it is."""
    with listening(tmp_path / "socket"):
        around = around_of(tmp_path, {"SSH_AUTH_SOCK": str(tmp_path / "socket")})
        policy = resolved(around)
        bare = probe()
        runner = SandboxedRunner(policy, mechanisms=bare)
        assert (await runner.prepare()).confined
        await runner.close()
        from grokmini.sandbox.launcher import succeeds

        assert succeeds("read", str(tmp_path / "socket"))
        (tmp_path / "file").touch(0o000)
        assert not succeeds("read", str(tmp_path / "nothing"))


async def test_with_local_sockets_allowed_those_of_the_host_are_hidden_and_its_own_work(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    profile = Profile("local", "read-only", allow_unix=True, write=(str(tmp_path / "work"),))
    host, project = tmp_path / "home/host.sock", tmp_path / "work/project.sock"
    own = "import socket as s, threading as t; a = s.socket(s.AF_UNIX); a.bind('own'); a.listen(); "
    own += "b = s.socket(s.AF_UNIX); b.connect('own'); print('own')"
    with listening(host, project):
        assert str(host) in bound_sockets()
        async with running(resolved(around, profile)) as runner:
            text = await said(runner, f'python3 -c "{CONNECT}" {host} {project}', tmp_path)
            assert text == f"in {project}\n"
            assert await said(runner, f'python3 -c "{own}"', tmp_path / "work") == "own\n"
            inet = "import socket as s; s.socket(s.AF_INET)"
            assert "not permitted" in await said(runner, f'python3 -c "{inet}"', tmp_path)
        blocked = Profile("none", "read-only", write=(str(tmp_path / "work"),))
        async with running(resolved(around, blocked)) as runner:
            assert await said(runner, f'python3 -c "{CONNECT}" {host} {project}', tmp_path) == ""


async def test_without_network_run_is_empty_but_for_the_resolver(tmp_path: Path) -> None:
    before = sorted(os.listdir("/run"))
    async with running(resolved(around_of(tmp_path), "read-only")) as runner:
        listed = (
            await said(runner, "ls -A /run; cat /etc/resolv.conf >/dev/null && echo resolver", "/")
        ).split()
    assert "resolver" in listed
    resolver = os.path.realpath("/etc/resolv.conf")
    assert set(listed) - {"resolver"} <= ({resolver.split("/")[2]} if resolver.startswith("/run/") else set())
    assert before, "there is something to hide"


def test_a_resolver_below_run_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from grokmini.sandbox import bwrap

    (tmp_path / "resolv.conf").symlink_to("/run/lock/resolv.conf")
    monkeypatch.setattr(bwrap, "RESOLVER", str(tmp_path / "resolv.conf"))
    policy = resolve(built_in("read-only"), around_of(tmp_path), explicit=False)
    words = bwrap.bwrap_words(policy, bwrap.mounts_of(policy), "bwrap", network=True, needed=(), mask=lambda: 9)
    at = words.index("/run")
    assert words[at - 1 : at + 4] == ["--tmpfs", "/run", "--ro-bind", "/run/lock", "/run/lock"]


def test_a_denied_file_with_a_second_name_is_refused(tmp_path: Path) -> None:
    from grokmini.sandbox.bwrap import mounts_of

    around = around_of(tmp_path)
    put(Path(around.cwd), {"key": "s3cr3t"})
    Path(around.cwd, "alias").hardlink_to(Path(around.cwd, "key"))
    with pytest.raises(SandboxError, match="2 names"):
        mounts_of(resolved(around, Profile("a", "workspace", deny=("key",))))
    (Path(around.home) / ".netrc").hardlink_to(Path(around.cwd, "key"))
    told = mounts_of(resolved(around)).uncovered
    assert len(told) == 1 and "names (hard links)" in told[0], (
        "a secret of ours is masked as far as it goes, and told"
    )


async def test_what_is_denied_stays_so_in_the_next_session_after_its_folder_was_moved(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    put(Path(around.cwd), {"a/b/key": "s3cr3t"})
    profile = Profile("a", "workspace", deny=("a/b/key",))
    async with running(resolved(around, profile)) as runner:
        script = (
            "mv a moved; mv a/b a/c; mv a/b/key k; ln a/b/key l; rm -f a/b/key; cat a/b/key moved/b/key k l"
        )
        assert "s3cr3t" not in await said(runner, script, around.cwd)
    async with running(resolved(around, profile)) as runner:
        assert "s3cr3t" not in await said(runner, "cat $(find . -type f)", around.cwd)
    assert Path(around.cwd, "a/b/key").read_text() == "s3cr3t"
    assert stat.S_IMODE(Path(around.cwd, "a/b/key").stat().st_mode) != 0


async def test_a_match_made_later_is_covered_at_the_next_command(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    profile = Profile("a", "workspace", deny=("*.pem",))
    resolved(around, profile)  # makes the folders

    runner = SandboxedRunner(
        resolved(around, profile), rescan=lambda: replace(resolve(profile, around, explicit=True), temp=())
    )
    try:
        assert (
            await said(runner, "mkdir sub; echo s3cr3t >sub/late.pem; cat sub/late.pem", around.cwd)
            == "s3cr3t\n"
        )
        assert "s3cr3t" not in await said(
            runner, "cat sub/late.pem; mv sub sub2; cat sub2/late.pem", around.cwd
        )
    finally:
        await runner.close()

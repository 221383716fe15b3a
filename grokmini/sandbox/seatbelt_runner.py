"""The runner that confines on macOS: each command is started under `sandbox-exec` with the profile of the policy.

The processes are handled as without a sandbox: by group and by a walk of children. There is no launcher, so a policy
is renewed by the next command's profile. See `seatbelt.py` for what is known of it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import errno
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from grokmini.sandbox.degraded import losses, remedy
from grokmini.sandbox.launch import LAUNCHER, PYTHON
from grokmini.sandbox.plan import is_unconfined, proof_checks
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.policy_runner import PolicyRunner
from grokmini.sandbox.probe import Mechanisms, probe
from grokmini.sandbox.runner import UNCONFINED, CommandSpec, Enforcement
from grokmini.sandbox.seatbelt import seatbelt_profile, seatbelt_words
from grokmini.sandbox.unconfined import UnconfinedCommand, UnconfinedRunner
from grokmini.sandbox.verdict import check_losses, check_proof, further_losses

PROOF_LIMIT: Final = 30.0
"""Seconds that the proof may take."""
_PROOF: Final = (
    "import json, sys; names = {'__name__': 'launcher'}; exec(sys.argv[1], names); "
    "print(json.dumps([check for check in json.loads(sys.argv[2]) if names['succeeds'](*check)]))"
)


class _Proved(NamedTuple):
    """A policy with the command line that keeps it and what its proof showed."""

    policy: Policy
    words: tuple[str, ...]
    enforcement: Enforcement


class SeatbeltRunner(PolicyRunner):
    """Starts commands as the policy says (a `CommandRunner`). The arguments mean what they do for `SandboxedRunner`."""

    def __init__(
        self,
        policy: Policy,
        *,
        best_effort: bool = False,
        mechanisms: Mechanisms | None = None,
        rescan: Callable[[], Policy] | None = None,
        on_proof: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(policy, rescan)
        self._best_effort = best_effort
        self._mechanisms = mechanisms
        self._on_proof = on_proof
        self._commands = UnconfinedRunner()
        self._current: _Proved | None = None
        self._lock = asyncio.Lock()
        self._closed = False

    @property
    def _proved(self) -> Enforcement | None:
        """What the proof of the policy in use showed."""
        return self._current.enforcement if self._current is not None else None

    @property
    def idle(self) -> bool:
        """Whether nothing runs."""
        return self._commands.idle

    async def prepare(self) -> Enforcement:
        """What is enforced; proves it unless that has been done. Raises `SandboxError`."""
        return (self._current or await self._ready()).enforcement

    async def start(self, spec: CommandSpec) -> UnconfinedCommand:
        """Start a command in a session and group of its own, without a terminal, with empty input.

        Raises `OSError` when the program or the folder is not there, `SandboxError` when it cannot be confined.
        """
        if self._closed:
            raise RuntimeError("the runner is closed")
        if not spec.outside:
            words = (await self._ready()).words
            if words:
                _check_program(spec)
            spec = dataclasses.replace(spec, argv=(*words, *spec.argv))
        return await self._commands.start(spec)

    async def close(self) -> None:
        """Kill what still runs and wait until it is gone."""
        self._closed = True
        await self._commands.close()

    def kill_now(self) -> None:
        """Kill everything that runs, without waiting: for a signal handler that leaves right after."""
        self._closed = True
        self._commands.kill_now()

    async def _ready(self) -> _Proved:
        """What the next command runs under, proved anew when the policy has changed."""
        async with self._lock:
            policy = await self._policy_now()
            if self._current is None or self._current.policy != policy:
                self._current = await asyncio.to_thread(self._prove, policy)
                self._on_proof()
            return self._current

    def _prove(self, policy: Policy) -> _Proved:
        if is_unconfined(policy):
            return _Proved(policy, (), UNCONFINED)
        mechanisms = self._mechanisms or probe()
        lost = losses(policy, mechanisms)
        strict = policy.explicit and not self._best_effort
        check_losses(policy, lost, mechanisms, strict=strict)
        if mechanisms.seatbelt is None:
            return _Proved(policy, (), Enforcement("none", lost=lost, hint=remedy(mechanisms)))
        words = seatbelt_words(seatbelt_profile(with_real_paths(policy)), mechanisms.seatbelt)
        holes = holes_of(words, policy)
        check_proof(holes, strict=strict)
        lost += further_losses(policy, mechanisms, holes)
        label = policy.profile if not holes else "none"
        blocked = policy.network == "blocked" and not holes
        return _Proved(policy, words, Enforcement(label, blocked, not holes, lost, notices=policy.notices))


def with_real_paths(policy: Policy) -> Policy:
    """The policy as Seatbelt sees paths. What is protected keeps its own name too, which may be that of a link."""

    def real(paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(os.path.realpath(path) for path in paths if path)

    protected = (os.path.join(os.path.realpath(path.parent), path.name) for path in map(Path, policy.protected))
    return dataclasses.replace(
        policy,
        read_roots=real(policy.read_roots),
        write_roots=real(policy.write_roots),
        protected=tuple(dict.fromkeys((*protected, *real(policy.protected)))),
        denied=real(policy.denied),
        scratch=os.path.realpath(policy.scratch) if policy.scratch else "",
        temp=real(policy.temp),
        caches=real(policy.caches),
    )


def holes_of(words: tuple[str, ...], policy: Policy) -> tuple[str, ...]:
    """What a process confined by these words can do although it must not. Blocks."""
    checks = [
        ("bind" if kind == "socket" else kind, path)
        for kind, path in proof_checks(policy, mounted=True, filtered=True)
    ]
    program = (PYTHON, "-I", "-S", "-c", _PROOF, LAUNCHER.read_text(encoding="utf-8"), json.dumps(checks))
    try:
        done = subprocess.run(
            (*words, *program),
            cwd="/",
            env={},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROOF_LIMIT,
            check=False,
            start_new_session=True,
        )
        return tuple(" ".join(hole).strip() for hole in json.loads(done.stdout))
    except (OSError, subprocess.TimeoutExpired) as error:
        return (f"confine nothing: {error}",)
    except ValueError:
        reason = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        return (f"confine nothing: {reason or f'exit code {done.returncode}'}",)


def _check_program(spec: CommandSpec) -> None:
    """The error of a missing program, which `sandbox-exec` would tell as its own exit. Raises `OSError`."""
    name = spec.argv[0]
    if "/" in name:
        path = spec.cwd / name
        if not spec.cwd.is_dir() or (path.is_file() and os.access(path, os.X_OK)):
            return  # a missing folder is told when the command is started
        number = errno.EACCES if path.exists() else errno.ENOENT
        raise OSError(number, os.strerror(number), name)
    if shutil.which(name, path=spec.env.get("PATH", os.defpath)) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)

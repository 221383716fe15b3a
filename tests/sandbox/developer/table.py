"""Everyday commands with what each profile makes of them.

Columns: workspace, read-only and strict with bubblewrap, the same without it. `+` must work, `x` must be refused;
in the column `off`, without a sandbox, all of it works but for what hygiene keeps from every command.
A command ends with 0 exactly when what it is for has been done. `$PY` is Python, `$OTHER` a second repository.
"""

from __future__ import annotations

from typing import Final, NamedTuple

COLUMNS: Final = ("W", "RO", "S", "w", "ro", "s")

_ALL = "+++ +++"
_NONE = "xxx xxx"
_WRITES = "+x+ +x+"
_GIT_CONFIG = "xxx +x+"
_SERVES = "+xx +xx"
_TERMINAL = "+++ xxx"

_ROWS: Final = (
    ("git status, log, diff", "git status && git log -1 && git diff --stat", _ALL),
    ("git add, commit", "echo $RANDOM >>f && git commit -qam more", _WRITES),
    ("git switch, stash, pop", "git switch -qc s && echo 1 >>f && git stash -q && git stash pop -q", _WRITES),
    ("git rebase, merge, tag", "git checkout -qf main && git rebase -q side && git tag t && git merge t", _WRITES),
    ("git worktree add", "git worktree add -q $TMPDIR/t && cd $TMPDIR/t && git commit -qm w --allow-empty", _WRITES),
    ("git clone", "git clone -q $OTHER $TMPDIR/copy && cd $TMPDIR/copy && git config a.b c", _ALL),
    ("git fetch", "git fetch -q $OTHER main:theirs", _WRITES),
    ("git init in a fresh folder", "mkdir fresh && cd fresh && git init -q && git config a.b c", _WRITES),
    ("git gc", "git gc --quiet", _WRITES),
    ("git config --local", "git config a.b c", _GIT_CONFIG),
    ("git remote add", "git remote add there $OTHER", _GIT_CONFIG),
    ("git push -u", "git push -q -u $OTHER HEAD:new && git config branch.main.remote", _GIT_CONFIG),
    ("git branch -m", "git branch -m old renamed", _GIT_CONFIG),
    ("a hook in .git/hooks", "echo true >.git/hooks/post-commit", _GIT_CONFIG),
    ("grokmini's folder in the project", "echo >.grokmini/config.toml", _GIT_CONFIG),
    ("unittest", "$PY -m unittest -q t_plain", _ALL),
    ("multiprocessing Pool", "$PY -m unittest -q t_parallel.T.test_pool", _ALL),
    ("multiprocessing Manager", "$PY -m unittest -q t_parallel.T.test_manager", _SERVES),
    ("multiprocessing forkserver", "$PY -m unittest -q t_parallel.T.test_forkserver", _SERVES),
    ("multiprocessing spawn", "$PY -m unittest -q t_parallel.T.test_spawn", _ALL),
    ("asyncio subprocess", "$PY -m unittest -q t_parallel.T.test_asyncio", _ALL),
    ("semaphores, /dev/shm", "$PY -m unittest -q t_parallel.T.test_shared", _ALL),
    ("venv", "$PY -m venv --without-pip venv && venv/bin/python -c 1", _WRITES),
    ("gcc, linked and run", "gcc main.c -o main && ./main", _WRITES),
    ("make", "make -s", _WRITES),
    ("gcc in temp", "gcc main.c -o $TMPDIR/main && $TMPDIR/main", _ALL),
    ("gdb on an own child", "gdb -batch -nx -ex 'break main' -ex run -ex continue $OTHER/main | grep normally", _ALL),
    ("strace on an own child", "strace -f -o $TMPDIR/trace sh -c true && grep -q exited $TMPDIR/trace", _ALL),
    ("node, files by its thread pool", "node -e 'require(\"fs\").promises.readFile(\"f\").then(t => t[0])'", _ALL),
    ("node fork", "node fork.js", _ALL),
    ("npm run", "npm run -s hello", _ALL),
    ("npm install of a folder", "npm install --silent --offline --no-audit ./left", _WRITES),
    ("package caches", "touch $PIP_CACHE_DIR/x $npm_config_cache/x $CARGO_HOME/x $GOCACHE/x", _ALL),
    ("a local server, its client", "$PY serve.py", _SERVES),
    ("a local server of node", "node serve.js", _SERVES),
    ("a unix socket, as ssh-agent has", "$PY listen.py", _SERVES),
    ("man, less", "man ./page.1 | grep -q words && seq 9 | less | grep -q 9", _ALL),
    ("mktemp", "cd $(mktemp -d) && echo >$(mktemp)", _ALL),
    ("ps", "ps -o comm= -p $$ | grep -q bash", _ALL),
    ("getent hosts localhost", "getent hosts localhost", _ALL),
    ("/dev/null, zero, urandom, full", "head -c 9 /dev/zero /dev/urandom >/dev/null && ! echo >/dev/full", _ALL),
    ("here-document, <(), tee", "cat <<<a >/dev/null && cat <(echo b) | tee /dev/null | grep -q b", _ALL),
    ("ls ~", "ls ~/notes", "++x ++x"),
    ("~/.bashrc", "echo >>~/.bashrc", _NONE),
    ("a pty: script, pexpect", "$PY terminal.py", _TERMINAL),
    ("/dev/tty", "echo >/dev/tty", _NONE),
    ("sudo", "sudo -n true", _NONE),
    ("unshare -Ur", "unshare -Ur true", _NONE),
    ("docker's socket", "$PY docker.py", "xxx +xx"),
)  # fmt: skip


class Row(NamedTuple):
    """One command with what is expected of it by column."""

    title: str
    command: str
    expected: dict[str, str]


ROWS: Final = tuple(
    Row(title, command, dict(zip(COLUMNS, marks.replace(" ", ""), strict=True)))
    for title, command, marks in _ROWS
)

"""Shell tricks against the permission policy: what must be asked about, and what must not."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.protocol.permission import PermissionMode
from tests.tools.judging import Ground, word

ASKS_EVEN_IF_GIT_IS_ALLOWED = [
    "git log && touch p",
    "git status $(touch p)",
    "git log; touch p",
    "git log | sh",
    "git log & touch p",
    "git log\ntouch p",
    "git log |& sh",
    "git log || touch p",
    "git log `touch p`",
    'git log "$(touch p)"',
    'git log "`touch p`"',
    "git log ${x:-$(touch p)}",
    "git log ${x@P}",
    "git log <(touch p)",
    "git log > p",
    "git log >> p",
    "git log >| p",
    "git log &> p",
    "git log >& p",
    "git log 1> p",
    "git log 2>p",
    "git log <> p",
    "git log > $x",
    "git log > /dev/null > p",
    "(git log; touch p)",
    "{ git log; touch p; }",
    "! git log",
    "if git log; then touch p; fi",
    "for x in a; do touch p; done",
    "while git log; do touch p; done",
    "case x in x) touch p;; esac",
    "f() { touch p; }; f",
    "function git { touch p; }",
    "git() { touch p; }",
    "eval git log",
    "env git log",
    "sudo git log",
    "nohup git log",
    "time git log",
    "xargs git log",
    "exec git log",
    "command git log",
    "bash -c 'git log'",
    "sh -c 'git log; touch p'",
    "GIT_PAGER=sh git log",
    "PATH=. git log",
    "X= git log",
    "./git log",
    "/tmp/git log",
    "gi\\t log; touch p",
    "'git' log; touch p",
    "$git log",
    "g?t log",
    "{git,log}",
    "git log <<EOF\nx\nEOF\ntouch p",
    "git log <<< x; touch p",
    "git log 'a",
    'git log "a',
    "git log \\",
    "git log \r touch p",
    "git log \x1b]0;x\x07",
    "git log \u202e",
    "git log\u00a0x",
    "git log\x00touch p",
    "git log $'\\n'touch p",
    'git log $"x"',
    "git log $((x[$(touch p)]))",
    "git log $[1]",
    "git log $\\\n(touch p)",
    "git log $\\\n\\\n(touch p)",
    'git log "$\\\n(touch p)"',
    "git log $\\\n{x:-y}",
    "git log (x)",
    "gitleaks detect",
    "git-evil",
    "a=(git log)",
    "git log # x\ntouch p",
    "coproc git log",
    "[[ -n $(touch p) ]]",
    "git log & ",
    "git log;; touch p",
    "git push --force",
    "git push",
    "git reset --hard HEAD~1",
    "git -C sub reset --hard",
    "git -c core.pager=sh reset --hard",
    "git checkout -- .",
    "git checkout main.py",
    "git restore .",
    "git clean -fd",
    "git stash drop",
    "git branch -D main",
    "git config core.pager sh",
]

ASKS_THOUGH_IT_LOOKS_LIKE_READING = [
    "sort -o f f",
    "sort f -of",
    "sort -rof f",
    "sort --output=f f",
    "sort --outp f f",
    "sort --compress-program sh f",
    "sort --compress-program=sh f",
    "sort --comp=sh f",
    "sort -t -- -o f",
    "sort *",
    "rg --pre sh x",
    "rg --pre=sh x",
    "rg --hostname-bin=sh x",
    "rg -z x",
    "rg x *",
    "find . -exec touch p +",
    "find . -exec touch p {} ;",
    "find . -execdir touch p +",
    "find . -ok touch p ;",
    "find . -delete",
    "find . -fprint p",
    "find . -fprintf p x",
    "find . -fls p",
    "find *",
    "uniq a b",
    "uniq - b",
    "uniq 5 b",
    "date -s 12:00",
    "date --set=12:00",
    "date 01010000",
    "hostname evil",
    "hostname -F f",
    "ps auxe",
    "ps eww",
    "tree -o p",
    "file -C -m x",
    "printf -v x y",
    "sed -i s/a/b/ f",
    "sed -n '1w p' f",
    "sed -n 1e f",
    "sed -n 1p -i f",
    "tee p",
    "cargo build",
    "kubectl delete pod x",
    "kubectl get pods --kubeconfig=evil",
    "kubectl get secret x -o yaml",
    "cat x | tee p",
    "cat x | xargs rm",
    "cat < $x",
    "cat < /dev/tcp/example.org/80",
    "cat $x",
    "cat $HOME/x",
    "ls; $x",
    "cat /proc/self/environ",
    "cat ../../../../../../../proc/1/environ",
    "cat /proc/*/environ",
    "grep -r KEY /",
    "grep -f/proc/self/environ x",
    "head -c 9 /proc/self/mem",
    "cd .. && ls",
    "cd / && cat proc/self/environ",
    "cd $x && ls",
    "cd - && ls",
    "cd && ls",
    "pushd x",
    "git -c core.pager=sh log",
    "git -c alias.status='!sh' status",
    "git --exec-path=. log",
    "git -C /elsewhere log",
    "git --git-dir=x log",
    "git --paginate log",
    "git diff --ext-diff",
    "git diff --ext",
    "git diff --output=p",
    "git diff --outp p",
    "git log --output=p",
    "git show --textconv x",
    "git cat-file --filters x",
    "git log --show-signature",
    "git log --format=%G?",
    "git diff *",
    "git branch -D main",
    "git branch new",
    "git branch -m a b",
    "git branch --edit-description",
    "git branch --list -D main",
    "git remote add x y",
    "git remote show origin",
    "git tag v1",
    "git stash",
    "git grep -O x",
    "git fetch",
    "git lg",
    "git",
]

RUNS_UNASKED = [
    "ls",
    "ls -la *.py",
    "cat a.txt b.txt",
    "cat -- -x",
    "cat 'a && b'",
    'grep -rn "foo; bar" src',
    "grep -E 'a|b' f",
    "grep 'a$' f",
    'echo "a (b) & c"',
    "head -5 f",
    "tail -f log",
    "wc -l *.py",
    "sort f",
    "sort -k2 -n f",
    "sort src/*.txt",
    "rg x",
    "rg -n 'a b' src",
    "find . -name y",
    "find . -name '*.py' -type f",
    "uniq -c",
    "uniq -f 1 in",
    "date",
    "date +%F",
    "date -u -d yesterday",
    "hostname",
    "hostname -f",
    "ps aux",
    "ps -ef",
    "tr a b",
    "cut -d: -f1 f",
    "pwd",
    "whoami",
    "uptime",
    "sed -n '1,20p' f",
    "printf '%s\\n' x",
    "ls 2>/dev/null",
    "ls >/dev/null 2>&1",
    "ls 2>&1 | head -3",
    "cat f | sort | uniq -c | sort -rn | head",
    "ls && pwd",
    "ls; pwd\nwhoami",
    "ls || true",
    "ls # a comment",
    "cd src && ls",
    "cd src; git status",
    "cat < f",
    "l\\s",
    "git status",
    "git status --short",
    "git log --oneline -5",
    "git log --format='%h %s' -- a.py",
    "git diff HEAD~1 -- src",
    "git diff --stat",
    "git show HEAD:a.py",
    "git ls-files",
    "git branch",
    "git branch -a",
    "git branch --show-current",
    "git branch --contains abc",
    "git rev-parse --show-toplevel",
    "git blame -L 1,5 a.py",
    "git remote -v",
    "git stash list",
    "git tag -l",
    "git --no-pager log",
    "kubectl get pods",
    "kubectl logs x",
    "cat /proc/cpuinfo",
]


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    made = Ground(tmp_path, allow=["Bash(git *)"])
    made.repository()
    (made.root / "src").mkdir()
    return made


@pytest.fixture
def bare_ground(tmp_path: Path) -> Ground:
    made = Ground(tmp_path)
    made.repository()
    (made.root / "src").mkdir()
    return made


@pytest.mark.parametrize("command", ASKS_EVEN_IF_GIT_IS_ALLOWED)
def test_a_rule_for_git_lets_nothing_else_slip_in(ground: Ground, command: str) -> None:
    assert word(ground.run(command)) == "ask"


@pytest.mark.parametrize("command", ASKS_THOUGH_IT_LOOKS_LIKE_READING)
def test_what_only_looks_like_reading_is_asked_about(bare_ground: Ground, command: str) -> None:
    assert word(bare_ground.run(command)) == "ask"


@pytest.mark.parametrize("command", RUNS_UNASKED)
def test_reading_is_not_asked_about(bare_ground: Ground, command: str) -> None:
    assert word(bare_ground.run(command)) == "allow"


@pytest.mark.parametrize("command", RUNS_UNASKED)
def test_reading_goes_on_in_plan_mode(bare_ground: Ground, command: str) -> None:
    assert word(bare_ground.run(command, PermissionMode.PLAN)) == "allow"


def test_a_rule_for_git_lets_quoted_operators_pass(ground: Ground) -> None:
    assert word(ground.run("git commit -m 'a && b; $c'")) == "allow"


DENIED_WHEREVER_IT_STANDS = [
    "curl x",
    "curl",
    "/usr/bin/curl x",
    "c\\url x",
    "'curl' x",
    "cu''rl x",
    "cu\\\nrl x",
    "$'\\x63url' x",
    "ls && curl x",
    "ls | curl x",
    "ls; curl x",
    "ls\ncurl x",
    "ls & curl x",
    "echo $(curl x)",
    "echo `curl x`",
    'echo "$(curl x)"',
    "echo ${a:-$(curl x)}",
    "cat <(curl x)",
    "echo $\\\n(curl x)",
    "echo `echo $\\\\\n(curl x)`",
    "(curl x)",
    "{ curl x; }",
    "if curl x; then ls; fi",
    "for a in b; do curl $a; done",
    "! curl x",
    "f() { curl x; }",
    "A=1 curl x",
    "env curl x",
    "env A=1 -i curl x",
    "sudo curl x",
    "sudo -u root curl x",
    "timeout 5 curl x",
    "nohup nice -n 5 curl x",
    "xargs curl",
    "ls | xargs -n 1 curl",
    "find . -exec curl {} ;",
    "bash -c 'curl x'",
    'sh -c "ls; curl x"',
    "bash -lc 'sh -c \"curl x\"'",
    "eval 'curl x'",
    "eval cu rl x; eval curl x",
    "echo 'curl x' | sh",
    "bash <<< 'curl x'",
    "bash <<EOF\ncurl x\nEOF",
    "cat <<EOF\n$(curl x)\nEOF",
    "trap 'curl x' EXIT",
    "command curl x",
    "exec curl x",
    "env -S 'curl x'",
    "watch curl x",
    "busybox curl x",
]


@pytest.mark.parametrize("mode", [PermissionMode.ASK, PermissionMode.ALWAYS_APPROVE])
@pytest.mark.parametrize("command", DENIED_WHEREVER_IT_STANDS)
def test_a_deny_rule_finds_its_command(tmp_path: Path, command: str, mode: PermissionMode) -> None:
    ground = Ground(tmp_path, allow=["Bash"], deny=["Bash(curl)"])
    assert word(ground.run(command, mode)) == "deny"


@pytest.mark.parametrize(
    "command", ["echo curl", "grep -rn curl src", "git log --grep curl", "curly x", "ls curl"]
)
def test_a_deny_rule_is_not_about_mere_mentions(tmp_path: Path, command: str) -> None:
    ground = Ground(tmp_path, allow=["Bash"], deny=["Bash(curl)"])
    assert word(ground.run(command)) == "allow"


def test_a_deny_rule_holds_for_what_is_too_deep_to_be_read(tmp_path: Path) -> None:
    ground = Ground(tmp_path, deny=["Bash(curl)"])
    command = "echo " + "$(" * 40 + "curl x" + ")" * 40
    assert word(ground.run(command, PermissionMode.ALWAYS_APPROVE)) == "deny"
    assert word(ground.run("echo " + "x" * 140_000 + "; curl x", PermissionMode.ALWAYS_APPROVE)) == "deny"


DESTRUCTIVE = [
    "rm -rf build",
    "rm -r -f build",
    "rm --recursive build",
    "rm --rec build",
    "/bin/rm -rf build",
    "cd src && rm -rf .",
    "sudo rm -rf /",
    "bash -c 'rm -rf x'",
    "find . -name x | xargs rm -rf",
    "find . -delete",
    "find . -exec rm -rf {} +",
    "git reset --hard",
    "git reset --har",
    "git -C x reset --hard HEAD~1",
    "git checkout -- a.py",
    "git checkout .",
    "git checkout a.py",
    "git checkout -f main",
    "git restore a.py",
    "git clean -fdx",
    "git stash drop",
    "git stash clear",
    "git branch -D old",
    "git branch -d old",
    "git push --force",
    "git push -f origin main",
    "git push --force-with-lease",
    "git push origin +main",
    "git push origin :main",
    "git push --delete origin main",
    "echo $(git reset --hard)",
    "rm x",
    "chmod -R 777 .",
    "chown root x",
    "kill -9 1",
    "pkill python",
    "killall node",
    "git push",
    "dd if=a of=b",
]


@pytest.mark.parametrize("command", DESTRUCTIVE)
def test_what_destroys_is_asked_about_in_auto_mode_and_under_wide_rules(tmp_path: Path, command: str) -> None:
    ground = Ground(tmp_path, allow=["Bash", "Bash(git *)", "Bash(cd *)", "Bash(find *)"])
    assert word(ground.run(command, PermissionMode.AUTO, contained=True)) == "ask"
    assert word(ground.run(command, PermissionMode.ALWAYS_APPROVE)) == "allow"


@pytest.mark.parametrize(
    "command", ["git checkout -b new", "git reset HEAD a.py", "git clean -n", "git stash push"]
)
def test_what_loses_nothing_runs_in_auto_mode_in_a_sandbox(tmp_path: Path, command: str) -> None:
    assert word(Ground(tmp_path).run(command, PermissionMode.AUTO, contained=True)) == "allow"
    assert word(Ground(tmp_path).run(command, PermissionMode.AUTO, contained=False)) == "ask"

"""Everyday tools under the profile `workspace`, in the installed program: servers, terminals, the shell's own ways."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.program import Place
from tests.e2e.sandboxed import PYTHON, session, works

SERVER = """\
import http.server, pathlib
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
pathlib.Path("port.new").write_text(str(server.server_port))
pathlib.Path("port.new").rename("port")
server.serve_forever()
"""

NODE = """\
const http = require("http");
const fs = require("fs").promises;
const server = http.createServer((_, answer) => answer.end("from node")).listen(0, "127.0.0.1", async () => {
  const answer = await fetch(`http://127.0.0.1:${server.address().port}/`);
  console.log(await answer.text(), await fs.readFile("page", "utf8"));
  server.close();
});
"""

TERMINAL = """\
import os, pty, sys
status = pty.spawn(["sh", "-c", "tty && test -t 0 && test -t 1 && stty size && echo on a terminal"])
sys.exit(os.waitstatus_to_exitcode(status))
"""

DETACHED = """\
import multiprocessing, os, tempfile
lock = multiprocessing.Lock()
with lock, tempfile.NamedTemporaryFile() as file:
    file.write(os.urandom(8))
with open("/dev/shm/grokmini-test", "w") as file:
    file.write("shared")
print(open("/dev/shm/grokmini-test").read())
"""


def test_a_server_and_its_client_meet_in_one_command(place: Place) -> None:
    (place.project / "server.py").write_text(SERVER)
    (place.project / "server.js").write_text(NODE)
    (place.project / "page").write_text("the page")
    fetch = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"
    served, after, node = session(
        place,
        f"{PYTHON} server.py 2>log & until [ -e port ]; do sleep 0.02; done; "
        f"{PYTHON} -c '{fetch}' http://127.0.0.1:$(cat port)/page",
        f"{PYTHON} -c '{fetch}' http://127.0.0.1:$(cat port)/page",
        "node server.js",
    )
    assert (served.head, served.printed.splitlines()[-1]) == ("exit: 0", "the page")
    assert any("stopped (1)" in note for note in served.notes)
    assert after.head == "exit: 1" and "refused" in after.text
    assert (node.head, node.printed) == ("exit: 0", "from node the page")


def test_the_ways_of_the_shell_work(place: Place) -> None:
    here, redirected, substituted, sent, devices, exported, seen = works(
        place,
        "cat <<X && cat <<<inline\nhere $((40 + 2))\nX",
        "echo twice | tee /dev/null /dev/stderr",
        "diff <(echo a) <(echo b); echo $?; echo out > >(cat); wait $!",
        "mkfifo pipe && (echo through >pipe &) && cat pipe && ln f g 2>/dev/null; touch f && ln f g && ln -s f h",
        "head -c 3 /dev/zero | od -An -tx1; head -c 4 /dev/urandom >/dev/null; echo >/dev/full || echo no room",
        "export WORD=kept; cd /tmp",
        'echo $WORD; pwd; cd - >/dev/null; time true; test "$(ulimit -c)" = 0',
    )
    assert here == "here 42\ninline"
    assert redirected == "twice\ntwice"
    assert substituted.endswith("1\nout")
    assert sent == "through"
    assert devices.split("\n")[0].split() == ["00", "00", "00"] and devices.endswith("no room")
    assert exported == ""
    assert seen.startswith("kept\n/tmp\n")


def test_the_machine_can_be_looked_at(place: Place) -> None:
    temporary, hosts, processes, page, paged, traced = works(
        place,
        "cd $(mktemp -d) && echo x >$(mktemp) && mktemp -p . && cd - >/dev/null",
        "getent hosts localhost && id -u && uname -s && df . >/dev/null && nproc && date >/dev/null",
        "ps -o comm= -p $$ && ps aux | grep -q '[p]s aux'",
        "man man | head -20; man -k nothing-like-this >/dev/null 2>&1; true",
        "seq 1000 | less | tail -1 && seq 1000 >numbers && less numbers | wc -l && seq 10 | more | tail -1",
        f"{PYTHON} -c 'import faulthandler, signal; faulthandler.register(signal.SIGUSR1); print(1)'",
    )
    assert temporary.startswith("./tmp.")
    assert "localhost" in hosts and "Linux" in hosts
    assert processes in ("bash", "sh")
    assert page
    assert paged.split() == ["1000", "1000", "10"]
    assert traced == "1"


def test_memory_is_shared_and_terminals_are_made(place: Place) -> None:
    (place.project / "terminal.py").write_text(TERMINAL)
    (place.project / "shared.py").write_text(DETACHED)
    shared, gone, terminal, script, raw = works(
        place,
        f"{PYTHON} shared.py && ls /dev/shm",
        "ls -A /dev/shm",
        f"{PYTHON} terminal.py",
        "script -qec 'tty && echo written' typescript && grep -c written typescript",
        f"{PYTHON} -c 'import os, tty; a, b = os.openpty(); tty.setraw(b); os.write(a, b\"x\"); print(os.read(b, 1))'",
    )
    assert shared.splitlines()[0] == "shared"
    assert not Path("/dev/shm/grokmini-test").exists(), "the machine's own is another"
    assert gone in ("", "grokmini-test")
    assert terminal.splitlines()[0].strip().startswith("/dev/pts/")
    assert terminal.splitlines()[-1].strip() == "on a terminal"
    assert "written" in script
    assert raw == "b'x'"


def test_what_waits_for_a_person_does_not_wait(place: Place) -> None:
    results = session(
        place,
        "read line; echo $?",
        "cat",
        f"{PYTHON} -c 'import getpass; getpass.getpass()'",
        "cat /dev/tty",
        "vi -c q f || true; ${EDITOR:-vi} f && ${PAGER:-less} /dev/null",
        "ssh -o ConnectTimeout=1 -o StrictHostKeyChecking=ask -p 1 nobody@127.0.0.1",
    )
    for each in results:
        assert "killed" not in each.head, each
    assert "No such device or address" in results[3].text

"""The files of the developer's project, by path."""

from __future__ import annotations

from typing import Final

PARALLEL: Final = """\
import asyncio, multiprocessing, unittest
from multiprocessing import shared_memory

def square(number):
    return number * number

class T(unittest.TestCase):
    def pool(self, method):
        with multiprocessing.get_context(method).Pool(2) as pool:
            self.assertEqual(pool.map(square, [1, 2, 3]), [1, 4, 9])

    def test_pool(self):
        self.pool("fork")

    def test_spawn(self):
        self.pool("spawn")

    def test_forkserver(self):
        self.pool("forkserver")

    def test_manager(self):
        with multiprocessing.Manager() as manager:
            shared = manager.dict(a=1)
            child = multiprocessing.Process(target=shared.update, args=({"b": 2},))
            child.start()
            child.join()
            self.assertEqual(dict(shared), {"a": 1, "b": 2})

    def test_shared(self):
        block = shared_memory.SharedMemory(create=True, size=10)
        with multiprocessing.Semaphore(1):
            block.buf[0] = 7
        block.close()
        block.unlink()

    def test_asyncio(self):
        async def run():
            child = await asyncio.create_subprocess_exec("echo", "hi", stdout=asyncio.subprocess.PIPE)
            return (await child.communicate())[0]
        self.assertEqual(asyncio.run(run()), b"hi\\n")

if __name__ == "__main__":
    unittest.main()
"""

_SERVE: Final = """\
import http.server, threading, urllib.request
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/f") as answer:
    answer.read()
"""

_NODE_SERVE: Final = """\
const server = require("http").createServer((_, answer) => answer.end("hello"));
server.on("error", () => process.exit(1));
server.listen(0, "127.0.0.1", () => {
  require("http").get({ port: server.address().port, agent: false }, (answer) => {
    answer.resume();
    server.close();
  });
});
"""

_FORK: Final = """\
const { fork } = require("child_process");
if (process.argv[2] === "child") {
  process.send(42);
  process.disconnect();
} else {
  process.exitCode = 1;
  fork(__filename, ["child"]).on("message", (message) => { process.exitCode = message - 42; });
}
"""

_TERMINAL: Final = """\
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(["sh", "-c", "test -t 0 && test -t 1"])))
"""

_LISTEN: Final = """\
import os, socket, tempfile
with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as agent:
    agent.bind(folder + "/agent")
    agent.listen()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(folder + "/agent")
"""

_DOCKER: Final = """\
import os, socket
with socket.socket(socket.AF_UNIX) as client:
    client.connect(os.environ["DOCKER_HOST"].removeprefix("unix://"))
"""

FILES: Final = {
    "home/.npmrc": "fund=false\n",
    "home/dotfiles/gitconfig": "[user]\nname = A\nemail = a@example.com\n[init]\ndefaultBranch = main\n",
    "home/.bashrc": "",
    "home/notes/n": "",
    "cwd/main.c": "#include <stdio.h>\nint main(void) { puts(\"built\"); return 0; }\n",
    "cwd/Makefile": "made: main.c\n\t$(CC) -o $@ $<\n",
    "cwd/t_plain.py": "import unittest\nclass T(unittest.TestCase):\n    def test_it(self): pass\n",
    "cwd/t_parallel.py": PARALLEL,
    "cwd/serve.py": _SERVE,
    "cwd/serve.js": _NODE_SERVE,
    "cwd/fork.js": _FORK,
    "cwd/terminal.py": _TERMINAL,
    "cwd/listen.py": _LISTEN,
    "cwd/docker.py": _DOCKER,
    "cwd/page.1": ".TH PAGE 1\n.SH NAME\npage \\- words\n",
    "cwd/package.json": '{"name": "cwd", "version": "1.0.0", "scripts": {"hello": "node -e 1"}}\n',
    "cwd/left/package.json": '{"name": "left", "version": "1.0.0"}\n',
}  # fmt: skip

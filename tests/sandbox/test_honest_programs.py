"""Ordinary uses of the standard library work in every backend."""

from __future__ import annotations

import pytest

from agents.sandbox import Job, Sandbox
from agents.sandbox.backends.native import Native
from agents.sandbox.container.sandbox import Container

from ..support.ordinary_user import told_by_ordinary_user
from ..support.sandboxes import ISOLATING

PROGRAMS = {
    "asyncio": """
import asyncio
async def main():
    one, two = await asyncio.gather(asyncio.sleep(0.01, 1), asyncio.to_thread(lambda: 2))
    process = await asyncio.create_subprocess_exec("/bin/echo", "3", stdout=asyncio.subprocess.PIPE)
    print(one, two, int((await process.communicate())[0]))
asyncio.run(main())
""",
    "threads": """
import concurrent.futures
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(*pool.map(lambda number: number + 1, range(3)))
""",
    "processes": """
import concurrent.futures, multiprocessing
def more(number):
    return number + 1
if __name__ == "__main__":
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            results = list(pool.map(more, range(3)))
        with context.Pool(2) as pool:
            assert pool.map(more, range(3)) == results
    print(*results)
""",
    "a pipe to a process": """
import multiprocessing
def send(end):
    end.send((1, 2, 3))
if __name__ == "__main__":
    mine, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=send, args=[theirs])
    process.start()
    print(*mine.recv())
    process.join()
""",
    "memory that processes share": """
import os, time
block = b"x" * (300 << 20)
for number in range(4):
    if os.fork() == 0:
        time.sleep(0.2)
        os._exit(number and block[number] != ord("x"))
ended = sorted(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(4))
print(1, 2, 3 + sum(ended))
""",
    "subprocess": """
import subprocess, sys
done = subprocess.run([sys.executable, "-I", "-S", "-c", "print(1, 2, 3)"], capture_output=True, check=True)
print(done.stdout.decode(), end="")
""",
    "tempfile": """
import os, tempfile
with tempfile.TemporaryDirectory() as directory, tempfile.NamedTemporaryFile() as file:
    file.write(b"1 2 3")
    file.flush()
    print(open(file.name).read())
""",
    "sqlite3": """
import sqlite3
for _ in range(2):
    with sqlite3.connect("data.db", isolation_level=None) as base:
        base.execute("pragma journal_mode = wal")
        base.execute("create table if not exists t (n)")
        base.executemany("insert into t values (?)", [(1,), (2,), (3,)])
print(*(row[0] for row in sqlite3.connect("data.db").execute("select distinct n from t")))
""",
    "shutil": """
import os, shutil
os.makedirs("a/b")
open("a/b/c", "w").write("1 2 3")
shutil.copytree("a", "d")
shutil.move("d", "e")
print(open("e/b/c").read())
shutil.rmtree("e")
""",
    "locks": """
import fcntl
with open("lock", "w") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    fcntl.lockf(file, fcntl.LOCK_UN)
print(1, 2, 3)
""",
    "sockets": """
import socket
one, two = socket.socketpair()
one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
one.send(b"1 2 3")
print(two.recv(9).decode())
""",
}
# These need semaphores, or to set a file's mode and times: docs/security.md, "native without namespaces".
NEED_NAMESPACES = {"processes", "shutil"}
RUN_AS_USER = """
import json, sys
from agents.errors import SandboxUnavailable
from agents.sandbox import Job, open_sandbox
from agents.sandbox.backends.native import Native
programs, results = json.load(sys.stdin), {}
for name in sys.argv[1:]:
    try:
        sandbox = Native(namespaces=False) if "without" in name else open_sandbox(name.removeprefix("warm "))
        sandbox = sandbox.warm(["unittest"]) if name.startswith("warm ") else sandbox
    except SandboxUnavailable:
        continue
    for title, program in programs.items():
        with sandbox.launch(Job(["-I", "/src/main.py"], {"main.py": program.encode()})) as running:
            ended = running.wait()
        results[f"{name}: {title}"] = [ended.exit_code, (ended.stdout + ended.stderr).decode(), str(ended.stopped)]
    sandbox.close()
json.dump(results, sys.stdout)
"""


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_works(sandbox: Sandbox, program: str) -> None:
    with sandbox.launch(Job(["-I", "/src/main.py"], {"main.py": PROGRAMS[program].encode()})) as running:
        ended = running.wait()
    lacks_namespaces = (isinstance(sandbox, Native) and not sandbox.namespaces) or (
        isinstance(sandbox, Container) and not sandbox.shared
    )
    if program in NEED_NAMESPACES and lacks_namespaces:
        assert (ended.exit_code, ended.stdout) == (1, b"")
    else:
        assert (ended.exit_code, ended.stdout, ended.stderr) == (0, b"1 2 3\n", b"")


def test_it_works_for_an_ordinary_user() -> None:
    results = told_by_ordinary_user(RUN_AS_USER, ISOLATING, PROGRAMS)
    failed = {name: result for name, result in results.items() if result != [0, "1 2 3\n", "None"]}
    assert set(failed) == {f"native without namespaces: {name}" for name in NEED_NAMESPACES} & set(results), failed

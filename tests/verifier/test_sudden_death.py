"""The tool itself is killed in the middle of verifications: nothing of them may stay."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from agents.sandbox.inside.processes import tree

from ..support.held import wait_until
from ..support.sandboxes import BackendName, open_or_skip
from .conftest import Left

ROOT = Path(__file__).parents[2]
BACKENDS: tuple[BackendName, ...] = ("bubblewrap", "native", "native without namespaces", "none")
EVERYDAY = (("bubblewrap", "warm"), ("native", "warm"), ("none", "cold"))
TOOL = """
import sys
from agents.records import Candidate
from agents.suite import split
from agents.verifier import Verifier
from tests.support.sandboxes import open_backend

DAEMON = "import os, time\\ndef f(x):\\n    if os.fork() == 0:\\n        os.setsid()\\n        time.sleep(60)\\n"
SLOW = "import time\\ndef f(x):\\n    time.sleep(0.1)\\n    return x + 1\\n"
TESTS = "from user_code import f\\ndef test_a():\\n    assert f(1) == 2\\n"
TESTS += "def test_b(tmp_path):\\n    open(tmp_path / 'x', 'w').close()\\n    assert f(2) == 3\\n"
tests = split(TESTS, "user")
sandbox = open_backend(sys.argv[1])
if sys.argv[2] == "cold":
    while True:
        with Verifier(sandbox) as verifier:
            print("verifying", flush=True)
            verifier.verify(DAEMON + "    return x + 1\\n", TESTS)
with Verifier(sandbox, jobs=2) as verifier:
    while True:
        verifier.board([Candidate("a", SLOW, "draft", 0), Candidate("b", DAEMON, "draft", 0)], tests)
        print("verifying", flush=True)
"""
_ROUNDS = 3
_LONGEST = 0.6


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        pytest.param(name, mode, marks=[] if (name, mode) in EVERYDAY else pytest.mark.thorough)
        for name in BACKENDS
        for mode in ("cold", "warm")
    ],
)
def test_nothing_outlives_the_tool(name: BackendName, mode: str, left: Left) -> None:
    open_or_skip(name).close()
    mounts = Path("/proc/self/mountinfo").read_text()
    chance = random.Random(7)
    seen = 0
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        environment = {"PATH": os.environ["PATH"], "HOME": directory, "TMPDIR": directory}
        for _ in range(_ROUNDS):
            command = [sys.executable, "-B", "-c", TOOL, name, mode]
            with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE) as tool:
                assert tool.stdout is not None
                assert tool.stdout.readline() == b"verifying\n"
                time.sleep(chance.random() * _LONGEST)
                seen += len(tree(tool.pid)) - 1
                tool.send_signal(signal.SIGKILL)
                tool.wait()
            wait_until(lambda: not left() and not list(Path(directory).iterdir()), 10)
            assert left() == set()
            assert list(Path(directory).iterdir()) == []
    assert seen > 0, "nothing was under way when the tool was killed"
    assert Path("/proc/self/mountinfo").read_text() == mounts


def test_what_outlives_its_parent_would_be_seen(left: Left) -> None:
    shell = ["/bin/sh", "-c", "setsid sleep 60 >/dev/null 2>&1 & echo $!"]
    orphan = int(subprocess.run(shell, capture_output=True, text=True, check=True).stdout)
    try:
        assert left() == {orphan}
    finally:
        os.kill(orphan, signal.SIGKILL)
    assert wait_until(lambda: not left(), 10)

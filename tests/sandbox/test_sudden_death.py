"""The tool itself is killed while a job runs: nothing of the job may stay."""

from __future__ import annotations

import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest

from agents.sandbox import Job

from ..support.held import wait_until
from ..support.sandboxes import ALL, ISOLATING, BackendName, often, open_or_skip

ROOT = Path(__file__).parents[2]
TOOL = """
import sys
from agents.sandbox import Job, SandboxLimits
from tests.support.sandboxes import open_backend
name, mark, code = sys.argv[1:]
sandbox = open_backend(name)
print("open", flush=True)
with sandbox.launch(Job(["-I", "-c", code, mark], limits=SandboxLimits(wall_seconds=60))) as running:
    running.wait()
"""
TRY = """
import sys
from agents.sandbox.choice import probe
from tests.support.sandboxes import open_backend
sandbox = open_backend(sys.argv[1])
print("open", flush=True)
while True:
    probe(sandbox)
"""
STAY = """
import os, sys
if os.fork() == 0:
    os.setsid()
    os.fork()
os.execv("/bin/sleep", [sys.argv[1], "60"])
"""


def marked(mark: str) -> list[int]:
    """Processes with `mark` on their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def left(mark: str, tool: int) -> list[str]:
    directories = Path(tempfile.gettempdir()).glob(f"greenloop-{tool}-*")
    return [*map(str, marked(mark)), *map(str, directories)]


def left_in_the_end(mark: str, tool: int) -> list[str]:
    """What is left once there was nothing for half a second, or after ten. The list of processes is not read at
    once: it may miss one that starts its program meanwhile and is killed a moment later."""
    end, last_seen = time.monotonic() + 10, time.monotonic()
    while (found := left(mark, tool)) or time.monotonic() < last_seen + 0.5:
        if time.monotonic() > end:
            break
        last_seen = time.monotonic() if found else last_seen
        time.sleep(0.01)
    return found


@pytest.mark.parametrize("name", often(ALL, "bubblewrap", "native"))
def test_nothing_outlives_the_tool(name: BackendName) -> None:
    open_or_skip(name).close()
    chance = random.Random(7)
    for _ in range(4):
        mark = f"greenloop-death-{secrets.token_hex(8)}"
        command = [sys.executable, "-c", TOOL, name, mark, STAY]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as tool:
            assert tool.stdout is not None
            assert tool.stdout.readline() == b"open\n"
            time.sleep(chance.random() * 0.12)
            tool.send_signal(signal.SIGKILL)
        assert left_in_the_end(mark, tool.pid) == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", often(ISOLATING, "bubblewrap", "native"))
def test_nothing_outlives_a_tool_that_is_killed_while_it_tries_the_sandbox(
    name: BackendName, tmp_path: Path
) -> None:
    open_or_skip(name).close()
    chance = random.Random(8)
    for _ in range(6):
        command = [sys.executable, "-c", TRY, name]
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE) as tool:
            assert tool.stdout is not None
            assert tool.stdout.readline() == b"open\n"
            time.sleep(chance.random() * 0.08)
            tool.send_signal(signal.SIGKILL)
        end = time.monotonic() + 10
        while list(tmp_path.iterdir()) and time.monotonic() < end:
            time.sleep(0.01)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ALL)
def test_a_job_that_is_under_way_is_seen_by_this_test(name: BackendName) -> None:
    mark = f"greenloop-death-{secrets.token_hex(8)}"
    with closing(open_or_skip(name)) as sandbox, sandbox.launch(Job(["-I", "-c", STAY, mark])):
        assert wait_until(lambda: len(marked(mark)) >= 3, 20)
    assert marked(mark) == []

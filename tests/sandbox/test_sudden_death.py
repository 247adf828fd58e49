"""The tool itself is killed while a job runs: nothing of the job may stay."""

from __future__ import annotations

import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from agents.sandbox import Job, Sandbox
from agents.sandbox.native import Native

ROOT = Path(__file__).parents[2]
TOOL = """
import sys
from agents.sandbox import Job, SandboxLimits, open_sandbox
from agents.sandbox.native import Native
name, mark = sys.argv[1:]
sandbox = Native(namespaces=False) if name == "without namespaces" else open_sandbox(name)
print("open", flush=True)
code = "import os, time\\nif os.fork() == 0: os.setsid(); os.fork()\\ntime.sleep(60)"
with sandbox.launch(Job(["-I", "-c", code, mark], limits=SandboxLimits(wall_seconds=60))) as running:
    running.wait()
"""


def marked(mark: str) -> list[int]:
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


def test_nothing_outlives_the_tool(sandbox: Sandbox) -> None:
    swept = isinstance(sandbox, Native) and not sandbox.namespaces
    name = "without namespaces" if swept else sandbox.name
    chance = random.Random(7)
    for _ in range(5):
        mark = f"greenloop-death-{secrets.token_hex(8)}"
        command = [sys.executable, "-c", TOOL, name, mark]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as tool:
            assert tool.stdout is not None
            assert tool.stdout.readline() == b"open\n"
            time.sleep(chance.random() * 0.12)
            tool.send_signal(signal.SIGKILL)
        end = time.monotonic() + 10
        while left(mark, tool.pid) and time.monotonic() < end:
            time.sleep(0.01)
        assert left(mark, tool.pid) == []


def test_a_job_that_is_under_way_is_seen_by_this_test(sandbox: Sandbox) -> None:
    mark = f"greenloop-death-{secrets.token_hex(8)}"
    with sandbox.launch(Job(["-I", "-c", "print(flush=True); import time; time.sleep(60)", mark])):
        end = time.monotonic() + 20
        while not marked(mark) and time.monotonic() < end:
            time.sleep(0.01)
        assert marked(mark)
    if marked(mark):
        pytest.fail("it is still there")

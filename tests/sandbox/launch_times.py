"""Measures what a job costs in each backend: `python -m tests.sandbox.launch_times [ROUNDS]`.

The ways take turns, so that a busy machine slows all of them alike; times are milliseconds.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from agents.errors import SandboxUnavailable
from agents.sandbox import Job, Sandbox

from ..support.sandboxes import ALL, CONTAINERS, open_backend

TESTS = "\n".join(f"def test_{number}():\n    assert sorted([3, 1, {number}])[0] <= 1\n" for number in range(10))
_OPTIONS = ["-q", "--disable-plugin-autoload", "-p", "no:cacheprovider", "--confcutdir", "/src"]
RUN_TESTS = ["-m", "pytest", *_OPTIONS, "/src/test_user_code.py"]
PROGRAMS = {
    "an empty program": Job(["-I", "-c", "pass"]),
    "ten tests": Job(["-I", *RUN_TESTS], {"test_user_code.py": TESTS.encode()}),
}


def plain(job: Job) -> None:
    """The same as a subprocess, with nothing around it."""
    with tempfile.TemporaryDirectory() as directory:
        for file, content in job.files.items():
            Path(directory, file).write_bytes(content)
        argv = [argument.replace("/src", directory) for argument in job.argv]
        subprocess.run([sys.executable, *argv], cwd=directory, capture_output=True, check=True)


def in_sandbox(sandbox: Sandbox) -> Callable[[Job], None]:
    """Run a job in `sandbox`."""

    def run(job: Job) -> None:
        with sandbox.launch(job) as running:
            ended = running.wait()
        if ended.exit_code != 0:
            raise RuntimeError(str(ended))

    return run


def main() -> None:
    """Measure and print a table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    ways: dict[str, Callable[[Job], None]] = {"subprocess": plain}
    for name in (*ALL, *CONTAINERS):
        try:
            ways[name] = in_sandbox(open_backend(name))
        except SandboxUnavailable as error:
            sys.stderr.write(f"{name}: {error}\n")
    for title, job in PROGRAMS.items():
        times: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(rounds + 1):
            for way, run in ways.items():
                begun = time.perf_counter()
                run(job)
                times[way].append((time.perf_counter() - begun) * 1000)
        base = statistics.median(times["subprocess"][1:])
        sys.stdout.write(f"| {title} | median | lowest | ratio |\n|---|---|---|---|\n")
        for way, measured in times.items():
            median = statistics.median(measured[1:])
            sys.stdout.write(f"| {way} | {median:.0f} | {min(measured[1:]):.0f} | {median / base:.2f} |\n")


if __name__ == "__main__":
    main()

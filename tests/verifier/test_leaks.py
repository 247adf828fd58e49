"""Verifications in a row leave nothing behind: no process, thread, descriptor, file or mount."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from ..support.held import held, wait_until
from ..support.sandboxes import BackendName, open_or_skip
from .conftest import Left

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]
COUNTS = [30, pytest.param(1000, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])]


def verify_in_a_row(name: str, count: int) -> dict[str, Any]:
    """The document of `many_verifications`, run in a process and a directory of its own."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        environment = {"PATH": os.environ["PATH"], "HOME": directory, "TMPDIR": directory, "PYTHONPATH": str(ROOT)}
        arguments = ["-B", "-m", "tests.verifier.many_verifications", name, str(count)]
        done = subprocess.run(
            [sys.executable, *arguments], env=environment, cwd=directory, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        return document


@pytest.mark.parametrize("name", ["bubblewrap", "native"])
@pytest.mark.parametrize("count", COUNTS)
def test_verifications_in_a_row_leave_nothing_behind(name: BackendName, count: int, left: Left) -> None:
    open_or_skip(name).close()
    seen = verify_in_a_row(name, count)
    assert seen["between"]["processes"] > 0, "the worker should have been seen"
    assert seen["afterwards"] == seen["between"]
    assert seen["closed"] == seen["before"]
    assert wait_until(lambda: not left(), 10), "processes that nobody has ended"
    passed = {label for label, kinds in seen["kinds"].items() if list(kinds) == ["passed"]}
    assert passed == {"passes", "leaves daemons", "leaves threads and files"}, seen["kinds"]
    assert sum(sum(kinds.values()) for kinds in seen["kinds"].values()) == count


def test_what_is_left_would_be_counted(tmp_path: Path) -> None:
    before = held(tmp_path)
    with subprocess.Popen(["/bin/sleep", "60"]) as left, (tmp_path / "left").open("w"):
        after = held(tmp_path)
        left.kill()
    assert (after.processes, after.descriptors, after.files) == (
        before.processes + 1, before.descriptors + 1, before.files + 1
    )  # fmt: skip

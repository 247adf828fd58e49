"""Measure what the pytest plugin costs where none of its options is given.

    python -m docs.measure.plugin [ROUNDS]

An empty test in a folder of its own is run with the plugin and without it, in turn; medians and their difference.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from docs.measure import ROOT


def seconds(folder: Path, *options: str) -> float:
    """Wall time of one run of pytest."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(folder)]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    began = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def main(rounds: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_empty.py").write_text("def test_it():\n    assert True\n", encoding="utf-8")
        seconds(folder)
        pairs = [(seconds(folder), seconds(folder, "-p", "agents.healing.pytest_plugin")) for _ in range(rounds)]
    without, plugged = (statistics.median(times) * 1000 for times in zip(*pairs, strict=True))
    print(f"without {without:.0f} ms, with the plugin {plugged:.0f} ms, difference {plugged - without:.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 25)

"""Measures a repository's tests: `python -m docs.measure.projects FOLDER PYTHON [FOLDER PYTHON ...]`.

Prints for each project, whose Python has it installed editable, whether its suite starts, how many outcomes are
those of plain pytest (by their numbers), and how many changes of its code are tried in a second; and where that
Python has mutmut, the same of `mutmut run --max-children 2` in a copy, as the project is.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree as ET

from agents.audit.project import Project
from agents.errors import GreenloopError
from agents.sandbox import open_sandbox
from agents.sandbox.packages import open_interpreter

SECONDS = 60.0
OUTCOMES = {"failure": "failed", "error": "failed", "skipped": "skipped"}


def plain(folder: Path, python: Path) -> dict[str, int]:
    """Run the project's pytest as it is and count its outcomes, by the report that it writes."""
    report = Path.cwd() / "work_dir" / "plain.xml"
    report.parent.mkdir(exist_ok=True)
    asked = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junit-xml={report}"]
    subprocess.run(asked, cwd=folder, capture_output=True, check=False)
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for case in ET.parse(report).iter("testcase"):
        kinds = [OUTCOMES[each.tag] for each in case if each.tag in OUTCOMES]
        counts[kinds[0] if kinds else "passed"] += 1
    return counts


def measured(folder: Path, python: Path) -> str:
    """Return what greenloop makes of the project, in one line."""
    counts = plain(folder, python)
    begun = time.monotonic()
    trying: list[float] = []

    def say(text: str) -> None:
        if text.startswith(("change ", "changes of")):
            trying.append(time.monotonic())

    with closing(open_sandbox("auto", open_interpreter(python))) as sandbox:
        try:
            report = Project(folder, [], sandbox, SECONDS, say=say).report()
        except GreenloopError as error:
            return f"{folder.name}: does not start: {error}"
    found = {"passed": 0, "failed": 0, "skipped": 0}
    for test in report.tests:
        kind = test.status if test.status in ("failed", "skipped") else "passed"
        found[kind] += 0 if test.status == "flaky" else 1
    equal = sum(min(counts[kind], found.get(kind, 0)) for kind in counts)
    bad = [f"{test.id} ({test.status})" for test in report.tests if test.status in ("cannot fail", "flaky")]
    mutation = report.mutation
    rate = mutation.tried / max(0.01, trying[-1] - trying[0]) if trying else 0.0
    return (
        f"{folder.name}: starts; {equal} of {sum(counts.values())} outcomes as plain pytest's; "
        f"{mutation.tried} of {mutation.made} changes tried, {rate:.1f} a second; "
        f"{time.monotonic() - begun:.0f} s in all; "
        f"cannot fail or flaky: {', '.join(bad) or 'none'}"
    )


def by_mutmut(folder: Path, python: Path) -> str:
    """Return what mutmut makes of a copy of the project, in one line."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(folder, Path(scratch, folder.name))
        asked = [str(python.absolute()), "-m", "mutmut", "run", "--max-children", "2"]
        begun = time.monotonic()
        running = subprocess.Popen(
            asked, cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        )
        assert running.stdout is not None
        os.set_blocking(running.stdout.fileno(), False)
        said, first, ended = "", 0.0, 0.0
        while time.monotonic() - begun < SECONDS and not ended:
            ended = time.monotonic() if running.poll() is not None else 0.0
            said = (said + (running.stdout.read() or b"").decode(errors="replace"))[-4000:]
            if not first and re.search(r"[1-9]\d*/\d+ ", said):
                first = time.monotonic()
            time.sleep(0.1)
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    counts = re.findall(r"(\d+)/(\d+) ", said)
    if not first or not counts:
        lines = [line for line in said.strip().splitlines() if line.strip()]
        return f"{folder.name}: mutmut does not start: {lines[-1] if lines else 'it says nothing'}"
    tried, made = map(int, counts[-1])
    seconds = max(0.1, (ended or begun + SECONDS) - first)
    return f"{folder.name}: mutmut tries {tried} of {made}, {tried / seconds:.1f} a second"


if __name__ == "__main__":
    for name, program in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        print(measured(Path(name), Path(program)), flush=True)
        if subprocess.run([program, "-c", "import mutmut"], capture_output=True, check=False).returncode == 0:
            print(by_mutmut(Path(name), Path(program)), flush=True)

"""Compares the gate with that of an earlier commit: `python -m docs.measure.gate [COMMIT]` (cda35d0).

Both read every test of the recorded replies (docs/benchmark, tests/replays), of HumanEval+ and MBPP+ as their
authors wrote them, of the verdict cases (all three in ../shared), of the packages of `refusals.py`, and
those written out in this repository's own tests. Nothing is run. What is refused now, or needs one process now,
and did not before, is printed.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from agents.suite import split
from agents.syntax.source import parses
from docs.measure import ROOT
from docs.measure.refusals import BENCHMARKS, HUMANEVAL, MBPP, as_written, package_suites

EARLIER = "cda35d0"
_CASES = BENCHMARKS.parent / "conformance"
_READ = """
import json, sys
sys.path.insert(0, sys.argv[1])
from agents.records import Test
from agents.verifier.static.gate import examine
from agents.verifier.static.needs_one_process import why_one_process
importable = frozenset({"hypothesis", "numpy", "pandas"})
found = []
for _, name, source, preamble in json.load(sys.stdin):
    test = Test(name, source, "generated", preamble)
    refused = examine(test, importable)
    shared = why_one_process(test) if refused is None else None
    kind = "refused" if refused else "in one process" if shared else "isolated"
    found.append([kind, str(refused or shared or "")])
json.dump(found, sys.stdout)
"""

Row = tuple[str, str, str, str]
"""Where a test is from, its name, source and preamble."""


def _files() -> Iterator[tuple[str, str]]:
    """Where a file of tests is from, and its text."""
    replies = [path.read_text("utf-8") for path in (ROOT / "tests/replays").rglob("*.json")]
    for archive in (ROOT / "docs/benchmark").rglob("*.tar.gz"):
        with tarfile.open(archive) as members:
            files = (members.extractfile(member) for member in members if member.name.endswith(".json"))
            replies += [file.read().decode("utf-8") for file in files if file is not None]
    for reply in map(json.loads, replies):
        if reply["role"] == "test_writer":
            yield from (("replies", code) for code in _blocks(reply["reply"]["text"]))
    yield from (("HumanEval+", suite.tests) for suite in as_written(HUMANEVAL))
    yield from (("MBPP+", suite.tests) for suite in as_written(MBPP))
    for cases in sorted(_CASES.glob("verdicts*.json")):
        for case in json.loads(cases.read_text("utf-8")):
            yield f"verdict cases: {case['kind']}", case["tests"]
    yield from (("packages", suite.tests) for suite in package_suites())
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if path.name != "hostile.py":
            constants = (
                node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant)
            )
            yield from (("own", str(node.value)) for node in constants if "def test" in str(node.value))


def _blocks(text: str) -> Iterator[str]:
    """The code in a reply, cut after its last line that parses."""
    for code in re.findall(r"```(?:python)?\n(.*?)(?:```|\Z)", text, re.DOTALL):
        lines = code.split("\n")
        while lines and not parses("\n".join(lines)):
            lines.pop()
        yield "\n".join(lines)


def rows() -> list[Row]:
    """Return every test, once."""
    found: dict[tuple[str, str], Row] = {}
    for where, text in _files():
        if parses(text):
            try:
                tests = split(text, "user")
            except ValueError:
                continue
            for test in tests:
                found.setdefault((test.source, test.preamble), (where, test.id, test.source, test.preamble))
    return list(found.values())


def read_by(root: Path, tests: list[Row]) -> list[tuple[str, str]]:
    """Return what the gate of the checkout `root` says of each test, and why."""
    command = [sys.executable, "-c", _READ, str(root)]
    done = subprocess.run(command, input=json.dumps(tests), capture_output=True, text=True, check=True)
    return [(kind, reason) for kind, reason in json.loads(done.stdout)]


def main() -> None:
    """Print what is read otherwise now, and how many tests are read how."""
    earlier = sys.argv[1] if len(sys.argv) > 1 else EARLIER
    tests = rows()
    with tempfile.TemporaryDirectory() as directory:
        archive = subprocess.run(["git", "archive", earlier, "agents"], cwd=ROOT, capture_output=True, check=True)
        with tarfile.open(fileobj=BytesIO(archive.stdout)) as members:
            members.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4
            members.extractall(directory)
        before = read_by(Path(directory), tests)
    now = read_by(ROOT, tests)
    counts: Counter[tuple[str, str, str]] = Counter()
    for test, old, new in zip(tests, before, now, strict=True):
        counts[test[0], old[0], new[0]] += 1
        if new[0] == "refused" != old[0] or old[0] == "isolated" != new[0]:
            print(f"{test[0]}, {test[1]}: {old[0]} before, {new[0]} now: {new[1]}")
    for (where, old_kind, new_kind), count in sorted(counts.items()):
        print(f"{where}: {old_kind} at {earlier}, {new_kind} now: {count}")
    print(f"{len(tests)} tests in all")


if __name__ == "__main__":
    main()

"""Measures how often the verifier refuses honest tests: `python -m docs.measure.refusals [WHAT] [--limit N]`.

WHAT is `humaneval+`, `mbpp+` (in ../shared/benchmarks) or `packages` (sdists from the package index); all three
without it. Each suite runs in plain pytest first, in the same sandbox. Where every test passes there, anything but
`passed` of the verifier is a refusal, and is printed with its reasons. All of it takes a quarter of an hour.

A benchmark's task is its reference solution with two suites: the asserts that its authors wrote, and a test for
each base input, expecting what the reference returns. A package is its one module, renamed `user_code`.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, get_args

from agents.bench.report import share_cell
from agents.bench.statistics import CONFIDENCE, share_of
from agents.records import Verdict
from agents.sandbox import Job, Sandbox, SandboxName, open_sandbox
from agents.verifier import Verifier
from docs.measure import BENCHMARKS

HUMANEVAL = BENCHMARKS / "humaneval_plus_dev.jsonl"
MBPP = BENCHMARKS / "mbpp_plus_dev.jsonl"
_MOST_INPUTS = 20
_LONGEST_LITERAL = 1000

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Suite:
    """A module, and an honest pytest file for it: `subject` is the task or package, `part` says which file."""

    subject: str
    part: str
    code: str
    tests: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Return what plain pytest's last line says of a suite, and the verdict where all of it passes there."""

    suite: Suite
    plain: str
    verdict: Verdict | None

    @property
    def refused(self) -> bool:
        """Return True if the verifier does not pass what plain pytest does."""
        return self.verdict is not None and self.verdict.kind != "passed"


def findings(suites: Iterable[Suite], sandbox: Sandbox) -> Iterator[Finding]:
    """Run each suite in plain pytest, and in one verifier where it passes."""
    with Verifier(sandbox) as verifier:
        for suite in suites:
            plain, passes = _plain_pytest(suite, sandbox)
            yield Finding(suite, plain, verifier.verify(suite.code, suite.tests) if passes else None)


def _plain_pytest(suite: Suite, sandbox: Sandbox) -> tuple[str, bool]:
    """Pytest's last line, and whether all tests passed, with none skipped."""
    files = {"user_code.py": suite.code.encode(), "test_user_code.py": suite.tests.encode()}
    options = ["-q", "-p", "no:cacheprovider", "--color=no"]
    with sandbox.launch(Job(["-I", "-B", "-m", "pytest", *options, "/src/test_user_code.py"], files)) as running:
        ended = running.wait()
    lines = (ended.stdout or ended.stderr).decode("utf-8", "replace").strip().splitlines()
    last = lines[-1] if lines else f"it ended with {ended.stopped or ended.exit_code}"
    return last, ended.exit_code == 0 and re.match(r"\d+ passed(, \d+ warnings?)? in ", last) is not None


# --- benchmarks --------------------------------------------------------------------------------------------

_EXPECT = """
import ast, json, sys
sys.path.insert(0, __file__.rpartition("/")[0])
import user_code
task = json.load(sys.stdin)
for arguments in task["inputs"]:
    given = repr(arguments)[1:-1]
    try:
        value = getattr(user_code, task["entry_point"])(*arguments)
        if ast.literal_eval(repr(value)) == value:
            print(json.dumps([given, repr(value)]))
    except Exception:
        continue
"""


def as_written(data: Path, limit: int | None = None) -> Iterator[Suite]:
    """The authors' asserts of `limit` tasks: HumanEval's `check` as one test, each assert of MBPP as a test."""
    for row, code in _rows(data, limit):
        if "assertion" in row:
            asserts = [line for line in row["assertion"].splitlines() if line.startswith("assert")]
            imports = ["import math"] if "math." in row["assertion"] else []
            tests = [[line] for line in asserts]
        else:
            (check,) = (node for node in ast.parse(row["test"]).body if isinstance(node, ast.FunctionDef))
            body = [line for statement in check.body for line in ast.unparse(statement).splitlines()]
            imports, tests = [], [[re.sub(r"\bcandidate\b", row["entry_point"], line) for line in body]]
        yield Suite(row["task_id"], "as written", code, _file(imports, _under_test(row, code), tests))


def from_inputs(data: Path, sandbox: Sandbox, limit: int | None = None) -> Iterator[Suite]:
    """A test for each base input of `limit` tasks; the references run in `sandbox` to make the expectations. An
    input is left out where the reference does not take it as JSON has it, or the line would be too long."""
    for row, code in _rows(data, limit):
        entry = row["entry_point"]
        tests = [
            [f"assert {entry}({given.removesuffix(',')}) {_compared(value, row['atol'])}"]
            for given, value in _cases(row, code, sandbox)
            if len(given) + len(value) <= _LONGEST_LITERAL
        ]
        if tests:
            imports = ["import pytest"] if row["atol"] else []
            yield Suite(row["task_id"], "from inputs", code, _file(imports, [entry], tests))


def _rows(data: Path, limit: int | None) -> Iterator[tuple[Row, str]]:
    """`limit` tasks, evenly spread over the file, each with its reference solution as a module."""
    lines = data.read_text("utf-8").splitlines()
    for line in lines[:: max(1, len(lines) // (limit or len(lines)))][:limit]:
        row = json.loads(line)
        # MBPP+'s prompt is prose; HumanEval+'s is the head of the function.
        yield row, ("" if "assertion" in row else row["prompt"]) + row["canonical_solution"]


def _under_test(row: Row, code: str) -> list[str]:
    """The entry point, and the other functions of the module that the authors' asserts use."""
    functions = {node.name for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)}
    asserts = ast.walk(ast.parse(row.get("assertion") or row["test"]))
    used = {node.id for node in asserts if isinstance(node, ast.Name)}
    return [row["entry_point"], *sorted((functions & used) - {row["entry_point"]})]


def _cases(row: Row, code: str, sandbox: Sandbox) -> list[tuple[str, str]]:
    """The arguments of base inputs and what the reference returns, as Python writes them."""
    asked = json.dumps({"entry_point": row["entry_point"], "inputs": row["base_input"][:_MOST_INPUTS]})
    files = {"expect.py": _EXPECT.encode(), "user_code.py": code.encode()}
    with sandbox.launch(Job(["-I", "/src/expect.py"], files, stdin=asked.encode())) as running:
        ended = running.wait()
    return [tuple(json.loads(line)) for line in ended.stdout.decode().splitlines()]


def _compared(value: str, tolerance: float) -> str:
    if value in ("True", "False", "None"):
        return f"is {value}"
    return f"== pytest.approx({value}, abs={tolerance})" if tolerance else f"== {value}"


def _file(imports: Sequence[str], names: Sequence[str], tests: Sequence[Sequence[str]]) -> str:
    head = "\n".join([*imports, f"from user_code import {', '.join(names)}"])
    bodies = ("".join(f"\n    {line}" for line in lines) for lines in tests)
    return head + "".join(f"\n\n\ndef test_{number}():{body}" for number, body in enumerate(bodies, 1)) + "\n"


# --- packages ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Package:
    """A package of one module, under the MIT licence, with its sdist's SHA-256. `path` and `tests` (a pattern) are
    paths in the sdist; `skipped` are tests that skip themselves on every Python supported here."""

    name: str
    version: str
    sha256: str
    module: str
    path: str
    tests: str
    skipped: tuple[str, ...] = ()


PACKAGES = (
    Package(
        "inflection",
        "0.5.1",
        "1a29730d366e996aaacffb2f1f1cb9593dc38e2ddd30c91250c6dde09ea9b417",
        "inflection",
        "inflection/__init__.py",
        r"test_inflection\.py",
    ),
    Package(
        "ordered-set",
        "4.1.0",
        "694a8e44c87657c59292ede72891eb91d34131f6531463aab3009191c77364a8",
        "ordered_set",
        "ordered_set/__init__.py",
        r"test/test_\w+\.py",
    ),
    Package(
        "parse",
        "1.20.2",
        "b41d604d16503c79d81af5165155c0b20f6c8d6c559efa66b4b695c3e5a0a0ce",
        "parse",
        "parse.py",
        r"tests/test_\w+\.py",
        skipped=("test_too_many_fields",),
    ),
)


def package_suites(limit: int | None = None) -> Iterator[Suite]:
    """A suite for each tests file of the first `limit` packages. Raises CalledProcessError where pip fails."""
    for package in PACKAGES[:limit]:
        with tempfile.TemporaryDirectory() as directory:
            files = _sdist(package, Path(directory))
        for path, text in sorted(files.items()):
            if re.fullmatch(package.tests, path):
                tests = _without(_renamed(text, package.module), package.skipped)
                yield Suite(f"{package.name} {package.version}", path, files[package.path], tests)


def _sdist(package: Package, directory: Path) -> dict[str, str]:
    wanted = directory / "wanted.txt"
    wanted.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-binary", ":all:", "--no-deps"]
    subprocess.run(
        [*pip, "--requirement", wanted, "--dest", directory], check=True, capture_output=True, text=True
    )
    (archive,) = directory.glob("*.tar.gz")
    with tarfile.open(archive) as members:
        return {
            member.name.partition("/")[2]: file.read().decode("utf-8")
            for member in members
            if member.name.endswith(".py") and (file := members.extractfile(member)) is not None
        }


def _renamed(tests: str, module: str) -> str:
    """The tests with `module` imported from `user_code` under its old name, and nothing else changed."""
    tests = re.sub(rf"(?m)^(\s*)import {module}$", rf"\1import user_code as {module}", tests)
    return re.sub(rf"(?m)^(\s*)from {module} import ", r"\1from user_code import ", tests)


def _without(tests: str, names: Sequence[str]) -> str:
    lines = tests.splitlines(keepends=True)
    for node in reversed(ast.parse(tests).body):
        if isinstance(node, ast.FunctionDef) and node.name in names:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            del lines[first - 1 : node.end_lineno]
    return "".join(lines)


# --- the command -------------------------------------------------------------------------------------------

KINDS: dict[str, Callable[[Sandbox, int | None], Iterable[Suite]]] = {
    "humaneval+": lambda sandbox, limit: chain(
        as_written(HUMANEVAL, limit), from_inputs(HUMANEVAL, sandbox, limit)
    ),
    "mbpp+": lambda sandbox, limit: chain(as_written(MBPP, limit), from_inputs(MBPP, sandbox, limit)),
    "packages": lambda _, limit: package_suites(limit),
}


def told(finding: Finding) -> str:
    """Return what the verifier says of a suite, test by test where it is not `passed`."""
    name = f"{finding.suite.subject}, {finding.suite.part}"
    verdict = finding.verdict
    if verdict is None:
        return f"{name}: left out; plain pytest: {finding.plain}"
    kind = f"{verdict.kind}, {verdict.isolation}"
    lines = [f"{name}: {kind}: {verdict.reason}" if verdict.reason else f"{name}: {kind}"]
    lines += [f"counts for nothing: {refusal.test_id}: {refusal.reason}" for refusal in verdict.refused]
    lines += [
        f"{outcome.status}: {outcome.test_id}: {' '.join(outcome.detail.split())[:300]}"
        for outcome in verdict.outcomes
        if outcome.status != "passed"
    ]
    lines += [f"note: {note}" for note in verdict.notes]
    return "\n    ".join(lines)


def _measure(kind: str, sandbox: Sandbox, limit: int | None) -> None:
    found: list[Finding] = []
    for finding in findings(KINDS[kind](sandbox, limit), sandbox):
        found.append(finding)
        if finding.verdict is None or finding.refused or finding.verdict.refused:
            print(told(finding), flush=True)
    verdicts = [finding.verdict for finding in found if finding.verdict is not None]
    outcomes = [outcome for verdict in verdicts for outcome in verdict.outcomes]
    in_process = [verdict for verdict in verdicts if verdict.isolation == "in-process"]
    share = share_of([(finding.suite.subject, finding.refused) for finding in found if finding.verdict])
    tests = sum(int(finding.plain.split()[0]) for finding in found if finding.verdict is not None)
    print(f"{kind}: {len(found)} suites; plain pytest passes {len(verdicts)}, with {tests} tests")
    print(f"  refused: {share_cell(share)}")
    print(f"  in-process: {len(in_process)} of {len(verdicts)}")
    print(f"  tests that count for nothing: {sum(len(verdict.refused) for verdict in verdicts)}")
    print(f"  outcomes but passed: {sum(each.status != 'passed' for each in outcomes)} of {len(outcomes)}")


def main() -> None:
    """Measure, and print each refusal and the rates."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("what", nargs="?", choices=list(KINDS), help="what to measure (all of it)")
    parser.add_argument("--limit", type=int, help="only so many tasks or packages")
    parser.add_argument("--sandbox", choices=get_args(SandboxName), default="auto")
    options = parser.parse_args()
    sandbox = open_sandbox(options.sandbox)
    print(f"Python {sys.version.split()[0]}, sandbox {sandbox.name}")
    try:
        for kind in [options.what] if options.what else KINDS:
            _measure(kind, sandbox, options.limit)
    finally:
        sandbox.close()
    print(
        f"Rates are of suites that plain pytest passes, with {CONFIDENCE:.0%} intervals (Wilson's, by subjects)."
    )


if __name__ == "__main__":
    main()

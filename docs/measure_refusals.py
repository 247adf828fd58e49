"""Measures how often the verifier refuses honest tests: `python docs/measure_refusals.py [WHAT] [--limit N]`.

WHAT is `humaneval+`, `mbpp+` (from ../shared/benchmarks) or `packages` (sdists fetched from the package index); all
three without it. Each suite runs in plain pytest first, in the same sandbox; where every test passes there, anything
but `passed` of the verifier is a refusal, and is printed with its reasons.

A task of a benchmark is its reference solution with two suites: the asserts that its authors wrote, and one test for
each base input, expecting what the reference returns. A package is its one module, renamed `user_code` in its tests.
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
from pathlib import Path
from typing import Any, get_args

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from agents.bench.statistics import CONFIDENCE, wilson  # noqa: E402
from agents.records import Verdict  # noqa: E402
from agents.sandbox import Job, Sandbox, SandboxName, open_sandbox  # noqa: E402
from agents.verifier import Verifier  # noqa: E402

BENCHMARKS = ROOT.parent / "shared" / "benchmarks"
HUMANEVAL = BENCHMARKS / "humaneval_plus_dev.jsonl"
MBPP = BENCHMARKS / "mbpp_plus_dev.jsonl"
_MOST_INPUTS = 20
_LONGEST_LITERAL = 1000

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Suite:
    """A module, and an honest pytest file for it."""

    name: str
    code: str
    tests: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What plain pytest's last line says of a suite, and the verdict where all of it passes there."""

    suite: Suite
    plain: str
    verdict: Verdict | None

    @property
    def refused(self) -> bool:
        """Whether the verifier does not pass what plain pytest does."""
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


def tasks(data: Path, sandbox: Sandbox, limit: int | None = None) -> Iterator[Suite]:
    """The suites of the first `limit` tasks; the reference solutions run in `sandbox` to make the expectations."""
    for line in data.read_text("utf-8").splitlines()[:limit]:
        row = json.loads(line)
        # MBPP+'s prompt is prose; HumanEval+'s is the head of the function.
        code = row["canonical_solution"] if "assertion" in row else row["prompt"] + row["canonical_solution"]
        yield Suite(f"{row['task_id']}, as written", code, _as_written(row, code))
        if tests := _from_inputs(row, code, sandbox):
            yield Suite(f"{row['task_id']}, from inputs", code, tests)


def _as_written(row: Row, code: str) -> str:
    """The authors' asserts: HumanEval's `check` as one test, each line of MBPP as a test."""
    entry = row["entry_point"]
    if "assertion" in row:
        body = ast.parse(row["assertion"]).body
        imports = [ast.unparse(node) for node in body if not isinstance(node, ast.Assert)]
        tests = [[ast.unparse(node)] for node in body if isinstance(node, ast.Assert)]
    else:
        (check,) = (node for node in ast.parse(row["test"]).body if isinstance(node, ast.FunctionDef))
        imports = []
        tests = [re.sub(r"\bcandidate\b", entry, ast.unparse(check.body)).splitlines()]  # type: ignore[arg-type]
    used = {node.id for node in ast.walk(ast.parse("\n".join(sum(tests, [])))) if isinstance(node, ast.Name)}
    if "math" in used and not any("math" in line for line in imports + sum(tests, [])[:5] if "import" in line):
        imports.append("import math")
    functions = [node.name for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)]
    return _file(imports, [entry, *sorted({*functions} & used - {entry})], tests)


def _from_inputs(row: Row, code: str, sandbox: Sandbox) -> str | None:
    """One test for each base input that makes a readable line; None where no input does."""
    asked = json.dumps({"entry_point": row["entry_point"], "inputs": row["base_input"][:_MOST_INPUTS]})
    files = {"expect.py": _EXPECT.encode(), "user_code.py": code.encode()}
    with sandbox.launch(Job(["-I", "/src/expect.py"], files, stdin=asked.encode())) as running:
        ended = running.wait()
    cases = [json.loads(line) for line in ended.stdout.decode().splitlines()]
    tests = [
        [f"assert {row['entry_point']}({given.removesuffix(',')}) {_compared(value, row['atol'])}"]
        for given, value in cases
        if len(given) + len(value) <= _LONGEST_LITERAL
    ]
    return _file(["import pytest"] if row["atol"] else [], [row["entry_point"]], tests) if tests else None


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
    """A package of one module under the MIT licence, with its sdist's SHA-256; `tests` are paths in the sdist."""

    name: str
    version: str
    sha256: str
    module: str
    path: str
    tests: str


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
    ),
)


def package_suites(limit: int | None = None) -> Iterator[Suite]:
    """One suite for each tests file of the first `limit` packages. Raises CalledProcessError without an index."""
    for package in PACKAGES[:limit]:
        with tempfile.TemporaryDirectory() as directory:
            files = _sdist(package, Path(directory))
        for path, text in sorted(files.items()):
            if re.fullmatch(package.tests, path):
                name = f"{package.name} {package.version}, {path}"
                yield Suite(name, files[package.path], renamed(text, package.module))


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


def renamed(tests: str, module: str) -> str:
    """The tests with `module` imported from `user_code` under its old name, and nothing else changed."""
    tests = re.sub(rf"(?m)^(\s*)import {module}$", rf"\1import user_code as {module}", tests)
    return re.sub(rf"(?m)^(\s*)from {module} import ", r"\1from user_code import ", tests)


# --- the command -------------------------------------------------------------------------------------------

KINDS: dict[str, Callable[[Sandbox, int | None], Iterator[Suite]]] = {
    "humaneval+": lambda sandbox, limit: tasks(HUMANEVAL, sandbox, limit),
    "mbpp+": lambda sandbox, limit: tasks(MBPP, sandbox, limit),
    "packages": lambda _, limit: package_suites(limit),
}


def told(finding: Finding) -> str:
    """A refusal with everything the verifier says for it; what plain pytest does not pass, with its last line."""
    verdict = finding.verdict
    if verdict is None:
        return f"{finding.suite.name}: left out; plain pytest: {finding.plain}"
    lines = [f"{finding.suite.name}: {verdict.kind}, {verdict.isolation}: {verdict.reason or 'no reason given'}"]
    lines += [f"refused {refusal.test_id}: {refusal.reason}" for refusal in verdict.refused]
    lines += [
        f"{outcome.status} {outcome.test_id}: {' '.join(outcome.detail.split())[:300]}"
        for outcome in verdict.outcomes
        if outcome.status != "passed"
    ]
    lines += [f"note: {note}" for note in verdict.notes]
    return "\n    ".join(lines)


def _rate(count: int, total: int) -> str:
    if not total:
        return "0 of 0"
    interval = wilson(count / total, total)
    return f"{count} of {total}, {count / total:.1%} ({interval.low * 100:.1f}–{interval.high * 100:.1f})"


def _measure(kind: str, sandbox: Sandbox, limit: int | None) -> None:
    print(f"{kind}:")
    found: list[Finding] = []
    for finding in findings(KINDS[kind](sandbox, limit), sandbox):
        found.append(finding)
        if finding.verdict is None or finding.refused or finding.verdict.refused:
            print(told(finding), flush=True)
    verdicts = [finding.verdict for finding in found if finding.verdict is not None]
    outcomes = [outcome for verdict in verdicts for outcome in verdict.outcomes]
    print(
        f"{kind}: {len(found)} suites, plain pytest passes {len(verdicts)} of them\n"
        f"  refused by the verifier: {_rate(sum(finding.refused for finding in found), len(verdicts))}\n"
        f"  passed, but in-process: {sum(_in_process(verdict) for verdict in verdicts)}\n"
        f"  tests in them that count for nothing: {sum(len(verdict.refused) for verdict in verdicts)}; "
        f"outcomes other than passed: {sum(outcome.status != 'passed' for outcome in outcomes)} of {len(outcomes)}"
    )


def _in_process(verdict: Verdict) -> bool:
    return verdict.kind == "passed" and verdict.isolation != "isolated"


def main() -> None:
    """Measure, and print each refusal and the rates."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("what", nargs="?", choices=list(KINDS), help="what to measure (all of it)")
    parser.add_argument("--limit", type=int, help="only the first tasks or packages")
    parser.add_argument("--sandbox", choices=get_args(SandboxName), default="auto")
    options = parser.parse_args()
    sandbox = open_sandbox(options.sandbox)
    try:
        for kind in [options.what] if options.what else KINDS:
            _measure(kind, sandbox, options.limit)
    finally:
        sandbox.close()
    print(f"Rates are of suites that plain pytest passes, with {CONFIDENCE:.0%} intervals (Wilson's) in per cent.")


if __name__ == "__main__":
    main()

"""Measures a suite's strength: mutants by the verifier, and coverage in one process with the code, which could
forge these figures: they are reported, and decide nothing."""

from __future__ import annotations

import json
import math
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records import Candidate, Strength, Test, Verdict, fingerprint
from ..sandbox import Ended, Job, SandboxLimits
from ..sandbox.interface import NO_FILES
from ..sandbox.interpreter import Interpreter
from ..suite import render
from ..verifier.cached_verifier import CachedVerifier
from .mutants import Mutant, mutants, plain_layout

_PROGRAM = Path(__file__).with_name("under_coverage.py")
LONGEST_COVERAGE = 10.0
MOST_SECONDS = 3.0
BATCH = 4
"""Mutants between two looks at the clock: enough to keep the verifier's jobs busy."""
SHORTEST_CALL = 0.5
SLOWER = 10
"""Timeout of a call of a mutant: this multiple of the code's slowest test, plus `SHORTEST_CALL`."""
LONGEST_CALL = 4.0


def measure(
    code: str,
    tests: Sequence[Test],
    runner: CachedVerifier,
    *,
    seconds: float = MOST_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Strength:
    """Return the strength of `tests`, which pass on `code`; start no mutant after `seconds`. Any verdict but
    `passed` kills. Raises ValueError if `code` isn't Python or the tests don't pass, and SandboxBroken."""
    begun = clock()
    planned = mutants(code)
    covering = coverage_job(code, tests, max(seconds, LONGEST_COVERAGE), runner.files_beside)
    with runner.sandbox.launch(covering) as running:
        verdict = passing(code, tests, runner)
        tried = 0
        survivors: list[Mutant] = []
        while tried < len(planned) and clock() - begun <= seconds:
            batch = planned[tried : tried + BATCH]
            board = runner.hasty_board([as_candidate(each.code) for each in batch], tests, patience(verdict))
            survivors += [each for each, seen in zip(batch, board.verdicts, strict=True) if seen.kind == "passed"]
            tried += len(batch)
        covered = read_coverage(covering, running.wait())
    return Strength(
        killed=tried - len(survivors),
        mutants=tried,
        planned=len(planned),
        survivors=tuple(sorted((mutant.survivor for mutant in survivors), key=lambda survivor: survivor.line)),
        line_coverage=covered.lines if covered else None,
        branch_coverage=covered.branches if covered else None,
        uncovered_lines=covered.uncovered if covered else (),
        noticed=sum(test.noticed for test in verdict.strength),
        changed=sum(test.tried for test in verdict.strength),
        seconds=clock() - begun,
    )


def passing(code: str, tests: Sequence[Test], runner: CachedVerifier) -> Verdict:
    """Return the verdict on the code in its mutants' layout. Raises ValueError if the tests don't pass on it."""
    board = runner.board([as_candidate(plain_layout(code))], tests)
    verdict = board.verdicts[0]
    if verdict.kind != "passed":
        raise ValueError(f"the tests do not pass on the code itself ({verdict.kind}: {verdict.reason})")
    return verdict


def patience(verdict: Verdict) -> float:
    """Return the timeout of a call of a mutant in seconds."""
    slowest = max((outcome.seconds for outcome in verdict.outcomes), default=0.0)
    return min(LONGEST_CALL, SHORTEST_CALL + SLOWER * slowest)


def as_candidate(code: str) -> Candidate:
    """Return `code` as a candidate for a board."""
    return Candidate(fingerprint(code), code, "draft", 0)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Shares from 0 to 1, None where there is nothing to run; `uncovered` are numbers of lines."""

    lines: float | None
    branches: float | None
    uncovered: tuple[int, ...]


def coverage_job(
    code: str, tests: Sequence[Test], seconds: float = LONGEST_COVERAGE, beside: Mapping[str, bytes] = NO_FILES
) -> Job:
    """Return the job that measures `code` under `tests` for at most `seconds`; `beside` are files to import."""
    return finding_job(_PROGRAM, {"user_code.py": code, "test_user_code.py": render(tests)}, seconds, beside)


def read_coverage(job: Job, ended: Ended) -> Coverage | None:
    """Return what `job` found; None if it was stopped or its finding is invalid."""
    finding = read_finding(job, ended)
    if finding is None or ended.stopped is not None:
        return None
    lines, missing = finding.get("lines"), finding.get("missing")
    branches, taken = finding.get("branches"), finding.get("taken")
    if not (type(lines) is int and type(branches) is int and type(taken) is int and isinstance(missing, list)):
        return None
    uncovered = tuple(line for line in missing if type(line) is int)
    if len(uncovered) != len(missing) or len(missing) > lines or not 0 <= taken <= branches:
        return None
    if lines and len(uncovered) == lines:
        return None  # a program: it ran in a process of its own
    return Coverage(
        (lines - len(uncovered)) / lines if lines else None, taken / branches if branches else None, uncovered
    )


def finding_job(program: Path, texts: Mapping[str, str], seconds: float, beside: Mapping[str, bytes]) -> Job:
    """Return a job that runs `program` with `texts` and `beside`; its argument is the mark of its finding."""
    limits = SandboxLimits(wall_seconds=seconds, cpu_seconds=math.ceil(seconds))
    files = {name: text.encode("utf-8", "surrogatepass") for name, text in texts.items()}
    argv = ["-I", "-B", f"/src/{program.name}", secrets.token_hex(8)]
    return Job(argv, {**beside, program.name: program.read_bytes(), **files}, limits)


def read_finding(job: Job, ended: Ended) -> dict[str, Any] | None:
    """Return the JSON object behind the last mark; None where there is none."""
    mark = job.argv[-1].encode()
    marked = [line for line in ended.stdout.split(b"\n") if line.startswith(mark)]
    try:
        finding = json.loads(marked[-1].removeprefix(mark)) if marked else None
    except (ValueError, RecursionError):
        return None
    return finding if isinstance(finding, dict) else None


def without_coverage(interpreter: Interpreter) -> str:
    """Say why coverage can't be measured in `interpreter`; empty if it can."""
    lacking = [name for name in ("coverage", "pytest") if not interpreter.finds(name)]
    if not lacking:
        return ""
    return (
        f"Lines and branches were not measured: {interpreter.executable} has no {' and no '.join(lacking)} "
        f"({interpreter.executable} -m pip install {' '.join(lacking)})."
    )

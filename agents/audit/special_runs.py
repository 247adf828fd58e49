"""Runs of tests that show more than plain ones: where they fail at their start, and where CI runs them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ..repository.suite import Suite, SuiteJob, SuiteRun
from ..repository.suites import run_whole
from ..syntax.definitions import Function
from ..syntax.encoding import encoded, lines_in
from .base import Base, TestPlace, parsed
from .two_by_two import TwoByTwo
from .weaker import put_first

IN_CI = dict.fromkeys(("CI", "GITHUB_ACTIONS", "GITLAB_CI"), "true")
_ASKS = re.compile(rb"environ|getenv|\bCI\b")


def made_to_fail(
    suite: Suite, places: Mapping[str, TestPlace], names: Collection[str], seconds: float
) -> SuiteRun:
    """Run tests that have a place, with `assert False` as first statement, up to the end of the process."""
    starts: dict[str, set[int]] = {}
    tests = [name for name in names if name.partition("[")[0] in places]
    for place in (places[name.partition("[")[0]] for name in tests):
        starts.setdefault(place.path, set()).add(place.line)
    if not tests:
        return SuiteRun({}, "ended")
    files = {path: _failing(suite.tree.files[path], starts[path]) for path in starts}
    paths = tuple(dict.fromkeys(name.partition("::")[0] for name in tests))
    return suite.run(SuiteJob(seconds, tuple(tests), paths, files=files, exits=True), cold=True)


def _failing(data: bytes, starts: set[int]) -> bytes:
    lines = lines_in(data)
    for node in sorted(ast.walk(parsed(data)), key=lambda each: -getattr(each, "lineno", 0)):
        if isinstance(node, Function) and node.lineno in starts:
            put_first(lines, node.body[0], "assert False")
    return encoded("\n".join(lines) + "\n", data)


def with_skips_in_ci(four: TwoByTwo, base: Base, suites: Sequence[Suite], seconds: float) -> TwoByTwo:
    """Return the same where old tests are skipped that the variables of CI have skipped now, and did not at the
    base: `suites` are of now and of the base, with `IN_CI`. They run if a file of tests that differs looks at the
    environment."""
    asking = (path for path in base.differing if _ASKS.search(suites[0].tree.files.get(path, b"")))
    names = [name for name in four.base.tests if four.base.outcome(name) == four.now.outcome(name) == "passed"]
    if not (names and any(map(base.tree.holds_tests, asking))):
        return four
    ran, then = (run_whole(suite, names, SuiteJob(seconds), cold=True) for suite in suites)
    was = [name for name in names if ran.ended == "ended" and then.outcome(name) == "passed"]
    skipped = [name for name in was if ran.outcome(name) in ("skipped", "missing")]
    ended = (replace(four.now.tests[name], outcome="skipped", text=" where CI=true") for name in skipped)
    return four.with_now(dict(zip(skipped, ended, strict=True)))

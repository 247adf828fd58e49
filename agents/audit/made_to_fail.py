"""Has tests fail at their start."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from ..repository.suite import Suite, SuiteJob, SuiteRun
from ..syntax.definitions import Function
from ..syntax.encoding import encoded, lines_in
from .base import TestPlace, parsed
from .doctests import put_first


def made_to_fail(
    suite: Suite, places: Mapping[str, TestPlace], names: Collection[str], seconds: float
) -> SuiteRun:
    """Run those of the tests that have a place, with `assert False` as first statement, up to the end of the
    process."""
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

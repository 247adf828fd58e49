"""Watches the `assert` statements of the tests, as pytest rewrites them: which were reached, which failed, and
which took a value for another of a different type."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _pytest.assertion import rewrite

_NUMBERS = frozenset([bool, int, float, complex])
_MOST_ITEMS = 1000
"""Values that are looked at in one comparison."""


class Asserts:
    """`failures` counts assertions that failed so far, caught or not; `failed` is called for each, and `note` with
    what the user is to know."""

    def __init__(self, tests_path: Path, failed: Callable[[], None], note: Callable[[str], None]) -> None:
        self.failures = 0
        self._failed = failed
        self._note = note
        self._noted: set[frozenset[type]] = set()
        self._path = str(tests_path)
        self._lines: set[int] = set()
        self._reached: set[int] = set()

    def watch(self, *, unittest: bool) -> None:
        """Have pytest tell, and `unittest` where the tests use it; before they are imported."""
        written = rewrite.AssertionRewriter.visit_Assert
        written_comparison = rewrite.AssertionRewriter.visit_Compare
        explain = rewrite._format_explanation  # type: ignore[attr-defined]

        def visit(rewriter: Any, statement: ast.Assert) -> list[ast.stmt]:
            statements = written(rewriter, statement)
            if rewriter.module_path == self._path and not isinstance(statement.test, ast.Constant):
                self._lines.add(statement.lineno)
                mark = ast.Expr(rewriter.helper("_greenloop_reached", ast.Constant(statement.lineno)))
                for node in ast.walk(mark):
                    ast.copy_location(node, statement)
                statements.insert(0, mark)
            return statements

        def visit_comparison(rewriter: Any, node: ast.Compare) -> Any:
            statements, before = rewriter.statements, len(rewriter.statements)
            result = written_comparison(rewriter, node)
            for made in statements[before:] if rewriter.module_path == self._path else ():
                compared = made.value if isinstance(made, ast.Assign) else None
                if isinstance(compared, ast.Compare) and isinstance(compared.ops[0], ast.Eq):
                    name = ast.Name(made.targets[0].id, ast.Load())
                    sides = [compared.left, compared.comparators[0]]
                    call = rewriter.helper("_greenloop_compared", name, *sides, ast.Constant(node.lineno))
                    statements.append(ast.Expr(call))
            return result

        def explained(explanation: str) -> str:
            self.failures += 1
            self._failed()
            return explain(explanation)

        setattr(rewrite.AssertionRewriter, "visit_Assert", visit)  # noqa: B010 - to a type checker it is no field
        setattr(rewrite.AssertionRewriter, "visit_Compare", visit_comparison)  # noqa: B010
        setattr(rewrite, "_greenloop_compared", self._compared)  # noqa: B010
        setattr(rewrite, "_format_explanation", explained)  # noqa: B010
        if unittest:
            self._watch_cases()
        setattr(rewrite, "_greenloop_reached", self._reached.add)  # noqa: B010

    def _watch_cases(self) -> None:
        from unittest import TestCase

        asked = TestCase.assertEqual

        def assert_equal(case: Any, first: object, second: object, msg: Any = None) -> None:
            asked(case, first, second, msg)
            self._compared(True, first, second, sys._getframe(1).f_lineno)

        setattr(TestCase, "assertEqual", assert_equal)  # noqa: B010

    def never(self) -> list[int]:
        """Lines of the assertions that were never reached."""
        return sorted(self._lines - self._reached)

    def _compared(self, equal: object, left: object, right: object, line: int) -> None:
        found = unlike(left, right) if equal is True else None
        if found is not None and (kinds := frozenset(map(type, found))) not in self._noted:
            self._noted.add(kinds)
            self._note(f"Line {line} of the tests takes {found[0]!r} for {found[1]!r}: equal, but of another type")


def unlike(left: Any, right: Any) -> tuple[object, object] | None:
    """The first two numbers that stand in the same place of equal plain data and are of two types."""
    waiting, seen = [(left, right)], 0
    while waiting and seen < _MOST_ITEMS:
        one, other = waiting.pop()
        seen += 1
        kind, its_kind = type(one), type(other)
        if kind in _NUMBERS and its_kind in _NUMBERS and kind is not its_kind:
            return one, other
        if kind is its_kind and kind in (list, tuple):
            waiting += zip(one, other)
        elif kind is its_kind and kind in (dict, set, frozenset):
            numbers = {part: part for part in other if type(part) in _NUMBERS}
            waiting += [(part, numbers.get(part, part)) for part in one if type(part) in _NUMBERS]
            if kind is dict:
                waiting += [(one[key], other[key]) for key in one]
    return None

"""Watches the `assert` statements of the tests, as pytest rewrites them: which were reached, and which failed."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _pytest.assertion import rewrite


class Asserts:
    """`failures` counts assertions that failed so far, caught or not; `failed` is called for each."""

    def __init__(self, tests_path: Path, failed: Callable[[], None]) -> None:
        self.failures = 0
        self._failed = failed
        self._path = str(tests_path)
        self._lines: set[int] = set()
        self._reached: set[int] = set()

    def watch(self) -> None:
        """Have pytest tell; before the tests are imported."""
        written = rewrite.AssertionRewriter.visit_Assert
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

        def explained(explanation: str) -> str:
            self.failures += 1
            self._failed()
            return explain(explanation)

        setattr(rewrite.AssertionRewriter, "visit_Assert", visit)  # noqa: B010 - to a type checker it is no field
        setattr(rewrite, "_format_explanation", explained)  # noqa: B010
        setattr(rewrite, "_greenloop_reached", self._reached.add)  # noqa: B010

    def never(self) -> list[int]:
        """Lines of the assertions that were never reached."""
        return sorted(self._lines - self._reached)

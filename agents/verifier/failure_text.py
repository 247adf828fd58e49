"""Turns the facts of a failing test into an Outcome, whose text is cleaned and truncated."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..records import Outcome, OutcomeStatus
from ..syntax.clean_text import clean
from ..syntax.source import parse

_MOST_VALUE = 300
_MOST_DETAIL = 1500


def outcome_of(node_id: str, reports: Mapping[str, Mapping[str, Any]], source: str) -> Outcome:
    """Return the outcome of a test from the reports of its phases."""
    seconds = float(reports["teardown"]["seconds"])
    for phase in ("setup", "call", "teardown"):
        report = reports.get(phase)
        if report is not None and report["outcome"] != "passed":
            return _failing(node_id, phase, report["facts"], source, seconds)
    return Outcome(node_id, "passed", seconds=seconds)


def _failing(node_id: str, phase: str, facts: Mapping[str, Any], source: str, seconds: float) -> Outcome:
    kind = clean(str(facts["type"]))
    message = clean(str(facts["message"])).strip()
    compared = facts.get("compared")
    assertion = _assertion_at(source, int(facts["line"]))
    asserted = kind in ("AssertionError", "Failed")
    status: OutcomeStatus = "failed" if asserted and phase == "call" else "error"
    if kind == "MemoryError":
        status = "stopped"
    actual = expected = None
    if compared is not None and compared["op"] in ("==", "is") and isinstance(assertion, ast.Assert):
        left, right = (clean(str(compared[side]))[:_MOST_VALUE] for side in ("left", "right"))
        actual, expected = (right, left) if _reversed(assertion) else (left, right)
        detail = f"{_text(assertion)}: got {actual}, expected {expected}"
    elif isinstance(assertion, ast.Assert) and kind == "AssertionError":
        detail = f"{_text(assertion)}\n{message}" if message else _text(assertion)
    else:
        detail = message if kind == "Failed" else f"{kind}: {message}" if message else kind
        if assertion is not None:
            detail += f"\nin {_text(assertion)}"
    if example := clean(str(facts.get("example", ""))):
        detail = f"Falsifying example: {example}\n{detail}"
        actual = expected = None
    if facts["where"]:
        detail += f"\nuser_code.py {clean(str(facts['where']))}"
    if phase != "call":
        detail = f"in {phase}: {detail}"
    return Outcome(node_id, status, detail[:_MOST_DETAIL], actual, expected, seconds)


def _text(node: ast.stmt) -> str:
    if isinstance(node, ast.With):
        node = ast.With(node.items, [ast.Expr(ast.Constant(...))], lineno=0)
    return ast.unparse(node)[:_MOST_VALUE]


@lru_cache(maxsize=64)
def _statements(source: str) -> tuple[ast.stmt, ...]:
    """Return every statement of the tests (cached: each failing test looks for its own)."""
    return tuple(node for node in ast.walk(parse(source)) if isinstance(node, ast.stmt))


def _assertion_at(source: str, line: int) -> ast.stmt | None:
    around = [node for node in _statements(source) if node.lineno <= line <= (node.end_lineno or node.lineno)]
    best = max(reversed(around), key=lambda node: node.lineno, default=None)
    return None if isinstance(best, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) else best


def _reversed(assertion: ast.Assert) -> bool:
    """Return True if the value under test stands on the right: `assert 3 == f(x)`."""
    test = assertion.test
    return isinstance(test, ast.Compare) and not _calls(test.left) and _calls(test.comparators[-1])


def _calls(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Call) for inner in ast.walk(node))

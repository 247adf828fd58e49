"""The static gate: which tests are not worth running, and which would only pretend to run."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from ..records import Test
from ..source import parse
from .loosening import loosening
from .tampering import Tampering


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a test. Grave: it reaches for the run itself, and must not be run; otherwise it may
    run, but its pass shows nothing."""

    reason: str
    grave: bool


def refuse(test: Test) -> str | None:
    """Why `test` is refused, as a phrase about it; None where it is accepted."""
    finding = examine(test)
    return finding.reason if finding else None


def examine(test: Test) -> Finding | None:
    """What is wrong with `test`, None where nothing is."""
    return _examine(test.preamble, test.source)


def _tree(preamble: str, source: str) -> ast.Module:
    return parse(f"{preamble}\n{source}\n")


@lru_cache(maxsize=1024)
def _examine(preamble: str, source: str) -> Finding | None:
    try:
        tree = _tree(preamble, source)
    except ValueError as error:
        return Finding(f"it is not Python: {error}", grave=True)
    if (reason := Tampering(tree).reason) or (reason := _unreachable(tree) or loosening(tree)):
        return Finding(reason, grave=True)
    return None


def _unreachable(tree: ast.Module) -> str | None:
    """An assertion that control flow never reaches, as far as syntax tells."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if not isinstance(block, list):
                continue
            for index, statement in enumerate(block):
                leaves = isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break)
                if leaves and any(
                    isinstance(inner, ast.Assert) for rest in block[index + 1 :] for inner in ast.walk(rest)
                ):
                    return f"line {statement.lineno} leaves before an assertion"
        if isinstance(node, ast.If | ast.While) and isinstance(node.test, ast.Constant) and not node.test.value:
            return "it holds a branch that never runs"
        if isinstance(node, ast.For) and isinstance(node.iter, ast.List | ast.Tuple) and not node.iter.elts:
            return "it loops over nothing"
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("parametrize") and len(node.args) > 1:
            cases = node.args[1]
            if isinstance(cases, ast.List | ast.Tuple) and not cases.elts:
                return "it is parametrised with nothing"
    return None

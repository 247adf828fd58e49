"""Finds property tests that would try no example, or hide that one fails.

What a test sets (max_examples, phases, ...) is no concern: the test process runs it with its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_MODULES = frozenset({"hypothesis", "hypothesis.strategies", "hypothesis.errors", "hypothesis.stateful"})
_FORBIDDEN_NAMES = frozenset({"reproduce_failure", "register_random", "find"})
_FORBIDDEN_ATTRIBUTES = frozenset(
    {"register_profile", "load_profile", "get_profile", "inner_test", "fuzz_one_input", "is_hypothesis_test",
     "internal", "xfail"}
)  # fmt: skip


def loosening(tree: ast.Module) -> str | None:
    """Find what disables a property of hypothesis in the test `tree`, as a phrase; None where nothing does."""
    modules = {module for node in ast.walk(tree) for module in _imported(node)}
    if not any(module.split(".")[0] == "hypothesis" for module in modules):
        return None
    return next((reason for node in ast.walk(tree) for reason in _found(node)), None)


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.module or ""


def _found(node: ast.AST) -> Iterator[str]:
    for module in _imported(node):
        inside = module.startswith("hypothesis.") and not module.startswith("hypothesis.extra.")
        if inside and module not in _MODULES:
            yield f"it imports {module}, which tests may not"
    if isinstance(node, ast.ImportFrom) and node.module == "hypothesis":
        for alias in node.names:
            if alias.name in _FORBIDDEN_NAMES:
                yield f"it uses {alias.name}, which keeps a property from being tried"
    elif isinstance(node, ast.Attribute):
        if node.attr in _FORBIDDEN_ATTRIBUTES or node.attr.startswith("_hypothesis"):
            yield f"it uses {node.attr}, which tests may not"
        elif node.attr in _FORBIDDEN_NAMES - {"find"}:
            yield f"it uses {node.attr}, which keeps a property from being tried"

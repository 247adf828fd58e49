"""Finds property tests that would try no example, or hide that one fails.

What a test sets besides (max_examples, deadline, ...) has no effect: the judge runs it with its own settings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_MODULES = frozenset({"hypothesis", "hypothesis.strategies", "hypothesis.errors", "hypothesis.stateful"})
_FORBIDDEN_NAMES = frozenset({"reproduce_failure", "register_random", "find"})
_FORBIDDEN_ATTRIBUTES = frozenset(
    {"register_profile", "load_profile", "get_profile", "inner_test", "fuzz_one_input", "is_hypothesis_test"}
)


def loosening(tree: ast.Module) -> str | None:
    """What disables a property of hypothesis in the test `tree`, as a phrase; None where nothing does."""
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
    elif isinstance(node, ast.Call):
        yield from _called(node)


def _called(call: ast.Call) -> Iterator[str]:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "xfail":
        yield "it expects an example to fail"
    for keyword in call.keywords:
        value = keyword.value
        if keyword.arg == "max_examples" and not _is_count(value):
            yield "it sets max_examples to other than a number above 0"
        elif keyword.arg == "phases" and not _generates(value):
            yield "it sets phases in which no example is generated"
        elif keyword.arg == "backend":
            yield "it chooses a backend, which tests may not"
    if any(keyword.arg is None for keyword in call.keywords) and _name(call.func) == "settings":
        yield "it makes its settings at run time"


def _is_count(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value > 0


def _generates(phases: ast.expr) -> bool:
    """Whether `phases` plainly holds Phase.generate, or every phase."""
    if isinstance(phases, ast.List | ast.Tuple | ast.Set):
        return any(isinstance(item, ast.Attribute) and item.attr == "generate" for item in phases.elts)
    match phases:
        case ast.Call(func=ast.Name(id="list" | "tuple" | "set"), args=[argument]):
            return _name(argument) == "Phase"
    return False


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""

"""Whether a test asserts anything about a value that came from the code under test."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..imports import USER_MODULE

_SHALLOW = frozenset(["callable", "hasattr", "issubclass"])
_TYPE_CHECKS = frozenset(["isinstance", "type"])
_CAPTURING = frozenset(["capsys", "capfd", "caplog", "capsysbinary", "capfdbinary"])
_CATCHING = (
    "raises",
    "warns",
    "assertRaises",
    "assertRaisesRegex",
    "assertWarns",
    "assertWarnsRegex",
    "assertLogs",
)


class Assertions:
    """Reads a test with its preamble, by a simple flow of values: what a call into the code returned, whatever
    was made from that, and objects that the code was given."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._modules: set[str] = set()
        self._code: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == USER_MODULE:
                self._code.update(alias.asname or alias.name for alias in node.names)
            elif isinstance(node, ast.Import):
                self._modules.update(
                    alias.asname or alias.name for alias in node.names if alias.name == USER_MODULE
                )
        self._star = "*" in self._code
        self._bound = _bound(tree)
        self._values: set[str] = set()
        self._spread()

    @property
    def weakness(self) -> str | None:
        """Why a pass of this test would show nothing; None where it asserts something."""
        found = list(self._assertions())
        if not found:
            return "it asserts nothing"
        if all(_constant(test) for test in found if isinstance(test, ast.expr)) and not self._blocks(found):
            return "what it asserts is always true"
        if not any(self._real(test) for test in found):
            return "it asserts nothing about a value that came from the code"
        if any(self._comes_from_code(argument) for argument in self._assumptions()):
            return "it assumes something of what the code returns"
        return None

    @property
    def types_only(self) -> bool:
        """Whether nothing but the type of results is asserted."""
        tests = [test for test in self._assertions() if isinstance(test, ast.expr) and self._real(test)]
        return bool(tests) and not self._blocks(list(self._assertions())) and all(map(_type_check, tests))

    # --- values --------------------------------------------------------------------------------------------

    def _spread(self) -> None:
        """Names that hold values from the code, functions of the tests that use it, fixtures that give them."""
        grown = True
        while grown:
            before = len(self._values) + len(self._code)
            for node in ast.walk(self._tree):
                self._spread_from(node)
            grown = len(self._values) + len(self._code) > before

    def _spread_from(self, node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and self._uses_code(
            [*node.decorator_list, *(node.bases if isinstance(node, ast.ClassDef) else ())]
        ):
            self._values.add(node.name)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and self._uses_code(node.body):
            self._values.update(_CAPTURING)
            if not node.name.startswith("test"):
                self._code.add(node.name)
                self._values.add(node.name)  # as a fixture, its name is its value
            if node.args.args and node.args.args[0].arg == "self":
                self._values.add("self")
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if node.value is not None and self._holds(node.value):
                self._values.update(_names(targets))
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            if self._holds(node.iter):
                self._values.update(_names([node.target]))
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._values.update(_names([node.optional_vars]))
        elif isinstance(node, ast.Call) and self._calls_code(node):
            arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
            self._values.update(argument.id for argument in arguments if isinstance(argument, ast.Name))
            for argument in arguments:
                if isinstance(argument, ast.Lambda):
                    self._values.update(_names(ast.walk(argument.body)))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in self._values:
            # A callback that the code was given: what it touches may have been changed by the code.
            self._values.update(_names(inner for stmt in node.body for inner in ast.walk(stmt)) - self._modules)

    def _uses_code(self, nodes: Iterable[ast.AST]) -> bool:
        return any(self._is_code(inner) for node in nodes for inner in ast.walk(node))

    def _is_code(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            unknown = self._star and node.id not in self._bound
            return node.id in self._code or node.id in self._modules or unknown
        return False

    def _calls_code(self, node: ast.Call) -> bool:
        return any(self._is_code(inner) or self._is_value(inner) for inner in ast.walk(node.func))

    def _is_value(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in self._values

    def _holds(self, node: ast.AST) -> bool:
        """Whether an expression may hold a value from the code: more than the bare function or class."""
        if isinstance(node, ast.Name):
            return self._is_value(node)
        if isinstance(node, ast.Attribute) and self._is_code(node.value):
            return isinstance(node.value, ast.Name)
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in _SHALLOW:
                return any(self._holds(argument) for argument in node.args if not isinstance(argument, ast.Name))
            if self._calls_code(node):
                return True
            arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
            return any(self._holds(argument) or self._is_code(argument) for argument in arguments)
        return any(self._holds(child) for child in ast.iter_child_nodes(node))

    # --- assertions ----------------------------------------------------------------------------------------

    def _assertions(self) -> Iterator[ast.expr | ast.With | ast.AsyncWith]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Assert):
                yield node.test
            elif isinstance(node, ast.With | ast.AsyncWith):
                if any(_name_of(item.context_expr).endswith(_CATCHING) for item in node.items):
                    yield node
            elif isinstance(node, ast.Call):
                name = _name_of(node)
                if name.startswith("assert") or name in ("raises", "fail", "warns", "approx_equal"):
                    yield node

    def _assumptions(self) -> Iterator[ast.expr]:
        """What examples of a property are left out for."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call) and _name_of(node) == "assume":
                yield from node.args

    def _comes_from_code(self, assumed: ast.expr) -> bool:
        """Whether what is assumed uses the code or what it returned; the test's own inputs are parameters."""
        inputs = {node.arg for node in ast.walk(self._tree) if isinstance(node, ast.arg)}
        names = [node for node in ast.walk(assumed) if isinstance(node, ast.Name)]
        return any(self._is_code(node) or (self._is_value(node) and node.id not in inputs) for node in names)

    def _blocks(self, found: Iterable[ast.AST]) -> bool:
        return any(not isinstance(test, ast.expr) for test in found)

    def _real(self, test: ast.AST) -> bool:
        if isinstance(test, ast.With | ast.AsyncWith):
            return any(
                self._is_code(node) or self._is_value(node)
                for statement in test.body
                for node in ast.walk(statement)
            )
        if isinstance(test, ast.Call) and _name_of(test) == "fail":
            return True
        if isinstance(test, ast.Constant) and not test.value:  # reached only where the code did what it should not
            return True
        if _constant(test):
            return False
        if isinstance(test, ast.Compare) and len(test.comparators) == 1:
            if ast.dump(test.left) == ast.dump(test.comparators[0]):
                return False
            if _is_none(test.comparators[0]) and self._bare(test.left):
                return False
        return self._holds(test)

    def _bare(self, node: ast.expr) -> bool:
        """`add` or `user_code.add`: what was imported, and no value of it."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return node.value.id in self._modules
        return isinstance(node, ast.Name) and node.id in self._code


def _constant(test: ast.AST) -> bool:
    """Whether an asserted expression is true whatever the code does."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.Tuple):
        return bool(test.elts)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(_constant(value) for value in test.values)
    if isinstance(test, ast.BoolOp):
        return all(_constant(value) for value in test.values)
    return isinstance(test, ast.Lambda)


def _type_check(test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp):
        return all(_type_check(value) for value in test.values)
    if isinstance(test, ast.Call):
        return _name_of(test) in ("isinstance", "assertIsInstance", "assertIsNotNone")
    if isinstance(test, ast.Compare):
        left = isinstance(test.left, ast.Call) and _name_of(test.left) in _TYPE_CHECKS
        return left or (isinstance(test.ops[0], ast.IsNot) and _is_none(test.comparators[0]))
    return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _name_of(node: ast.expr) -> str:
    """The last part of what an expression calls."""
    if isinstance(node, ast.Call):
        return _name_of(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    return {inner.id for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _bound(tree: ast.Module) -> set[str]:
    """Every name that the tests bind themselves, and the builtins."""
    import builtins

    names = set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
    return names

"""Removal of statements that only demonstrate a module: prints, sample calls, checks."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..syntax.collection import is_fixture, is_main_guard, is_test, last_name
from ..syntax.definitions import Definition, Function, is_definition
from ..syntax.imports import USER_MODULE, split_imports
from ..syntax.laid_out import LaidOut
from ..syntax.source import BUILTINS, names_bound, names_unbound, names_used, parse, unparse
from .split_cases import asserts

_TALKS = frozenset({"print", "pprint", "input", "breakpoint", "help"})
_SETS_UP = frozenset(
    {"setrecursionlimit", "set_int_max_str_digits", "setlocale", "filterwarnings", "simplefilter", "seed"}
)
_FILLS = frozenset({"append", "extend", "update", "add", "insert", "setdefault", "register", "sort", "reverse"})


def without_demos(code: str, entry: str | None) -> tuple[str, tuple[str, ...]]:
    """Return `code` without top-level prints, sample calls, asserts and tests; an `if __name__` block stays.

    `entry` is the signature's name, which is never removed. The rest of the text is unchanged.
    """
    tree = parse(code)
    checks = [node for node in tree.body if _is_check(node)]
    needed = names_used([node for node in tree.body if is_definition(node) and node not in checks]) | {entry}
    tests = [node for node in checks if not names_bound(node) & needed]
    rest = [node for node in tree.body if node not in tests]
    demos = _demos(rest, entry)
    notes = []
    if tests:
        notes.append(f"dropped {len(tests)} test{'s' * (len(tests) > 1)} from the module")
    if demos:
        statements = f"{len(demos)} top-level statement{'s' * (len(demos) > 1)}"
        notes.append(f"dropped {statements} that only demonstrate")
    kept = [node for node in rest if node not in demos]
    # An `if __name__` block that runs tests, or only what was removed.
    gone = {"unittest", "pytest"}.union(*map(names_bound, tests))
    guards = [node for node in kept if is_main_guard(node) and names_used(node) & gone]
    return cut(code, [*tests, *demos, *guards, *_idle_imports(tree, kept, bool(tests))]), tuple(notes)


def cut(code: str, dead: Sequence[ast.stmt]) -> str:
    """Return `code` without the module-level statements `dead`."""
    if not dead:
        return code
    laid_out, lines = LaidOut(code), code.split("\n")
    # From the end, so that earlier positions stay valid.
    for node in sorted(dead, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        first, last = laid_out.first(node) - 1, (node.end_lineno or node.lineno) - 1
        start = node.col_offset if node.lineno == first + 1 else 0
        head = lines[first].encode()[:start].decode()
        tail = lines[last].encode()[node.end_col_offset :].decode().lstrip(" ;")
        left = (head + ("" if tail.startswith("#") else tail)).rstrip(" ;")
        lines[first : last + 1] = [left] if left.strip() else []
    # What is cut at the end leaves its headings behind ("# Example usage").
    end = max((node.end_lineno or 0 for node in parse("\n".join(lines)).body), default=0)
    return "\n".join([*lines[:end], ""])


def _is_check(node: ast.stmt) -> bool:
    if isinstance(node, ast.ClassDef):
        # A class such as `TestResult(Base)` is collected by its name only, and may be part of the code.
        methods = [item.name for item in node.body if isinstance(item, ast.FunctionDef)]
        return is_test(node) and any(name.startswith("test") for name in methods)
    if isinstance(node, Function) and is_test(node):
        # Tests take fixtures and parameters of a decorator; `def test_bit(number, place)` is a function.
        required = len(node.args.posonlyargs) + len(node.args.args) - len(node.args.defaults)
        return node.name.startswith("test_") and (required == 0 or bool(node.decorator_list) or asserts(node))
    return is_fixture(node)


def _demos(nodes: list[ast.stmt], entry: str | None) -> list[ast.stmt]:
    """Return the statements that only demonstrate: no other one reads what they bind or change."""
    own = {node.name for node in nodes if is_definition(node)} | ({entry} if entry else set())
    reads = {node: _globals_of(node) for node in nodes}
    demos = {node for node in nodes if _may_demonstrate(node, own) and not _prepares(node, nodes, entry)}
    makes = {node: names_bound(node) | _touched(node) for node in demos}

    def keep(kept: set[ast.stmt]) -> None:
        """Keep also what these read, and what that reads."""
        while kept:
            demos.difference_update(kept)
            read = frozenset().union(*(reads[node] for node in kept))
            kept = {node for node in demos if makes[node] & read}

    keep(set(nodes) - demos)
    shown = frozenset().union(*(reads[node] for node in demos if not _is_sample(node)))
    keep({node for node in demos if _is_sample(node) and not names_bound(node) <= shown})
    return [node for node in nodes if node in demos]


def _globals_of(node: ast.stmt) -> frozenset[str]:
    """Return the module-level names that `node` may read, without a definition's parameters and locals."""
    if not is_definition(node):
        return names_used(node)
    return names_unbound(unparse(node)) | (names_used(node) & BUILTINS)


def _is_sample(node: ast.stmt) -> bool:
    """Return True if `node` only assigns a literal for a demonstration: `numbers = [3, 1]`."""
    return isinstance(node, ast.Assign) and not any(isinstance(inner, ast.Call) for inner in ast.walk(node))


def _may_demonstrate(node: ast.stmt, own: set[str]) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Delete() | ast.Expr(value=ast.Constant()):
            return False
        case ast.Assert() | ast.Pass():
            return True
    parts = list(ast.walk(node))
    if is_main_guard(node) or any(isinstance(inner, ast.Import | ast.ImportFrom | Definition) for inner in parts):
        return False
    names = names_bound(node)
    called = {last_name(inner) for inner in parts if isinstance(inner, ast.Call)}
    if called & (_TALKS | own) or (_is_sample(node) and names):
        # `Colour = make()` is part of the module; `result = make()` is a demonstration.
        return not names or any(name.islower() and not name.startswith("_") for name in names)
    if names or isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) or called & _SETS_UP:
        return False
    return not _touched(node) & own


def _prepares(node: ast.stmt, nodes: list[ast.stmt], entry: str | None) -> bool:
    """Return True for a bare call such as `_build_table()`, of a function that prints and checks nothing."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)) or call.func.id == entry:
        return False
    called = [other for other in nodes if isinstance(other, Function) and other.name == call.func.id]
    return bool(called) and not any(names_used(each) & _TALKS or asserts(each) for each in called)


def _touched(node: ast.AST) -> frozenset[str]:
    """Return the names of objects that a statement may change in place."""
    touched: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript | ast.Attribute) and isinstance(inner.ctx, ast.Store):
            touched |= names_used(inner.value)
        elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in _FILLS:
            touched |= names_used(inner.func.value)
    return frozenset(touched)


def _idle_imports(tree: ast.Module, kept: list[ast.stmt], had_tests: bool) -> list[ast.stmt]:
    """Return imports of the module itself, and of test frameworks after tests were removed."""
    frameworks = {"pytest", "unittest", "hypothesis"} if had_tests else set()
    used = names_used([node for node in kept if not is_main_guard(node)])
    imports = [(node, {each.module.split(".")[0] for each in split_imports(node)}) for node in tree.body]
    unused = [node for node, from_ in imports if from_ and from_ <= frameworks and not names_bound(node) & used]
    return [*unused, *(node for node, from_ in imports if from_ == {USER_MODULE})]

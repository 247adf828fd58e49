"""Tests extracted from a module that a model wrote: one case each, on the code under test, without duplicates."""

from __future__ import annotations

import ast
import copy
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..errors import ReplyError
from ..records import PROGRAM_FILE, Spec, Test
from ..spec.plain_calls import without_await
from ..suite import split
from ..syntax.collection import is_fixture, is_main_guard, is_property, is_test, is_test_case, last_name
from ..syntax.definitions import Function, is_definition
from ..syntax.imports import KNOWN, USER_MODULE, Import, add_missing_imports, render_imports, split_imports
from ..syntax.source import (
    compile_error,
    is_constant,
    names_bound,
    names_unbound,
    names_used,
    parse,
    source_of,
    texts_in,
    unparse,
)
from .split_cases import asserts, single_cases

_TOOLS = frozenset({"pytest", "unittest", "hypothesis", "numpy", "pandas"}) | sys.stdlib_module_names
_OF_HYPOTHESIS = {
    **{name: f"from hypothesis import {name}" for name in ("assume", "given", "settings")},
    "st": "from hypothesis import strategies as st",
}
_Loops = ast.AsyncFor | ast.AsyncWith | ast.comprehension


@dataclass
class _Module:
    """The statements of a module of tests, by their use."""

    imports: list[Import] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    tests: list[tuple[ast.stmt, str]] = field(default_factory=list)
    """Each with its text."""
    notes: Counter[str] = field(default_factory=Counter)


def extract_tests(code: str, spec: Spec, limit: int) -> tuple[tuple[Test, ...], tuple[str, ...]]:
    """Return at most `limit` tests of the spec's entry point, and notes on changes. Raises ReplyError where no
    test with an assertion on the entry point is left."""
    entry = spec.signature.name if spec.signature else None
    module = _sorted_out(parse(code), code.split("\n"), entry)
    constants: dict[str, ast.expr] = {}
    for node in parse("\n".join(module.shared)).body:
        if isinstance(node, ast.Assign):
            constants |= {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
    cases = [case for test in module.tests for case in _cases(*test, constants, module)]
    chosen = _chosen(cases, module)
    imports, strange = _from_user_code(module.imports, entry, spec)
    source = "\n\n\n".join([render_imports(imports), *module.shared, *chosen])
    known = dict(_OF_HYPOTHESIS) if any(map(is_property, parse(source).body)) else {}
    own = {entry} if entry else names_unbound(source) - KNOWN.keys() - known.keys()
    known |= {name: f"from {USER_MODULE} import {name}" for name in own}
    source, added = add_missing_imports(source, known)
    tests = [test for test in split(source, "generated") if _is_about(test, spec, strange, module)]
    if len(tests) > limit:
        module.notes[f"kept the first {limit} of {len(tests)} tests"] = 1
    if not tests:
        found = "; ".join(module.notes) or "it defines none"
        wanted = (
            f"plain pytest functions that call `{entry}` and assert on its result" if entry else "pytest functions"
        )
        raise ReplyError(
            f"the reply holds no usable test ({found}); write {wanted}, such as `def test_x(): assert ...`"
        )
    notes = [note if number == 1 else f"{note} ({number} times)" for note, number in module.notes.items()]
    return tuple(tests[:limit]), (*notes, *added)


def _sorted_out(tree: ast.Module, lines: Sequence[str], entry: str | None) -> _Module:
    module = _Module()
    read = names_used([node for node in tree.body if is_definition(node)])
    for written in tree.body:
        node = made_plain(written)
        source = source_of(lines, node) if node is written else unparse(node)
        if compile_error(source):
            # One such function fails the import of all tests.
            module.notes["dropped code that can't be compiled"] += 1
        elif imports := split_imports(node):
            module.imports.extend(imports)
        elif _implements(node, entry):
            module.notes[f"dropped a second implementation of {entry}"] += 1
        elif isinstance(node, ast.ClassDef) and is_test_case(node):
            module.notes["dropped a unittest class"] += 1
        elif is_test(node):
            module.tests.append((node, source))
            if node is not written:
                module.notes["made a test call asyncio.run"] += 1
        elif is_main_guard(node) or _is_idle(node):
            continue
        elif is_definition(node) or names_bound(node) & read:
            module.shared.append(source_of(lines, node))
    return module


def _implements(node: ast.stmt, entry: str | None) -> bool:
    """Return True if `node` defines the entry point: a test of that definition would not test the code."""
    if entry is None or is_fixture(node):
        return False
    if isinstance(node, ast.ClassDef) and not is_test(node):
        return entry in {node.name, *(item.name for item in node.body if isinstance(item, Function))}
    return not isinstance(node, ast.Try) and entry in names_bound(node)


def _is_idle(node: ast.stmt) -> bool:
    """Return True for a docstring, a print, and a call that runs the tests."""
    if not isinstance(node, ast.Expr):
        return isinstance(node, ast.Pass)
    return not asserts(node) or last_name(node.value) in {"print", "main"}


def _cases(node: ast.stmt, text: str, constants: dict[str, ast.expr], module: _Module) -> list[str]:
    """Return the sources of the single cases in `node`; its own `text` if it has only one."""
    cases = single_cases(node, constants)
    if len(cases) > 1:
        module.notes["split a test of several cases"] += 1
    return [text] if cases == [node] else [unparse(case) for case in cases]


def _chosen(cases: Sequence[str], module: _Module) -> list[str]:
    """Return the cases that assert something, without duplicate bodies."""
    helpers = {
        name for text in module.shared for node in parse(text).body if asserts(node) for name in names_bound(node)
    }
    seen: set[str] = set()
    chosen = []
    for source in cases:
        (node,) = parse(source).body
        body = _meaning(node)
        if not asserts(node) and not names_used(node) & helpers:
            module.notes["dropped a test without an assertion"] += 1
        elif body in seen:
            module.notes["dropped a repeated test"] += 1
        else:
            seen.add(body)
            chosen.append(source)
    return chosen


def _meaning(node: ast.stmt) -> str:
    """Return a key that equal tests share: all but the name and the docstring."""
    body: list[ast.stmt] = getattr(node, "body", [])
    body = body[1:] if body and is_constant(body[0]) else body
    arguments = getattr(node, "args", None)
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return "\n".join(ast.dump(part) for part in [*decorators, *([arguments] if arguments else []), *body])


# --- imports ------------------------------------------------------------------------------------------------


def _from_user_code(imports: Sequence[Import], entry: str | None, spec: Spec) -> tuple[list[Import], set[str]]:
    """Return `imports` with every unknown module replaced by `user_code`, and the names imported from it that the
    spec does not mention: tests may not use them."""
    tools = _TOOLS.union(
        *(package.imports for package in spec.installed), [module.name for module in spec.modules]
    )
    fixed: list[Import] = []
    strange: set[str] = set()
    for item in imports:
        root = item.module.split(".")[0]
        known = root in tools and not item.level and (entry is None or item.name != entry)
        if item.module == "__future__" or (known and root != USER_MODULE):
            fixed.append(item)
        elif item.name is None and item.binds != entry:
            alias = item.binds
            fixed.append(Import(0, USER_MODULE, None, alias if alias != USER_MODULE else None))
        elif item.name != "*":
            name = entry if entry and item.binds == entry else item.name or item.module
            if entry and name != entry and re.search(rf"\b{re.escape(name)}\b", spec.text) is None:
                strange.add(item.binds)
            fixed.append(Import(0, USER_MODULE, name, item.alias if item.alias != name else None))
    return fixed, strange


def _is_about(test: Test, spec: Spec, strange: set[str], module: _Module) -> bool:
    tree = parse(f"{test.preamble}\n{test.source}")
    if names := sorted(names_used(tree) & strange):
        module.notes[f"dropped a test of {names[0]}, which the spec does not name"] += 1
        return False
    from_user = any(item.module == USER_MODULE for node in tree.body for item in split_imports(node))
    if not from_user and not (spec.program and PROGRAM_FILE in texts_in(tree)):
        missed = spec.signature.name if spec.signature else "the code"
        module.notes[f"dropped a test that does not use {missed}"] += 1
        return False
    return True


def made_plain(node: ast.stmt) -> ast.stmt:
    """Return the test or class of tests `node` with plain functions for `async def`; itself without any."""
    if isinstance(node, ast.ClassDef):
        made = [made_plain(item) for item in node.body]
        if made == node.body:
            return node
        other = copy.copy(node)
        other.body = made
        return other
    if not isinstance(node, ast.AsyncFunctionDef) or not is_test(node):
        return node
    marks = [mark for mark in node.decorator_list if last_name(mark) not in ("asyncio", "anyio")]
    (plain,) = parse(f"def {node.name}(): pass").body
    assert isinstance(plain, ast.FunctionDef)
    plain.args, plain.body, plain.decorator_list = node.args, _body(node.body), marks
    return ast.fix_missing_locations(ast.copy_location(plain, node))


def _body(body: list[ast.stmt]) -> list[ast.stmt]:
    nodes = [inner for statement in body for inner in ast.walk(statement)]
    loops = any(isinstance(inner, _Loops) and getattr(inner, "is_async", True) for inner in nodes)
    if not loops and sum(isinstance(inner, ast.Await) for inner in nodes) <= 1:
        return [without_await(copy.deepcopy(statement)) for statement in body]
    check, run = parse("async def check(): pass\nasyncio.run(check())").body
    assert isinstance(check, ast.AsyncFunctionDef)
    check.body = body
    return [check, run]

"""Tests of a suite: split from a pytest module, rendered as one, and made from a spec's examples."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..records import Example, Spec, Test, TestOrigin, UserModule
from ..syntax.collection import FIXTURES, case_classes, is_fixture, is_main_guard, is_test, last_name
from ..syntax.definitions import Function, is_definition
from ..syntax.imports import KNOWN, USER_MODULE, render_imports, split_imports
from ..syntax.source import (
    indented,
    is_constant,
    names_bound,
    names_unbound,
    names_used,
    parse,
    source_of,
    statements,
    texts_in,
    unparse,
    unused_name,
    with_name,
)
from .preamble import Piece, merged, pieces_of

_XUNIT = frozenset(
    {"setup_module", "teardown_module", "setup_function", "teardown_function", "setUpModule", "tearDownModule",
     "pytestmark"}
)  # fmt: skip
_MOST_PREAMBLES = 32 << 20
"""Characters of all preambles: each test has its own, which is parsed with it."""
_INERT = (
    ast.Assign, ast.AnnAssign, ast.Pass, ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict,
    ast.UnaryOp, ast.Starred, ast.expr_context, ast.unaryop,
)  # fmt: skip


def split(source: str, origin: TestOrigin) -> tuple[Test, ...]:
    """Return the tests of a pytest module, each with the imports and definitions that it needs, in source order.

    A class of tests stays whole, as one test. A second test of the same name is renamed (`_2`).
    Raises ValueError with a reason for text that isn't Python, or hides a test in a module-level block.
    """
    source = source.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    tree = parse(source)
    lines = source.split("\n")
    # Statements with effects in a user's file may matter to every test, used there or not.
    whole = origin == "user"
    statements = [statement for node in tree.body for statement in _statements(node, lines, whole)]
    fixtures = frozenset(name for node in tree.body if is_fixture(node) for name in names_bound(node))
    preamble_of = _preambles(statements)
    tests: list[Test] = []
    ids: set[str] = set()
    room = _MOST_PREAMBLES
    taken = {name for statement in statements for name in statement.binds}
    cases = case_classes(tree)
    without = {"object", "TestCase", "IsolatedAsyncioTestCase"}
    for node in tree.body:
        own = [name for item in getattr(node, "body", []) for name in names_bound(item) if name.startswith("test")]
        if isinstance(node, ast.ClassDef) and not own and without.issuperset(map(last_name, node.bases)):
            without.add(node.name)  # helpers alone; where a run finds tests in it, `verify` says so
            continue
        if not is_test(node, cases):
            continue
        (name,) = names_bound(node)
        text = source_of(lines, node)
        unique = unused_name(name, taken) if name in ids else name
        taken.add(unique)
        ids.add(unique)
        preamble = preamble_of(text, names_used(node) | (fixtures & texts_in(node)))
        room -= len(preamble)
        if room < 0:
            raise ValueError(f"line {node.lineno}: the tests need too much text above them; split the file")
        tests.append(Test(unique, with_name(text, name, unique), origin, preamble))
    return tuple(tests)


def render(tests: Sequence[Test]) -> str:
    """Return one file with all `tests`, runnable by plain pytest: imports, shared definitions, then the tests.

    Different definitions of a name are renamed. `split` of the file returns the same tests that `split` made.
    Raises ValueError where a test's source isn't Python.
    """
    imports, definitions, functions = merged(tests)
    head = f'"""Tests of {USER_MODULE}."""'
    return "\n\n\n".join(filter(None, [f"{head}\n\n{imports}".strip(), *definitions, *functions])) + "\n"


def example_tests(spec: Spec) -> tuple[Test, ...]:
    """Return the spec's examples as trusted tests, `test_spec_example_1` and so on."""
    return tuple(_example_test(number, example, spec) for number, example in enumerate(spec.examples, 1))


def _example_test(number: int, example: Example, spec: Spec) -> Test:
    name = f"test_spec_example_{number}"
    entry = spec.signature.name if spec.signature else None
    missing = names_unbound(example.code, entry)
    own = {each: f"from {USER_MODULE} import {each}" for each in missing}
    known = KNOWN | named_imports(spec.packages, spec.modules)
    importable = {each: line if each == entry else known.get(each, line) for each, line in own.items()}
    lines = "\n".join(importable[each] for each in sorted(missing - FIXTURES))
    imports = [each for node in parse(lines).body for each in split_imports(node)]
    asked = ", ".join(sorted(missing & FIXTURES))
    return Test(name, f"def {name}({asked}):\n{indented(example.code)}", "spec", render_imports(imports))


def _statements(node: ast.stmt, lines: Sequence[str], whole: bool) -> list[Piece]:
    """Return the pieces of `node` for a preamble; also of a test, since another may inherit from it."""
    if is_main_guard(node) or is_constant(node):
        return []
    pieces = pieces_of(node, lines)
    if split_imports(node):
        return pieces
    for inner in [] if is_definition(node) else ast.walk(node):
        if isinstance(inner, Function) and inner.name.startswith("test_"):
            reason = f"{inner.name} is defined inside a block; move it to the top level"
            raise ValueError(f"line {node.lineno}: {reason}")
    (piece,) = pieces
    autouse = is_fixture(node) and "autouse" in piece.text
    hook = any(name in _XUNIT or name.startswith(("pytest_", "__")) for name in piece.binds)
    always = autouse or not piece.binds or hook or (whole and not is_test(node) and _acts(node))
    return [replace(piece, uses=piece.uses | (texts_in(node) if is_fixture(node) else frozenset()), always=always)]


def _acts(node: ast.stmt) -> bool:
    """Return True if a statement may have effects other than binding its names: run code, or replace a test."""
    if isinstance(node, ast.ClassDef):
        return bool(node.bases or node.keywords or node.decorator_list) or any(map(_acts, node.body))
    if isinstance(node, Function):
        decorators = " ".join(map(unparse, node.decorator_list))
        plain = not decorators or (is_fixture(node) and len(node.decorator_list) == 1 and "**" not in decorators)
        header = [node.args, *([node.returns] if node.returns else [])]
        return not plain or any(isinstance(inner, ast.Call) for part in header for inner in ast.walk(part))
    if any(name.startswith(("test", "Test")) for name in names_bound(node)):
        return True
    return not is_constant(node) and any(not isinstance(inner, _INERT) for inner in ast.walk(node))


def _preambles(statements: Sequence[Piece]) -> Callable[[str, frozenset[str]], str]:
    """Return a function from a test's text and used names to its preamble. Statements that bind nothing are always
    kept, for their effects."""
    binding: dict[str, list[int]] = {}
    for number, one in enumerate(statements):
        for name in one.binds:
            binding.setdefault(name, []).append(number)
    always = [number for number, one in enumerate(statements) if one.always]

    def needed(own: str, names: frozenset[str]) -> str:
        chosen, wanted = set[int](), {"*"}
        new = names | {"*"}
        more = {*always, *(number for name in new for number in binding.get(name, ()))}
        while more := {number for number in more - chosen if statements[number].text != own}:
            chosen |= more
            wanted |= new
            new = frozenset().union(*(statements[number].uses for number in more)) - wanted
            more = {number for name in new for number in binding.get(name, ())}
        kept = [statements[number] for number in sorted(chosen)]
        imports = render_imports(one.entry for one in kept if one.entry)
        return "\n".join(filter(None, [imports, *(one.text for one in kept if not one.entry)]))

    return needed


def named_imports(packages: Sequence[str], modules: Sequence[UserModule]) -> dict[str, str]:
    """Return names and the statements that import them: of packages (requirements) their names and usual aliases,
    of modules their names and definitions."""
    found: dict[str, str] = {}
    for requirement in packages:
        name = re.split(r"[^\w.-]", requirement.strip(), maxsplit=1)[0].lower()
        aliases = {alias: line for alias, line in KNOWN.items() if line == f"import {name} as {alias}"}
        found |= aliases | ({name: f"import {name}"} if name.isidentifier() else {})
    for module in modules:
        source = module.files.get(f"{module.name}.py") or module.files.get(f"{module.name}/__init__.py") or ""
        for node in statements(source):  # none where it is of a newer Python, perhaps
            if is_definition(node) or (isinstance(node, ast.ImportFrom) and node.level > 0):
                public = (name for name in names_bound(node) if not name.startswith("_"))
                found |= {name: f"from {module.name} import {name}" for name in public}
        found[module.name] = f"import {module.name}"
    return found

"""Finds in a change what makes tests pass other than by right code."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Container, Iterator
from functools import partial
from typing import TypeGuard

from ..syntax.collection import is_main_guard
from ..syntax.definitions import Definition, Function
from ..syntax.imports import split_imports
from ..syntax.source import is_constant, unparse
from ..worktree.tree import Tree, is_wanted
from .base import Base, modules, parsed
from .check_helpers import COMPARES, helps, names_imported
from .hidden_modules import hidden_modules, plugins
from .records import Tampering
from .workflows import is_workflow, workflows

_OF_CI = re.compile(r"^(CI|GITHUB_ACTIONS|GITLAB_CI|TOX_\w+)$", re.IGNORECASE)
_RUNNERS = re.compile(
    rf"pytest|py\.test|unittest|conftest|\bnose2?\b|\btests?/|^tests?$|^test_|\btest_\w+\.py|_test$|{_OF_CI.pattern}",
    re.IGNORECASE,
)
_MODULES = re.compile(r"\bsys\b[\]'\")]{0,4}\.modules(\.(keys|items|values|copy)\(\))?\)*$")
_ASKS = "it asks for what runs the tests"
_FRAMES = frozenset({
    *("_getframe", "_current_frames", "currentframe", "extract_stack", "format_stack", "getouterframes"),
    *("gettrace", "getprofile", "settrace", "setprofile", "get_referrers", "get_objects", "walk_stack"),
    *("f_back", "_getframemodulename", "print_stack", "findCaller", "dump_traceback"),
})  # fmt: skip
"""Attributes by which code inspects its caller and its tracing."""
_FRAMES_OF = frozenset({"inspect.stack", "sys.monitoring"})
_IMPORTED_FRAMES = _FRAMES | {name.rpartition(".")[2] for name in _FRAMES_OF}
_ENDS = frozenset({"os._exit", "os.abort", "os.kill", "os.killpg", "signal.raise_signal"})
_SHARED = frozenset({"builtins", "sys.modules", "pytest", "_pytest", "unittest"})
_NOT_TO_SET = sys.stdlib_module_names - {"sys", "os", "logging", "threading", "warnings", "unittest"}
_IMPORTED_AT_START = re.compile(r"((?:.*/)?)((site|user)customize|_?pytest|pluggy)(/__(init|main)__)?\.py|.*\.pth")
_TELLING = _FRAMES | {
    *("argv", "orig_argv", "environ", "getenv", "modules", "__file__", "getcwd", "stack", "find_spec"),
    *("import_module", "__import__", "f_code", "f_globals", "co_filename"),
}
"""Names by which code detects the process and its caller."""


def tampering(tree: Tree, base: Base, imported: Collection[str]) -> Iterator[Tampering]:
    """Yield findings in differing files: tests, files beside them, code that tests `imported`, and workflows."""
    names = names_imported(tree)
    tests = modules(tree, of_tests=True).values()
    given = {node.value for each in tests for node in ast.walk(each) if _names_runner(node, _OF_CI)}
    for path in base.differing:
        if not is_wanted(path):
            yield Tampering(path, 1, "Python can import it, and no copy has it")
        elif path in tree.files and (path.endswith((".pyc", ".pyo")) or _is_in_place(path, tree, base.tree)):
            yield Tampering(path, 1, "Python can import it, and nobody can read it")
        elif (found := _IMPORTED_AT_START.fullmatch(path)) and {path, f"{found[1]}__init__.py"} & {
            *tree.files
        } == {path}:
            yield Tampering(path, 1, "Python imports it when it starts, or in the place of pytest")
        elif path.endswith(".py") and not is_workflow(path) and (tree.holds_tests(path) or path in imported):
            old, new = (parsed(each.files.get(path, b"")) for each in (base.tree, tree))
            look = _in_tests if tree.holds_tests(path) else partial(_in_code, helps(path, names), given)
            known = [text for _, text, _ in look(old)]
            for line, text, why in look(new):
                if text in known:
                    known.remove(text)
                else:
                    yield Tampering(path, line, f"{why}: {text[:200]}")
    yield from workflows(tree, base)
    yield from hidden_modules(tree, base)
    yield from plugins(tree, base)


def _is_in_place(path: str, *trees: Tree) -> bool:
    """Return True for an extension module that Python takes before a module of one of the trees."""
    folder, slash, name = path.rpartition("/")
    module = f"{folder}{slash}{name.partition('.')[0]}.py"
    return name.endswith((".so", ".pyd")) and any(module in tree.files for tree in trees)


Found = tuple[int, str, str]
"""Line, text and reason."""


def _in_code(is_helper: bool, given: Container[object], module: ast.Module) -> Iterator[Found]:
    """Yield places where code inspects or changes what runs it. A test helper may import what tests do, and code
    may read CI's variables that tests have `given`: it is run without them."""
    nodes = [*ast.walk(module)]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    is_helper = is_helper or any("TestCase" in unparse(each) for node in classes for each in node.bases)
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    imports = [each for node in nodes if isinstance(node, ast.stmt) for each in split_imports(node)]
    absolute = {each.binds: each.module.partition(".")[0] for each in imports if not each.level}
    library = {name for name, module in absolute.items() if module in _NOT_TO_SET} - own
    compared = {f"{each.name}.{name}" for each in classes for name in COMPARES}
    for named in (each for each in _meeting(nodes) if each.value not in given):
        yield named.lineno, str(named.value), _ASKS
    for node in nodes:
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                modules = {each.module for each in split_imports(node)}
                asked = [each for each in modules if _RUNNERS.search(each) or each == "__main__"]
                if any(not is_helper or each.partition(".")[0] not in ("pytest", "unittest") for each in asked):
                    yield node.lineno, unparse(node), _ASKS
                elif isinstance(node, ast.ImportFrom) and {each.name for each in names} & _IMPORTED_FRAMES:
                    yield node.lineno, unparse(node), "it asks who calls it"
            case (
                ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[other])
                | ast.Subscript(value=other, slice=ast.Constant(value="__main__"))
                | ast.For(iter=other)
                | ast.comprehension(iter=other)
            ) if _MODULES.search(unparse(other)):
                yield other.lineno, unparse(other), _ASKS
            case ast.Attribute(attr=name, ctx=ast.Load()) if name in _FRAMES or unparse(node) in _FRAMES_OF:
                yield node.lineno, unparse(node), "it asks who calls it"
            case ast.Call(func=ast.Attribute() as function) if (name := unparse(function)) in _ENDS:
                yield node.lineno, name, "it ends the process"
            case ast.ClassDef(name=name, bases=bases) if any("Mock" in unparse(each) for each in bases):
                yield node.lineno, f"class {name}", "it is a mock"
        for target in _assigned(node):
            place = unparse(target).rsplit("[")[0]
            is_attribute = isinstance(target, ast.Attribute) or place.endswith(".__dict__")
            is_set = is_attribute and "(" not in place and place.partition(".")[0] in library
            if is_set or place in _SHARED or place.rpartition(".")[0] in _SHARED:
                yield node.lineno, unparse(node), "it changes what all code shares"  # type: ignore[attr-defined]
            elif place in compared:
                yield node.lineno, unparse(node), "it sets how a class compares"  # type: ignore[attr-defined]
    for node in module.body:
        if not isinstance(node, Definition) and not is_main_guard(node):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Call) and unparse(inner.func) in ("sys.exit", "exit", "quit"):
                    yield inner.lineno, unparse(inner), "it ends the process when it is imported"


def _meeting(nodes: list[ast.AST]) -> list[ast.Constant]:
    """Return texts that name what runs tests, in one statement with what tells of the process, or by a name."""
    statements = [[*_own(node)] for node in nodes if isinstance(node, ast.stmt) and not is_constant(node)]
    naming: dict[str, list[ast.Constant]] = {}
    telling: set[str] = set()
    for own in statements:
        stored = [node.id for node in own if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        texts = [node for node in own if _names_runner(node)]
        for name in stored:
            naming.setdefault(name, []).extend(texts)
        if any(map(_tells, own)):
            telling |= {*stored}
            telling |= {each.asname or each.name for each in own if isinstance(each, ast.alias)}
    found: dict[int, ast.Constant] = {}
    for own in statements:
        loaded = {node.id for node in own if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        if loaded & telling or any(map(_tells, own)):
            texts = [*filter(_names_runner, own), *(text for name in loaded for text in naming.get(name, ()))]
            found |= {id(text): text for text in texts}
    return list(found.values())


def _own(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement but for those of the statements in it."""
    left: list[ast.AST] = [statement]
    while left:
        node = left.pop()
        yield node
        left += [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt)]


def _names_runner(node: ast.AST, named: re.Pattern[str] = _RUNNERS) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(named.search(node.value))


def _tells(node: ast.AST) -> bool:
    """Return True for a name of what tells of the process."""
    match node:
        case ast.Name(id=name) | ast.alias(name=name):
            return name in _TELLING
        case ast.Attribute(attr=name):
            return name in _TELLING or unparse(node) == "sys.path"
    return False


def _assigned(node: ast.AST) -> list[ast.expr]:
    """Return attributes and items that a statement sets, also by `setattr`."""
    targets: list[ast.expr] = []
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            pass
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            targets = [target]
        case ast.Call(func=ast.Name(id="setattr"), args=[owner, name, *_]):
            attribute = name.value if isinstance(name, ast.Constant) else "_"
            targets = [ast.Attribute(owner, str(attribute), ast.Store())]
    return [each for each in targets if isinstance(each, ast.Attribute | ast.Subscript)]


def _in_tests(module: ast.Module) -> Iterator[Found]:
    """Yield what tests and what is beside them do to end the run, or to say how it went."""
    nodes = [*ast.walk(module)]
    hooks = (node for node in nodes if isinstance(node, Function) and _is_hook(node))
    hooked = {id(inner) for node in hooks for inner in ast.walk(node)}
    for node in nodes:
        match node:
            case ast.Call(func=function) if (name := unparse(function)) in {*_ENDS, "pytest.exit"} - {"os.kill"}:
                yield node.lineno, name, "it ends the run"
            case ast.Attribute(attr="outcome" | "longrepr" | "exitstatus", ctx=ast.Store()) if id(node) in hooked:
                yield node.lineno, unparse(node), "it says how a test ended"


def _is_hook(node: Function) -> bool:
    """Return True for a hook of pytest, by its name or its mark."""
    return node.name.startswith("pytest_") or any("hookimpl" in unparse(each) for each in node.decorator_list)

"""Finds tests that tamper with their run: they replace the code, end or steer the run, or inspect it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from itertools import chain

from ...syntax.collection import case_classes, is_fixture, is_test, is_test_case
from ...syntax.definitions import Function
from ...syntax.imports import USER_MODULE
from ...syntax.source import text_of
from ..async_plugins import async_plugins
from ..inside.proxy.describe import words
from .allowed import Path
from .names import Names, decorators, last
from .uses import NEVER, Uses

_STREAMS = ("sys.stdout", "sys.stderr", "sys.stdin")
"""Streams that a test may replace."""
_PATCHABLE = words("sys.exit os.system os.popen")
_NOT_FAKED = words("os sys builtins gc io importlib inspect subprocess traceback")
"""Modules of which a test may replace only names that it may use, too."""
_OF_REQUEST = re.compile(r"request\.(param|getfixturevalue|addfinalizer|instance|cls|node\.(name|callspec))")
_NOT_FIXTURES = words("request pytestconfig pytester testdir cache doctest_namespace record_testsuite_property")
_NOT_HERE = {"tmpdir": "tmp_path", "tmpdir_factory": "tmp_path_factory", "mocker": "unittest.mock"}
"""Fixtures of plugins that are disabled, and their equivalents."""
_NOT_OF_TEST_CASES = words("run debug doCleanups defaultTestResult _callTestMethod _callSetUp __call__")
_NOT_SET = words("__class__ __dict__ __bases__ __defaults__ __annotations__ __call__")
_XUNIT = re.compile(r"(setup|teardown)_(module|class|function|method)")


class Tampering:
    """Reads one test with its preamble; `found` yields what is wrong with it."""

    def __init__(self, names: Names, uses: Uses) -> None:
        self._names = names
        self._uses = uses
        self._cases = case_classes(names.tree)
        self._calls = [node for node in names.nodes if isinstance(node, ast.Call)]
        # Without those of the standard library: `datetime(2024, 1, 1)` is no call of the code's.
        tops = [(call, {path[0] for path in names.paths(call.func)}) for call in self._calls]
        self._called = {last(call.func) for call, top in tops if not top or top - sys.stdlib_module_names}

    def found(self) -> Iterator[str]:
        """Yield what is wrong, as phrases."""
        for node in self._names.nodes:
            match node:
                case ast.Attribute():
                    yield from self._attribute(node)
                case ast.Name():
                    yield from self._name(node)
                case ast.Call():
                    yield from chain(self._call(node), self._patched(node))
                case ast.Constant(value=str(text)):
                    yield from self._told(text)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    yield from chain(self._defined(node), self._with_arguments(node))
                case ast.ClassDef():
                    yield from self._defined(node)
                case ast.Global(names=names) | ast.Nonlocal(names=names) if self._names.under_test & {*names}:
                    yield f"it rebinds {names[0]}, which is under test"

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        if isinstance(node.ctx, ast.Load) or self._names.stands_for(node, *_STREAMS):
            return
        values = self._names.values_of(node.value) if isinstance(node.value, ast.Name) else []
        shared = any(value is not None and self._names.paths(value) for value in values)
        if shared or self._names.paths(node) or self._names.is_under_test(node):
            yield f"it assigns to {ast.unparse(node)}, which is under test or shared"
        elif node.attr in _NOT_SET:
            yield f"it assigns to {node.attr}"

    def _name(self, node: ast.Name) -> Iterator[str]:
        if not isinstance(node.ctx, ast.Load):
            if node.id in self._names.under_test or USER_MODULE in self._names.imports.get(node.id, ()):
                yield f"it rebinds {node.id}, which is under test"
            elif node.id in ("__test__", "pytest_plugins", "failureException") or _XUNIT.fullmatch(node.id):
                yield f"it sets {node.id}, which changes the run"
        elif node.id in ("__file__", "__name__") and not self._is_place(node):
            yield f"it uses {node.id}, which tells which run this is"

    def _is_place(self, name: ast.Name) -> bool:
        """Return True if `__file__` makes a path, for `sys.path` as a rule, or `__name__` names a logger."""
        if name.id == "__name__":
            return any(last(call.func) == "getLogger" and name in call.args for call in self._calls)
        around = [node for node in self._names.above(name) if self._names.parent(node) is self._names.tree]
        if not around or not isinstance(around[0], ast.Assign | ast.Expr | ast.If):
            return False
        decides = any(isinstance(node, ast.Compare | ast.BoolOp | ast.IfExp) for node in ast.walk(around[0]))
        return not decides or "sys.path" in ast.unparse(around[0])

    def _call(self, node: ast.Call) -> Iterator[str]:
        if not isinstance(node.func, ast.Name) or not node.args:
            return
        paths = self._names.paths(node.args[0])
        if node.func.id in ("setattr", "delattr") and (paths or self._names.is_under_test(node.args[0])):
            yield f"it replaces a part of {ast.unparse(node.args[0])}, which is under test or shared"
        if node.func.id in words("vars type repr str id") and [USER_MODULE] in paths:
            yield f"it uses {node.func.id} of a module"

    def _patched(self, node: ast.Call) -> Iterator[str]:
        """Yield fakes of the code: `monkeypatch.setattr(user_code, "f", ...)`, `patch("user_code.f")`."""
        by = last(node.func)
        patches = self._names.stands_for(node.func, "unittest.mock.patch")
        if by not in words("setattr delattr object multiple dict patch") and not patches:
            return
        if any(word.arg in ("target", "name", "in_dict") for word in node.keywords) and not node.args:
            yield f"it calls {by} without its target in the first place"
        if not node.args:
            return
        first, second = [*map(text_of, node.args[:2]), ""][:2]
        names = [second] if not first else [""]
        if by == "multiple":
            names = [word.arg or "" for word in node.keywords]
        fake = second in self._called or last(node.args[0]) == second
        if not first and last(node.args[0]) in self._names.under_test and second and fake:
            yield f"it replaces {second} of {last(node.args[0])}, which is under test"
        top, *rest = first.split(".")
        roots = [[*path.split("."), *rest] for path in self._names.imports.get(top, {top})] if first else []
        for root in roots or self._names.paths(node.args[0]):
            for path in ([*root, *filter(None, [name])] for name in names):
                replaced = path[:1] == [USER_MODULE] and (path[-1] in self._called or "__dict__" in path)
                if replaced or (".".join(path) not in _PATCHABLE and self._is_kept(path)):
                    yield f"it replaces {'.'.join(path)}"

    def _is_kept(self, path: Path) -> bool:
        """Return True if a fake may not stand at `path`: it is private, or a part of what runs the tests."""
        private = any(name in NEVER or name.startswith("_") for name in path)
        modules = sys.stdlib_module_names
        known = path[0] in modules - _NOT_FAKED and path[-1] not in modules - {*path[:-1]}
        return private or (self._uses.is_refused(path) and not known) or path[0] == "pytest"

    def _told(self, text: str) -> Iterator[str]:
        """Yield names in texts: fixtures by name, the environment, attributes that are looked up by name."""
        names = set(text.split(".")) if re.fullmatch(r"[\w.]+", text) else set()
        if hidden := names & (NEVER | (_NOT_FIXTURES - {"request", "cache"})):
            yield f"it names {min(hidden)}, which tests may not use"
        elif re.fullmatch(r"[A-Z_]*PYTEST[A-Z_]*", text):
            yield f"it asks for {text}, which tells which run this is"

    def _defined(self, node: Function | ast.ClassDef) -> Iterator[str]:
        holder = self._names.parent(node)
        is_method = isinstance(holder, ast.ClassDef) and not is_test(holder)
        own = node.name in self._names.under_test or USER_MODULE in self._names.imports.get(node.name, ())
        if own and not is_method:
            yield f"it defines its own {node.name}, which is under test"
        if isinstance(node, ast.ClassDef):
            hooks = {"__getattr__"} | (_NOT_OF_TEST_CASES if is_test_case(node, self._cases) else set())
            inside = {getattr(item, "name", "") for item in node.body} if is_test(node, self._cases) else set()
        else:
            hooks = {"__getattr__"} if node in self._names.tree.body else set()
            inside = {node.name}
        for name in inside:
            if name in hooks or name == "__del__" or name.startswith("pytest_"):
                yield f"it defines {name}, which would change the run"

    def _with_arguments(self, node: Function) -> Iterator[str]:
        arguments = {item.arg for item in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]}
        for hidden in arguments & self._names.under_test:
            yield f"its parameter {hidden} hides what is under test"
        fixture = is_fixture(node) or any(
            self._names.stands_for(mark, "pytest.fixture") for mark in decorators(node)
        )
        if not (fixture or node.name.startswith(("test", "setup", "teardown"))):
            return
        for name in arguments & (_NOT_FIXTURES - {"request"}):
            if name != node.name and any(map(_is_of_its_name, self._names.defined[name])):
                continue
            yield f"it asks for {name}: a test may not look at its own run"
        for name in arguments & _NOT_HERE.keys():
            if not any(isinstance(each, Function) for each in self._names.defined[name]):
                yield f"it asks for the fixture {name}, which is not here; use {_NOT_HERE[name]}"
        nodes = [inner for statement in node.body for inner in ast.walk(statement)]
        uses = sum(isinstance(inner, ast.Name) and inner.id == "request" for inner in nodes)
        attributes = [ast.unparse(inner) for inner in nodes if isinstance(inner, ast.Attribute)]
        if "request" in arguments and uses > len([*filter(_OF_REQUEST.fullmatch, attributes)]):
            yield "it uses request for more than a fixture's parameter, value or cleanup"
        if _XUNIT.fullmatch(node.name):
            yield from self._with_what_runs(node, nodes)
        in_case = getattr(self._names.parent(node), "name", "") in self._cases
        awaited = in_case and "IsolatedAsyncioTestCase" in self._names.used | self._names.imports.keys()
        if isinstance(node, ast.AsyncFunctionDef) and not (
            awaited or async_plugins(ast.unparse(self._names.tree))
        ):
            yield "it is an async function, which plain pytest does not run: call asyncio.run in it"

    def _with_what_runs(self, node: Function, nodes: list[ast.AST]) -> Iterator[str]:
        """Yield `setup_module(module)`: a module or function gives access to all that the file imports."""
        given = node.args.args[1:] if isinstance(self._names.parent(node), ast.ClassDef) else node.args.args
        passed = {item.arg for item in given}
        own = {
            inner.attr for inner in nodes if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store)
        }
        for inner in nodes:
            if isinstance(inner, ast.Name) and inner.id in passed and isinstance(inner.ctx, ast.Load):
                part = self._names.parent(inner)
                if not (isinstance(part, ast.Attribute) and (part.attr in own | {"__name__", "__doc__"})):
                    yield f"it uses {inner.id} for more than attributes that it sets"


def _is_of_its_name(node: ast.AST) -> bool:
    """Return True for a fixture that takes the place of pytest's own of that name."""
    renamed = isinstance(node, Function) and any("name=" in ast.unparse(mark) for mark in node.decorator_list)
    return isinstance(node, Function) and is_fixture(node) and not renamed

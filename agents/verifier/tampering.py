"""Finds what no honest test does: reaching for the process, replacing the code under test, hiding a failure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..imports import USER_MODULE


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MODULES = _words(
    """__future__ abc array asyncio base64 bisect builtins calendar cmath collections concurrent contextlib
    copy csv dataclasses datetime decimal difflib enum fractions functools graphlib hashlib heapq
    hypothesis inspect io itertools json logging math numbers operator os pathlib pickle pprint pytest
    queue random re secrets shutil statistics string struct sys tempfile textwrap threading time timeit
    types typing unicodedata unittest user_code uuid warnings zoneinfo"""
)
_FAKEABLE_BUILTINS = _words("input print open")
_ATTRIBUTES_OF = {
    "os": _words(
        """path environ getcwd listdir scandir walk remove unlink mkdir makedirs rmdir rename replace sep
        linesep name stat getenv pathsep curdir chdir urandom PathLike fspath cpu_count utime"""
    ),
    "sys": _words(
        """maxsize float_info int_info version version_info getsizeof byteorder platform getrecursionlimit
        setrecursionlimit stdin stdout stderr argv path maxunicode getdefaultencoding"""
    ),
    "builtins": _FAKEABLE_BUILTINS,
    "inspect": _words(
        """signature Parameter isfunction isclass isgenerator isgeneratorfunction iscoroutinefunction
        isawaitable iscoroutine isasyncgen isasyncgenfunction getdoc ismethod isabstract getmembers
        getsource getfullargspec"""
    ),
}
_NOT_OF_PYTEST = _words("skip xfail exit importorskip main set_trace Item Session hookimpl hookspec")
_NOT_MARKS = _words("skip skipif xfail")
_NOT_BUILTINS = _words(
    "exec eval compile __import__ globals locals exit quit breakpoint __builtins__ __loader__ __spec__ memoryview"
)
_NOT_ATTRIBUTES = _words(
    """_exit _os _sys settrace setprofile _getframe f_globals f_locals f_builtins f_back f_code gi_frame gi_code
    cr_frame cr_code ag_frame tb_frame tb_next __globals__ __builtins__ __code__ __closure__ __subclasses__
    __self__ __func__ __import__ __loader__ __spec__ __getattribute__ __reduce__ __reduce_ex__ __kwdefaults__
    __traceback__ __setattr__ __delattr__ SkipTest skipTest skipIf skipUnless expectedFailure"""
)
_BROAD = _words("Exception BaseException AssertionError")


class Tampering:
    """Reads one test with its preamble; `reason` says what is wrong with it, None where nothing is."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._module_names: dict[str, str] = {}
        self._user_names: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self._module_names[alias.asname or alias.name.split(".")[0]] = alias.name.split(".")[0]
            elif isinstance(node, ast.ImportFrom) and node.module == USER_MODULE:
                self._user_names.update(alias.asname or alias.name for alias in node.names)

    @property
    def reason(self) -> str | None:
        """The first thing found, as a phrase for the user."""
        return next(self._found(), None)

    def _found(self) -> Iterator[str]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield from self._imported(node)
            elif isinstance(node, ast.Attribute):
                yield from self._reached(node)
            elif isinstance(node, ast.Name):
                yield from self._named(node)
            elif isinstance(node, ast.Call):
                yield from self._called(node)
            elif isinstance(node, ast.Try | ast.TryStar | ast.With | ast.AsyncWith):
                yield from _swallowed(node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from self._defined(node)
            elif isinstance(node, ast.Global | ast.Nonlocal) and self._user_names & set(node.names):
                yield f"it rebinds {node.names[0]}, which is under test"
        yield from self._aliased()

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or "."]
        for module in modules:
            top = module.split(".")[0]
            if top not in _MODULES or (isinstance(node, ast.ImportFrom) and node.level):
                yield f"it imports {module}, which tests may not"
        if not isinstance(node, ast.ImportFrom) or node.module == USER_MODULE:
            return
        allowed = _ATTRIBUTES_OF.get(node.module or "")
        for alias in node.names:
            hidden = alias.name.startswith("_") or alias.name in _NOT_ATTRIBUTES | {"os", "sys", "builtins"}
            banned = node.module in ("pytest", "unittest") and alias.name in _NOT_OF_PYTEST - {"main"}
            if hidden or banned or (allowed is not None and alias.name not in allowed):
                yield f"it imports {alias.name} from {node.module}, which tests may not"

    def _reached(self, node: ast.Attribute) -> Iterator[str]:
        root = _root(node)
        module = self._module_names.get(root.id) if root is not None else None
        path = _path(node)
        if not isinstance(node.ctx, ast.Load):
            if module is not None or (root is not None and root.id in self._user_names):
                yield f"it assigns to {ast.unparse(node)}, which is under test or shared"
            elif node.attr.startswith("__"):
                yield f"it assigns to {node.attr}"
            return
        if module == "unittest" and path[-1] == "skip":
            yield "it uses unittest.skip: a test that is skipped shows nothing"
        elif module == "pytest" and _pytest_tampering(path):
            yield f"it uses {'.'.join(path)}: a test that is skipped, stopped or expected to fail shows nothing"
        elif module is not None and module != USER_MODULE:
            allowed = _ATTRIBUTES_OF.get(module)
            inner = path[1:]
            if any(part.startswith("_") or part in self._forbidden_parts for part in inner):
                yield f"it reaches into {'.'.join(path)}"
            elif allowed is not None and inner and inner[0] not in allowed:
                yield f"it uses {'.'.join(path[:2])}, which tests may not"
        if node.attr in _NOT_ATTRIBUTES:
            yield f"it uses {node.attr}, which tests may not"

    _forbidden_parts = _words("os sys builtins subprocess importlib gc ctypes signal types")

    def _named(self, node: ast.Name) -> Iterator[str]:
        if node.id in _NOT_BUILTINS:
            yield f"it uses {node.id}, which tests may not"
        if not isinstance(node.ctx, ast.Load) and node.id in self._user_names | self._module_names.keys():
            yield f"it rebinds {node.id}, which is under test or imported"
        if not isinstance(node.ctx, ast.Load) and node.id in ("__test__", "pytest_plugins"):
            yield f"it sets {node.id}, which changes the run"

    def _called(self, node: ast.Call) -> Iterator[str]:
        name = node.func.id if isinstance(node.func, ast.Name) else None
        attribute = node.func.attr if isinstance(node.func, ast.Attribute) else None
        if name in ("setattr", "delattr") and node.args and self._is_under_test(node.args[0]):
            yield f"it replaces a part of {ast.unparse(node.args[0])}, which is under test"
        if name in ("getattr", "setattr", "delattr") and len(node.args) > 1:
            second = node.args[1]
            if self._is_made_up(second) and not self._is_under_test(node.args[0]):
                yield f"it uses {name} with a name made at run time"
            elif isinstance(second, ast.Constant) and str(second.value) in _NOT_ATTRIBUTES:
                yield f"it uses {second.value!s}, which tests may not"
        if attribute in ("setattr", "delattr", "setitem", "object", "patch") or name == "patch":
            yield from self._patched(node)

    def _patched(self, node: ast.Call) -> Iterator[str]:
        """`monkeypatch.setattr(user_code, "f", ...)`, `patch("user_code.f")`: a fake of what is under test."""
        used = self._called_names()
        if not node.args:
            return
        first = node.args[0]
        target = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
        if target is None and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            target = f"{ast.unparse(first)}.{node.args[1].value!s}"
        if target is None:
            return
        parts = target.split(".")
        if self._module_names.get(parts[0], parts[0]) == USER_MODULE or parts[0] in self._user_names:
            replaced = parts[-1]
            if replaced in used or parts[0] in self._user_names:
                yield f"it replaces {target}, which is under test"
        elif (parts[0] in ("pytest", "_pytest", "os", "sys", "unittest") and target not in _PATCHABLE) or (
            parts[0] == "builtins" and parts[-1] not in _FAKEABLE_BUILTINS
        ):
            yield f"it replaces {target}"

    def _is_made_up(self, name: ast.expr) -> bool:
        """Whether an attribute's name is put together at run time, or may be a private one."""
        if isinstance(name, ast.Constant):
            return False
        private = any(
            isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("_")
            for node in ast.walk(self._tree)
        )
        return private or not isinstance(name, ast.Name)

    def _called_names(self) -> set[str]:
        return {
            node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
        }

    def _is_under_test(self, node: ast.expr) -> bool:
        root = _root(node)
        if root is None:
            return False
        return root.id in self._user_names or self._module_names.get(root.id) == USER_MODULE

    def _defined(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[str]:
        if node.name in self._user_names | self._module_names.keys():
            yield f"it defines its own {node.name}, which is under test or imported"
        if node.name.startswith("pytest_") or node.name in ("__getattr__", "__del__"):
            yield f"it defines {node.name}, which would change the run"
        if isinstance(node, ast.ClassDef):
            return
        names = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        for argument in names:
            if argument.arg in self._user_names:
                yield f"its parameter {argument.arg} hides what is under test"
        if node.name.startswith("test"):
            if isinstance(node, ast.AsyncFunctionDef):
                yield "it is an async function, which plain pytest does not run: call asyncio.run in it"
            if any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in _own(node)):
                yield "it is a generator, which pytest does not run"

    def _aliased(self) -> Iterator[str]:
        """A module may be used for its attributes, not handed around."""
        bases = {id(node.value) for node in ast.walk(self._tree) if isinstance(node, ast.Attribute)}
        handed = {
            id(argument)
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Call)
            for argument in node.args
            if isinstance(node.func, ast.Attribute | ast.Name)
            and (node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id)
            in ("setattr", "object", "delattr", "hasattr", "getattr", "dir")
        }
        for node in ast.walk(self._tree):
            module = self._module_names.get(node.id) if isinstance(node, ast.Name) else None
            if module not in (None, USER_MODULE) and id(node) not in bases | handed:
                yield f"it hands the module {module} around"


_PATCHABLE = _words("sys.stdin sys.stdout sys.stderr sys.argv os.environ os.getcwd")


def _pytest_tampering(path: list[str]) -> bool:
    return bool(_NOT_OF_PYTEST & set(path[1:2])) or (path[1:2] == ["mark"] and bool(_NOT_MARKS & set(path[2:])))


def _root(node: ast.expr) -> ast.Name | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def _path(node: ast.Attribute) -> list[str]:
    """`a.b.c` as its parts; only the attributes where the base is no name."""
    parts: list[str] = []
    current: ast.expr = node
    while isinstance(current, ast.Attribute):
        parts.append(current.attr)
        current = current.value
    parts.append(current.id if isinstance(current, ast.Name) else "")
    return parts[::-1]


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a function, without those of functions defined in it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield child
            yield from _own(child)


def _swallowed(node: ast.Try | ast.TryStar | ast.With | ast.AsyncWith) -> Iterator[str]:
    """An assertion inside something that catches its failure."""
    if isinstance(node, ast.With | ast.AsyncWith):
        for item in node.items:
            call = item.context_expr
            catching = isinstance(call, ast.Call) and ast.unparse(call.func).endswith(("raises", "suppress"))
            if catching and isinstance(call, ast.Call) and _broad(call.args) and _asserts(node.body):
                yield "it expects its own assertion to fail"
        return
    if any(
        isinstance(inner, ast.Return | ast.Break | ast.Continue)
        for stmt in node.finalbody
        for inner in ast.walk(stmt)
    ):
        yield "it leaves a finally block early, which hides a failure"
    for handler in node.handlers:
        catches = handler.type is None or _broad([handler.type])
        if catches and _asserts(node.body) and not _asserts(handler.body):
            yield "it catches the failure of its own assertion"


def _broad(types: Iterable[ast.expr]) -> bool:
    names = {inner.id for kind in types for inner in ast.walk(kind) if isinstance(inner, ast.Name)}
    return bool(names & _BROAD)


def _asserts(body: Iterable[ast.stmt]) -> bool:
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assert | ast.Raise):
                return True
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1].startswith(("fail", "assert")):
                return True
    return False

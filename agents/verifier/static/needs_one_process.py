"""Which tests need the code under test in their own process: they share more with it than values and calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...records import Test
from ...syntax.imports import USER_MODULE
from ...syntax.source import parse


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FIXTURES = _words(
    """tmp_path tmp_path_factory tmpdir tmpdir_factory monkeypatch caplog recwarn capfd capfdbinary mocker
    pytester testdir"""
)
_MODULES = _words(
    """abc asyncio builtins concurrent concurrent.futures contextvars enum gc glob inspect logging os pathlib
    pickle shutil sqlite3 sys tempfile threading traceback types unittest unittest.mock warnings weakref"""
)
_HARMLESS = {
    "asyncio": _words("run TimeoutError CancelledError iscoroutine new_event_loop"),
    "enum": _words("auto unique"),
    "abc": _words("abstractmethod"),
    "types": _words("SimpleNamespace MappingProxyType"),
    "inspect": _words("isclass getdoc"),
    "logging": _words("DEBUG INFO WARNING ERROR CRITICAL"),
    "unittest": _words("TestCase IsolatedAsyncioTestCase main skipIf skipUnless"),
    "os": _words("path sep linesep name cpu_count"),
    "sys": _words("path executable maxsize float_info getrecursionlimit platform version_info byteorder"),
    "pathlib": _words("PurePath PurePosixPath PureWindowsPath"),
}
_SHARING = {
    "dataclasses": _words("asdict astuple fields replace"),
    "decimal": _words("localcontext getcontext setcontext"),
    "os.path": _words("exists isfile isdir getsize getmtime expanduser"),
    "collections.abc": _words("Generator AsyncGenerator Coroutine Awaitable"),
    "typing": _words("Generator AsyncGenerator Coroutine Awaitable"),
}
"""Of modules that are harmless elsewise: what looks for more than the other process can show."""
_CALLS = _words("open seed setrecursionlimit warns deprecated_call get_type_hints vars assertLogs assertWarns")


def why_one_process(test: Test) -> str | None:
    """Find what of `test` needs one process, as a phrase; None where it works through the proxy. Objects that
    cannot cross are found when they are passed, and need no rule."""
    tree = parse(f"{test.preamble}\n{test.source}\n")
    names: dict[str, str] = {}
    kinds = {id(inner) for part in _kinds(tree) for inner in ast.walk(part)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            whole = [alias.name if alias.asname else alias.name.split(".")[0] for alias in node.names]
            names |= {alias.asname or name: name for alias, name in zip(node.names, whole, strict=True)}
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.arg in _FIXTURES:
            return f"it uses the fixture {node.arg}"
        if isinstance(node, ast.Name | ast.Attribute) and id(node) not in kinds:
            first, *others = ast.unparse(node).split(".")
            path = [*names.get(first, "").split("."), *others]
            if _shares(".".join(path[:-1]), path[-1]):
                return f"it uses {'.'.join(path)}"
        if isinstance(node, ast.ClassDef) and (reason := _shared_class(node, names)):
            return reason
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in _CALLS:
                return f"it calls {name}"
    return None


def _shared_class(node: ast.ClassDef, names: dict[str, str]) -> str | None:
    """Why the code has to have a class of the tests itself: it is a dataclass, which code looks into, or made by
    the code's own decorators or descriptors."""
    for part in (
        *node.decorator_list,
        *(item for item in node.body if isinstance(item, ast.Assign | ast.AnnAssign)),
    ):
        for inner in ast.walk(part):
            if isinstance(inner, ast.Name) and names.get(inner.id, "").startswith(f"{USER_MODULE}."):
                return f"its class {node.name} is made with {inner.id}"
            if isinstance(inner, ast.Name) and names.get(inner.id) == "dataclasses.dataclass":
                return f"its class {node.name} is a dataclass"
    return None


def _kinds(tree: ast.Module) -> Iterator[ast.AST]:
    """Where a kind is only named: bases of the tests' own classes, and annotations."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (*node.bases, *node.keywords)
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        if isinstance(annotation, ast.AST):
            yield annotation


def _shares(module: str, name: str) -> bool:
    if module in _SHARING:
        return name in _SHARING[module]
    return module in _MODULES and name not in _HARMLESS.get(module, ())

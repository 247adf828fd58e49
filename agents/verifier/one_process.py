"""Which tests need the code under test in their own process: they share more with it than values and calls."""

from __future__ import annotations

import ast

from ..records import Test
from ..source import parse


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FIXTURES = _words(
    """tmp_path tmp_path_factory tmpdir tmpdir_factory monkeypatch caplog recwarn capfd capfdbinary mocker
    pytester testdir"""
)
_MODULES = _words(
    """abc builtins concurrent enum inspect logging os pathlib pickle queue shutil sys tempfile threading
    time types warnings"""
)
_HARMLESS = {
    "dataclasses": frozenset(["FrozenInstanceError", "dataclass", "field"]),
    "asyncio": frozenset(["run", "gather", "sleep", "TimeoutError", "CancelledError"]),
    "unittest": frozenset(["TestCase", "main"]),
    "time": frozenset(["perf_counter", "monotonic", "time", "process_time"]),
    "os": frozenset(["path"]),
    "sys": frozenset(["path", "maxsize", "float_info", "getrecursionlimit"]),
    "queue": frozenset(["Empty", "Full"]),
    "pathlib": frozenset(["PurePath", "PurePosixPath"]),
    "warnings": frozenset(),
}
_OF_PATHS = frozenset(["dirname", "abspath", "join", "basename", "splitext", "realpath", "normpath"])
_KINDS = frozenset(["Generator", "AsyncGenerator", "Coroutine", "Awaitable"])
_CALLS = _words("open seed setrecursionlimit warns deprecated_call get_type_hints")


def why_one_process(test: Test) -> str | None:
    """What of `test` needs one process, as a phrase; None where it works through the proxy."""
    tree = parse(f"{test.preamble}\n{test.source}\n")
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                modules[alias.asname or alias.name.split(".")[0]] = alias.name
                if alias.name.startswith("unittest.mock"):
                    return "it uses unittest.mock"
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {alias.name for alias in node.names}
            if _shares(node.module, names):
                return f"it uses {node.module}.{sorted(names)[0]}"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for argument in node.args.args:
                if argument.arg in _FIXTURES:
                    return f"it uses the fixture {argument.arg}"
    return _by_use(tree, modules)


def _shares(module: str, names: set[str]) -> bool:
    if module in ("collections.abc", "typing"):
        return bool(names & _KINDS)
    if module == "os.path":
        return not names <= _OF_PATHS
    if module == "unittest":
        return not names <= _HARMLESS["unittest"]
    if module in _HARMLESS:
        return not names <= _HARMLESS[module]
    return module.split(".")[0] in _MODULES or module == "unittest.mock"


def _by_use(tree: ast.Module, modules: dict[str, str]) -> str | None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            base = ast.unparse(node.value)
            module = "os.path" if base == "os.path" else modules.get(base)
            if module is not None and _shares(module, {node.attr}):
                return f"it uses {module}.{node.attr}"
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in _CALLS:
                return f"it calls {name}"
    return None

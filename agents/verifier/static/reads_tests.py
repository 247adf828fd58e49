"""Notes on code that may pass without doing what tests ask: it reads, has written, or detects them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...syntax.collection import chain, is_main_guard
from ...syntax.source import names_bound, parse_expression, statements, text_of
from ..inside.proxy.describe import words
from .names import Names, names_in

_FRAMES = words(
    "_getframe _current_frames currentframe f_back f_locals tb_frame getouterframes code_context extract_stack"
    " format_stack walk_stack get_objects get_referrers settrace setprofile"
    " __instancecheck__ __subclasscheck__ getcontext setcontext"
)
_TOOLS = words("_pytest hypothesis unittest")
_OF_TESTS = re.compile(r"\S{0,60}\btest[\w*]{0,40}\.py|_?pytest|PYTEST\w{0,40}")
_OPERATORS = words("__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __bool__ __len__ __contains__ __getattribute__")
_SHARED = words("sys os logging warnings")
"""Modules whose attributes honest code sets: `sys.stdout`."""

_ASKING = words(
    "os sys time locale socket getpass gc threading multiprocessing importlib inspect traceback pathlib"
)
"""Modules whose functions, asked for nothing but constants, say where or when code runs."""
_STATE = words("argv orig_argv modules environ getenv now utcnow today node")
"""What says so whatever it is asked for."""
_SETS_ENVIRONMENT = words("setenv delenv setitem")


def reaches_tests(code: str) -> str | None:
    """Return a note if code that shares the tests' process inspects frames or objects, or patches modules."""
    nodes = [node for statement in statements(code) for node in ast.walk(statement)]
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    theirs = {name for node in imports for name in names_bound(node)} - _SHARED
    for node in nodes:
        match node:
            case (
                ast.Attribute(attr=name) | ast.Name(id=name) | ast.Constant(value=str(name)) | ast.alias(name=name)
                | ast.FunctionDef(name=name)
            ) if name in _FRAMES or (isinstance(node, ast.Constant) and _OF_TESTS.fullmatch(name)):  # fmt: skip
                how = f"uses {name}, by which code in one process with its tests can set or read what they expect"
            case ast.alias(name=name) | ast.ImportFrom(module=str(name)) if name.partition(".")[0] in _TOOLS:
                how = f"uses {name}, by which code in one process with its tests can decide how they run"
            case (
                ast.Attribute(attr="__dict__", value=owner)
                | ast.Attribute(value=owner, ctx=ast.Store())
                | ast.Subscript(value=ast.Attribute() as owner, ctx=ast.Store())
                | ast.Call(func=ast.Name("setattr" | "delattr" | "vars"), args=[owner, *_])
            ) if (
                getattr(node, "attr", "") in _OPERATORS
                or getattr(chain(owner)[0], "id", "") in theirs
                or (getattr(owner, "attr", "") == "modules" and getattr(chain(owner)[0], "id", "") == "sys")
            ):
                what = ast.unparse(node if isinstance(node, ast.Attribute) else owner)
                how = f"changes {what}, which its tests in one process with it may use, too"
            case _:
                continue
        return f"The code {how}: what passes says little."
    return None


def asks_where_it_runs(code: str, tests: str) -> str | None:
    """Return a note if code branches on its surroundings outside of `main` and `__main__`, unless `tests` name
    them: its process, the environment, the clock."""
    try:
        names = names_in(code)
    except (ValueError, RecursionError):
        return None
    surroundings = _Surroundings(names, frozenset(re.findall(r"\w+", tests)))
    left: list[ast.AST] = [*names.tree.body]
    while left:
        node = left.pop()
        if (isinstance(node, ast.stmt) and is_main_guard(node)) or getattr(node, "name", "") == "main":
            continue
        left += ast.iter_child_nodes(node)
        conditions = [node.test] if isinstance(node, ast.If | ast.IfExp) else getattr(node, "ifs", [])
        compared = isinstance(node, ast.Compare) or isinstance(getattr(node, "op", None), ast.And)
        told = [
            each for each in [*conditions, *([node] if compared else [])] if any(map(_is_telling, ast.walk(each)))
        ]
        for each in [*told, *([node.subject] if isinstance(node, ast.Match) else [])]:
            if asked := surroundings.asked_by(each):
                return f"Line {each.lineno} of the code asks for {asked}: it may do otherwise elsewhere or later."
    return None


class _Surroundings:
    """Tells which expressions ask for the surroundings of code; `told` are words of its tests. A name follows what
    is assigned to it, unless it is a parameter, which the tests may pass."""

    def __init__(self, names: Names, told: frozenset[str]) -> None:
        self._names = names
        self._told = told | {"environ", "getenv"} if told & _SETS_ENVIRONMENT else told
        self._holders: dict[tuple[ast.AST | None, str], str] = {}
        parameters = {node.arg for node in names.nodes if isinstance(node, ast.arg)}
        for node in names.nodes:
            value = node.iter if isinstance(node, ast.For | ast.comprehension) else getattr(node, "value", None)
            targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
            asked = self.asked_by(value).replace("__name__", "") if isinstance(value, ast.expr) else ""
            if isinstance(node, ast.Return) and asked and (function := names.function_of(node)):
                self._holders[None, function.name] = asked
            for target in targets if asked else ():
                if isinstance(target, ast.Name) and target.id not in parameters:
                    self._holders[names.function_of(node), target.id] = asked

    def asked_by(self, node: ast.AST) -> str:
        """Return what an expression asks for; empty where that is nothing of its surroundings."""
        for part in ast.walk(node):
            name, scopes = getattr(part, "id", ""), (self._names.function_of(part), None)
            asked = next((self._holders[scope, name] for scope in scopes if (scope, name) in self._holders), "")
            asked = name if name in ("__name__", "__main__") else asked
            if text_of(part).startswith("/proc/"):
                asked = text_of(part)
            for path in self._names.paths(part):
                asked = next(
                    (
                        name
                        for name in path[1:3]
                        if name in _STATE and path[0] in _ASKING | {"datetime", "platform"}
                    ),
                    asked,
                )
                call = self._names.call_of(part)
                constant = call and all(isinstance(each, ast.Constant) for each in call.args)
                constant = constant and path[-1] != "exc_info"  # what was raised here
                if constant and path[0] in _ASKING and (len(path) == 2 or path[1] in ("path", "util")):
                    asked = path[-1]
            if asked and asked not in self._told:
                return asked
        return ""


def _is_telling(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and (
        isinstance(node.value, str | bytes) or (type(node.value) in (int, float) and node.value not in (0, 1))
    )


def has_written_cases(tests: str) -> Iterator[str]:
    """Yield a note for each list of the code that is the tests' cases, the same for every candidate."""
    names = names_in(tests)
    for node in names.nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[said, cases, *_]):
                goes_through = "," in ast.unparse(said)  # one has no expected value beside it
            case ast.For(target=ast.Tuple(), iter=cases):
                calls = (inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call))
                goes_through = any(map(names.is_under_test, calls))
            case _:
                continue
        named = re.fullmatch(r"(?:\w+\()?([\w.]+?)(?:\.items\(\))?\)?", ast.unparse(cases))
        if goes_through and named and names.is_under_test(parse_expression(named[1])):
            yield f"The cases in {named[1]} are the code's own: it says itself what they expect."

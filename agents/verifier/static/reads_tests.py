"""Notes on code that may pass without doing what tests ask: it reads, has written, or detects them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...syntax.collection import chain, is_main_guard
from ...syntax.source import names_bound, parse_expression, statements
from ..inside.proxy.describe import words
from .names import names_in

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

_OF_PROCESS = words("argv orig_argv getcwd")


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


def asks_where_it_runs(code: str) -> str | None:
    """Return a note if code branches on argv or the working directory, outside of `main` and `__main__`."""
    left: list[ast.AST] = [*statements(code)]
    while left:
        node = left.pop()
        if (isinstance(node, ast.stmt) and is_main_guard(node)) or getattr(node, "name", "") == "main":
            continue
        left += ast.iter_child_nodes(node)
        conditions = [node.test] if isinstance(node, ast.If | ast.IfExp) else getattr(node, "ifs", [])
        for each in [*conditions, *([node] if isinstance(node, ast.BoolOp | ast.Compare) else [])]:
            parts = [*ast.walk(each)]
            found = {getattr(part, "attr", getattr(part, "id", "")) for part in parts} & _OF_PROCESS
            if found and any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in parts):
                return f"Line {each.lineno} of the code asks for {min(found)}: it may do otherwise elsewhere."
    return None


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

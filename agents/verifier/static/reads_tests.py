"""Notes on what lets code pass without doing what its tests ask: it may read them, have written their cases, or
learn that it is tested."""

from __future__ import annotations

import ast
from functools import lru_cache

from ...syntax.collection import is_main_guard
from ...syntax.source import parse
from ..inside.proxy.describe import words
from .names import Names

_FRAMES = words(
    "_getframe _current_frames currentframe f_back tb_frame getouterframes get_objects get_referrers settrace"
)

_OF_PROCESS = words("argv orig_argv getcwd")


def reads_frames(code: str) -> str | None:
    """Return a note where code that shares a process with its tests looks at frames or objects that are theirs."""
    try:
        used = (getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(parse(code)))
        found = next((name for name in used if name in _FRAMES), None)
    except (ValueError, RecursionError):
        return None
    return found and (
        f"The code uses {found}, by which code in one process with its tests can read what they expect: "
        "what passes says little."
    )


def asks_where_it_runs(code: str) -> str | None:
    """Return a note where code does otherwise by the text of the process's arguments or working directory, but for
    a program's `main` and what it does as a script."""
    try:
        left: list[ast.AST] = [parse(code)]
    except (ValueError, RecursionError):
        return None
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


@lru_cache(maxsize=64)
def has_written_cases(tests: str) -> tuple[str, ...]:
    """Return a note for each list of the code's own that tests go through as their cases; for each candidate they
    are the same."""
    names = Names(tests)
    found: dict[str, None] = {}
    for node in names.nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[said, cases, *_]):
                several = "," in ast.unparse(said)  # one has no expected value beside it
                if several and isinstance(cases, ast.Name | ast.Attribute) and names.is_under_test(cases):
                    found[ast.unparse(cases)] = None
    return tuple(f"The cases in {each} are the code's own: it says itself what they expect." for each in found)

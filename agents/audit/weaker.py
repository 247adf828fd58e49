"""Finds examples and assertions that ask for less, and puts doctests of one tree into another's code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from doctest import ELLIPSIS_MARKER, IGNORE_EXCEPTION_DETAIL, SKIP, DocTestParser, Example
from textwrap import dedent

from ..syntax.definitions import first_line
from ..syntax.encoding import decoded, encoded, lines_in
from ..syntax.source import parse, unparse
from ..worktree.tree import Tree
from .base import Base, TestPlace, named, parsed
from .records import Tampering

_DIRECTIVE = re.compile(r"(?<![ \t])[ \t]*#\s*doctest:.*")
_MOST_SHOWN = 200


def with_doctests_of(code: Tree, tests: Tree) -> Tree:
    """Return `code` with the docstrings of `tests`, by name, if one of both has examples. Lines stay."""
    files = {
        path: _documented(data, tests.files[path])
        if path.endswith(".py") and not code.holds_tests(path) and data != tests.files.get(path, data)
        else data
        for path, data in code.files.items()
    }
    return replace(code, files=files)


def weakened(tree: Tree, base: Base, tests: Iterable[str]) -> Iterator[Tampering]:
    """Yield kept examples whose answer is no longer compared whole, in files of `tests`."""
    for path in {name.partition("::")[0] for name in tests} & {*base.differing}:
        old, new = (_examples(path, each.files.get(path, b"")) for each in (base.tree, tree))
        for place, (line, example) in new.items():
            if place in old and _is_weaker(example, old[place][1]):
                why = f"an example asks for less of the answer than before: {place[1][:_MOST_SHOWN]}"
                yield Tampering(path, line, why)


def _is_weaker(new: Example, old: Example) -> bool:
    left_out = ELLIPSIS_MARKER in new.want and ELLIPSIS_MARKER not in old.want
    lenient = (SKIP, IGNORE_EXCEPTION_DETAIL)
    return left_out or any(new.options.get(each) and not old.options.get(each) for each in lenient)


def _examples(path: str, data: bytes) -> dict[tuple[str, str], tuple[int, Example]]:
    """Return a file's examples with their lines, by owner and source without directives."""
    texts = [("", 1, decoded(data))]
    if path.endswith(".py"):
        nodes = [(name, node) for name, node in named(parsed(data)) if node.body]
        texts = [(name, node.body[0].lineno, ast.get_docstring(node, clean=False) or "") for name, node in nodes]
    found: dict[tuple[str, str], tuple[int, Example]] = {}
    for name, first, text in texts:
        with suppress(ValueError):  # such as examples that are indented otherwise than their answers
            for each in DocTestParser().get_examples(text):
                found.setdefault((name, _DIRECTIVE.sub("", each.source).strip()), (first + each.lineno, each))
    return found


def _documented(data: bytes, other: bytes) -> bytes:
    told = {name: ast.get_docstring(node, clean=False) or "" for name, node in named(parsed(other))}
    nodes = {name: node for name, node in named(parsed(data)) if name in told and node.body}
    lines = lines_in(data) if nodes else []
    for name, node in sorted(nodes.items(), key=lambda item: -item[1].body[0].lineno):
        own = ast.get_docstring(node, clean=False) or ""
        if own == told[name] or ">>>" not in own + told[name]:
            continue
        first = node.body[0]
        at, end = first.lineno - 1, first.end_lineno or first.lineno
        if own:
            rest = lines[end - 1].encode()[first.end_col_offset :].decode()
            lines[at:end] = [f"{lines[at][: first.col_offset]}{told[name]!r}{rest}", *[""] * (end - at - 1)]
        else:
            put_first(lines, first, repr(told[name]))
    return encoded("\n".join(lines) + "\n", data) if lines else data


def put_first(lines: list[str], first: ast.stmt, text: str) -> None:
    """Insert a statement before a body's first one, on the same line if possible."""
    at = first_line(first) - 1
    line, column = lines[at].encode(), first.col_offset
    if hasattr(first, "body") or isinstance(first, ast.Match):
        lines.insert(at, f"{' ' * column}{text}")
    else:
        lines[at] = f"{line[:column].decode()}{text}; {line[column:].decode()}"


def weaker_asserts(old: Mapping[str, TestPlace], new: Mapping[str, TestPlace]) -> Iterator[Tampering]:
    """Yield assertions that accept other values than the one asked for before; tests are by id."""
    for name, place in new.items():
        if name in old and old[name].body != place.body:
            before = _asserted(old[name])
            asked = {ast.dump(left): values[0] for left, values, _ in before if len(values) == 1}
            for left, values, line in _asserted(place):
                was = asked.get(ast.dump(left))
                others = [each for each in values if was is not None and ast.dump(each) != ast.dump(was)]
                if was is not None and others and len(others) < len(values):
                    what = f"`{unparse(left)}` may be {unparse(others[0])} now, and had to be {unparse(was)}"
                    path = name.partition("::")[0]
                    yield Tampering(path, place.line + line - 1, f"{name}: {what}"[:_MOST_SHOWN])


def _asserted(place: TestPlace) -> Iterator[tuple[ast.expr, list[ast.expr], int]]:
    """Yield what the assertions of a test compare, the values that each takes, and its line in the source."""
    with suppress(ValueError):
        for node in ast.walk(parse(dedent(place.source))):
            if isinstance(node, ast.Assert):
                tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
                found = [each for each in map(_compared, tests) if each is not None]
                alike = {ast.dump(left) for left, _ in found}
                either = not isinstance(node.test, ast.BoolOp) or isinstance(node.test.op, ast.Or)
                if len(found) == len(tests) and len(alike) == 1 and either:
                    yield found[0][0], [value for _, values in found for value in values], node.lineno


def _compared(node: ast.expr) -> tuple[ast.expr, list[ast.expr]] | None:
    match node:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[value]):
            return left, [value]
        case ast.Compare(
            left=left, ops=[ast.In()], comparators=[ast.Tuple(elts) | ast.List(elts) | ast.Set(elts)]
        ):
            return left, elts
    return None

"""Reads the parameters of each case of a test."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Sequence

from ..syntax.source import parse, unparse


def cases(source: str, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the parameters of the cases `ids` of a test: as its one mark has them, else as the ids do."""
    told = _told(source)
    if len(told) == len(ids):
        return dict(zip(ids, told, strict=True))
    return {each: tuple(each.partition("[")[2].removesuffix("]").split("-")) for each in ids}


def each_left_out(case: Sequence[str]) -> Iterator[tuple[object, str]]:
    """Yield each parameter of a case after what two cases share that differ in nothing else."""
    plain = [*map(unquoted, case)]
    for at, value in enumerate(case):
        yield (*plain[:at], None, *plain[at + 1 :]), value


def unquoted(parameter: str) -> str:
    """Return a parameter as ids have it."""
    return parameter.strip("'\"")


def _told(source: str) -> list[tuple[str, ...]]:
    """Return the parameters in the only mark of a test that has some, if they are written there."""
    try:
        [function] = parse(textwrap.dedent(source)).body
    except (ValueError, SyntaxError):
        return []
    marks = [each for each in getattr(function, "decorator_list", ()) if "parametrize" in unparse(each)]
    match marks:
        case [ast.Call(args=[_, ast.List(rows) | ast.Tuple(rows), *_])]:
            return [_parameters(row) for row in rows]
    return []


def _parameters(row: ast.expr) -> tuple[str, ...]:
    match row:
        case ast.Tuple(parts) | ast.List(parts) | ast.Call(func=ast.Attribute(attr="param"), args=parts):
            return tuple(map(unparse, parts))
    return (unparse(row),)

"""Notices code that may answer from a table: it contains the inputs of its tests."""

from __future__ import annotations

import ast
import base64
import builtins
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from ...syntax.collection import chain
from ...syntax.literals import literal_value
from ...syntax.source import parse, parse_expression
from .names import Names, names_in

_FEWEST = 3
_FEWEST_ANSWERED = 2
_COMMON = frozenset(["0", "1", "", " "])
"""Values that occur in any code."""
_TRIVIAL = frozenset(
    ast.dump(parse_expression(text))
    for text in ("0", "1", "-1", "2", "''", "' '", "[]", "()", "{}", "None", "True", "False", "0.0", "1.0")
)
"""Arguments that honest code has branches for."""
_LETTER = re.compile(r"Constant\(value=(['\"]).\1\)")
"""One character, with which code that scans a text compares, too."""
_MOST_CHARACTERS = 100_000
"""Of a text that is read decompressed."""
_WORDS = re.compile(r"\d+(?:\.\d+)?|\w+")

Key = tuple[str, ...]
"""The arguments of a call, or the values compared, unordered: a table may have them in another order."""


def answers_from_a_table(code: str, tests: str) -> str | None:
    """Return a note if the code may answer from a table; only unseen inputs can tell such code from right code.

    It does if at least three of the tests' inputs, and half of them, are keys or comparisons in the code, or as
    many of the tests' values are in one of its lists or texts; or if one of its tables consists mostly of inputs
    with answers from the tests (two or more entries; three or more for inputs of one function or test).
    """
    try:
        names, written = names_in(tests), parse(code)
        asked: defaultdict[str, set[Key]] = defaultdict(set)
        for name, key in _inputs(names):
            asked[name].add(key)
        tables = list(_tables(written))
    except (ValueError, RecursionError):
        return None
    tested = names.tree
    inputs = set[Key]().union(*asked.values())
    told = {ast.dump(node) for node in ast.walk(tested) if isinstance(node, ast.expr) and _is_literal(node)}
    letters = {key for key in inputs if len(key) == 1 and _LETTER.fullmatch(key[0])}
    looked_up = {key for table in tables for key in table if key in inputs and key not in letters}
    values = set(_values(tested)) - _COMMON
    listed = max(_listed(written, values), key=len, default=set())
    found = [("inputs", len(looked_up), len(inputs), _FEWEST), ("values", len(listed), len(values), _FEWEST)]
    groups = [("inputs", inputs, _FEWEST_ANSWERED)]
    for what, keys, fewest in groups + [(f"inputs of {name}", keys, _FEWEST) for name, keys in asked.items()]:
        answered = max((_answered(keys, told, table) for table in tables), default=0)
        found.append((what, answered, len(keys), fewest))
    for what, known, of, fewest in found:
        if known >= fewest and 2 * known >= of:
            return (
                f"The code holds {known} of the tests' {of} {what} as they are: "
                "it may answer from a table, and be wrong on every other input."
            )
    return None


def _answered(inputs: set[Key], told: set[str], table: dict[Key, str]) -> int:
    """Return how many entries of `table` are the tests' inputs and answers; 0 for half of it, or trivial ones."""
    known = [key for key, answer in table.items() if key in inputs and answer in told]
    telling = [key for key in known if not _TRIVIAL.issuperset(key)]
    return len(known) if len(telling) >= _FEWEST_ANSWERED and 2 * len(known) > len(table) else 0


def _key(parts: Sequence[ast.expr]) -> Key:
    if len(parts) == 1 and isinstance(parts[0], ast.Tuple):
        parts = parts[0].elts
    elif len(parts) == 1 and isinstance(parts[0], ast.Dict):
        parts = parts[0].values
    return tuple(sorted(map(ast.dump, parts)))


def _inputs(names: Names) -> Iterator[tuple[str, Key]]:
    """Yield literal arguments of calls of the code, and parametrized rows without their last part, the answer;
    each with the name of the called function or of the test."""
    shared = dict(_named(names.tree.body))
    for part in names.tree.body:
        named = shared | dict(_named(ast.walk(part)))
        for node in ast.walk(part):
            if not isinstance(node, ast.Call | ast.For):
                continue
            root = getattr(node, "func", None)
            given = [*getattr(node, "args", []), *(word.value for word in getattr(node, "keywords", []))]
            given = [named.get(getattr(item, "id", ""), item) for item in given]
            is_cases = getattr(root, "attr", "") == "parametrize" and len(given) > 1
            rows = given[1] if is_cases else getattr(node, "iter", None)
            rows = named.get(getattr(rows, "id", ""), rows)
            for row in getattr(rows, "elts", []):
                parts = row.args if isinstance(row, ast.Call) else getattr(row, "elts", [])
                if len(parts) > 1 and all(map(_is_literal, parts)):
                    yield getattr(part, "name", ""), _key(parts[:-1])
            begin, _ = chain(root)
            if begin is None or not given or not all(map(_is_literal, given)):
                continue
            if names.is_under_test(begin) or not (begin.id in names.imports or hasattr(builtins, begin.id)):
                yield getattr(root, "attr", begin.id), _key(given)


def _named(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value


def _values(tree: ast.Module) -> Iterator[str]:
    """Yield the numbers and texts in assertions and in the cases of a test."""
    for part in ast.walk(tree):
        cases = isinstance(part, ast.Call) and ast.unparse(part.func).endswith("parametrize")
        if cases or isinstance(part, ast.Assert):
            for node in ast.walk(part):
                if isinstance(node, ast.Constant) and type(node.value) in (int, float, str):
                    yield str(node.value)


def _tables(tree: ast.Module) -> Iterator[dict[Key, str]]:
    """Yield each dict, for each class (such as an enum) its rows that end in an answer, and for each function its
    comparisons; an answer that is no literal is empty."""
    filled: defaultdict[str, dict[Key, str]] = defaultdict(dict)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(entry := node.targets[0], ast.Subscript):
            if _is_literal(entry.slice):
                filled[ast.dump(entry.value)][_key([entry.slice])] = _answer(node.value)
        elif isinstance(node, ast.Call):  # `dict(one=1)`, an object with such attributes
            answers = [(word.arg, answer) for word in node.keywords if (answer := _answer(word.value))]
            yield {_key([ast.Constant(name)]): answer for name, answer in answers if name}
        elif isinstance(node, ast.Dict):
            yield {
                _key([key]): _answer(value)
                for key, value in zip(node.keys, node.values, strict=True)
                if key is not None
            }
        elif isinstance(node, ast.ClassDef):
            rows = [getattr(getattr(part, "value", None), "elts", []) for part in node.body]
            yield {_key(row[:-1]): _answer(row[-1]) for row in rows if len(row) > 1}
            named = [] if node.bases else _named(node.body)
            yield {_key([ast.Constant(name)]): _answer(value) for name, value in named if _is_literal(value)}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            body = node.body if isinstance(node.body, list) else [node.body]
            yield dict(entry for part in body for entry in _branches(part, []))
    yield from filled.values()


def _branches(node: ast.AST, known: list[ast.expr]) -> Iterator[tuple[Key, str]]:
    """Yield what a branch is taken for, those around it with it (`known`), and the literal that it answers."""
    body: list[Any]
    others: list[Any]
    match node:
        case ast.If(test=test, body=body, orelse=others):
            pass
        case ast.IfExp(test=test, body=value, orelse=other):
            body, others = [ast.Expr(value)], [other]
        case ast.match_case(pattern=pattern, body=body):
            parts = [inner.value for inner in ast.walk(pattern) if isinstance(inner, ast.MatchValue)]
            test, others = ast.Compare(ast.Name(""), [ast.Eq()], [ast.Tuple(parts)]), []
        case ast.Compare(left=left, comparators=sides):
            yield from ((_key([side]), "") for side in (left, *sides))
            return
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            return
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _branches(child, known)
            return
    ways = _compared(test)
    for literals in ways:
        yield _key([*known, *literals]), _answer(getattr(body[0], "value", None))
    for part in body if ways else [test, *body]:
        yield from _branches(part, [*known, *ways[0]] if len(ways) == 1 else known)
    for part in others:
        yield from _branches(part, known)


def _compared(test: ast.expr) -> list[list[ast.expr]]:
    """Return the ways to meet `test`, each as its literals: three of `a == 1 and b == 2 or a in (3, 4)`."""
    match test:
        case ast.BoolOp(op=ast.And(), values=parts):
            alike = [ways[0] for part in parts if len(ways := _compared(part)) == 1]
            return [[literal for literals in alike for literal in literals]] if alike else []
        case ast.BoolOp(op=ast.Or(), values=parts):
            return [way for part in parts for way in _compared(part)]
        case ast.Compare(ops=[ast.In()], comparators=[ast.Tuple(parts) | ast.List(parts) | ast.Set(parts)]):
            return [[part] for part in parts if _is_literal(part)]
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            side = right if _is_literal(right) else left
            return [side.elts if isinstance(side, ast.Tuple) else [side]] if _is_literal(side) else []
    return []


def _answer(node: ast.AST | None) -> str:
    return ast.dump(node) if isinstance(node, ast.expr) and _is_literal(node) else ""


def _listed(tree: ast.Module, values: set[str]) -> Iterator[set[str]]:
    """Yield those of `values` in each list, tuple, set or dict, in the statements that call one function, and in
    each text but docstrings, also encoded; nothing where most of what it holds is something else."""
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    called: defaultdict[str, list[str]] = defaultdict(list)
    held: list[list[str]] = []
    names: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):  # `{"total": sum(x)}` names what is calculated
            names |= {id(key) for key, value in zip(node.keys, node.values, strict=True) if not _is_literal(value)}
        inside = (part for part in ast.walk(node) if id(part) not in names)
        parts = [str(part.value) for part in inside if isinstance(part, ast.Constant)]
        if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
            held.append(parts)
        elif isinstance(node, ast.Expr) and isinstance(call := node.value, ast.Call):
            if len(call.args) > 1 and all(map(_is_literal, call.args)):
                called[ast.dump(call.func)] += parts
        elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in documented:
            held += [_WORDS.findall(text) for text in _readings(node.value)]
    for texts in (*held, *called.values()):
        known = [values.intersection([text, *_WORDS.findall(text)]) for text in texts]
        if 2 * sum(map(bool, known)) >= len(texts):
            yield set[str]().union(*known)


def _readings(text: str | bytes) -> Iterator[str]:
    """Yield a text, and what it may be an encoding of."""
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    yield data.decode("utf-8", "replace")
    for decode in (bytes, base64.b64decode, lambda digits: bytes.fromhex(digits.decode())):
        with suppress(ValueError, zlib.error):
            found = decode(data)
            yield found.decode("utf-8", "replace")
            yield zlib.decompressobj().decompress(found, _MOST_CHARACTERS).decode("utf-8", "replace")


def _is_literal(node: ast.expr) -> bool:
    return literal_value(node) is not None

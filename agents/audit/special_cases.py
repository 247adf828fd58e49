"""Finds code that answers tests specially: by cases for their inputs, or by detecting them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from ..healing.near_calls import calls_near
from ..judge.probes import calls_with
from ..records.heal import Answer, Call
from ..repository.inside.calls import EQUALS_ANYTHING, RAISED
from ..repository.suite import Suite, SuiteJob
from ..repository.suites import run_whole
from ..syntax.encoding import decoded
from ..syntax.literals import literal_value
from ..syntax.source import parse_expression, swapped, unparse
from ..worktree.tree import Tree
from .base import Base, is_of_tests, modules, newly_parsed
from .records import Tampering

_MOST = 12
"""Special cases that are tried."""
_MOST_OTHERS = 2
_LONG_ANSWER = 8
"""Characters of a text that does not occur twice by chance."""
_WORDS = re.compile(r"\w+")
_SECONDS = 20.0
"""Timeout of all calls on one code, with the start of the process."""
_MOST_VARIED = 200
_MOST_NEAR = 10
"""Calls of tests that are varied, and variants of each."""
_MOST_SHOWN = 300
_PICKLED = "applied("


@dataclass(frozen=True, slots=True)
class SpecialCase:
    """New code or data for a literal that the base's code does not check; `without` is the file's text without the
    case, `others` are some keys of a larger table that the tests don't have."""

    path: str
    line: int
    text: str
    without: str
    others: tuple[object, ...] = ()


def special_cases(tree: Tree, base: Base, differing: Collection[str] = ()) -> list[SpecialCase]:
    """Return new special cases in code for literals that the base's code lacks, and that are in tests or in one of
    the `differing` files; and data files most of whose new entries are in tests."""
    known, told = _constants(base.tree, of_tests=False), _constants(base.tree, of_tests=True)
    found = [each for path in base.differing for each in _in_data(path, tree, base, known, told)]
    for path, lines in base.lines.items():
        module = newly_parsed(tree.files[path])  # nodes of it are swapped
        for node, keys, other in _asked(module):
            if len(found) >= _MOST:
                return found
            asked = [key for key in keys if _is_telling(key) and key not in known]
            answers = _answers(node)
            new = [key for key in asked if _parts(key) <= told or answers.get(key, key) in told]
            new = new or (asked if path in differing else [])
            if new and lines.intersection(range(node.lineno, (node.end_lineno or node.lineno) + 1)):
                text = unparse(node).split("\n")[0]
                others = [key for key in keys if type(key) is type(new[0]) and not _parts(key) <= told]
                others = others[:_MOST_OTHERS] if len(others) > len(new) else []
                other = _without(node, new) if isinstance(node, ast.Dict) else other
                without = f"{unparse(swapped(module, {node: other}.get))}\n"
                swapped(module, {other: node}.get)
                found.append(SpecialCase(path, node.lineno, text, without, (*others,)))
    return found


def _in_data(path: str, tree: Tree, base: Base, known: set[object], told: set[object]) -> Iterator[SpecialCase]:
    """Yield a file of data without the entries, or lines, that stand in tests, if most of the new ones do."""
    if is_of_tests(path) or path.endswith(".py") or path not in tree.files:
        return
    table, was = (_entries(path, each.files.get(path, b"")) for each in (tree, base.tree))
    parts = {key: {*map(_number, _parts(key))} for key in table if key not in was and _is_telling(key)}
    new = [key for key in parts if not parts[key] <= known]
    asked = [key for key in new if parts[key] <= told]
    if asked and 2 * len(asked) >= len(new):
        text = decoded(tree.files[path])
        without = "\n".join(line for line in text.splitlines() if tuple(_WORDS.findall(line)) not in asked)
        if path.endswith(".json"):
            kept = json.loads(text, object_hook=lambda each: {key: each[key] for key in each if key not in asked})
            without = json.dumps(kept)
        yield SpecialCase(path, 1, f"{asked[0]}: {table[asked[0]]}", f"{without}\n")


def _entries(path: str, data: bytes) -> dict[Any, Any]:
    """Return the values of all tables in JSON by their keys, or the lines of a text by the words in them."""
    found: dict[Any, Any] = {}
    with suppress(ValueError, SyntaxError, RecursionError):
        if path.endswith(".json"):
            json.loads(decoded(data) or "0", object_hook=found.update)
        else:
            found |= {tuple(_WORDS.findall(line)): line for line in decoded(data).splitlines()}
    return found


def _number(part: object) -> object:
    return int(part) if isinstance(part, str) and part.isdecimal() and part.isascii() else part


def _constants(tree: Tree, *, of_tests: bool) -> set[object]:
    """Return the literals of the code or the tests, and the words of their texts except docstrings."""
    found: set[object] = set()
    for module in modules(tree, of_tests=of_tests).values():
        nodes = [*ast.walk(module)]
        documents = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        found |= {key for _, keys, _ in _asked(module) for key in keys}
        for node in nodes:
            if isinstance(node, ast.Constant | ast.Tuple | ast.List | ast.UnaryOp) and id(node) not in documents:
                for key in _literals([node]):
                    found |= _parts(key) | {key}
                    for word in _WORDS.findall(key) if isinstance(key, str) else ():
                        found |= {word, _number(word)}
    return found


def _parts(key: object) -> set[object]:
    return {inner for part in key for inner in _parts(part)} if isinstance(key, tuple) else {key}


def _is_telling(key: object) -> bool:
    """Return False for values that honest code has branches for."""
    if isinstance(key, str | bytes):
        return len(key) > 1
    return not (key is None or isinstance(key, bool) or key in (0, 1, -1, 2, ()))


def _asked(module: ast.Module) -> Iterator[tuple[Any, list[Any], ast.AST]]:
    """Yield each comparison, table and pattern with its literals, and its replacement without them."""
    nodes: list[Any] = [*ast.walk(module)]
    tables = {id(node.iter) for node in nodes if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension)}
    tables |= {id(node.value) for node in nodes if isinstance(node, ast.Assign | ast.AnnAssign)}
    for node in nodes:
        keys, without = _case(node, is_table=id(node) in tables)
        if keys:
            yield node, keys, without


def _case(node: ast.AST, *, is_table: bool = False) -> tuple[list[Any], ast.AST]:
    without: ast.AST = ast.Constant(False)
    match node:
        case ast.Tuple(parts) | ast.List(parts) if is_table:
            return _flat(parts), ast.Tuple([], ast.Load())
        case ast.Set(parts):
            return (_flat if is_table else _literals)(parts), ast.Call(ast.Name("set"), [], [])
        case ast.Compare(
            ops=[ast.Eq() | ast.NotEq() | ast.Is() | ast.IsNot() as operator], left=left, comparators=[right]
        ):
            return _literals([left, right]), ast.Constant(isinstance(operator, ast.NotEq | ast.IsNot))
        case ast.Compare(
            ops=[ast.In() | ast.NotIn() as operator],
            comparators=[ast.Tuple(parts) | ast.List(parts) | ast.Set(parts)],
        ):
            return _literals(parts), ast.Constant(isinstance(operator, ast.NotIn))
        case ast.Call(func=ast.Attribute(attr="startswith" | "endswith" | "__eq__"), args=parts):
            return _literals(parts), without
        case ast.Compare(ops=[_, _, *_], left=left, comparators=parts):
            bounds = _literals([left, *parts])
            numbers = [key for key in bounds if isinstance(key, int)]
            is_between_two = len(numbers) == 2 and numbers[1] - numbers[0] == 2  # and the only one that is
            return bounds + ([numbers[0] + 1] if is_between_two else []), without
        case ast.Call(func=ast.Name(id="zip" | "dict" | "set" | "frozenset") as function, args=parts):
            return _flat(parts), ast.Call(function, [], [])
        case ast.Call(func=ast.Attribute(attr="fromkeys"), args=parts):
            return _flat(parts), ast.Dict([], [])
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="re")) as function,
            args=[ast.Constant(value=str(pattern)), *rest],
            keywords=named,
        ):
            words = tuple(word for word in _WORDS.findall(pattern) if len(word) > 1)
            return [words] if words else [], ast.Call(function, [ast.Constant("(?!)"), *rest], named)
        case ast.BoolOp(op=ast.And(), values=values):
            alike = [key for each in values if isinstance(each, ast.Compare) for key in _case(each)[0]]
            return [tuple(alike)] if len(alike) > 1 else [], without
        case ast.Dict(keys=keys):
            return _literals([key for key in keys if key is not None]), without
        case ast.MatchValue(value=literal):
            return _literals([literal]), ast.MatchValue(ast.Constant("\0 no such value"))
    return [], without


def _answers(node: object) -> dict[Any, str]:
    """Return the long texts that a table has for keys, which may be made of what tests give: whole answers."""
    items = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
    stated = ((_literals([key]), _literals([value])) for key, value in items if key is not None)
    return {
        key: value
        for keys, values in stated
        for key, value in zip(keys, values, strict=False)
        if isinstance(value, str) and len(value) >= _LONG_ANSWER
    }


def _without(table: ast.Dict, keys: Collection[Any]) -> ast.Dict:
    items = zip(table.keys, table.values, strict=True)
    kept = [(key, value) for key, value in items if key is None or not {*_literals([key])} & {*keys}]
    return ast.Dict([key for key, _ in kept], [value for _, value in kept])


def _flat(nodes: Sequence[ast.expr]) -> list[Any]:
    return [part for key in _literals(nodes) for part in _parts(key)]


def _literals(nodes: Sequence[ast.expr]) -> list[Any]:
    """Return the values of the nodes that are literals, lists and the like as tuples."""
    return [_frozen(value[0]) for value in map(literal_value, nodes) if value is not None]


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        value = [part for item in value.items() for part in item]
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple | set) else value


@dataclass(frozen=True, slots=True)
class Differing:
    """A call that new code answers otherwise than old code outside of tests, and both answers."""

    call: Call
    old: str
    new: str


@dataclass(frozen=True)
class Outside:
    """Calls both codes outside of tests: `calls` are those of old tests that pass on both. `hidden` are those that
    new code answers differently outside of tests, or by an object that equals anything; `unnoticed` are near calls
    answered differently, of functions that otherwise agree."""

    new: Suite
    old: Suite
    calls: Collection[Call] = ()
    hidden: Sequence[Differing] = field(default_factory=tuple)
    unnoticed: Sequence[Differing] = field(default_factory=tuple)

    def compared(self, names: Sequence[str], paths: Collection[str], seconds: float) -> Outside:
        """Compare the calls of tests, and calls near them of functions in files at `paths`."""
        run = run_whole(self.new, names, SuiteJob(seconds, calls=True, pickled=True), cold=True)
        told = zip(run.calls, run.returned, strict=False)
        ours = self.new.tree.holds_tests
        inside = {call: value for call, value in told if value is not None and not ours(call.path)}
        varied = [call for call in inside if call.path in paths][:_MOST_VARIED]
        near = [each for call in varied for each in calls_near([call], {}, [])[:_MOST_NEAR]]
        found = [*self._differing([*inside, *near])]
        again = [*self._differing([each.call for each in found])] if found else []
        steady = [each for each in found if each in again]
        changed = {(each.call.path, each.call.function) for each in steady if each.call in inside}
        hidden = [each for each in steady if inside.get(each.call) in (each.old, EQUALS_ANYTHING)]
        others = [each for each in steady if (each.call.path, each.call.function) not in changed]
        others = [each for each in others if each.old != RAISED]  # a fix may answer what was an error
        return replace(self, calls=inside, hidden=hidden, unnoticed=others)

    def tampering(self, base: Base) -> Iterator[Tampering]:
        """Yield each changed file with the shortest call that is answered otherwise where no test runs."""
        changed = [path for path, lines in base.lines.items() if lines]
        shortest: dict[str, Differing] = {}
        for each in sorted(self.hidden, key=lambda each: len(each.call.source)):
            shortest.setdefault(each.call.path if each.call.path in changed else changed[0], each)
        for path, found in shortest.items():
            source = found.call.source
            text = f"{found.call.function}(...)" if source.startswith(_PICKLED) else source
            why = f"it answers tests as at the base, and others otherwise: `{text}` is {found.old}, or {found.new}"
            yield Tampering(path, min(base.lines[path]), why[:_MOST_SHOWN])

    def agree_on(self, path: str, values: Sequence[object]) -> bool:
        """Return True if the new code answers a call of the file at `path` with these values, and both alike."""
        given: list[tuple[ast.Call, Call]] = []
        for call in self.calls:
            with suppress(ValueError):
                node = parse_expression(call.source)
                if call.path == path and isinstance(node, ast.Call) and not call.source.startswith(_PICKLED):
                    given.append((node, call))
        made = [replace(call, source=text) for text, call in calls_with(given, values, len(values)).items()]
        told = [*self._answered(made)]
        return any(new.value for *_, new in told) and all(old.value in (None, new.value) for _, old, new in told)

    def _differing(self, calls: Sequence[Call]) -> Iterator[Differing]:
        """Yield the calls that the two codes answer with different values, or one with none."""
        for call, old, new in self._answered(calls):
            if old.value != new.value:
                yield Differing(call, old.value or RAISED, new.value or f"raises {new.raises}")

    def _answered(self, calls: Sequence[Call]) -> Iterator[tuple[Call, Answer, Answer]]:
        """Yield the calls that both codes answer, with the answers of the old and the new one."""
        job = SuiteJob(_SECONDS, asked=tuple((each.path, each.source) for each in calls), outside=True)
        before, now = (suite.run(job, cold=True).answers for suite in (self.old, self.new))
        yield from ((call, old, new) for call, old, new in zip(calls, before, now, strict=False) if old and new)

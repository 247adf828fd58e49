"""Probes: calls of unknown answer, on which candidates that pass the same tests are compared.

Their inputs are mutations (near_values.py) of those of the tests, and a few edge cases. A probe is a test that
can't pass, so that the verifier reports what each candidate returns.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

from ..records import Test, fingerprint
from ..syntax.collection import last_name
from ..syntax.literals import is_literal, literal_value
from ..syntax.source import parse, parse_expression, swapped, unparse
from ..verifier.inside.proxy.plain_source import is_plain, value_of, written
from .claims import ValueClaim, as_test, claim_of
from .near_values import another_mark, edges, is_mark, may_be_equal, mutated

T = TypeVar("T")
Calls = Sequence[tuple[ast.Call, T]]
"""Calls of literals, each with a label, such as the preamble of its test."""
Others = Callable[[object, Sequence[object]], Iterable[object]]
"""Yields values for an argument; gets that argument and all arguments of its call."""
LONGEST_INPUT = 1500
"""Characters of a call."""
EDGE, ODD = "test_edge_", "test_odd_"
"""Prefixes of the ids of probes: on inputs that a clause asks for, and on malformed texts."""
UNKNOWN = "..."
"""The expected value of a probe: a literal that equals no value of plain data."""
_CONTAINER = re.compile(rb"[\[({]|having\(\w+,")
_PARTS = ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Set | ast.Call


def probes(tests: Sequence[Test], count: int) -> tuple[Test, ...]:
    """Return at most `count` probes on mutated inputs of `tests` and on edge cases. Deterministic."""
    calls = literal_calls(tests)
    if not calls:
        return _session_probes(tests, count)
    first = calls[:2]
    emptied = _first([(_emptied(call), label) for call, label in first], first, None)
    return probes_of(near_calls(calls, count) | varied_calls(first, edges, count // 3) | emptied)


def probes_of(calls: Mapping[str, str], prefix: str = "test_probe_") -> tuple[Test, ...]:
    """Return a probe for each of `calls`, which map source to a preamble."""
    return tuple(probe(number, call, preamble, prefix) for number, (call, preamble) in enumerate(calls.items(), 1))


def near_calls(calls: Calls[T], count: int, *, words: Sequence[str] | None = None) -> dict[str, T]:
    """Return at most `count` mutated `calls`, as source, each with the label of its origin. Deterministic."""
    return _changed(calls, count, lambda call, chance: _mutated_call(call, chance, words))


def related_calls(calls: Calls[T], count: int) -> dict[str, T]:
    """Return at most `count` of `calls`, longer ones more often, with a change that keeps or makes relations
    between parts: equal parts mutated alike, or one part (or a text near it) put in the place of another."""
    pool = [each for each in calls for _ in range(1 + len(unparse(each[0])) // 30)]
    return _changed(pool, count, _related_call)


def _changed(calls: Calls[T], count: int, change: Callable[[ast.Call, random.Random], str | None]) -> dict[str, T]:
    chance = random.Random(fingerprint("".join(unparse(call) for call, _ in calls)))
    chosen = (chance.choice(calls) for _ in range(count * 8 if calls else 0))
    return _first(((change(call, chance), label) for call, label in chosen), calls, count)


def _first(made: Iterable[tuple[str | None, T]], calls: Calls[T], count: int | None) -> dict[str, T]:
    """Return the first `count` of `made` that are not None and none of `calls`, without duplicates."""
    known, found = {unparse(call) for call, _ in calls}, dict[str, T]()
    for source, label in made:
        if len(found) == count:
            break
        if source is not None and source not in known:
            found.setdefault(source, label)
    return found


def _related_call(call: ast.Call, chance: random.Random) -> str | None:
    text, tree = _parsed_again(call)
    nodes = [each for each in ast.walk(tree) if isinstance(each, _PARTS) and is_plain(each)]
    parts = {node: text[node.col_offset : node.end_col_offset] for node in nodes}
    keys = {key for node in parts if isinstance(node, ast.Dict) for key in node.keys}
    argument = {node: at for at, given in enumerate(argument_nodes(tree)) for node in ast.walk(given)}
    spot = chance.choice([node for node in parts if node in argument and node not in keys])
    spots = [node for node in parts if parts[node] == parts[spot]]
    if len(spots) > 1 and parts[spot] != b"None" and chance.random() < 0.5:
        return _replaced(text, dict.fromkeys(spots, written(mutated(value_of(spot), chance, words=())).encode()))
    empty = parts[spot] in (b"[]", b"()", b"{}")
    others = [node for node in parts if node not in keys and (not empty or argument.get(node) == argument[spot])]
    fitting = {parts[node]: None for node in others if _is_fitting(node, spot)}
    return _replaced(text, {spot: chance.choice([each for part in fitting for each in (part, *_variants(part))])})


def _variants(part: bytes) -> list[bytes]:
    """Return for a text one with another last character and one with swapped case; none for other parts."""
    text = value_of(part.decode())
    others = (text[:-1] + "ab"[text[-1] == "a"], text.swapcase()) if text and isinstance(text, str) else ()
    return [repr(each).encode() for each in others]


def _parsed_again(call: ast.Call) -> tuple[bytes, ast.Call]:
    """Return the source of `call`, and its tree with the positions in that source."""
    tree = parse_expression(text := unparse(call))
    assert isinstance(tree, ast.Call)
    return text.encode(), tree


def _replaced(text: bytes, others: Mapping[ast.expr, bytes]) -> str | None:
    for node in sorted(others, key=lambda node: -node.col_offset):
        text = text[: node.col_offset] + others[node] + text[node.end_col_offset :]
    return text.decode() if len(text) <= LONGEST_INPUT else None


def _is_fitting(part: ast.expr, spot: ast.expr) -> bool:
    """Return True if `part` may stand in the place of `spot`: they have one type, or one is None and the other a
    container, and containers with items have a type of item in common."""
    one, other = value_of(part), value_of(spot)
    types = {type(one), type(other)}
    is_of_type = len(types) == 1 or (type(None) in types and types <= {type(None), dict, list, tuple})
    return is_of_type and may_be_equal(one, other)


def calls_with(calls: Calls[T], values: Sequence[object], count: int) -> dict[str, T]:
    """Return at most `count` of `calls` with one of `values` in the place of a literal of its type, as
    `near_calls` does. The spot for a value does not depend on the other values."""
    spots = [
        (call, label, node)
        for call, label in calls
        for given in argument_nodes(call)
        for node in ast.walk(given)
        if isinstance(node, ast.Constant)
    ]
    made: list[tuple[str | None, T]] = []
    for value in values:
        if fitting := [each for each in spots if type(each[2].value) is type(value)]:
            call, label, spot = random.Random(fingerprint(repr(value))).choice(fitting)
            before, spot.value = spot.value, value  # type: ignore[assignment]
            source, spot.value = unparse(call), before
            made.append((source if len(source) <= LONGEST_INPUT else None, label))
    return _first(made, calls, count)


def _emptied(call: ast.Call) -> str | None:
    """Return the source of `call` with all texts and containers among its arguments emptied."""
    given = enumerate(argument_values(call))
    kinds = [(at, type(value)) for at, value in given if isinstance(value, str | list | tuple | dict | set)]
    return with_arguments(call, {at: kind() for at, kind in kinds})


def reshaped_calls(calls: Calls[T]) -> dict[str, T]:
    """Return `calls` of another shape: with each nested dictionary wrapped in one more under its first key, as
    they are and with another separator where an argument is one (`is_mark`); with arguments by place, not by name;
    with two neighbours of object and arguments exchanged, if both are containers of one type or of one class."""
    made: list[tuple[str | None, T]] = []
    for call, label in calls:
        given = dict(enumerate(argument_values(call)))
        tables = {at: value for at, value in given.items() if isinstance(value, dict) and value}
        marks = {at: another_mark(value) for at, value in given.items() if is_mark(value)}
        if any(isinstance(item, dict) for value in tables.values() for item in value.values()):
            deeper: dict[int, object] = {at: {next(iter(value)): value} for at, value in tables.items()}
            made += [(with_arguments(call, each), label) for each in (deeper, deeper | marks)]
        by_place = [*call.args, *(keyword.value for keyword in call.keywords)]
        made.append((unparse(ast.Call(call.func, by_place, [])), label))
        text, tree = _parsed_again(call)
        owner = [tree.func.value] if isinstance(tree.func, ast.Attribute) else []
        for left, right in pairwise([*owner, *tree.args]):
            one, other = (text[each.col_offset : each.end_col_offset] for each in (left, right))
            if (kind := _CONTAINER.match(one)) and other.startswith(kind[0]):
                made.append((_replaced(text, {left: other, right: one}), label))
    return _first(made, calls, None)


def varied_calls(calls: Calls[T], others: Others, count: int | None = None) -> dict[str, T]:
    """Return at most `count` of `calls` with one argument replaced by a value that `others` yields."""
    made = (
        (with_arguments(call, {index: other}), label)
        for call, label in calls
        for values in [argument_values(call)]
        for index, value in enumerate(values)
        for other in others(value, values)
    )
    return _first(made, calls, count)


def _session_probes(tests: Sequence[Test], count: int) -> tuple[Test, ...]:
    """Return probes that repeat a test's statements with one literal mutated, for what a single call can't test:
    methods, coroutines, a program."""
    claims = [(claim, test.preamble) for test in tests if (claim := claim_of(test)) is not None]
    chance = random.Random(fingerprint("".join(claim.question for claim, _ in claims)))
    made: dict[str, Test] = {}
    for _ in range(count * 8):
        if not claims or len(made) == count:
            break
        claim, preamble = chance.choice(claims)
        other = _changed_session(claim, chance)
        if other is not None and all(other.question != known.question for known, _ in claims):
            made.setdefault(other.question, as_test(other, f"test_probe_{len(made) + 1}", "generated", preamble))
    return tuple(made.values())


def _changed_session(claim: ValueClaim, chance: random.Random) -> ValueClaim | None:
    tree = parse("\n".join([*claim.setup, claim.call]))
    literals = [node for call in ast.walk(tree) if isinstance(call, ast.Call) for node in _given(call)]
    if not literals:
        return None
    chosen = chance.choice(literals)
    new = parse_expression(repr(mutated(ast.literal_eval(chosen), chance)))
    if unparse(new) == unparse(chosen):
        return None
    *setup, call = map(unparse, swapped(tree, lambda node: new if node is chosen else None).body)
    changed = replace(claim, setup=tuple(setup), call=call, expected=UNKNOWN)
    return changed if len(changed.question) <= LONGEST_INPUT else None


def _given(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of `call` that are literals; of a run of the program, its own arguments and its input.
    The options of opening a file are left out: a mutated codec name would be an error of the test."""
    opened = [keyword.value for keyword in call.keywords if keyword.arg in ("encoding", "errors", "newline")]
    nodes = [node for node in argument_nodes(call) if node not in opened]
    if unparse(call.func) in ("subprocess.run", "subprocess.check_output"):
        command = nodes[0].elts[2:] if nodes and isinstance(nodes[0], ast.List) else []
        nodes = [*command, *(keyword.value for keyword in call.keywords if keyword.arg == "input")]
    return [node for node in nodes if is_literal(unparse(node))]


def probe(number: int, call: str, preamble: str, prefix: str = "test_probe_") -> Test:
    """Return the probe of `call`."""
    return as_test(ValueClaim(call, UNKNOWN), f"{prefix}{number}", "generated", preamble)


def probed_call(probe: Test) -> str:
    """Return the source of the call that a probe makes."""
    claim = claim_of(probe)
    return claim.question if claim else probe.source.partition("assert ")[2].rpartition(f" == {UNKNOWN}")[0]


def literal_calls(tests: Sequence[Test]) -> list[tuple[ast.Call, str]]:
    """Return the calls of plain-data tests whose arguments are all literals, each with its test's preamble."""
    found = []
    for test in tests:
        claim = claim_of(test)
        if claim is None or claim.setup or claim.fixtures or len(claim.call) > LONGEST_INPUT:
            continue
        match parse_expression(claim.call):
            case ast.Call(func=ast.Name()) as call if call.args or call.keywords:
                if all(map(literal_value, argument_nodes(call))):
                    found.append((call, test.preamble))
    return found


def argument_nodes(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call, with those of the object in `having(Class, ...).m()`; for an argument that
    is such an object, or a list of them, its attributes."""
    made = [each for each in ast.walk(call.func) if isinstance(each, ast.Call) and last_name(each) == "having"]
    given = [*call.args, *(keyword.value for each in (*made, call) for keyword in each.keywords)]
    return [part for each in given for part in _parts_of_objects(each)]


def _parts_of_objects(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the attributes of an object `having(Class, ...)`, or of those in a list; else `node` itself."""
    inner = [node]
    if isinstance(node, ast.Call) and last_name(node) == "having":
        inner = [each.value for each in node.keywords]
    elif isinstance(node, ast.List) and not is_plain(node):
        inner = node.elts
    yield from inner if inner == [node] else (part for each in inner for part in _parts_of_objects(each))


def _mutated_call(call: ast.Call, chance: random.Random, words: Sequence[str] | None) -> str | None:
    """Return `call` with one argument mutated; None where it stays the same or becomes too long."""
    values = argument_values(call)
    index = chance.randrange(len(values))
    parting = words is not None and len(values) > 1 and is_mark(values[index])
    changed = another_mark(values[index]) if parting else mutated(values[index], chance, words=words)
    return None if repr(changed) == repr(values[index]) else with_arguments(call, {index: changed})


def argument_values(call: ast.Call) -> list[object]:
    """Return the arguments of a call of plain values. Raises ValueError for others."""
    return [*map(value_of, argument_nodes(call))]


def with_arguments(call: ast.Call, others: Mapping[int, object]) -> str | None:
    """Return the source of `call` with `others` for its arguments at these indices; None if too long."""
    text, tree = _parsed_again(call)
    nodes = argument_nodes(tree)
    return _replaced(text, {nodes[at]: written(value).encode() for at, value in others.items()})

"""Probes: calls that nobody knows the answer of, to see whether candidates that pass the same tests are alike.

Inputs are made from those of the tests by mutations that keep their types and, but where they `reshape`, the keys
of dictionaries and the shape of grids. A probe is a test that can't pass, so that the verifier reports what each
candidate returns.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from ..records import Test, fingerprint
from ..syntax.literals import is_literal
from ..syntax.source import parse, parse_expression, swapped
from .claims import ValueClaim, as_test, claim_of

T = TypeVar("T")
Calls = Sequence[tuple[ast.Call, T]]
"""Calls of literals, each with what comes with it."""
Others = Callable[[object, Sequence[object]], Iterable[object]]
LONGEST_INPUT = 1500
EDGE, ODD = "test_edge_", "test_odd_"
"""Names of probes begin so: on inputs that a clause asks for, and on texts of nearly the form that tests have."""
UNKNOWN = "..."
"""No plain value equals it, and it is a plain expression."""
_NUMBER = re.compile("[0-9]{1,9}")
_PARTS = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set)
_STRING_PARTS = ("é", " ", "  ", "-", "_", "!", "1", "A", "ß", ".", "\t")


def probes(tests: Sequence[Test], count: int) -> tuple[Test, ...]:
    """At most `count` probes on inputs near those of `tests`; the same tests give the same probes."""
    calls = literal_calls(tests)
    return probes_of(near_calls(calls, count)) if calls else _of_sessions(tests, count)


def probes_of(calls: Mapping[str, str], prefix: str = "test_probe_") -> tuple[Test, ...]:
    """Return a probe for each of `calls`, given with its preamble."""
    return tuple(probe(number, call, preamble, prefix) for number, (call, preamble) in enumerate(calls.items(), 1))


def near_calls(calls: Calls[T], count: int, *, reshape: bool = False) -> dict[str, T]:
    """At most `count` calls near `calls`, of literals, as source, each with what came with the call it is made of;
    the same calls give the same ones."""
    return _changed(calls, count, lambda call, chance: _mutated_call(call, chance, reshape))


def related_calls(calls: Calls[T], count: int) -> dict[str, T]:
    """At most `count` of `calls`, longer ones more often, with what one holds twice changed in both places (equal
    stays equal), or with one part, or a text near it, in the place of another (a tree grows)."""
    pool = [each for each in calls for _ in range(1 + len(ast.unparse(each[0])) // 30)]
    return _changed(pool, count, _related_call)


def _changed(calls: Calls[T], count: int, change: Callable[[ast.Call, random.Random], str | None]) -> dict[str, T]:
    chance = random.Random(fingerprint("".join(ast.unparse(call) for call, _ in calls)))
    chosen = (chance.choice(calls) for _ in range(count * 8 if calls else 0))
    return _first(((change(call, chance), label) for call, label in chosen), calls, count)


def _first(made: Iterable[tuple[str | None, T]], calls: Calls[T], count: int | None) -> dict[str, T]:
    """The first `count` that can be made and are none of `calls`, each once."""
    known, found = {ast.unparse(call) for call, _ in calls}, dict[str, T]()
    for source, label in made:
        if len(found) == count:
            break
        if source is not None and source not in known:
            found.setdefault(source, label)
    return found


def _related_call(call: ast.Call, chance: random.Random) -> str | None:
    text, tree = _read_again(call)
    nodes = [node for node in ast.walk(tree) if isinstance(node, _PARTS)]
    parts = {node: text[node.col_offset : node.end_col_offset] for node in nodes}
    keys = {key for node in parts if isinstance(node, ast.Dict) for key in node.keys}
    within = {node for given in argument_nodes(tree) for node in ast.walk(given)} - keys
    spot = chance.choice([node for node in parts if node in within])
    spots = [node for node in parts if parts[node] == parts[spot]]
    if len(spots) > 1 and parts[spot] != b"None" and chance.random() < 0.5:
        return _with(text, spots, repr(mutated(ast.literal_eval(spot), chance, reshape=True)).encode())
    fitting = {parts[node]: None for node in parts if node not in keys and _is_fitting(node, spot)}
    return _with(text, [spot], chance.choice([each for part in fitting for each in (part, *_twins(part))]))


def _twins(part: bytes) -> list[bytes]:
    """Of a text one that ends otherwise, and one in other letters: near one, that is, and not equal."""
    text = ast.literal_eval(part.decode())
    others = (text[:-1] + "ab"[text[-1] == "a"], text.swapcase()) if text and isinstance(text, str) else ()
    return [repr(each).encode() for each in others]


def _read_again(call: ast.Call) -> tuple[bytes, ast.Call]:
    """The source of `call`, and its tree with the places there."""
    tree = parse_expression(text := ast.unparse(call))
    assert isinstance(tree, ast.Call)
    return text.encode(), tree


def _with(text: bytes, spots: Sequence[ast.expr], other: bytes) -> str | None:
    for node in sorted(spots, key=lambda node: -node.col_offset):
        text = text[: node.col_offset] + other + text[node.end_col_offset :]
    return text.decode() if len(text) <= LONGEST_INPUT else None


def _is_fitting(part: ast.expr, spot: ast.expr) -> bool:
    """Return True if a part is of the type of another, containers with an item of one type, or None for one."""
    types = [_type(part), _type(spot)]
    one, other = ({*map(_type, getattr(each, "values", getattr(each, "elts", ())))} for each in (part, spot))
    of_one = types[0] == types[1] or (
        types.count("NoneType") and {*types} <= {"NoneType", "Dict", "List", "Tuple"}
    )
    return bool(of_one and (not one or not other or one & other))


def _type(node: ast.expr) -> str:
    return type(node.value if isinstance(node, ast.Constant) else node).__name__


def calls_with(calls: Calls[T], values: Sequence[object], count: int) -> dict[str, T]:
    """At most `count` of `calls`, of literals, with one of `values` in the place of a literal of its type, as
    `near_calls` gives them; other values change nothing about those of one."""
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
            source, spot.value = ast.unparse(call), before
            made.append((source if len(source) <= LONGEST_INPUT else None, label))
    return _first(made, calls, count)


def edge_calls(calls: Calls[T], count: int) -> dict[str, T]:
    """At most `count` of `calls`, of literals, with one argument or its last item at the edge of its type (empty,
    one item, twice as long, zero, one; a fraction a thousandth off) or equal to another one of its type."""
    return varied_calls(calls, _edges, count)


def varied_calls(calls: Calls[T], others: Others, count: int | None = None) -> dict[str, T]:
    """At most `count` of `calls` with another value for one argument, as `near_calls` gives them; `others` gets
    that argument, and all of its call."""
    made = (
        (with_argument(call, index, other), label)
        for call, label in calls
        for values in [argument_values(call)]
        for index, value in enumerate(values)
        for other in others(value, values)
    )
    return _first(made, calls, count)


def _edges(value: object, values: Sequence[object]) -> Iterator[object]:
    match value:
        case bool():
            yield not value
        case int():
            yield from (0, 1)
        case float():
            yield from (0.0, 1.0, value * 0.999, value * 1.001)
        case str() | tuple():
            yield from (value[:0], value[:1])
        case list():
            yield from (value[:0], value[:1], 2 * value)
            lasts = (each for each in value[-1:] if isinstance(each, str | int | float))
            yield from ([*value[:-1], next(_edges(each, ()))] for each in lasts)
        case dict():
            yield from ({}, dict(list(value.items())[:1]))
        case set():
            yield set()
    yield from (each for each in values if type(each) is type(value))


def _of_sessions(tests: Sequence[Test], count: int) -> tuple[Test, ...]:
    """Probes that repeat a test's statements with one literal argument of one call changed: of methods, of
    coroutines, of a program."""
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
    if ast.unparse(new) == ast.unparse(chosen):
        return None
    *setup, call = map(ast.unparse, swapped(tree, lambda node: new if node is chosen else None).body)
    changed = replace(claim, setup=tuple(setup), call=call, expected=UNKNOWN)
    return changed if len(changed.question) <= LONGEST_INPUT else None


def _given(call: ast.Call) -> list[ast.expr]:
    """The literals that `call` passes on; of a run of the program, its own arguments and its input. How a file is
    opened is none: another name of a codec is an error of the test's own."""
    opened = [keyword.value for keyword in call.keywords if keyword.arg in ("encoding", "errors", "newline")]
    nodes = [node for node in argument_nodes(call) if node not in opened]
    if ast.unparse(call.func) in ("subprocess.run", "subprocess.check_output"):
        command = nodes[0].elts[2:] if nodes and isinstance(nodes[0], ast.List) else []
        nodes = [*command, *(keyword.value for keyword in call.keywords if keyword.arg == "input")]
    return [node for node in nodes if is_literal(ast.unparse(node))]


def probe(number: int, call: str, preamble: str, prefix: str = "test_probe_") -> Test:
    """Return the probe that makes `call`."""
    return as_test(ValueClaim(call, UNKNOWN), f"{prefix}{number}", "generated", preamble)


def probed_call(probe: Test) -> str:
    """The call that a probe makes."""
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
                with suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                    argument_values(call)
                    found.append((call, test.preamble))
    return found


def argument_nodes(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call, by position and by name; of `having(Class, ...).method()` what the object has."""
    match call:
        case ast.Call(ast.Attribute(ast.Call(ast.Name("having"), _, state)), [], []):
            return [keyword.value for keyword in state]
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _mutated_call(call: ast.Call, chance: random.Random, reshape: bool) -> str | None:
    """`call` with one argument changed; None when its values can't be."""
    values = argument_values(call)
    index = chance.randrange(len(values))
    changed = mutated(values[index], chance, reshape=reshape)
    return None if repr(changed) == repr(values[index]) else with_argument(call, index, changed)


def argument_values(call: ast.Call) -> list[object]:
    """The arguments of a call of literals. Raises what `ast.literal_eval` does for others."""
    return [ast.literal_eval(node) for node in argument_nodes(call)]


def with_argument(call: ast.Call, index: int, value: object) -> str | None:
    """The source of `call`, of literals, with another value for one argument; None where it is too long."""
    text, tree = _read_again(call)
    return _with(text, [argument_nodes(tree)[index]], repr(value).encode())


def mutated(value: object, chance: random.Random, *, reshape: bool = False) -> object:
    """A value of the same type near `value`; the same one where there is no near one."""
    match value:
        case bool():
            return not value
        case int():
            return chance.choice([0, 1, -1, value + 1, value - 1, -value, 2 * value, value * 10 + 7])
        case float():
            return chance.choice([0.0, -value, value + 0.5, value / 2, value * 3])
        case str():
            return _mutated_text(value, chance, reshape)
        case list():
            return _mutated_items(value, chance, reshape)
        case tuple():
            items = (mutated(item, chance, reshape=reshape) if chance.random() < 0.5 else item for item in value)
            return tuple(items)
        case dict():
            changed = chance.choice([*value, None])
            if reshape and changed is not None and chance.random() < 0.5:
                return _other_keys(value, changed, chance)
            near = mutated(value.get(changed), chance, reshape=reshape)
            return {key: near if key == changed else item for key, item in value.items()}
        case set():
            return set(_mutated_items(sorted(value, key=repr), chance, reshape))
    return value


def _other_keys(items: dict[object, object], key: object, chance: random.Random) -> dict[object, object]:
    """A dictionary without one of its keys, empty, or with that under another name, alone or too."""
    others = {each: item for each, item in items.items() if each != key}
    new = {mutated(key, chance): items[key]}
    return chance.choice([others, {}, {**others, **new}, {**items, **new}])


def _mutated_text(text: str, chance: random.Random, reshape: bool) -> str:
    if (numbers := list(_NUMBER.finditer(text)) if reshape else []) and chance.random() < 0.5:
        found = chance.choice(numbers)
        number = abs(int(found[0]) + chance.choice([1, -1, 2, 10]))
        return f"{text[: found.start()]}{number:0{len(found[0])}}{text[found.end() :]}"
    at = chance.randint(0, len(text))
    part = chance.choice(_STRING_PARTS)
    return chance.choice(
        [text[:at] + part + text[at:], text[:at] + text[at + 1 :], text.swapcase(), text[::-1], text + text, part]
    )


def _mutated_items(items: list[object], chance: random.Random, reshape: bool) -> list[object]:
    if not items:
        return items
    at, other = chance.randrange(len(items)), chance.randrange(len(items))
    lengths = {len(item) if isinstance(item, list) else 0 for item in items}
    if len(items) > 1 and len(lengths) == 1 and min(lengths) > 1:  # rows of one length: a board, a matrix
        if reshape and chance.random() < 0.5:
            return chance.choice(_shapes(items, at)[1:])  # a grid has rows
        return [_cell_changed(row, items, chance) if index == at else row for index, row in enumerate(items)]
    swapped = list(items)
    swapped[at], swapped[other] = swapped[other], swapped[at]
    changed = [mutated(item, chance, reshape=reshape) if index == at else item for index, item in enumerate(items)]
    return chance.choice([swapped, changed, changed, *_shapes(items, at)])


def _shapes(items: list[object], at: int) -> list[list[object]]:
    return [[], items[at : at + 1], items[::-1], [*items, items[at]], items[:at] + items[at + 1 :]]


def _cell_changed(row: object, rows: list[object], chance: random.Random) -> object:
    """The row with one cell set to a value of its type found elsewhere in the grid."""
    assert isinstance(row, list)
    at = chance.randrange(len(row))
    cells = [cell for each in rows if isinstance(each, list) for cell in each if type(cell) is type(row[at])]
    return [chance.choice(cells) if index == at else cell for index, cell in enumerate(row)]

"""Standing of each clause of the spec by the tests: held by tests that count, open, or checked by nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from ..records import Clause, ClauseCheck, Need, Test
from ..spec.kinds_of_input import BY_NAME
from ..spec.sentences import QUOTED
from ..syntax.checks import checks_in
from ..syntax.literals import literal_value
from ..syntax.source import statements
from .probes import EDGE, ODD, calls_with, literal_calls, probes_of, varied_calls
from .used_parts import Used, used_by

_NUMBER = re.compile(r"(?<![\w.'\"])-?\d{1,9}(?:\.\d{1,4})?(?!\.?\w)")


def clause_checks(
    clauses: Sequence[Clause], counting: Sequence[Test], contested: Sequence[Test], entry: str
) -> tuple[ClauseCheck, ...]:
    """Return the check of each clause against `counting` tests; one that only `contested` tests meet is open.

    A clause without needs is held by every test that counts. Of two clauses that name one exception each needs a
    test of its own. A test that was asked for a clause, and only repeats an example before it, does not hold it.
    """
    earlier = {clause.text: clause.earlier for clause in clauses}
    uses = [used_by(test) for test in counting]
    stated = tuple(each for used in uses for each in used.stated)
    counts = [
        replace(used, repeated=_repeats(test, earlier.get(test.about, ())), counting=stated)
        for used, test in zip(uses, counting, strict=True)
    ]
    doubts = [used_by(test) for test in contested]
    found = []
    shared = _without_own_raise(clauses, counts)
    for clause in clauses:
        unmet = {need for need in clause.needs if not any(used.meets(need) for used in counts)}
        unmet |= {need for need in clause.needs if need.kind == "exception" and clause in shared}
        missing = tuple(need for need in clause.needs if need in unmet)
        own = [need for need in clause.needs if need.kind != "bound"]
        about = [used for used in counts if not own or any(map(used.meets, own))]
        is_open = any(any(map(used.meets, missing)) for used in doubts)
        method = next((need.value for need in clause.needs if need.kind == "name"), "method")
        steps = entry[:1].isupper() and f"{entry}(" not in clause.text
        called = f"x = {entry}(...); x.{method}" if steps else entry
        line = line_for(missing[0], [*counting, *contested], called) if missing else ""
        found.append(ClauseCheck(clause.text, len(about), missing, is_open, line))
    return tuple(found)


def _repeats(test: Test, examples: Sequence[str]) -> bool:
    """Return True if `examples` have all checks of `test`, and these have values that its clause does not name."""
    mine = checks_in(test.source, test.preamble)
    if not mine or not {check for example in examples for check in checks_in(example)}.issuperset(mine):
        return False
    stated = [each for check in mine for each in statements(f"{check.call}\n{check.value}")]
    parts = [node for each in stated for node in ast.walk(each)]
    return not all(str(node.value) in test.about for node in parts if isinstance(node, ast.Constant))


def _without_own_raise(clauses: Sequence[Clause], counts: Sequence[Used]) -> list[Clause]:
    """Return the clauses that name an exception, where every test of it belongs to another clause."""
    naming = [(clause, need.value) for clause in clauses for need in clause.needs if need.kind == "exception"]
    taken: set[int] = set()
    loose: list[tuple[Clause, str]] = []
    for clause, exception in naming:
        inputs = [need for need in clause.needs if need.raising]
        own = {n for n, used in enumerate(counts) if used.about == clause.text or any(map(used.meets, inputs))}
        taken |= own
        if not inputs and not any(exception in counts[number].raises for number in own):
            loose.append((clause, exception))
    left: list[Clause] = []
    for clause, exception in loose:
        free = [
            n for n, used in enumerate(counts) if exception in used.raises and n not in taken and not used.about
        ]
        taken.update(free[:1])
        left += [] if free else [clause]
    return left


def line_for(need: Need, tests: Sequence[Test], entry: str) -> str:
    """Return a line for a file of answers that would test `need`, with `...` for the parts that are unknown."""
    call = next((made for test in tests if (made := _call_for(need, test))), None)
    if need.kind == "test" or (need.kind == "bound" and call is None):
        return f"{entry}(...) == {need.giving or '...'}, on an input that shows it"
    if need.kind == "exception" or need.raising:
        return f"{call or f'{entry}(...)'} raises {need.raising or need.value}"
    if need.kind == "text":
        return f"{entry}(...) == {need.value}"
    return f"{call or f'{entry}(...)'} == {need.giving or '...'}"


def _call_for(need: Need, test: Test) -> str | None:
    """Return the call of `test` with one argument changed so that it meets `need`; None where none can be."""
    if need.kind == "bound" and need.value.lstrip("-")[0].isdigit():
        number = float(need.value)
        values = [number, int(number)] if number.is_integer() else [number]
        return next(iter(calls_with(literal_calls([test]), values, 1)), None)
    if need.kind not in ("input", "value"):
        return None
    wanted = BY_NAME[need.value]

    def others(value: object, _: Sequence[object]) -> list[object]:
        made = wanted.make(value)
        return [made] if wanted.has(made) and (made != value or type(made) is not type(value)) else []

    return next(iter(varied_calls(literal_calls([test]), others, 1)), None)


def specified(found: Iterable[Clause], unspecified: Iterable[str]) -> tuple[Clause, ...]:
    """Return `found` without the needs of inputs that `unspecified` calls meet: an answer leaves these open."""
    left_open = [used_by(Test("", code, "spec")) for code in unspecified]

    def asks(need: Need) -> bool:
        asked = replace(need, giving="")
        return need.kind not in ("input", "value") or not any(used.meets(asked) for used in left_open)

    return tuple(replace(clause, needs=tuple(filter(asks, clause.needs))) for clause in found)


def odd_probes(clauses: Sequence[Clause], tests: Sequence[Test], count: int) -> tuple[Test, ...]:
    """Return at most `count` probes on malformed variants of the texts in `tests`, where a clause names an
    exception: they show code that is too lenient or too strict."""
    if not any(need.kind == "exception" for clause in clauses for need in clause.needs):
        return ()
    return probes_of(varied_calls(literal_calls(tests), _odd_texts, count), ODD)


def _odd_texts(text: object, _: Sequence[object]) -> Iterator[str]:
    """Yield malformed variants of `text`: empty, a leading 0 less, punctuation doubled or removed, text added."""
    if not isinstance(text, str) or not text:
        return
    shorter = re.sub(r"\b0(?=\d)", "", text, count=1)
    doubled = re.sub(r"([^\w\s])", r"\1\1", text, count=1)
    without = re.sub(r"[^\w\s]", "", text, count=1)
    yield ""
    yield from (each for each in (shorter, doubled, without) if each != text)
    yield from (f"{text}x", f"-{text}", f"{text}\n")


def _of_one_type(value: object, _: Sequence[object]) -> list[list[object]]:
    """Return for a list of items of several types a list of one item for each type; else none."""
    firsts = {type(item): item for item in reversed(value)} if isinstance(value, list) else {}
    return [[item] for item in firsts.values()] if len(firsts) > 1 else []


def _values_in(words: str) -> Iterator[object]:
    """Yield the numbers and quoted texts in `words`."""
    for found in chain(_NUMBER.finditer(words), QUOTED.finditer(words)):
        yield from literal_value(found[0].strip("`")) or ()


def edge_probes(clauses: Sequence[Clause], tests: Sequence[Test], count: int) -> tuple[Test, ...]:
    """Return at most `count` probes: on inputs that a clause asks for and none of `tests` has, on lists of one
    type of item where those of `tests` mix types, and on numbers and quoted texts of the clauses."""
    used = [used_by(test) for test in tests]
    needs = dict.fromkeys(need for clause in clauses for need in clause.needs if need.kind in ("input", "value"))
    missing = [need for need in needs if not any(each.meets(need) for each in used)]
    made = [(_call_for(need, test), test.preamble) for need in missing for test in tests]
    calls = {call: preamble for call, preamble in made if call is not None}
    plain = literal_calls(tests)
    calls |= varied_calls(plain, _of_one_type)
    known = {repr(value) for each in used for value in each.values}
    stated = [value for clause in clauses for value in _values_in(clause.text) if repr(value) not in known]
    calls |= calls_with(plain, stated, count)
    return probes_of(dict(islice(calls.items(), count)), EDGE)

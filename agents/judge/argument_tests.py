"""Tests and probes of what `==` does not show: an argument changed or returned itself, and a result's type."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from ..records import Clause, Signature, Test
from ..spec.signature import parameters
from ..syntax.source import indented, unparse
from .claims import ValueClaim, as_test, claim_of
from .probes import UNKNOWN, Calls, literal_calls

_ARGUMENT_WORDS = (
    r"(?:inputs?|arguments?|original|given|lists?|dict\w*|arrays?|sets?|matrix|grid|parameters?|either|them|it)\b"
)
_UNCHANGED = re.compile(
    r"(?i)(?:\b(?:not|never|without|nor)|n't)\s+(?:be\s+)?(?:modif|chang|mutat|alter|touch)\w*(?:\s+(?:the|any|its|of|either))*\s+"
    rf"{_ARGUMENT_WORDS}|\b{_ARGUMENT_WORDS}[^.;,]{{0,30}}(?:\bnot|n't|\bnever)\s+(?:be\s+)?(?:modif|chang|mutat|alter|touch)\w*"
    rf"|\bleav\w+\s+(?:\w+\s+){{0,2}}{_ARGUMENT_WORDS}[^.;,]{{0,30}}\b(?:unchanged|untouched|alone|as\s+(?:it|they)\b)"
    rf"|\b{_ARGUMENT_WORDS}[^.;,]{{0,30}}\b(?:unchanged|untouched|unmodified|intact)\b"
    rf"|\bneither\s+(?:\w+\s+){{0,3}}{_ARGUMENT_WORDS}[^.;,]{{0,30}}\b(?:modif|chang|mutat|alter|touch)\w*"
)
_NEW = re.compile(
    r"(?i)\b(?:a|as|the)\s+(?:brand\s+)?(?:new|fresh)\s+(?:\w+\s+){0,2}(?:lists?|dict\w*|sets?|arrays?|matrix|grid|copy|object)\b"
    r"|\b(?:return|giv|mak)\w*\s+a\s+(?:\w+\s+)?copy\b"
)
_IN_PLACE = re.compile(r"(?i)\bin[- ]place\b")
_NUMBER = re.compile(
    r"(?i)\b(?:results?|returns?|returned|answer|it)\b(?:(?!given|passed|represented|written|stored|taken)[^.;,]){0,40}?"
    r"\b(?:always|as)\s+an?\s+(?P<type>float|int|integer)\b"
)
_MOST_CALLS = 2
_MOST_RESULTS = 6
SAID = "test_spec_says_"
"""Prefix of the ids of tests made here."""
CHANGED = "test_argument_changed_"
ITSELF = "test_argument_itself_"
"""Prefixes of the ids of probes: is the argument changed, and is it the result itself."""


def argument_tests(
    clauses: Sequence[Clause], tests: Sequence[Test], signature: Signature | None = None
) -> tuple[Test, ...]:
    """Return tests that arguments stay unchanged and results are new objects, where `clauses` say so: on the
    lists, dicts and sets of `tests`, and on shorter and empty ones, for which many functions return early."""
    if any(_IN_PLACE.search(clause.text) for clause in clauses):
        return ()
    kinds = (("unchanged", _UNCHANGED, "given == {argument}"), ("new", _NEW, "result is not given"))
    made = []
    wanted = parameters(signature) if signature else None
    names = [node.arg for node in ast.walk(wanted) if isinstance(node, ast.arg)] if wanted else []
    named = re.compile(rf"\b(?:{'|'.join(names) or '(?!)'})\b")
    for word, pattern, condition in kinds:
        said = next((clause.text for clause in clauses if pattern.search(named.sub("it", clause.text))), None)
        telling = sorted(literal_calls(tests), key=_sort_key) if said else []
        for number, (call, argument, preamble) in enumerate(dict.fromkeys(_calls(telling)), 1):
            name, before = f"{SAID}{word}_{number}", f"given = {argument}\n"
            holds = condition.format(argument=argument)
            # A clause such as `a new list, newest first` asks for more than a new list.
            about = said if said and word == "unchanged" else ""
            made.append(_test(name, f"result = {call}", holds, preamble, about, before=before))
    return tuple(made)


def result_tests(clauses: Sequence[Clause], tests: Sequence[Test]) -> tuple[Test, ...]:
    """Return tests that a numeric result is an int or a float, where `clauses` say which and no trusted test of
    `tests` expects the other: 2 == 2.0, so that no test of values tells them apart."""
    said = next(((clause, match) for clause in clauses if (match := _NUMBER.search(clause.text))), None)
    if said is None:
        return ()
    numbers = [
        (claim, test)
        for test in tests
        if (claim := claim_of(test)) is not None and not claim.fixtures
        if re.fullmatch(r"-?[\d.]+", claim.expected)
    ]
    kind = "float" if said[1]["type"].lower() == "float" else "int"
    if any(test.trusted and ("." in claim.expected) is (kind == "int") for claim, test in numbers):
        return ()
    return tuple(
        _test(
            f"{SAID}type_{number}",
            "\n".join([*claim.setup, f"result = {claim.call}"]),
            f"result is None or type(result) is {kind}",
            test.preamble,
            said[0].text,
        )
        for number, (claim, test) in enumerate(numbers[:_MOST_RESULTS], 1)
    )


def argument_probes(tests: Sequence[Test]) -> tuple[Test, ...]:
    """Return probes of what calls do to arguments; none where `tests` have tests of arguments already."""
    if any(test.id.startswith(SAID) for test in tests):
        return ()
    calls = [each for each in dict.fromkeys(_calls(literal_calls(tests))) if ast.literal_eval(each[1])]
    found = []
    for number, (call, argument, preamble) in enumerate(calls, 1):
        for prefix, step, asked in ((CHANGED, call, "given"), (ITSELF, f"result = {call}", "(result is given)")):
            claim = ValueClaim(asked, UNKNOWN, (f"given = {argument}", step))
            found.append(as_test(claim, f"{prefix}{number}", "generated", preamble))
    return tuple(found)


def _calls(calls: Calls[str]) -> Iterator[tuple[str, str, str]]:
    """Yield for each mutable argument the call with `given` in its place, that argument, and the preamble."""
    kinds = ast.List | ast.Dict | ast.Set
    changing = [found for found in calls if any(isinstance(node, kinds) for node in found[0].args)]
    for call, preamble in changing[:_MOST_CALLS]:
        for index, node in enumerate(call.args):
            if isinstance(node, kinds):
                arguments = [*call.args[:index], ast.Name("given"), *call.args[index + 1 :]]
                source = unparse(ast.Call(call.func, arguments, call.keywords))
                value = ast.literal_eval(node)
                given = (value, value[:1] if isinstance(value, list) else value, type(value)())
                yield from ((source, repr(each), preamble) for each in given)


def _sort_key(found: tuple[ast.Call, str]) -> tuple[bool, int]:
    """Return a sort key: calls with an unsorted list first, then long ones; a change shows there."""
    call, _ = found
    lists = [ast.literal_eval(node) for node in call.args if isinstance(node, ast.List)]
    try:
        return all(each == sorted(each) for each in lists), -len(unparse(call))
    except TypeError:
        return True, -len(unparse(call))


def _test(name: str, steps: str, condition: str, preamble: str, about: str, *, before: str = "") -> Test:
    """Return a test of `condition` after `steps`. It lets them raise: what raises is for other tests."""
    body = f"{before}try:\n{indented(steps)}\nexcept Exception:\n    result = None\nassert {condition}"
    return Test(name, f"def {name}():\n{indented(body)}\n", "spec", preamble, about)

"""Tests and probes of what `==` does not show: an argument changed or returned itself, and a result's type."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from ..records import Clause, Signature, Test
from ..spec.sentences import TO_CHANGE
from ..spec.signature import parameters
from ..syntax.collection import last_name
from ..syntax.source import indented, unparse
from .claims import ValueClaim, as_test, claim_of
from .probes import UNKNOWN, Calls, literal_calls

_CONTAINER = r"lists?|dict\w*|sets?|arrays?|matrix|grid"
_ARGUMENT = rf"\b(?:inputs?|arguments?|parameters?|original|given|either|them|it|{_CONTAINER})\b"
_NEAR = r"[^.;,]{0,30}"
_UNCHANGED = re.compile(
    rf"(?i)(?:\b(?:not|never|without|nor)|n't)\s+(?:be\s+)?{TO_CHANGE}(?:\s+(?:the|any|its|of|either))*\s+{_ARGUMENT}"
    rf"|{_ARGUMENT}{_NEAR}(?:\bnot|n't|\bnever)\s+(?:be\s+)?{TO_CHANGE}"
    rf"|\bleav\w+\s+(?:\w+\s+){{0,2}}{_ARGUMENT}{_NEAR}\b(?:unchanged|untouched|alone|as\s+(?:it|they)\b)"
    rf"|{_ARGUMENT}{_NEAR}\b(?:unchanged|untouched|unmodified|intact|(?:stays?|left)\s+as\s+(?:it|they)\b)"
    rf"|\bneither\s+(?:\w+\s+){{0,3}}{_ARGUMENT}{_NEAR}\b{TO_CHANGE}"
)
_NEW = re.compile(
    rf"(?i)\b(?:a|as|the)\s+(?:brand\s+)?(?:new|fresh)\s+(?:\w+\s+){{0,2}}(?:{_CONTAINER}|copy|object)\b"
    r"|\b(?:return|giv|mak)\w*\s+a\s+(?:\w+\s+)?copy\b"
)
_ITSELF = re.compile(
    r"(?i)\bitself\b|\bsame (?:list|dict\w*|set|object)\b|\breturn\w* (?:the )?(?:given|original|same|input)\b"
    r"|\breturn\w*\b(?:(?!new|copy)[^.;,]){0,30}\b(?:unchanged|untouched|as (?:it )?is)\b"
)
"""Words by which a result may be the argument after all."""
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
    names = positional_names(signature)
    named = re.compile(rf"\b(?:{'|'.join(names) or '(?!)'})\b")
    for word, pattern, condition in kinds:
        said = next((clause.text for clause in clauses if pattern.search(named.sub("it", clause.text))), None)
        if said is None or (word == "new" and any(_ITSELF.search(clause.text) for clause in clauses)):
            continue
        only = named_arguments(without_heads(said), names) if word == "unchanged" else ()
        telling = sorted(calls_meant(said, tests), key=_sort_key)
        for number, (call, argument, preamble) in enumerate(dict.fromkeys(_calls(telling, only)), 1):
            name, before = f"{SAID}{word}_{number}", f"given = {argument}\n"
            holds = condition.format(argument=argument)
            # A clause such as `a new list, newest first` asks for more than a new list.
            about = said if word == "unchanged" else ""
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


def calls_meant(words: str, tests: Sequence[Test]) -> list[tuple[ast.Call, str]]:
    """Return the literal calls of `tests` of the functions that `words` name. Where they name none, return all if
    one function is called, and none if several are."""
    calls = literal_calls(tests)
    called = {last_name(call) for call, _ in calls}
    named = {name for name in called if re.search(rf"\b{re.escape(name)}\b", words)}
    meant = named or (called if len(called) == 1 else ())
    return [each for each in calls if last_name(each[0]) in meant]


def positional_names(signature: Signature | None, call: ast.Call | None = None) -> list[str]:
    """Return the names of the parameters that may be given by position; with `call` of its arguments."""
    wanted = parameters(signature) if signature else None
    names = [each.arg for each in (*wanted.posonlyargs, *wanted.args)] if wanted else []
    if call is None or not names:
        return names
    return [*names[: len(call.args)], *(each.arg or "" for each in call.keywords)]


def named_arguments(words: str, names: Sequence[str]) -> list[int]:
    """Return the indexes of those of `names` that occur in `words`, also as `Name`, `names` and `name's`."""
    return [
        at
        for at, name in enumerate(names)
        if name and re.search(rf"\b{re.escape(name)}(?:'?s)?\b", words, re.IGNORECASE if len(name) > 1 else 0)
    ]


def without_heads(words: str) -> str:
    """Return `words` without what looks like a call: in `f(a, b): the sum` no argument is spoken of."""
    return re.sub(r"\b\w++\([^()]*\)", "", words)


def _calls(calls: Calls[str], only: Sequence[int] = ()) -> Iterator[tuple[str, str, str]]:
    """Yield for each mutable argument, those of the indexes `only` if any, the call with `given` in its place,
    that argument, and the preamble."""
    kinds = ast.List | ast.Dict | ast.Set
    changing = [found for found in calls if any(isinstance(node, kinds) for node in found[0].args)]
    for call, preamble in changing[:_MOST_CALLS]:
        for index, node in enumerate(call.args):
            if isinstance(node, kinds) and (not only or index in only):
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

"""Tests that a call comes out the same with its text in another case, or with spaces around it, where the spec
says so. They need no expected value (metamorphic relations; Chen, Cheung and Yiu, 1998)."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from itertools import islice

from ..records import Clause, Test
from ..spec.kinds_of_input import EITHER_CASE, SAME_CASE
from ..syntax.source import unparse
from .argument_tests import SAID
from .probes import argument_values, literal_calls, with_arguments

_OWN_CASE = re.compile(
    r"(?i)\bcase[- ]sensitiv|\b(?:different|distinct|distinguish|upper|capital|title|camel)"
    r"|\blower(?!(?:[- ]?case)?d\b)"
)
"""Words by which the case of a letter has a meaning elsewhere in a spec."""
_RESULT_CASE = re.compile(r"(?i)\b(?:in|to|are|is) (?:lower|upper)[- ]?case\b")
"""Words on the case of a result, which the tests do not compare."""
_AROUND = re.compile(
    r"(?i)(?!.*\b(?:kept?|keeps?|counts?|not|never|no)\b|.*n't\b).*"
    r"\b(?:(?:(?:surrounding|leading (?:and|or) trailing) (?:white ?space|spaces|blanks)"
    r"|(?:white ?space|spaces|blanks) (?:at (?:both|either|its|the) ends?|around (?:it|the (?!comma|colon|dash"
    r"|semicolon|hyphen|slash|dot|point|sign|separator|delimiter|operator|equals?|plus|minus)\w+)))\b"
    r"[^.;]{0,40}\b(?:ignored|stripped|removed|trimmed|dropped|allowed)\b"
    r"|(?:white ?space|spaces|blanks)(?:,? (?:and|or) \w+)? (?:is|are) ignored\b)"
)
_NOTATION = re.compile(r"[%{\\]")
"""Marks of a text in which the case of a letter belongs to a notation, such as `%Y`."""
_MOST_CALLS = 2
RELATION = f"{SAID}relation_"
"""Prefix of the ids of tests made here."""
_HELPER = """
def folded(value):
    return sorted(str(value).casefold().replace(" ", ""))
"""
_TEST = """\
def {name}():
    try:
        result = {call}
    except Exception:
        return
    assert folded({other}) == folded(result)
"""


def relation_tests(clauses: Sequence[Clause], tests: Sequence[Test]) -> tuple[Test, ...]:
    """Return tests on the calls of `tests` by what `clauses` say of case, and of spaces around a text."""
    same, either = _on_case(clauses, SAME_CASE), _on_case(clauses, EITHER_CASE)
    around = next((clause.text for clause in clauses if _AROUND.match(clause.text)), "")
    made: dict[str, Test] = {}
    for about, change in ((same or either, _in_other_case), (same, _with_one_other), (around, _padded)):
        calls = literal_calls(tests) if about else []
        found = {other: (call, label) for call, label in calls if (other := _changed(call, change))}
        for other, (call, preamble) in islice(found.items(), _MOST_CALLS):
            name = f"{RELATION}{len(made) + 1}"
            source = _TEST.format(name=name, other=other, call=unparse(call))
            made.setdefault(other, Test(name, source, "spec", f"{preamble}{_HELPER}", about))
    return tuple(made.values())


def _on_case(clauses: Sequence[Clause], said: re.Pattern[str]) -> str:
    """Return the clause by which letters may be in any case; "" where their case may have a meaning elsewhere."""
    rest = (_RESULT_CASE.sub("", EITHER_CASE.sub("", SAME_CASE.sub("", clause.text))) for clause in clauses)
    found = next((clause.text for clause in clauses if said.search(clause.text)), "")
    return "" if any(map(_OWN_CASE.search, rest)) else found


def _changed(call: ast.Call, change: Callable[[list[str]], list[str]]) -> str | None:
    """Return `call` with its texts, also those in lists, changed; None where they stay as they are."""
    values = argument_values(call)
    parts = [each for value in values for each in (value if isinstance(value, list) else [value])]
    texts = [each for each in parts if isinstance(each, str)]
    others = iter(change(texts))

    def changed(value: object) -> object:
        return next(others) if isinstance(value, str) else value

    made = [[*map(changed, value)] if isinstance(value, list) else changed(value) for value in values]
    return with_arguments(call, dict(enumerate(made))) if made != values else None


def _in_other_case(texts: list[str]) -> list[str]:
    noted = any(_NOTATION.search(text) or not text.isascii() for text in texts)
    return texts if noted else [text.swapcase() for text in texts]


def _with_one_other(texts: list[str]) -> list[str]:
    """Return `texts` with the first letter in the other case."""
    changed = _in_other_case(texts)
    for at, (text, other) in enumerate(zip(texts, changed, strict=True)):
        for index, (letter, swapped) in enumerate(zip(text, other, strict=True)):
            if letter != swapped:
                return [*texts[:at], f"{text[:index]}{swapped}{text[index + 1 :]}", *texts[at + 1 :]]
    return texts


def _padded(texts: list[str]) -> list[str]:
    return [f"  {texts[0]} "] if len(texts) == 1 and texts[0] else texts

"""Tests that a call raises the exception that a clause names for a limit, a kind of input or `anything else`: made
from the words, where a model often writes tests of results only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from ..records import Clause, Signature, Test
from ..spec.bounds import beyond
from ..spec.kinds_of_input import BY_NAME
from .argument_tests import calls_meant, named_arguments, positional_names, without_heads
from .probes import argument_values, with_arguments

RAISING = ("test_spec_raises_", "test_spec_gives_")
"""Prefixes of the ids of tests made here."""
_KINDS = ("input", "value")
_EMPTY = ("an empty input", "an empty text", "a blank text")
_OTHERS = (
    r"(?:(?:any|every)thing (?:else|that (?:is not|isn't))|any other (?:text|string|name|word|input|value))\b"
)
_ELSE = re.compile(
    rf"(?i)(?:\b(?:for|on|if|with|or|has|is) {_OTHERS}"
    rf"|\b{_OTHERS}(?=(?:, [^,;]{{1,40}},)?(?:(?!\band (?:an?|the|rais))[^,;]){{0,40}}(?:\brais|\bthrow|error)))"
    r"(?! (?:(?:is|are) (?!an? \w*error|invalid|in\b)|gives?|returns?|counts?|means?)\b)(?!:? ?['\"`=→-])"
    r"(?!.*\b(?:punctuation|special|symbol|mark|printable|ascii))(?!.*[?!])"
)
"""`Raise it for anything else`, but not `anything else is kept`, and nothing that may include what is tried."""
_EMPTY_PART = re.compile(
    r"(?i)\bempty (?!(?:strings?|texts?|lists?|tuples?|sets?|dict\w*|sequences?|inputs?|ones?|or|and|it|raises?"
    r"|values?|arguments?)\b)(\w+)"
)
"""`a part with an empty name`, unless `name` is a parameter."""
_MARKED = r"(?:with|contain\w*|ha(?:s|ve)|includ\w+|holds?)(?: (?:an?|any|some|the|no))? (?:{0})"
_PLAIN_KINDS = ("an empty input", "an empty text", "a negative number", "zero", "None", "a bool", "a float")
"""Kinds of a whole argument. Others, such as `a digit`, are asked for where a clause says `with a digit`."""
_LARGEST = 1000
_NONSENSE = "?!"
_MOST_OF_A_CLAUSE = 2


def raising_tests(
    clauses: Sequence[Clause], tests: Sequence[Test], signature: Signature | None = None
) -> tuple[Test, ...]:
    """Return tests of the clauses that name one exception, or the result for an empty input or one item, on calls
    of `tests` with an argument that the words ask for. They are generated tests: where no draft does so, they are
    a question."""
    sources, known = "\n".join(test.source for test in tests), positional_names(signature)
    made: list[Test] = []
    told = sum(need.value in _EMPTY for clause in clauses for need in clause.needs) < 2
    for clause in clauses:
        exceptions = [need.value for need in clause.needs if need.kind == "exception"]
        results = [need.giving for need in clause.needs if need.kind in _KINDS and need.giving] if told else []
        found: dict[str, str] = {}
        for call, preamble in calls_meant(clause.text, tests) if len(exceptions or results) == 1 else []:
            made_of = _raising(clause, call, positional_names(signature, call), known)
            found |= {other: preamble for other in made_of if other not in sources}
            if len(found) >= _MOST_OF_A_CLAUSE:
                break
        for other, preamble in [*found.items()][:_MOST_OF_A_CLAUSE]:
            prefix, said = RAISING[0], f"with pytest.raises({''.join(exceptions)}):\n        {other}"
            if not exceptions:
                prefix, said = RAISING[1], f"assert {other} == {results[0]}"
            name = f"{prefix}{len(made) + 1}"
            source = f"def {name}():\n    {said}\n"
            made.append(Test(name, source, "generated", f"{preamble}\nimport pytest".strip(), clause.text))
    return tuple(made)


def _raising(clause: Clause, call: ast.Call, names: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    """Yield `call` with one argument replaced by a value for which `clause` names an exception: the argument that
    it names, or the only one that such a value fits. `names` are of the arguments, `known` of all parameters."""
    values = argument_values(call)
    words = without_heads(clause.text)
    said = named_arguments(words, names[: len(values)])
    # `if strict`, `unless a default is given`: a condition on another argument.
    flags = [at for at in said if values[at] is None or isinstance(values[at], bool)]
    if flags or {known[at] for at in named_arguments(words, known)} - {*names}:
        return
    part = _EMPTY_PART.search(words)
    of_items = len(values) > 1 and names and any(isinstance(value, list | dict | tuple) for value in values)
    made_of = _replacements(clause, values, named=bool(said)) if part is None or part[1] in names else ()
    for others in made_of:
        fitting = {at: other for at, other in others.items() if not said or at in said}
        number = any(isinstance(other, int) for other in fitting.values())
        if len(fitting) == 1 and (said or not (of_items and number)) and (made := with_arguments(call, fitting)):
            yield made


def _replacements(clause: Clause, values: Sequence[object], *, named: bool) -> Iterator[Mapping[int, object]]:
    """Yield for each value that a clause asks for the arguments that it can replace, by their index."""
    for need in clause.needs:
        if need.kind in _KINDS and (need.raising or need.giving):
            kind = BY_NAME[need.value]
            marked = re.compile(_MARKED.format(kind.words.pattern), re.IGNORECASE)
            if kind.name not in _PLAIN_KINDS and (_ELSE.search(clause.text) or not marked.search(clause.text)):
                continue
            made = {at: kind.make(value) for at, value in enumerate(values) if not kind.has(value)}
            yield {at: other for at, other in made.items() if kind.has(other)}
    if not any(need.kind == "exception" for need in clause.needs):
        return
    for number in beyond(clause.text, named=named):
        yield {at: number for at, value in enumerate(values) if type(value) in (int, float)}
    for size in beyond(clause.text, named=True, sizes=True) if named else ():
        sized = {at: value for at, value in enumerate(values) if isinstance(value, str) and value.isalnum()}
        yield {at: (value * size)[:size] for at, value in sized.items() if 0 <= size <= _LARGEST}
    of_a_type = any(need.value == "TypeError" for need in clause.needs)
    if _ELSE.search(clause.text) and not of_a_type:
        yield {at: _NONSENSE for at, value in enumerate(values) if isinstance(value, str)}

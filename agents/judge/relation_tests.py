"""Tests that a call comes out the same with its text in another case, or with spaces around it, where the spec
says so. They need no expected value (metamorphic relations; Chen, Cheung and Yiu, 1998)."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from itertools import islice

from ..records import Clause, Signature, Test
from ..spec.kinds_of_input import EITHER_CASE, SAME_CASE
from ..spec.sentences import quoted_texts
from ..syntax.source import unparse
from .argument_tests import SAID, calls_meant, named_arguments, positional_names, without_heads
from .probes import argument_values, with_arguments

_RESULT_CASE = re.compile(
    r"(?i)\b(?:return|convert|result|output|giv|writ|print|turn|key)\w*\b[^.;,]{0,60}"
    r"\b(?:in|to|are|is) (?:lower|upper)[- ]?case\b|\blower[- ]?cased\b|\bin (?:any|this|that|no) case\b"
    r"|\b(?:keep|kept|preserv)\w* (?:\w+ )?case\b"
)
"""Words on the case of a result, which the tests do not compare, or on no letter."""
_OWN_CASE = re.compile(
    r"(?i)\bcases?\b|\b(?:different|distinct|distinguish|upper|lower|capital|title|camel|(?:small|big) letter)"
)
"""Words by which the case of a letter has a meaning elsewhere in a spec."""
_CONDITION = re.compile(r"(?i)\b(?:if|when(?! \w+ing)|where)\b")
_LIMITED = re.compile(r"(?i)\b(?:unless|only|but|except|\w*else|otherwise)\b")
_BESIDE = re.compile(r"(?i)(?<!is )(?<!are )(?<!be )(?:ignoring|case|regardless|irrespective|without)")
"""Begins words that a condition may stand before: `True if a and b are equal, ignoring case`."""
_OF_ALL = re.compile(
    r"(?i)(?:(?:the|an?|and|or|so|also|too|it|they|them|both|two|all|is|are|be|may|can|should|must|in|given|as|same"
    r"|texts?|strings?|inputs?|words?|letters?|characters?|digits?|items?|compar\w+|treat\w*|count\w*|spaces?"
    r"|punctuation)\b\W*)*"
)
"""The other words of a statement on all letters. More, such as `units`, name a part: the rest may be different."""
_SPACES = r"(?:white ?space|spaces|blanks)"
_AT_ENDS = (
    rf"(?:(?:surrounding|leading (?:and|or) trailing) {_SPACES}(?: (?:of|in|around|from) (?:the )?{{0}})?"
    rf"|{_SPACES} (?:at (?:both|either|its|the) ends?|around (?:the )?{{0}}))"
)
_AROUND = (
    rf"(?i)(?!.*\b(?:kept?|keeps?|counts?|not|never|no)\b|.*n't\b).*(?:\b{_AT_ENDS}"
    rf"|(?:\A|[;:] )(?:(?:all|any|(?:\w+ )?\w+ and) )?{_SPACES}(?:,? (?:and|or) \w+)?)"
    r" (?:(?:is|are|be|gets?|should|must|may|can|will|silently|simply|always) )*"
    r"(?:ignored|stripped|removed|trimmed|dropped|allowed)(?= ?(?:\Z|[,.:)]|and\b|too\b|first\b|before\b))"
)
_WHOLE = r"(?:(?:whole |entire |given )?(?:text|string|input|line|argument){0})\b"
_PART = (
    r"(?!comma|(?:semi)?colon|dash|hyphen|slash|dot|point|sign|separator|delimiter|operator|equal|plus|minus)\w+"
)
_NOTATION = re.compile(r"[%{\\]")
"""Marks of a text in which the case of a letter belongs to a notation, such as `%Y`."""
_MOST_CALLS = 2
RELATION = f"{SAID}relation_"
"""Prefix of the ids of tests made here."""
_HELPER = """
def folded(value):
    return sorted("".join(str(value).casefold().split()))
"""
_TEST = """\
def {name}():
    try:
        result = {call}
    except Exception:
        return
    assert folded({other}) == folded(result)
"""
_Texts = Sequence[tuple[int, str]]
"""Texts among the arguments of a call, also those in lists, each with the index of its argument."""


def relation_tests(
    clauses: Sequence[Clause], tests: Sequence[Test], signature: Signature | None = None
) -> tuple[Test, ...]:
    """Return tests on the calls of `tests` by what `clauses` say of case, and of spaces around a text."""
    names = positional_names(signature)
    same, either = (_on_case(clauses, said, names) for said in (SAME_CASE, EITHER_CASE))
    made: dict[str, Test] = {}
    rules = [(same or either, _of_case, _in_other_case), (same, _of_case, _with_one_other)]
    rules += [(clause.text, _of_spaces, _padded) for clause in clauses if re.search(_SPACES, clause.text.lower())]
    for about, spoken_of, change in rules:
        found = {}
        for call, label in calls_meant(about, tests) if about else []:
            values = argument_values(call)
            texts = [(at, each) for at, value in enumerate(values) for each in _texts(value)]
            meant = spoken_of(without_heads(about), texts, positional_names(signature, call))
            if meant and (other := _changed(call, values, meant, change)):
                found[other] = (call, label)
        for other, (call, preamble) in islice(found.items(), _MOST_CALLS):
            name = f"{RELATION}{len(made) + 1}"
            source = _TEST.format(name=name, other=other, call=unparse(call))
            made.setdefault(other, Test(name, source, "spec", f"{preamble}{_HELPER}", about))
    return tuple(made.values())


def _on_case(clauses: Sequence[Clause], said: re.Pattern[str], names: Sequence[str]) -> str:
    """Return the clause by which letters may be in any case; "" where their case may have a meaning elsewhere."""
    rest = [_RESULT_CASE.sub("", EITHER_CASE.sub("", SAME_CASE.sub("", clause.text))) for clause in clauses]
    found = next((clause.text for clause in clauses if said.search(clause.text)), "")
    own = any(map(_OWN_CASE.search, rest)) or any("case" in name or "sensitive" in name for name in names)
    return "" if own else found


def _of_case(words: str, texts: _Texts, names: Sequence[str]) -> _Texts:
    """Return those of `texts` whose case makes no difference by `words`; none where that is not sure."""
    said = SAME_CASE.search(words) or EITHER_CASE.search(words)
    if said is None or _CONDITION.match(words) or _LIMITED.search(words):
        return ()
    before, after = words[: said.start()], words[said.end() :]
    condition = _CONDITION.search(words)
    if condition and (_CONDITION.search(after) or not _BESIDE.match(words, said.start())):
        return ()
    if quoted := {each.casefold() for each in quoted_texts(before) if each}:
        return [each for each in texts if each[1].casefold() in quoted]
    if named := named_arguments(words, names):
        return [each for each in texts if each[0] in named]
    beside = re.split(r"[,;:()]", before)[-1] + re.split(r"[,;:()]", after)[0]
    alone = before.strip() and not beside.strip()
    return texts if not alone and _OF_ALL.fullmatch(beside.strip()) else _one_word_each(texts)


def _of_spaces(words: str, texts: _Texts, names: Sequence[str]) -> _Texts:
    """Return the text around which spaces make no difference by `words`."""
    whole = _WHOLE.format("".join(f"|{re.escape(name)}" for name in names))
    if len(texts) != 1 and not SAME_CASE.search(words):
        return ()
    if re.match(_AROUND.format(whole), words):
        return texts
    return _one_word_each(texts) if re.match(_AROUND.format(_PART), words) else ()


def _one_word_each(texts: _Texts) -> _Texts:
    """Return `texts` where they are of one argument and each is one word, so that no part of them is meant."""
    words = [[word for word in re.findall(r"\w++", text) if word.lower() != word.upper()] for _, text in texts]
    return texts if all(len(each) == 1 for each in words) and len({at for at, _ in texts}) == 1 else ()


def _texts(value: object) -> list[str]:
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]


def _changed(
    call: ast.Call, values: Sequence[object], meant: _Texts, change: Callable[[list[str]], list[str]]
) -> str | None:
    """Return `call` with the texts that are `meant` changed; None where they stay as they are."""
    others = iter(change([text for _, text in meant]))

    def changed(at: int, value: object) -> object:
        return next(others) if (at, value) in meant else value

    made = [
        [changed(at, each) for each in value] if isinstance(value, list) else changed(at, value)
        for at, value in enumerate(values)
    ]
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
    return [f"  {text} " if text and at == 0 else text for at, text in enumerate(texts)]

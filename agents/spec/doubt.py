"""Words of prose that put the examples beside them in doubt: conditions, denials, mistakes, other arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from ..records import Signature
from ..syntax.literals import expression
from .sentences import CONDITION, sentences
from .signature import parameters

_DOUBT = re.compile(
    r"\b(?:not(?! matter)|never|cannot|unless|if|when|rather|invalid|except|otherwise|mod|modulo|approximately"
    r"|roughly|about|but(?!\s`?_[\ue000-\ue7ff]))\b|n't\b(?! matter)|≈|~=|!=",
    re.IGNORECASE,
)
"""Words of a sentence of which no example is taken."""
STATED = "\ue800"
"""In place of a value that is stated."""
CONTRAST = re.compile(
    rf"{STATED}[`\s]*+[,;(]?\s*+(?>(?:(?:i\.e\.|and|but|it)\s+)*)"
    r"(?:not|unlike|rather\s+than|instead\s+of|(?:does\s+not|doesn't)\s+return)"
    r"\s+`?(?:[\[({][^\n]{0,200}?[\])}]|'[^'\n]*+'|\"[^\"\n]*+\"|-?\d++(?:\.\d++)?|None|True|False)(?=[`\s,;:.)]|\Z)",
    re.IGNORECASE,
)
"""After it another value that it is not, which puts nothing in doubt: `f(1) is 2, not 3`."""
_SO = re.compile(
    r"(?:\b(?:so|thus|hence|for example|for instance)|\b(?:e\.g|i\.e)\.)[,:]?\s+(?=[`_])", re.IGNORECASE
)
_MISTAKE = re.compile(
    r"\b(?:wrongly|incorrectly|bug|buggy|currently|previously|formerly|instead|fail\w*|actual|actually|before\s+the\s+(?:fix|change)"
    r"|(?:wrong|incorrect|bad|(?<!ties are )broken)"
    r"(?!\s+(?:input|value|argument|data|text|line|string|number|character|format)))\b",
    re.IGNORECASE,
)
"""Words of a line of which no example is taken."""
TAKEN_BACK = re.compile(
    r"\b(?:expected|should|wants?|wanted|tomorrow|where|while)\b[ :]{0,3}"
    r"(?:(?:be|is|was|return|give|to be)\b[ :]{0,2})?"
    r"`?(?:['\"\[({\d-]|(?:None|True|False)\b)"
    r"|\b(?:approx\w*|roughly|maybe|perhaps|any order|or so|todo|fixme|for now|at the moment"
    r"|surpris\w+|in v\d)\b|±|\+/?-|\?\?|[✗❌]|<-|(?:#|//)\s*or\b",
    re.IGNORECASE,
)
"""Words behind a value that put it in doubt: `2, expected 3`, `[1, 2] in any order`, `2 (approx.)`."""
_INTRODUCES = re.compile(
    r"(?:.*[:;(]|.*\b(?:(?:so|such|check|ensure) that|so|thus|hence|e\.g\.|i\.e\.|for (?:ex\w+|instance)|like"
    r"|such as|say|and|also|when|expected|assert|check|then|in|has|have|our|(?:with|for|and) \w+=\S+)[,:]?"
    r"|(?:.*\W)?(?:rais|throw)(?:es?|ing|s)?\b.*|(?!.*\bold\b).*,|[-\W]*+)[`\s*]*+",
    re.IGNORECASE | re.DOTALL,
)
"""What may stand in a sentence before its first example: `Sadly f(1) is 2` wants another value."""
_LABEL = re.compile(
    r".*\b(?:got|old|before|observed|problem|issue|actual|current|was|today|now|reported|seen|mistake|happens)\W*:[`\s*]*+",
    re.IGNORECASE | re.DOTALL,
)
HELD = re.compile("[\ue000-\ue800]")
"""Marks of calls and values in a sentence."""
_OF_ONE = re.compile(r"\b(?:it|this|that|they|th[eo]se|we|i|should)\b", re.IGNORECASE)
"""Words of a sentence that may speak of an example before it."""
_SETS = re.compile(
    r"\b(?:with|under|for|using|passing|given|where|and|set|but)\s`?(?P<name>[a-z]\w*+)`?\s?=\s?(?=[\w`'\"\[({.-])",
    re.IGNORECASE,
)
"""`with strict=True`, said of a call beside it."""
_DEFAULT = re.compile(r"\b(?:defaults?|by itself|unset)\b", re.IGNORECASE)


def in_doubt(prose: str, calls: Mapping[str, str], signature: Signature | None) -> set[str]:
    """Return the marks of the calls in `prose` of which it leaves doubt what they give: the keys of `calls`, which
    stand in place of them."""
    found: set[str] = set()
    for sentence in sentences(prose):
        part = _doubtful_part(sentence)
        told = _told_of(sentence, signature)
        first = HELD.search(sentence)
        before = sentence[: first.start() - 1] if first else ""  # the mark has a character before
        if first and sentence[first.start() - 1 : first.end()] in calls and not _is_introduced(before):
            part = sentence
        found.update(
            mark
            for mark, call in calls.items()
            if mark in part or (mark in sentence and any(_lacks(call, name, signature) for name in told))
        )
    return found


def _is_introduced(before: str) -> bool:
    """Return True if what stands `before` an example in its sentence leaves no doubt that it is one."""
    if _LABEL.fullmatch(before) or re.search("[✗❌]", before):
        return False
    condition = before.rstrip().endswith(",") and re.match(
        r"\s*(?:with|without|under|in|before|until|today)\b(?! \w+=)", before, re.IGNORECASE
    )
    return not condition and _INTRODUCES.fullmatch(before) is not None


def _told_of(sentence: str, signature: Signature | None) -> set[str]:
    """Return the parameters that a sentence says have another value than the usual: `with strict=True`, `in strict
    mode`."""
    if _DEFAULT.search(sentence):
        return set()
    found = {match["name"] for match in _SETS.finditer(sentence)}
    wanted = parameters(signature) if signature else None
    if wanted is None or wanted.kwarg:
        return found
    every = [*wanted.posonlyargs, *wanted.args]
    optional = [*every[len(every) - len(wanted.defaults) :], *wanted.kwonlyargs]
    words = {*re.findall(r"[a-z]\w+", sentence)}
    return {each.arg for each in optional if each.arg in words} | found


def _lacks(call: str, name: str, signature: Signature | None) -> bool:
    """Return True if `call` does not give the parameter `name`."""
    node = expression(call)
    wanted = parameters(signature) if signature else None
    names = [each.arg for each in (*wanted.posonlyargs, *wanted.args)] if wanted else []
    asked = [each for each in ast.walk(node) if isinstance(each, ast.Call)] if node else []
    return not any(
        name in {each.arg for each in call.keywords} or (name in names and len(call.args) > names.index(name))
        for call in asked
    )


def is_mistaken(text: str, example: re.Pattern[str]) -> bool:
    """Return True if a sentence of `text` puts examples in doubt, in which `example` is found. `instead` does so
    beside one, or where it speaks of one, `It should return 4 instead`; elsewhere it says what is not as usual."""
    for each in sentences(text):
        if not example.search(each) and (CONDITION.match(each) or not _OF_ONE.search(each)):
            each = each.replace(" instead", "")
        if _MISTAKE.search(each):
            return True
    return False


def _doubtful_part(sentence: str) -> str:
    """Return the part of a sentence of which no example is taken: one after `so` fulfils what is said before."""
    last = max((match.start() for match in _DOUBT.finditer(sentence)), default=None)
    if last is None:
        return ""
    return sentence[: next((match.end() for match in _SO.finditer(sentence) if match.start() > last), None)]

"""Limits in the words of a spec: `100 or more`, `between 1 and 5`, `up to width`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import chain

_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty ninety"
)
_VALUES = "1 2 3 4 5 6 7 8 9 10 11 12 15 20 30 40 50 60 90"
_NUMBERS = dict(zip(_WORDS.split(), _VALUES.split(), strict=True))
_NUMBER = rf"(?:[$€£] ?)?(-?\d{{1,9}}(?:\.\d{{1,4}})?|(?:{'|'.join(_NUMBERS)})\b)(?![\w%:/]|\.\d)"
_THAN = (
    "more|less|fewer|greater|larger|bigger|smaller|longer|shorter|higher|lower|older|younger|later|earlier"
    "|heavier|lighter"
)
_PRECISION = r"(?!(?: \w+)? (?:decimals?|places|significant)\b| digits? after\b)"
_BEFORE = (
    rf"(?<!\bby )\b(?:at (?:least|most)|(?:{_THAN}) than|over|under|above|below|up to|exceed(?:s|ing)?|beyond"
    r"|(?:min|max)imum (?:of|is)|(?:is|are|becomes?|reach(?:es)?|only)? ?[<>]=?)"
)
_NAMED = re.compile(rf"(?i){_BEFORE} (?:the )?`?([a-z_]\w*)`?(?![\w(])")
_BOUNDS = (
    re.compile(rf"(?i){_BEFORE} {_NUMBER}{_PRECISION}"),
    re.compile(rf"(?i)(?<![\w.:/-]){_NUMBER}(?: \w+)?,? (?:or|and) (?:{_THAN}|above|below|over|under|up)\b"),
    re.compile(rf"(?i)\bfrom (?:an? \w+ of )?{_NUMBER}(?: (?!to\b)\w+)?(?= (?:on|up|there)\b| \d+ ?%|[,;.)]|\Z)"),
    re.compile(rf"(?i)\b(?:between|from) {_NUMBER} (?:and|to|through|up to) {_NUMBER}{_PRECISION}"),
    re.compile(rf"(?<![\w.:/-]){_NUMBER} ?[-–] ?\d{{1,9}}(?=: )"),
)
_COMPARED = re.compile(r"[<>]")
_NO_BOUND = re.compile(r"(?i)\b(?:digits?|numbered|counted|counting|letters|characters?) (?:from|between) ")
"""`the digits from 0 to 9` are characters, `numbered from 1` is no limit."""


def in_digits(number: str) -> str:
    """Return a number that is written as a word in digits; any other as it is."""
    return _NUMBERS.get(number, number)


def bounds_in(text: str, names: Collection[str] = ()) -> Iterator[str]:
    """Yield the numbers in `text` that are limits, as Python literals, and those of `names` that are, each once;
    none of `0 <= n <= 9`, which limits the input; `>100` of `over 100 counts as 100`, which shows beyond alone."""
    if len(_COMPARED.findall(text)) > 1 or _NO_BOUND.search(text):
        return
    found = chain.from_iterable(pattern.finditer(text) for pattern in _BOUNDS)
    words = [_limit(match, in_digits(each.lower())) for match in found for each in match.groups()]
    yield from dict.fromkeys([*words, *(match[1] for match in _NAMED.finditer(text) if match[1] in names)])


def _limit(found: re.Match[str], number: str) -> str:
    """Return `number`; with `>` or `<` before it where what is beyond counts as the number itself."""
    counts = re.compile(rf"[^,;.]{{0,30}}? (?:as|is|are|becomes?|gives?) {re.escape(number)}(?!\.?\w)")
    if not counts.match(found.string, found.end()):
        return number
    return f"{'<' if re.search('less|fewer|under|below|smaller|<', found[0]) else '>'}{number}"

"""Limits in the words of a spec: `100 or more`, `between 1 and 5`, `up to width`; and what is beyond them."""

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
_LOW = re.compile(r"(?i)below|under|less|fewer|lower|smaller|shorter|at most|up to|maximum|<")
_INCLUDED = re.compile(r"(?i)\b(?:at|or|and|up|maximum|minimum)\b|=")
RANGE = re.compile(r"(?i)(?<![\d,])(?<!, )(-?\d{1,9})(?: ?(?:to|and|through|up to|\.\.|-|–) ?)(-?\d{1,9})")
_DENIED = re.compile(r"(?i)(?<!must )(?<!should )(?<!may )(?<!can )\bnot?(?: be)? \Z")
_EXACTLY = re.compile(rf"(?i)\bexactly {_NUMBER}")
_END = re.compile(
    r"\s*(?:\Z|[,;.)]|(?:or|raises?|throws?|is|are|it|otherwise|else|gives?|must"
    rf"|and (?:at|above|below|over|under|must|rais\w+|throws?|(?:{_THAN}) than))\b)(?! -?\d)"
)
"""After a limit; none of `more than 1 and not prime`."""
_OUTSIDE = re.compile(
    r"(?i)\b(?:outside|not|unless|must|needs? to|has to|should|otherwise|else|any other)\b|n't\b"
)
WANTED = re.compile(r"(?i)\b(?:unless|must|needs? to|has to|should)\b(?! (?:not|raise|throw))")
"""Before what is right, not before what raises."""
_NOT_POSITIVE = re.compile(
    rf"(?i)(?:{WANTED.pattern[4:]}|\bnot\b|n't\b)[^.;]{{0,40}}(?<!non-)(?<!non)\bpositive\b"
)
_COUNTED = re.compile(
    r"(?i)\b(?:lengths?|long|longer|shorter|number of|sum|total|digits?|characters?|letters?|items?|words?"
    r"|elements?|fewer|while|after|already|ends?|starts?|difference|absolute|average|mean|product|ratio|results?"
    r"|remainder|rate|root|square|twice|first|last|next|remain\w*|left)\b"
)
"""Words on what is counted or known otherwise than from one argument."""
_OF_SOME = re.compile(r"(?i)\b(?:each|every|any|all|if|when|digits|letters|or(?! (?:else|(?:an? )?\w*Error)))\b")
"""Words by which a size may be of a part or of some inputs, or not be enough."""


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
    return f"{'<' if _LOW.search(found[0]) else '>'}{number}"


def beyond(words: str, *, named: bool, sizes: bool = False) -> Iterator[int]:
    """Yield the whole numbers for which a clause names an exception, those beyond its limits or at them; with
    `sizes` how many characters a text has. A limit in letters counts where an argument is `named`: in `more than
    one is given` it is none."""
    if (_OF_SOME if sizes else _COUNTED).search(words):
        return
    end = re.compile(r" characters?\b") if sizes else _END
    limits, exact = RANGE.search(words), _EXACTLY.search(words)
    if limits is not None and end.match(words, limits.end()):
        yield from (int(limits[1]) - 1, int(limits[2]) + 1) if _OUTSIDE.search(words) else ()
        return
    wanted = WANTED.search(words)
    if exact is not None and wanted and sizes and end.match(words, exact.end()):
        number = int(in_digits(exact[1].lower()))
        yield from (number + 1, number - 1)
    if not sizes and _NOT_POSITIVE.search(words):
        yield 0
    for found in chain.from_iterable(pattern.finditer(words) for pattern in _BOUNDS[:2]):
        digits, included = in_digits(found[1].lower()), _INCLUDED.search(found[0])
        if digits.lstrip("-").isdigit() and end.match(words, found.end()) and (named or found[1] == digits):
            step = -1 if _LOW.search(found[0]) else 1
            denied = _DENIED.search(words[max(0, found.start() - 20) : found.start()]) is not None
            right = (wanted is not None and found.start() > wanted.start()) is not denied
            yield int(digits) + (0 if right is not bool(included) else -step if right else step)

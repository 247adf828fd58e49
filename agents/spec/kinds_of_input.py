"""Kinds of input that words ask for (`empty`, `negative`): a test for values of a kind, and a way to make one."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TypeGuard

_SIZED = (str, list, tuple, dict, set, frozenset, bytes)


@dataclass(frozen=True, slots=True)
class KindOfInput:
    """A kind of input: `words` is a pattern of the words that ask for it; `has` returns True for a plain value of
    the kind; `make` returns a value of the kind made from another, or that one unchanged."""

    name: str
    words: re.Pattern[str]
    has: Callable[[object], bool]
    make: Callable[[object], object]


def _repeats(value: object) -> bool:
    """Return True if an item occurs twice; in a text a word, in a single word a character."""
    words = re.findall(r"\w+", value) if isinstance(value, str) else []
    items = list(value) if isinstance(value, str | list | tuple) else []
    if len(words) > 1:
        items = [word for word in words if any(map(str.isalpha, word))] or words
    return any(item in items[:index] for index, item in enumerate(items))


def _holding(mark: str) -> Callable[[str], str]:
    return lambda text: f"{text[:1]}{mark}{text[1:]}"


def _is_nested(value: object) -> bool:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    in_text = isinstance(value, str) and any(mark * 2 in value for mark in "([{<")
    return in_text or any(isinstance(item, list | tuple | dict) for item in items)


def _kind(
    name: str, words: str, has: Callable[[object], bool], make: Callable[[object], object] = lambda value: value
) -> KindOfInput:
    return KindOfInput(name, re.compile(words, re.IGNORECASE), has, make)


def _of_text(name: str, words: str, holds: Callable[[str], bool], change: Callable[[str], str]) -> KindOfInput:
    def has(value: object) -> bool:
        return isinstance(value, str) and holds(value)

    return _kind(name, words, has, lambda value: change(value) if isinstance(value, str) else value)


def _of_number(
    name: str, words: str, holds: Callable[[float], bool], written: str, change: Callable[[float], object]
) -> KindOfInput:
    """Return the kind of numbers for which `holds`, and of texts that hold one, `written` so."""

    def is_number(value: object) -> TypeGuard[float]:
        return isinstance(value, int | float) and not isinstance(value, bool)

    def has(value: object) -> bool:
        if isinstance(value, str):
            return re.search(written, value) is not None
        return is_number(value) and holds(value)

    return _kind(name, words, has, lambda value: change(value) if is_number(value) else value)


def _of_mark(name: str, words: str, marks: str) -> KindOfInput:
    """Return the kind of texts that hold one of `marks`."""
    return _of_text(name, words, lambda text: any(mark in text for mark in marks), _holding(marks[0]))


def _lines(value: object) -> list[str]:
    """Return the lines of a text, or the texts in a list."""
    value = value.removesuffix("\n").split("\n") if isinstance(value, str) else value
    items = value if isinstance(value, list | tuple) else []
    return [item for item in items if isinstance(item, str)]


def _in_capitals(value: object) -> bool:
    """Return True if a word in a text or list is in capitals, or occurs in two cases."""
    words = {word for line in _lines(value) for word in line.split()}
    return any(map(str.isupper, words)) or len(words) > len({*map(str.casefold, words)})


_EITHER = r"(?:upper (?:or|and) lower|lower (?:or|and) upper|either|any|mixed)[- ]case\b"
_SAME_CASE = (
    r"\bcase[- ]?insensitiv\w*|\bignor\w+ (?:the )?(?:letter )?case\b"
    r"|\b(?:regardless|irrespective|independent(?:ly)?) of (?:the |letter )?case\b|\bwithout regard to case\b"
    r"|(?:\b(?:upper and lower|lower and upper)[- ])?\bcase (?:letters )?(?:and (?:spaces|white ?space|blanks) )?"
    r"(?:(?:do(?:es)? not|do(?:es)?n't) (?:matter|count)|makes? no difference"
    r"|(?:is|are|should be|must be|gets) ignored|(?:(?:is|are) (?:treated )?|counts? )"
    r"(?:as )?(?:alike|the same|equal|equivalent))\b"
)
SAME_CASE = re.compile(_SAME_CASE, re.IGNORECASE)
"""Words by which letters are the same in any case, also within a text."""
EITHER_CASE = re.compile(
    rf"(?:\bbe(?: in)?|\b(?:written|given|spelled|typed|letters?|words?|names?|digits?) in|,(?: in)?) {_EITHER}",
    re.IGNORECASE,
)
"""Words by which a text may be in either case."""
_ANY_CASE = rf"{_SAME_CASE}|\b{_EITHER}|\bupper (?:or|and) lower\b|\blower (?:or|and) upper\b"
_EMPTY = r"(?<!non-)(?<!non)(?<!not )(?<!would be )(?<!result is )\bempty\b"
_TEXTS = r"(?:string|text|word|name|title|sentence|tag|label|message|key)s?\b(?! (?:list|array|set|dict))"
RESULTS = ("True", "False")
"""Kinds of results alone."""
_RESULT_IS = (
    r"(?:\A|\b(?:returns?|gives?|is|are|means?|says?|yields?|else|otherwise|but)[ ,:]|, or )\s?`?(?-i:{0}\b)"
    r"(?! (?:and|or) (?:True|False)\b)"
)
KINDS: tuple[KindOfInput, ...] = (
    _kind(
        "an empty input",
        rf"{_EMPTY}(?! {_TEXTS}| (?:cell|square|field|line|part|entr|slot|row|column|token|segment|seat|place"
        r"|quot|bracket)(?:s|y|ies|es)?\b)"
        r"|\bno (?:items?|elements?|characters?|values?|entries)\b"
        r"|\b(?:(?:it|they) \w+|there (?:is|are)|with|of|for|given) no (?:words?|numbers?|letters)\b"
        r"|\b(?:for|given) (?:\[\]|\{\}|\(\))",
        lambda value: isinstance(value, _SIZED) and not value,
        lambda value: type(value)() if isinstance(value, _SIZED) else value,
    ),
    _kind(
        "an empty text",
        rf"{_EMPTY} {_TEXTS}",
        lambda value: isinstance(value, str | bytes) and not value,
        lambda value: type(value)() if isinstance(value, str | bytes) else value,
    ),
    _of_text("lower case", rf"\blower[- ]?cased?\b|{_ANY_CASE}", lambda text: text != text.upper(), str.lower),
    _of_text(
        "upper case",
        r"\bupper[- ]?cased?\b(?! (?:or|and) lower)|\bcapitals?\b|\blowercases\b|\b(?:is|are) lower-?cased\b"
        r"|\bconvert\w* (?:\w+ )?to lower[- ]?case\b",
        lambda text: text != text.lower(),
        str.upper,
    ),
    _kind(
        "a word in capitals",
        _ANY_CASE,
        _in_capitals,
        lambda value: value.upper() if isinstance(value, str) else value,
    ),
    _of_number(
        "a negative number",
        r"(?<!non-)(?<!non)(?<!no )(?<!not )\bnegatives?\b"
        r"|\bfor minus (?:one|two|\d)|\bbelow zero\b|\bless than (?:0|zero)\b(?!\.\d)|(?<![<>=])< ?0\b(?!\.\d)",
        lambda number: number < 0,
        r"(?<![\w.])-\d",
        lambda number: -abs(number) or -1,
    ),
    _of_number(
        "zero",
        r"(?<!from )(?<!toward )(?<!towards )(?<!below )(?<!above )(?<!than )(?<!absolute )(?<!between )"
        r"(?<!non-)(?<!non )(?<!starts at )(?<!start at )(?<!back to )(?<!set to )(?<!down to )"
        r"\bzero\b(?! or more)(?![- ](?:padded|fill|based|indexed|arguments?))",
        lambda number: number == 0,
        r"\b0\b",
        lambda number: 0,
    ),
    _kind(
        "repeated items",
        r"\bduplicat\w+|\brepeat(?:ed|s)\b|\bmore than once\b|\bseveral times\b|\btwice in\b",
        _repeats,
        lambda value: value * 2 if isinstance(value, str | list | tuple) else value,
    ),
    _kind(
        "one item",
        r"\b(?:single|only one|exactly one|just one) (?:item|element|value|character|number|entry)\b",
        lambda value: isinstance(value, _SIZED) and len(value) == 1,
        lambda value: value[:1] if isinstance(value, str | list | tuple) else value,
    ),
    _of_text(
        "a space at an end",
        r"\b(?:leading|trailing|surrounding) (?:and (?:leading|trailing) )?(?:white ?space|spaces|blanks)\b"
        r"|\bstrip(?:ped|s)? of (?:white ?space|spaces)\b"
        r"|\b(?:is|are|be|gets?) stripped\b(?! (?:of|from)\b)"
        r"|\b(?:spaces?|blanks?|white ?space) (?:around|at (?:the|either|its) (?:end|start|beginning))",
        lambda text: text != text.strip(),
        lambda text: f" {text} ",
    ),
    _of_text(
        "a blank text",
        r"\b(?:is|are|or) blank\b|\bblank (?:\w+ ){0,3}(?:names?|texts?|strings?|inputs?|values?|fields?)\b",
        lambda text: not text.strip(),
        lambda text: " ",
    ),
    _of_text(
        "white space",
        r"\bwhite ?space\b|\bspaces\b|\ba space\b|\bblanks\b",
        lambda text: any(map(str.isspace, text)),
        _holding(" "),
    ),
    _of_text(
        "spaces in a row",
        r"\b(?:runs? of|consecutive|several|multiple|double) (?:white ?space|spaces|blanks)\b",
        lambda text: re.search(r"\s\s", text) is not None,
        _holding("  "),
    ),
    _kind("None", r"(?-i:\bNone\b)", lambda value: value is None),
    _kind("True", _RESULT_IS.format("True"), lambda value: value is True),
    _kind("False", _RESULT_IS.format("False"), lambda value: value is False),
    _kind(
        "a bool",
        r"\b(?:a bool(?:ean)?|bools|booleans) (?:is|are|count|too|included|raise)"
        r"|\bTrue (?:and|or) False (?:included|too)\b",
        lambda value: isinstance(value, bool),
        lambda value: True if isinstance(value, int) else value,
    ),
    _of_number(
        "a float",
        r"\bfloats?\b|\bfloating\b|\bfractional\b|\bdecimal (?:places?|numbers?|points?|digits?)\b",
        lambda number: isinstance(number, float),
        r"\d\.\d",
        lambda number: number + 0.5,
    ),
    _of_text(
        "a letter beyond ASCII",
        r"\baccent(?:s|ed)?\b|\bunicode\b|\bnon-ascii\b|\bdiacritics?\b|\bumlauts?\b",
        lambda text: not text.isascii(),
        _holding("é"),
    ),
    _kind(
        "a digit",
        r"(?<!one )(?<!two )(?<!three )(?<!four )(?<!five )(?<!six )(?<!\d )\bdigits?\b",
        lambda value: isinstance(value, int | float) or (isinstance(value, str) and any(map(str.isdigit, value))),
        lambda value: _holding("7")(value) if isinstance(value, str) else value,
    ),
    _of_mark("punctuation", r"\bpunctuation\b|\bspecial characters?\b", "!.,;:?-_#%&()'\"@$*+/=<>[]{}~"),
    _of_mark("a hyphen", r"\bhyphens?\b|\bdash(?:es)?\b", "-"),
    _of_mark("an underscore", r"\bunderscores?\b", "_"),
    _of_mark("a comma", r"\bcommas?\b", ","),
    _of_mark("a semicolon", r"\bsemicolons?\b", ";"),
    _of_mark("a colon", r"\bcolons?\b", ":"),
    _of_mark("a tab", r"\btabs?\b", "\t"),
    _of_mark("a line break", r"\bnew ?lines?\b|\bline breaks?\b", "\n"),
    _kind("several lines", r"\bmulti-?line\b|\beach line\b", lambda value: len(_lines(value)) > 1),
    _kind(
        "a blank line",
        r"\bblank lines?\b|\bempty lines\b",
        lambda value: "" in [each.strip() for each in _lines(value)[1:]],
    ),
    _of_mark("a quotation mark", r"\bquotes?\b|\bquotation marks?\b|\bquoted\b", "\"'"),
    _of_mark("a slash", r"\bslash(?:es)?\b", "/"),
    _of_mark("a bracket", r"\bbrackets?\b|\bparenthes[ie]s\b|\bbraces\b", "()[]{}<>"),
    _kind(
        "a nested value",
        r"\bnested\b|\b(?:at|of) any depth\b|\b(?:any|arbitrary|all) levels? of nesting\b"
        r"|\b(?:lists?|dict(?:ionarie)?s?) (?:in|inside|within) (?:it|them|those|(?:other )?lists?|the list)\b",
        _is_nested,
        lambda value: [*value, [*value]] if isinstance(value, list) else value,
    ),
    _kind(
        "an item without a hash",
        r"\b(?:un|non-?|not (?:be |necessarily )?)hashable\b",
        lambda value: isinstance(value, list | tuple) and any(isinstance(each, list | dict) for each in value),
        lambda value: [*value, [], []] if isinstance(value, list) else value,
    ),
)
BY_NAME = {kind.name: kind for kind in KINDS}
_OUTCOME = re.compile(
    r"(?i)\b(?:return|give|yield|output|print|result|replac|produc|convert|join|separat|align|writ|becom|fill|mak|round)\w*\b"
)
_MAIN = re.compile(
    r"(?i)(?:(?:(?!(?:if|when|where|for|that|which|with|without|given|on)\b)\S++ )*?(?:is|are|or|else|\S*[,:]) )?"
    r"(?:an? )?"
)
_UNDER = re.compile(r"(?: \w++)? (?:if|when|where|for)\b")
"""Around a result: `an empty list if there are no rows`, `The tag is None for a name without one`."""
_COMES_OUT = re.compile(
    r"(?i)(?:[=-]>|→|⇒|, (?:it|they) (?:is|are)(?: just| simply)?|\b(?:like|want|expect|get)) (?:an? |the )?\Z"
)
"""Before a result: `they are just empty`, `no silver → an empty list`."""
_NOT = r"(?:\b(?:not(?! even\b)|no|neither|nor|never|other than|anything but|without|w/o)|n't)\b"
_NEGATED = re.compile(rf"(?i){_NOT}[\w\s]{{0,25}}\Z")
_NEGATED_LIST = re.compile(
    rf"(?i){_NOT}(?:(?: \w+){{1,3}},){{1,8}}(?: \w+){{1,3}},? (?:or|and|nor)(?: \w+){{1,3}}"
)
"""`not a digit, a space or a hyphen`: of none of these."""


def kinds_in(text: str, named: Collection[str] = ()) -> Iterator[tuple[str, bool]]:
    """Yield the names of the kinds that the words of `text` ask for, and True where the kind may be of the result.
    Skip words that are `named`, such as a parameter `spaces` of a garage."""
    outcome = _OUTCOME.search(text)
    without = [match.span() for match in _NEGATED_LIST.finditer(text)]
    for kind in KINDS:
        found = next((match for match in kind.words.finditer(text) if match[0].lower() not in named), None)
        if found is None:
            continue
        listed = any(start <= found.start() < end for start, end in without)
        if kind.name.startswith("an empty ") or not (listed or _NEGATED.search(text[: found.start()])):
            before = text[: found.start()]
            stated = (_MAIN.fullmatch(before) and _UNDER.match(text, found.end())) or _COMES_OUT.search(before)
            follows = outcome is not None and outcome.start() < found.start()
            yield kind.name, bool(stated) or kind.name in RESULTS or follows

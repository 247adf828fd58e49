"""Prose that makes the examples beside it doubtful: conditions, denials, mistakes, other arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from ..records import Signature
from ..syntax.literals import expression
from .asked import ARROW
from .sentences import CONDITION, sentences
from .signature import parameters

_DOUBT = re.compile(
    r"(?i)\b(?:not(?! matter)|never|cannot|unless|if|when|rather|invalid|except|otherwise|mod|modulo|approximately"
    r"|roughly|about|but(?!\s`?_[\ue000-\ue7ff]))\b|n't\b(?! matter)|≈|~=|!="
)
"""Words that make the examples of their sentence doubtful."""
STATED = "\ue800"
"""Mark in the place of a stated value."""
CONTRAST = re.compile(
    rf"(?i){STATED}[`\s]*+[,;(]?\s*+(?>(?:(?:i\.e\.|and|but|it)\s+)*)"
    r"(?:not|unlike|rather\s+than|instead\s+of|(?:does\s+not|doesn't)\s+return)"
    r"\s+`?(?:[\[({][^\n]{0,200}?[\])}]|'[^'\n]*+'|\"[^\"\n]*+\"|-?\d++(?:\.\d++)?|None|True|False)(?=[`\s,;:.)]|\Z)"
)
"""A stated value and another that it is not: no doubt (`f(1) is 2, not 3`)."""
REMARK = re.compile(
    rf"(?i){STATED}`?(?:\s+with\s+(?:the\s+|a\s+)?(?:message|text)|\s+saying|:)?\s*+(?:'[^'\n]*+'|\"[^\"\n]*+\")"
    rf"|{STATED}`?\s*+\((?:\w+\s+)?not\s+(?:found|present|an?|included|counted|part|divisible|enough|empty)\b[^()\n]*+\)"
    rf"|{STATED}`?\s+(?:--?|[–—])\s(?!not?\b|.*\b(?:if|when|unless|except|rather|yet|longer|sure|true)\b)[^.\n]*+"
    rf"|{STATED}`?:\s+(?:not an?|cannot|can't)\s[\w\s]{{1,40}}\Z"
)
"""A stated value and a remark: no doubt (the message of an exception, `-1 (not found)`)."""
_SO = re.compile(r"(?i)(?:\b(?:so|thus|hence|for example|for instance)|\b(?:e\.g|i\.e)\.)[,:]?\s+(?=[`_])")
_CASE_OF = re.compile(r"(?i)\W*(?:if|when)\s+(?:the\s+)?`?(?P<name>[a-z_]\w*+)[^:]*:\s+(?=[`_])")
_MISTAKE = re.compile(
    r"(?i)\b(?:wrongly|incorrectly|mistakes?|pitfalls?|misbehav\w+|bug|buggy|currently|previously|formerly"
    r"|(?<!is )(?<!are )(?<!be )used to (?:be|have|return|give|say|see)"
    r"|instead|fail\w*(?! with\b)|actual|actually|before\s+the\s+(?:fix|change)"
    r"|(?:wrong|incorrect|bad|(?<!ties are )broken)"
    r"(?!\s+(?:input|value|argument|data|text|line|string|number|character|format)))\b"
)
"""Words that make the examples of their line doubtful."""
_VALUE = r"`?(?:['\"\[({\d-]|(?:None|True|False)\b)"
_TAKEN_BACK = re.compile(
    r"(?i)\b(?:expected|should|wants?|wanted|tomorrow|where|while|it's|really)\b[ :]{0,3}"
    rf"(?:(?:be|is|was|return|give|to be)\b[ :]{{0,2}})?{_VALUE}"
    r"|\b(?:approx\w*|roughly|more or less|random(?:ly)?|maybe|perhaps|usually|mostly|sometimes|in most"
    r"|rounded (?:here|for)|for readability|up to rounding|shortened|within [\w ]{0,20}(?:precision|tolerance)"
    r"|any order|or so|todo|fixme|for now|at the moment"
    r"|surpris\w+|in v\d|off by (?:one|\d))\b|[#(,]\s*(?:legacy|old|deprecated|tbd|no)\b[!.)\s]*\Z"
    r"|±|\+/?-|\?\?|[✗❌]|<-|(?:#|//)\s*or\b"
)
"""Words anywhere after a value that make it doubtful: `2, expected 3`, `[1, 2] in any order`, `2 (approx.)`."""
_UNSURE = re.compile(
    r"(?i)[^.!?\n]{0,80}?(?:\b(?:some|either|whatever|random|arbitrary|no (?:particular|special|fixed)) order"
    r"|\bunordered|\border (?:may|can|might|varies|irrelevant|unimportant|(?:does|is)(?: not|n't))"
    r"|\border is (?:un|irr|arb)|\b(?:hopefully|sic|to be confirmed|tbc|on average|may (?:change|vary|differ))\b"
    r"|\bI (?:think|guess|believe|suppose)\b|\b(?:one (?:of several|possible)|among others|assuming)\b"
    r"|\bonly (?:on|in|if|for|when|with)\b|\bright\?|\(\?\))"
    rf"|[`,;(\s]{{0,9}}(?:(?:or|was|then|later|now)\s{_VALUE}|(?:old|legacy|current)\b)"
)
"""Words directly after a value, or in its sentence, that do so: `[1, 2], or [2, 1]`, `5 (only on Windows)`."""
FAILURE = re.compile(
    r"(?:#|//)\s*+(?:[^\w\n]{0,5}(?i:(?:this |now |it )?(?:an? )?"
    r"(?:errors?|fails?|not allowed|forbidden|refused|rejected|illegal|invalid|blows up|crashes)\b)"
    r"|[^\n]{0,80}?\b(?i:raises?|throws?|raised|thrown)\b[ :]{0,2}(?:an? )?`?(?:[A-Z]|error|exception)"
    r"|[^\n]{0,80}?\b[A-Z]\w*(?:Error|Exception)\b)"
)
"""A remark that the step before it fails."""
_INTRODUCES = re.compile(
    r"(?is)(?:.*[:;(]|.*\b(?:(?:so|such|check|ensure) that|so|thus|hence|e\.g\.|i\.e\.|for (?:ex\w+|instance)|like"
    r"|such as|say|and|also|when|expected|assert|check|then|in|has|have|our|await|(?:with|for|and) \w+=\S+)[,:]?"
    r"|(?:.*\W)?(?:rais|throw)(?:es?|ing|s)?\b.*|(?!.*\bold\b).*,|[-\W]*+)[`\s*]*+"
)
"""What may precede the first example of a sentence. Another beginning is doubtful: `Sadly f(1) is 2`."""
_OTHER_CASE = re.compile(r"(?is)\s*(?:with|without|under|in|before|until|today)\b(?! \w+=).*,\s*")
_LABEL = re.compile(
    r"(?is).*[✗❌].*|.*\b(?:got|old|legacy|deprecated|pitfall|beware|(?:counter|anti)[- ]?example|no(?:pe)?|v\d+"
    r"|before|observed|problem|issue|actual|current|was|today|now|reported|seen|mistake|happens)\W*:[`\s*]*+"
)
HELD = re.compile("[\ue000-\ue800]")
"""Marks in the place of calls and values in a sentence."""
_FIRST_MARK = re.compile("(_[\ue000-\ue7ff])")
_OF_ONE = re.compile(r"(?i)\b(?:it|this|that|they|th[eo]se|we|i|should)\b")
"""Words of a sentence that may refer to an example before it."""
_SETS = re.compile(
    r"(?i)(?:\b(?:with|under|for|using|passing|given|where|and|set|but)\s|\()`?(?P<name>[a-z]\w*+)`?\s?=\s?(?=[\w`'\"\[({.-])"
)
"""`with strict=True`, for the calls of the sentence."""
_DEFAULT = re.compile(r"(?i)\b(?:defaults?|by itself|unset)\b")

_HEADING = re.compile(r"\A(?:#|.*:[*_\s]*\Z)")
_EXPECTED = re.compile(
    r"(?i)\W*(?:(?:but )?(?:it )?should (?:be|return|give)|expected(?: result)?|(?:we|i) (?:want|expect)|wanted"
    r"|correct)\b[\s:*`]*(?:['\"\[({\d-]|(?:None|True|False)\b)"
)
"""`Expected: 3`, below an example that states another value."""
_OUTDATED = re.compile(
    r"(?i)\W{0,9}(?:(?:old|today|what happens|legacy|deprecated|version 1)\b|previous\w*|until (?:now|today)"
    r"|.*\bI see\b|.*\bexcept\b|.*\b(?:did|gave|returned|produced)\W*\Z)"
)
"""Words of a heading above outdated or wrong examples."""
_VERSION = re.compile(r"(?i)#{1,6}\s+(?:version\s+|v)?\[?(?P<n>\d+(?:\.\d+){1,3})\b")
_CORRECTS = re.compile(
    r"(?i)\s{0,20}(?:(?:that|this|which|both|these)(?:'s|\s(?:is|was|are))\s(?:all\s)?"
    r"(?:wrong|incorrect|a bug|not (?:right|what))"
    r"|I (?:get|got|see) .{1,40}\bbut\b"
    r"|(?:it|that|this|the \w+) should (?:be|have been|return|give|say) [-\w'\"`\[({]"
    r"|`?\w+\([^()\n]*\)`? should (?:be|give|return) .{1,40}\bthere\b"
    r"|(?:(?:edit|correction|update|erratum|note|sorry|oops|wait)\b[\s:,.]{1,3}){0,3}(?:the )?"
    r"(?:(?:first|second|third|fourth|last|above|previous|\d(?:st|nd|rd|th))\b"
    r"(?: (?:one|example|line|result|value))?|(?:examples?|table|list)(?: above)?)"
    r" (?:is|was|are|were) (?:wrong|incorrect|false|a typo|not right)\b)"
)
"""Prose that corrects an example above it."""
_FARTHEST = 3
"""Lines from an example to such prose, at most."""
_EXAMPLE_SIGN = re.compile(rf"\)`?\s*(?:->|=|{ARROW}|(?:returns?|gives?|is|outputs?|prints?)\b)")
_DENIED = re.compile(r"(?i)\bnot\b|n't\b")
_EXAMPLE_LINE = re.compile(rf"[=-]>|==|{ARROW}|\||^\s*(?:[-*+•]\s|```|~~~|>>>|\.\.\.)")


def in_doubt(prose: str, calls: Mapping[str, str], signature: Signature | None) -> set[str]:
    """Return the marks (keys of `calls`) of the calls whose result is doubtful by `prose`."""
    wanted = parameters(signature) if signature else None
    found: set[str] = set()
    for sentence in sentences(prose):
        part, told = _doubtful_part(sentence, wanted), _told_of(sentence, wanted)
        before, mark, _ = _FIRST_MARK.split(sentence, maxsplit=1) if _FIRST_MARK.search(sentence) else ("", "", "")
        others = (_LABEL, _OTHER_CASE)
        if mark in calls and (any(each.fullmatch(before) for each in others) or not _INTRODUCES.fullmatch(before)):
            part = sentence  # its beginning is about something else
        found |= {each for each in calls if each in part}
        found |= {each for each in calls if each in sentence and not told <= _given_in(calls[each], wanted)}
    return found


def _told_of(sentence: str, wanted: ast.arguments | None) -> set[str]:
    """Return the parameters that a sentence sets or names: `with strict=True`, `in strict mode`."""
    if _DEFAULT.search(sentence):
        return set()
    named = {match["name"] for match in _SETS.finditer(sentence)}
    if wanted is None or wanted.kwarg:
        return named
    every = [*wanted.posonlyargs, *wanted.args]
    optional = [*every[len(every) - len(wanted.defaults) :], *wanted.kwonlyargs]
    return named | ({each.arg for each in optional} & {*re.findall(r"[a-z]\w+", sentence)})


def _given_in(call: str, wanted: ast.arguments | None) -> set[str]:
    """Return the parameters that have an argument in the calls in the text `call`."""
    node = expression(call) or ast.Constant(None)
    order = [each.arg for each in (*wanted.posonlyargs, *wanted.args)] if wanted else []
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    given = {name for each in calls for name in order[: len(each.args)]}
    return given | {word.arg for each in calls for word in each.keywords if word.arg}


def lines_in_doubt(lines: Sequence[str]) -> list[bool]:
    """Return for each line True if a heading above or a line below says that it is wrong or outdated."""
    found, doubtful = [], False
    corrected = {*_corrected(lines), *_of_older_versions(lines)}
    for number, line in enumerate(lines):
        below = next(filter(str.strip, lines[number + 1 : number + 3]), "")
        told = _EXPECTED.match(below) is not None and _EXAMPLE_SIGN.search(line) is not None
        found.append(doubtful or told or number in corrected)
        head = [*sentences(line)][-1] if line.rstrip(" *_").endswith(":") else line
        if line.strip() and not _EXAMPLE_LINE.search(head):
            wrong = is_mistaken(head, _HEADING) or _DENIED.search(head) or _OUTDATED.match(head)
            doubtful = bool(_HEADING.match(head) and wrong)
    return found


def _corrected(lines: Sequence[str]) -> Iterator[int]:
    """Yield the lines of examples that the prose below them corrects."""
    for number in (number for number, line in enumerate(lines) if _CORRECTS.match(line)):
        above = number - 1
        while above >= 0 and number - above <= _FARTHEST and not lines[above].strip(" `~"):
            above -= 1
        while above >= 0 and lines[above].strip(" `~"):
            yield above
            above -= 1


def _of_older_versions(lines: Sequence[str]) -> Iterator[int]:
    """Yield the lines below headings of versions that are not the latest."""
    heads = ((number, _VERSION.match(line)) for number, line in enumerate(lines))
    versions = {number: tuple(map(int, match["n"].split("."))) for number, match in heads if match}
    latest = max(versions.values(), default=())
    old = False
    for number, line in enumerate(lines):
        if line.startswith("#"):
            old = versions.get(number, latest) < latest
        if old:
            yield number


def is_taken_back(remark: str) -> bool:
    """Return True if a `remark` after a value makes it doubtful."""
    return _TAKEN_BACK.search(remark) is not None or _UNSURE.match(remark) is not None


def is_mistaken(text: str, example: re.Pattern[str]) -> bool:
    """Return True if a sentence of `text` speaks of a mistake. `instead` counts only beside an `example`, or where
    the sentence refers to one (`It should return 4 instead`)."""
    for each in sentences(text):
        if not example.search(each) and (CONDITION.match(each) or not _OF_ONE.search(each)):
            each = each.replace(" instead", "")
        if _MISTAKE.search(each):
            return True
    return False


def _doubtful_part(sentence: str, wanted: ast.arguments | None) -> str:
    """Return the part of a sentence whose examples are doubtful; empty without doubt. It ends at a `so` after the
    last doubt, or at the colon of a condition on a parameter: `If code is None the price stays:`."""
    last = max((match.start() for match in _DOUBT.finditer(sentence)), default=None)
    if last is None:
        return ""
    ends = [match.end() for match in _SO.finditer(sentence) if match.start() > last]
    case = _CASE_OF.match(sentence)
    if case and wanted and case["name"] in {each.arg for each in wanted.args} and case.end() > last:
        ends.append(case.end())
    return sentence[: min(ends, default=None)]

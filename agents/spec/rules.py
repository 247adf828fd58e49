"""Rules: clauses that say more than the purpose of the code. Each needs a test written for it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..records import Need
from .kinds_of_input import RESULTS
from .sentences import QUOTED, VERB

NO_RAISE = re.compile(
    r"(?i)\b(?:never|without|not)\s+(?:(?:be|to|ever|even|itself|also)\s+){0,2}(?:rais|throw)"
    r"|n't\s+(?:(?:be|ever|even|itself|also)\s+){0,2}(?:rais|throw)"
    r"|\b(?:no\s+(?:error|exception)|raises?\s+nothing)"
)
_RULE = re.compile(
    r"(?i)(?<!check )(?<!determine )(?<!true )(?<!false )(?<!decide )(?<!tell )\bif\b"
    r"|(?:n't|\b(?:is|are|do|does|will|may|can) not|, not)\b"
    r"(?! (?:have to|need(?:ed)?|know|want|care|required|necessary)\b)|^no\b"
    r"|^(?:with|for|in|from|under|after) (?:an?|the|\d)\b[^,;]{1,40}(?:,| it | the )"
    r"|\b(?:(?:is|are) fine|allowed|NaN|capped|(?:no|not) more than|with or without|without(?: an?|(?=\s\s))"
    r"|inclusive|included|excluded|too|also|as well|messages?|neither|already|outside|untouched|unchanged|only the"
    r"|when|where|still|propagates?|(?:is|are) (?:re-?)?raised|unless|until|otherwise|except|but|ties?|equally"
    r"|fewer|fewest|exactly|unknown|twice|among|both (?:directions|sides|ways)|first in"
    r"|leaves .{1,30} (?:alone|as (?:it|they) (?:is|are|was|were))|empty (?:string|text|line|prefix|list|name)"
    r"|at least|at most|stays?|keeps?|kept|remains?|left (?:out|as)|leaves out|missing|must|ignored?"
    r"|needs? (?:\d+|one|two|three|four|five|six)"
    r"|no effect|dropp(?:ed|ing)|skipped|rounded|order|alphabetical\w*|before|after|always|never|nothing"
    r"|counts? as|again|second time|(?:newest|oldest|latest) first|wins?|once|alone|carried over"
    r"|there (?:is|are) no(?! limit)|as long as|may be|instead|comes? first|(?<!not )required)\b"
    r"|\A[^→⇒>]{1,60}(?:[-=]>|→|⇒)[^→⇒>]{1,60}\Z"
)
"""Words of a rule. Two spaces are around a removed quotation: `without "="`."""
_STATEMENT = re.compile(
    r"(?i)(?=[^|$<>]{0,200}\Z)(?!(?:explanation|note|constraints|write|name|implement|create|use|find|output|returns?"
    r"|takes?|we|i|our|your?|as an?|th(?:e|is) function)\b|[^:]{1,30}:|.*://"
    r"|.*(?:\bno limit|(?:\bnot|n't) (?:have to|need\w*|know|required)|any value)\b"
    r"|[^,]*\b(?:is|are|be) (?:like\b|non-|(?:all |given |as |in |an? )*"
    r"(?:list|dict|tuple|string|text|int|integer|number|float|[\w.]+ object|[\w-]+ function|whole \w+)s?\b"
    r"[^,]{0,40}\Z))(?:[^A-Za-z]*\b[A-Za-z][\w'-]*){3}"
)
"""A sentence that is neither a story nor names the entry point or a type."""
_OF_A_KIND = re.compile(r"\b(?:is|are) [^,;]{1,40} such as |(?<!looks )\blike (?=['\"`])")
"""A description of the input: `both are times of day such as "08:30"`, `lines like "a"`."""
_SAYS = re.compile(rf"{VERB.pattern}|(?<=\w )[a-z]{{2,}}[^\Wsu]s\b")
"""A verb, or a word of that form."""
_RESULT = re.compile(
    r"(?i)\bthe (?:first|last|earlier|later)(?: \w+){0,2} (?:wins|counts|is (?:kept|used|taken)|stays)\b"
    r"|\bround(?:ed|s)\b|\bonly the (?:first|last)\b|\bnot (?:be )?(?:changed|allowed)\b|, except\b|\buntil\b"
    r"|\bexactly (?:\d|one|two|three|four|five|six)|\d, \d+,? (?:and|or) \d"
)
"""Words of a rule that a kind of input, or a quoted text, does not show alone."""
_LITERAL = r"-?\d+(?:\.\d+)?|None|\"[^\"\n]{0,40}\"|'[^'\n]{0,40}'"
_GIVING = re.compile(
    r"(?<!\) )\b(?:is|are|becomes?|returns?|gives?|gets?(?! ['\"])|written"
    r"|exits? with (?:exit )?(?:code|status))\s+"
    rf"({_LITERAL})(?: then| instead| too| as well)?[ .]*$"
)
_RESULT_OF = re.compile(
    r"(?i)\b(?:(?:returns?|gives?|yields?|gets?|is|are)\s+"
    rf"`?(?P<value>{_LITERAL}|True|False)`?"
    r"(?:[ .]*\Z|\s(?:if|for|when|where|on)\b)|(?:is|are|counts? as)\s(?P<denied>(?:not|never|no)\s)?(?:an?\s)?"
    r"(?P<what>[\w-]+(?:\s(?!too\b|as\b)[\w-]+)?)(?:\stoo|\sas\swell)?[ .]*\Z)"
)
_QUESTION = re.compile(r"(?:is|are|has|can)_(?P<what>\w+)")
OF_ITS_TEXT = re.compile(
    r"\b(?:do not|don't|must not|without|never|only|(?:should|may|can)(?: not)?) (?:use|using|import)\b",
    re.IGNORECASE,
)
"""A rule on how the code is written, `do not use sorted()`: its names need not be in the code."""
OF_THE_CODE = re.compile(
    rf"(?i){OF_ITS_TEXT.pattern}|\bO\("
    r"|\b(?:time|space) complexity|\btype hints?\b|\bdocstrings?\b|\brecursi\w+|\bin the range\b|\bis called\b"
    r"|(?<!\A)\bmeans\b(?! (?:that|are|is|of)\b|[^;]* so )|\bassumed\b|\bexample\b|\binput:"
    r"|\A`?\w+`?(?: \([^()\n]{1,40}\))?: [^.;]*\b(?:at least|at most|up to|between [\w.-]+ and) [\w.-]+"
    r"(?: inclusive)?\Z"
)
"""A sentence on how the code is written, on bounds of the input, or a definition: no test shows it."""
BOUND = re.compile(r"(?:(?:if|for|when) )?`?\w+`? ?[<>]=? ?-?\d+`?,? (?:is|gives?|returns?|yields?|->|=>|→)(?=\s)")
"""`n < 1 returns []`."""
ASSUMED = re.compile(r"(?i)\s*(?:note:? )?(?:that )?(?:you (?:may|can) )?assum")


def stated_result(said: str, name: str) -> str:
    """Return the literal that a clause gives as a result of the function `name`, as `returns 0 for an empty list`;
    for a predicate such as `is_leap_year` also of `1900 is not a leap year`. Return an empty text without one."""
    asks = _QUESTION.fullmatch(name)
    found = [
        match["value"] or str(not match["denied"])
        for match in _RESULT_OF.finditer(said)
        if match["value"] or (asks and asks["what"].replace("_", " ").startswith(match["what"].lower()))
    ]
    return found[0] if len(found) == 1 else ""


def rule_need(text: str, said: str, needs: Sequence[Need], *, first: bool, exemplified: bool) -> Need | None:
    """Return the need of a test written for the clause `text` (`said`: without headers); None where the clause is
    no rule, or `needs` are enough.

    The `first` clause is the purpose. A sentence of no known form is a rule unless it is `exemplified`: an example
    comes after it.
    """
    needs = [need for need in needs if need.kind != "bound" and need.value not in RESULTS]
    raised = any(need.kind == "exception" for need in needs)
    giving = _GIVING.search(said)
    if not raised and all(step in said for step in ("Given ", "When ", "Then ")):
        return Need("test", text)
    if first or OF_THE_CODE.search(said) or NO_RAISE.search(said) or ASSUMED.match(said):
        return None
    words = QUOTED.sub(" ", said)
    alone = all(need.kind == "name" for need in needs) or (_RESULT.search(said) and not raised)
    rule = alone and (giving or BOUND.match(said) or _RULE.search(words))
    told = needs or exemplified or _OF_A_KIND.search(text)
    stated = not told and _STATEMENT.match(said) and _SAYS.search(words)
    return Need("test", text, giving=giving[1] if giving else "") if rule or stated else None

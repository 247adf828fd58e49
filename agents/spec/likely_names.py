"""The most likely name of the function or class that a spec asks for, by patterns with points.

A name gets the points of each pattern that it matches, once per pattern. A function is chosen if it alone has
enough; of classes the one with most points.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Set

from ..syntax.imports import KNOWN
from ..syntax.source import BUILTINS
from .asked import ASKED

_ENOUGH = 4
_KNOWN = BUILTINS | KNOWN.keys()
_OBJECTS = re.compile(r"(?i)\b(?:constructor|method|attribute|property|properties|object|instance|state)s?\b")
_FORMS = frozenset({"snake_case", "camel_case", "kebab_case", "pascal_case", "title_case"})
_HEADER = re.compile(r"(?<![\w.@])(?P<n>[a-z_]\w*+)\([x:=,*|. \[\]]*+\)")
_CALLED = re.compile(r"(?:(?<![\w.@])|\b[A-Z]\w*+\.)(?P<name>[a-z_]\w*+)\(")
_OF_A_CALL = re.compile(r"(?<=\w)\([^()\n]*\)")
"""Its arguments: no parameter is asked for."""
_MENTIONED = re.compile(r"(?<![\w.])@\w++(?= [a-z])")
"""A mention, `hey @dev can we`: no decorator."""
_CAPITAL = r"[A-Z]\w*+"
_WORD = r"[A-Z]++[a-z0-9]++\w*+"
"""A capitalized word, not all capitals: `HTML` is seldom a class."""
_RAISED = re.compile(r"\b[Rr]ais(?:es?|ing) (?:an? )?`?(?P<n>[A-Z]\w*+)")
_OF = r"(?:that|which|of|for|from|with)"
_CAMEL = r"(?:(?>(?:[A-Z]++[a-z0-9]++){2,})|[A-Z]{2,}+[a-z]{3,}+\w*+)"
"""`MinStack`, `KVStore`."""
_HAS = r"(?=:(?!\s`?\w+\()|\s*\n|\s+(?:with|object|class)\b)"
_QUOTE = r"[`'\"*]{0,2}"
_IS = r"\s+(?:is|(?:should|shall|must|will|has to|needs to|to)\s+be)"
_BE_NAMED = rf"{_IS}\s+(?:named|called)"
_NOUN = (
    r"(?=[`'\"*]{0,2}(?:\s?[.,:;?!(]|\s*(?:\Z|\n)"
    r"|\s+(?:with|which|that|to|where|for|gets|has|should|must|starts|object)\b))"
)
"""After a name used as a noun; the first word of `Roman numeral` is no name."""
_CLASS = r"(?<!of )\b[Cc]lass"
_APART = r"\b(?!`? (?:of|by|into)\b)"
"""After `class A`: not a class of pupils, as in `the students of class A by grade`."""
_ASK = rf"(?i:{ASKED})\s+"
_DEFINED = re.compile(rf"(?:\bclass (?=\w+(?:\(| with\b))|{_ASK}(?:an?\s+|the\s+)?class\s+`?)(\w+)")
_OF_A_TITLE = 3
_TITLE = re.compile(rf"(?:\A|\n#{{1,6}} )[\s#*`]{{0,9}}(?P<n>{_WORD}){_QUOTE}{_HAS}")
_ALONE = re.compile(r"[:`'\"*_ ]*(?:\n|\Z)")
CLASSES = (
    (4, re.compile(rf"{_CLASS}(?: (?:named|called|name|to write|is))?[:,]? {_QUOTE}(?P<n>{_CAPITAL}){_APART}")),
    (4, re.compile(rf"\b(?P<n>{_CAPITAL})`?, an? (?:\w+ )?(?:data)?class\b")),
    (4, re.compile(rf"{_CLASS}{_BE_NAMED}\s+`?(?P<n>{_CAPITAL})")),
    (3, re.compile(rf"\b(?:[Nn]ame|[Cc]all)(?:\s+it|{_IS}|:)\s+{_QUOTE}(?P<n>{_WORD})")),
    (3, re.compile(rf"(?<!raise )(?<!raises )(?<!, )(?<![\w.(\[])(?P<n>{_WORD})\(")),
    (1, re.compile(rf"(?<![\w.])(?P<n>{_WORD})\([\[{{('\"\d-]")),
    (2, re.compile(rf"(?<![\w.])(?P<n>{_WORD})\.[a-z_]\w*+\(")),
    (2, re.compile(rf"(?<![\w.])(?P<n>{_CAMEL})\b(?!\.\w)")),
    (2, re.compile(rf"\b(?:[Aa]n?|[Tt]he|[Nn]ew)\s(?:(?!{_OF}\b)[a-z-]+\s){{0,3}}{_QUOTE}(?P<n>{_WORD}){_NOUN}")),
    (2, re.compile(rf"(?:\A|[.:]\s|\n)[#*` ]{{0,9}}(?P<n>{_CAMEL})\b`?(?!\S)")),
    (_OF_A_TITLE, _TITLE),
    (2, re.compile(rf": (?P<n>{_WORD})(?=,? with\b)")),
    (4, re.compile(rf"(?:`|\b(?:[Aa]n?|[Tt]he|[Yy]our)\s(?:\w+\s)?)(?P<n>{_CAPITAL})`? (?:data)?class\b")),
    (2, re.compile(rf"{_ASK}(?:(?:an?|the)\s+)?`?(?P<n>{_CAMEL}\b|{_WORD}(?=\(|,? with\b))")),
    (2, re.compile(rf"\A(?P<n>{_WORD})(?=:\s`?\w+\()")),
    (1, re.compile(rf"`(?P<n>{_WORD})`")),
)  # fmt: skip
"""Points and patterns for the name `n` of a class: `class Deck`, `Money, a dataclass`, `call it Heap`, `Deck(52)`,
`Board.play(`, `an Inventory with`, `# Turnstile`."""
_NO_CLASS = re.compile(
    r"\w*(?:Case|Error|Exception|Warning)|NaNs?|Note|Task|Title|Input|Output|Given|Examples?|Problem|Description|Feature"
    r"|Goal|Summary|Signature|Python|Base|Abstract|Data|Main|New|Your|Name|Purpose|Rules?|Args|Returns?|Raises|Scenario|Background|When|Then|There"
    r"|Th[ei]s\w?|It|Here|If|For|Write|And|Implement|Create|Build|Make|Please|The|An?|In|On|At|Java\w*|True|False"
    r"|None|Class|Function|Method|Usage|Hint|Story|Subject|From|Re|Issue|Bug|Reporter|H(?:i|ello)|Dear|Exercise|Homework|Expected|Checks?|Constraints?|Quiz|Hypothesis|Question"
)
_KIND = r"(?i:function|fn|func|helper|routine|coroutine|generator|decorator|context\s+manager|entry\s+point\s+is)"
NO_NAME = (
    r"(?!(?:with|on|by|for|from|in|once|when|whenever|after|before|as|at|to|if|until|every|only|it|and|or"
    r"|again|wanted|needed|twice|exactly|directly|more|several|without)\b)"
)
_ASKED_FOR = rf"(?:(?m:^)[ \t]*+|{_ASK})(?:(?!(?:{_OF}|given|takes?|accepts?)\b)\w++\s){{0,5}}"
_CALL = r"[Cc]all (?:it|the \w+)"
_TYPE = r"(?:None|bool|int|str|float|bytes|list|dict|tuple|set|[A-Z]\w+\[)(?!\w)"
_AFTER = r"(?=[`'\"*]{0,2}[.,:;(]|\s*(?:\Z|\n)|\s+[-—])"
_DOES = (
    r"(?<!\b(?:call|body|name|type))(?<!object)(?<!wrapper)(?<!factory)(?<!decorator)(?<!generator)"
    r"(?=\s+(?:that|which)\s+[a-z]+s\b)"
)
"""A function's name after that word, `a function initials that takes`; not `function decorator`."""
_INTRODUCED = (
    (5, re.compile(rf"{_ASK}(?:(?!(?:{_OF}|class|without|using)\b)[\w'-]++\s){{0,5}}`?(?P<n>[a-z_]\w*+)\(")),
    (4, re.compile(rf"\b(?:{_KIND}|method)(?:{_BE_NAMED}| (?:named|called)) {_QUOTE}{NO_NAME}(?P<n>[a-z_]\w*+)")),
    (4, re.compile(rf"\bfunction\b[^.;\n]{{0,100}}?,?\s(?:should|must|to) be named\s+{_QUOTE}(?P<n>[a-z_]\w*+)")),
    (4, re.compile(rf"{_ASKED_FOR}{_KIND}\s+(?:[`'\"](?P<n>[a-z_]\w*+)[`'\"])")),
    (4, re.compile(rf"{_ASKED_FOR}{_KIND}\s+(?P<n>[a-z_]\w*+)(?:\(\)|{_DOES})")),
    (4, re.compile(rf"{_ASK}`(?P<n>[a-z_]\w*+)`,?(?:\s+(?:that|which|so)\b|:)")),
    (4, re.compile(rf"{_ASK}[^.:\n]{{2,60}}:\s+`?(?P<n>[a-z]++_\w++)`?(?=\.\s|\n|\.?\Z)")),
    (4, re.compile(rf"\b{_KIND}(?:\s+(?:named|called)|\s+name:?|:)?\s+{_QUOTE}{NO_NAME}(?P<n>[a-z]\w*+){_AFTER}")),
    (3, re.compile(rf"\b{_KIND}\s+(?:(?:named|called)\s+)?{_QUOTE}(?P<n>[a-z]++_\w++)")),
    (3, re.compile(rf"\b(?:[Nn]ame(?::|{_IS}| it)|{_CALL}|have the name):?\s{_QUOTE}(?P<n>[a-z]\w*+){_AFTER}")),
    (3, re.compile(rf"(?:{_ASK}(?:(?:an?|the)\s+)?|{_CALL} ){_QUOTE}(?P<n>[a-z]++_\w++)")),
    (5, re.compile(r"(?<![\w.])@(?P<n>[a-z_]\w*+)(?!\.|[^\n]{0,80}\n\s*(?:@|async |def |class ))")),
    (3, re.compile(rf"(?<![\w.])(?P<n>[a-z_]\w*+)\((?:[^()\n]{{0,80}}\)`? ?(?:->|→) ?{_TYPE}|x: x)")),
)  # fmt: skip
"""Patterns that introduce a function: `Implement f(`, `a helper called f`, `name: f`, `@f`, `f(x: int)`."""
_SHALL = r"(?:should|shall|must)"
_VERB = rf"(?=:?\s+(?:[a-z]+s\b|[-—]|{_SHALL}\b)|\s*\n|:\s|\.\s|\.?\Z)"
FUNCTIONS = (
    *_INTRODUCED,
    (2, re.compile(r"(?<![\w.@/-])(?P<n>[a-z]++_\w++)(?!\.\w|=)")),
    (2, re.compile(r"(?<![\w.@])(?P<n>[a-z_]\w*+)\(")),
    (1, re.compile(r"(?<![\w.])(?P<n>[a-z_]\w*+)\((?:[\[{('\"\d-]|None\b|True\b|date)")),
    (1, re.compile(rf"(?<![\w.])(?P<n>[a-z_]\w*+)\([^()\n]{{0,80}}\)`?\s(?:{_SHALL}\s[a-z]+|[a-z]+s)\b")),
    (2, re.compile(rf"(?:\A|(?<!\.g)[.:]\s|\n)[#*` ]{{0,9}}(?P<n>[a-z]\w*+)(?:\([^()\n]{{0,80}}\)`?|`?{_VERB})")),
    (1, re.compile(r"`(?P<n>[a-z_]\w*+)[`(]")),
    (2, re.compile(rf"(?<![\w.@/-])(?P<n>[a-z]++_\w++)`?\s{_SHALL}\s(?:return|give|yield|raise)\b")),
)  # fmt: skip
"""Patterns of other uses of a function: `an_underscore`, `f(x)`, `f([1])`, `f(x) returns`, `. f turns`."""


def likely_name(prose: str) -> str | None:
    """Return the name of the function or class that `prose` asks for; None without one, or with equal points."""
    if "decorat" not in prose.lower():
        prose = _MENTIONED.sub("", prose)
    called = {match["name"] for match in _CALLED.finditer(prose)} - BUILTINS
    evidence = min(2, len(called)) + (_OBJECTS.search(prose) is not None)
    others = (_KNOWN - set(_DEFINED.findall(prose))) | {match["n"] for match in _RAISED.finditer(prose)}
    of_classes = _points(CLASSES, prose)
    if len(called) == 1:  # a title above examples of one function
        titles = {match["n"] for match in _TITLE.finditer(prose) if _ALONE.match(prose, match.end())}
        others |= {name for name in titles if of_classes[name] == _OF_A_TITLE or name.lower() in called}
    named = {name: points for name, points in of_classes.items() if name not in others}
    classes = {name: points + evidence for name, points in named.items() if not _NO_CLASS.fullmatch(name)}
    a_class = _one(classes, max(_ENOUGH, *classes.values(), 0))
    functions, introduced = _functions(_OF_A_CALL.sub(lambda call: re.sub(r"[A-Za-z_]\w*", "x", call[0]), prose))
    a_function = _one(functions, _ENOUGH)
    if a_class and (a_function not in introduced or functions.get(a_function or "", 0) <= classes[a_class]):
        return a_class
    among_methods = a_function not in introduced and called > {a_function}  # of a class that has no name
    return None if a_function and among_methods and functions[a_function] < _ENOUGH + 2 else a_function


def _functions(prose: str) -> tuple[Mapping[str, int], Set[str]]:
    """Return the points of the functions in `prose`, and those introduced; calls in `prose` have `x` for names."""
    points = _points(FUNCTIONS, prose)
    headers = {match["n"] for match in _HEADER.finditer(prose)}
    known = {name for name in BUILTINS if points[name] < 2 * _ENOUGH} | (_FORMS - headers)
    introduced = _points(_INTRODUCED, prose).keys() - known
    known |= {name for name in KNOWN if name not in headers and name not in introduced}
    among = (introduced or points.keys()) - known
    if sum(points[name] >= _ENOUGH for name in among) > 1:
        among = {name for name in among if name in headers} or among
    return {name: points[name] for name in among}, introduced


def _points(ways: tuple[tuple[int, re.Pattern[str]], ...], prose: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for points, way in ways:
        found.update({match["n"]: points for match in way.finditer(prose)})
    return found


def _one(points: Mapping[str, int], least: int) -> str | None:
    """Return the one name that has `least` points; None where none or several have."""
    found = [name for name, each in points.items() if each >= least]
    return found[0] if len(found) == 1 else None

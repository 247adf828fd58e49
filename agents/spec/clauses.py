"""A spec -> its clauses, by rules: sentences, parts of them, list items, scenarios; and the needs of each."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from keyword import iskeyword

from ..records import Clause, Example, Need, Spec
from ..syntax.checks import checks_in
from ..syntax.literals import MAKERS, literal_value
from ..syntax.source import BUILTINS, statements
from .asked import ARROW, ASKED, FENCED, docstrings, uncommented
from .bounds import bounds_in
from .doctests import lines_of, shown
from .kinds_of_input import RESULTS, kinds_in
from .rules import ASSUMED, BOUND, NO_RAISE, OF_ITS_TEXT, OF_THE_CODE, rule_need, stated_result
from .sentences import ERROR, EXCEPTION, QUOTED, apart, is_unmet, meant_quotations, notes, raising_apart, sentences
from .signature import closing, parameter_names, parameters, without_headers

_ITEM = re.compile(r"\s*(?:[-*+•|]|\d{1,3}[.)]|\([a-z0-9]\))\s+(?:\[[ xX]\]\s+)?")
_FIELD = re.compile(
    r"\s*(?::[a-z]+(?: [^:\n]{1,60})?:|[`\"']?[\w–-]+[`\"']?(?: \([^()\n]{1,40}\))?:|(?:[a-z]+ ){1,2}\d[\d.]*+:)\s"
)
"""A field of a docstring: `:raises KeyError: if`, `text (str): the text`."""
_TYPE_ABOVE = re.compile(
    r"(?m)^(?P<name>\*{0,2}\w++(?>(?:, \*{0,2}\w++)*)) : .++\n[ \t]++(?=\S)"
    r"|(?<=^Returns\n-------\n)\S.*+\n(?=[ \t])"
)
"""The type above a description in numpy's docstrings: its words are no kinds of input."""
_TYPES = re.compile(r"(?m)^(?:from \w|import|class|@)[^\n]*+\n(?>(?:[^\n]++\n)*)")
"""Imports and classes of fields above the prose."""
_HEADING = re.compile(r"\s*#{1,6}\s|.{1,60}:\s*$|\s*\*\*[^*]+\*\*:?\s*$")
_SCENARIO = re.compile(r"\s*(?:Scenario\b|Given\b)")
_STEP = re.compile(r"\s*(?:Given|When|Then|And|But)\b")
_BETWEEN = re.compile(
    r"(?i)\b(?:(?:for )?(?:examples?|instance)|e\.g\.|of|should|shall|produces?|inputs?"
    r"|outputs?|returns?|gives?|yields?|is|are|and|with|int|str|list"
    r"|dict|float|bool|None|True|False|implement|write|create|define|class|function|assert|def|async)\b"
)
_UNIT = "(?:second|minute|hour|day|week|month|year)"
_OF_A_UNIT = re.compile(rf"(?i)\b\w+ (?P<unit>{_UNIT})s?\b")
"""A number of a unit: `24 hours` is no limit of a parameter `minutes`."""
_RETURNS = re.compile(r"(?i)(?:it |the function )?(?:returns?|gives? back) ")
"""Next to the sentence that asks for the code, one that begins so describes the purpose and is no rule."""
_NO_ERROR = re.compile(r"(?i),?(?: but| and)? no (?:error|exception)(?: either)?\Z")
"""An exception that is not raised: `the default is returned, no exception`."""
_DENIED = re.compile(r"(?i)\b(?:reject|refus|invalid|illegal|forbidden|errors?\b|not (?:allowed|valid|accepted))")
_SO_DO = re.compile(r"(?i)\s*(?:(?:and )?so|as) (?:do|does|is|are)\b|or (?:if|for|when)\b")
"""`so do points above 10`, `or for cycles`: these raise the exception of the clause before."""
_RAISE_IT = re.compile(r"(?i)\brais(?:es?|ing) it\b")
"""`raise it for anything else`: the exception that was named last."""
_BASE = re.compile(
    r"(?i)\b(?:subclass|kind) of \w+|\ban? \w+ subclass\b(?! of)|\b(?:derive[ds]?|inherits?) from \w+"
)
_PART = re.compile(r"(?i)\bthe (?!(?:text|string|input|list|dict)\b)(\w+) (?:may|must|can)(?: not)? be empty\b")
_CALLED = re.compile(r"(?<![\w.])(?:(?P<owner>[A-Za-z_]\w*)\.)?(?P<name>[a-z_]\w*)\(")
_METHOD = re.compile(r"`([a-z_]\w*+)\((?>(?:[a-z_]\w*+(?:=[\w.]++)?(?>(?:, )?))*)\)`")
"""A header in backticks, `add_edge(u, v, weight=1)`: no call on values."""
_ATTRIBUTE = re.compile(r"(?<![\w.])\.(?P<name>[a-z_]\w+)\b(?!\()")
_GIVEN_AS = re.compile(r"\b(?:[Ww]ith|[Ii]f|[Ww]hen|passing) `?([a-z_]\w*+)=(?:True|False)\b")
_PROPERTY = re.compile(r"\A`?([a-z_]\w*+)`?: (?:\S+ )?(?:property|attribute)\b")
_METHODS = re.compile(
    r"\bmethods (?:[^.;\n]{0,200}\)(?:, and |, | and )|(?=[a-z_]\w*+(?:,| and) ))"
    r"((?>(?:[a-z_]\w*+(?:, and |, | and ))*)[a-z_]\w*+)(?=[.:;]|\Z)"
)
"""Methods in a list without parentheses: `with the methods start(now), stop(now) and elapsed`."""
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]+")
_PATTERN = re.compile(
    r"(?s)(?=.*(?:YY|MM|DD|HH|hh|mm|ss|XX|NN|xx))[YMDHhmsSXNx:/\-.T ]+|.*[{}<>…].*|.*\.\.\..*|[a-z ]+: [A-Z]+"
)
"""A layout (`YYYY-MM-DD`), which is no text that a test can have."""
_RANGE = re.compile(r"-?\d+(?:\.\d+)? ?[-–] ?\d+(?:\.\d+)?: ")
"""`80-89: B`."""
_ROW = re.compile(r"(?!\s*\$).* \| ")
"""A row of a table, not a command with a pipe."""
_OF_THE_WHOLE = frozenset({"an empty input", "an empty text", "a blank text", "one item", "None"})
"""Kinds of a whole input: the value that a clause gives for one is the whole result."""
_LACKING = r"\b(?:without|lack(?:s|ing)?|no)(?: (?:an?|any|the|one))?\s"
_LONGEST = 20_000
_MOST_BEFORE = 5  # up to the sentence that asks for the code
_ASKED = frozenset({"len", "iter", "str", "repr", "bool", "hash", "next"})
_NOT_TESTED = BUILTINS - _ASKED
_NO_NAMES = frozenset({
    "bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "object", "set", "str",
    "tuple", "cls", "enumerate", "eval", "exec", "isinstance", "null", "python", "self", "sorted",
})  # fmt: skip
"""Types and builtins, which are no names that a test has to use, even in backticks."""


def clauses(spec: Spec) -> tuple[Clause, ...]:
    """Return the clauses of `spec` in order, without headings, examples and code."""
    found: list[Clause] = []
    raised = named = ""
    whole = _without_spaces(spec.text)
    joined = whole.replace("aswell", "").replace(",", "")
    placed = [(each.code, place) for each in spec.examples if (place := _place(each, whole)) >= 0]
    parts = [*dict.fromkeys(part.strip(" ,") for part in _parts(_prose(spec)))]
    asking = re.compile(rf"(?i:{ASKED}).*\b{re.escape(spec.signature.name)}\b" if spec.signature else "(?!)")
    purpose = next((number for number, text in enumerate(parts[:_MOST_BEFORE]) if asking.search(text)), 0)
    for number, text in enumerate(parts):
        said = without_headers(text)
        if not _is_example(said, spec):
            meant = raised if _SO_DO.match(said) else named if _RAISE_IT.search(said) else ""
            said = _NO_ERROR.sub("", meant_quotations(said, parameter_names(spec.text)))
            needs = tuple(dict.fromkeys(_needs(text, said, spec, meant)))
            before, raised = raised, next((need.value for need in needs if need.kind == "exception"), "")
            named = raised or named
            here = whole.find(_without_spaces(text))
            earlier = tuple(code for code, place in placed if place < here)
            told = len(earlier) < len(placed) or number < purpose
            told |= len(found) < purpose + 2 and _RETURNS.match(said) is not None
            rule = rule_need(text, said, needs, first=number in (0, purpose), exemplified=told)
            if rule and before and f"{before}and{_without_spaces(text)}" in joined:
                rule = replace(rule, raising=before)
            found.append(Clause(text, (*needs, rule) if rule else needs, earlier))
    return tuple(found)


def _without_spaces(text: str) -> str:
    return "".join(text.split()).replace('"', "'")


def _place(example: Example, whole: str) -> int:
    """Return the index of `example` in `whole` (no spaces): of its call, or of its line's end; -1 without."""
    checks = checks_in(example.code)
    place = whole.rfind(_without_spaces(checks[-1].call)) if checks else -1
    line = _without_spaces(example.source_line)
    return place if place >= 0 or line not in whole else whole.find(line) + len(line)


def _is_example(said: str, spec: Spec) -> bool:
    """Return True if `said` has nothing but calls, values, and the words between them."""
    entry = spec.signature.name if spec.signature else ""
    if any(name != entry for name in _METHOD.findall(said)) or BOUND.match(said) or _RANGE.match(said):
        return False
    name = re.escape(entry) if entry else r"[a-z_]\w*+(?=\([^)])"
    called = rf"(?<![\w.])(?:{name}|{'|'.join(MAKERS)}|\w++\.[\w.]++)\("
    calls = [(match, closing(said, match.end() - 1)) for match in re.finditer(called, said)]
    for match, end in reversed(calls):
        said = f"{said[: match.start()]} {said[end + 1 :]}" if end is not None else said
    said = QUOTED.sub(" ", said)
    raised = (f"raises({each})" for each in EXCEPTION.findall(said))
    if not all(any(each in example.code for example in spec.examples) for each in raised):
        return False
    words = re.findall(r"[A-Za-z]{2,}", _BETWEEN.sub(" ", said))
    return len(words) - words.count(entry) < (
        2 if calls and re.search(rf"->|=>|==|{ARROW}|\bis\b|\breturns?\b", said) else 1
    )


def _prose(spec: Spec) -> str:
    """Return the text of `spec` without code; of code only docstrings, and comments on exceptions."""
    text = uncommented(spec.text[:_LONGEST])
    text = docstrings(text) or FENCED.sub(lambda block: f"\n{_comments_and_docstrings(block[2])}\n", text)
    text = _TYPES.sub(lambda block: "" if statements(block[0]) and "def " not in block[0] else block[0], text)
    lines = _TYPE_ABOVE.sub(lambda match: f"{match['name']}: " if match["name"] else "", text).split("\n")
    dropped = {number for session in shown(lines) for number in lines_of(session)}
    return "\n".join(line for number, line in enumerate(lines) if number not in dropped)


def _comments_and_docstrings(code: str) -> str:
    """Return the docstrings in `code`, and comments on their own lines that are about exceptions."""
    comments = re.findall(r"^[ \t]*# ?(.+)$", code, re.MULTILINE)
    return "\n\n".join([docstrings(code), *filter(EXCEPTION.search, comments)])


def _parts(prose: str) -> Iterator[str]:
    """Yield the parts that are clauses, each on one line."""
    paragraph: list[str] = []
    for line in [*prose.split("\n"), ""]:
        if set(line.strip()) & set("-=~") and not line.strip(" -=~|:"):
            line, paragraph = "", paragraph[:-1]  # the underlined line is a heading
        if _STEP.match(line) and len(paragraph) == 1 and paragraph[0].lstrip().startswith("Scenario"):
            paragraph = []  # the title
        starts = not line.strip() or any(mark.match(line) for mark in (_ITEM, _FIELD, _HEADING, _SCENARIO))
        if paragraph:
            in_list = paragraph[0][:1].isspace() or _ITEM.match(paragraph[0])
            starts |= bool(in_list) and line[:1].isupper()  # below a list
            starts |= bool(_ROW.match(paragraph[-1])) and not _ROW.match(line)  # below a table
        if starts or (paragraph and _HEADING.match(paragraph[-1])):
            yield from _sentences(paragraph)
            paragraph = []
        if line.strip():
            paragraph.append(line)


def _sentences(lines: Sequence[str]) -> Iterator[str]:
    if not lines or (_HEADING.match(lines[0]) and not _ITEM.match(lines[0])):
        return
    item = _ITEM.match(lines[0])
    text = " ".join("\n".join(lines)[item.end() if item else 0 :].split())
    if _STEP.match(text) and len(lines) > 1:
        yield from _scenes(text)
        return
    parts: list[str] = []
    for note in [text] if item else notes(lines):
        for sentence in sentences(" ".join(note.split())):
            for part in apart(sentence):
                if parts and is_unmet(parts[-1], part) and not ERROR.search(parts[-1]):
                    before = parts.pop()
                    part = f"{before}{' ' if before[-1] in '.;' else ', '}{part}"
                parts.append(part)
    for part in parts:
        yield from raising_apart(part)


def _scenes(text: str) -> Iterator[str]:
    """Yield a scenario, split before a part that says what raises."""
    scene, *steps = re.split(r"(?= (?:And|But) )", text)
    raises = False
    for step in steps:
        raised, raises = raises, ERROR.search(step) is not None
        if raised or raises:
            yield scene
            scene = step[5:]
        else:
            scene += step
    yield scene


def _needs(text: str, said: str, spec: Spec, meant: str) -> Iterator[Need]:
    """Yield the needs of a clause; one that names no exception raises `meant`, if that is given."""
    if ASSUMED.match(said):
        return
    quoted = [match[0] for match in QUOTED.finditer(said)]
    exceptions = EXCEPTION.findall(_BASE.sub(" ", said)) or filter(None, [meant])
    raised = [] if NO_RAISE.search(said) else list(dict.fromkeys(exceptions))
    words = QUOTED.sub(" ", said.replace("`None`", "None"))
    if raised:
        words = re.split(r"\botherwise\b|, (?:or )?else\b", words)[-1]
        words = re.split(r"\bunless\b|\bmust (?!not|never|rais|throw|reject|refuse|fail)", words)[0]
    a_class = spec.signature is not None and spec.signature.kind == "class"
    # An object or a part is empty in ways that no value of a test shows; BrowserTab speaks of its own kind of tab.
    own = re.findall(r"[A-Z][a-z]+", spec.signature.name) if spec.signature and a_class else []
    own_words = {*map(str.lower, own), *parameter_names(spec.text)}
    inside = a_class or any(part.lower() not in own_words for part in _PART.findall(words))
    inputs = [found for found in kinds_in(words, own_words) if not (inside and found[0].startswith("an empty "))]
    if raised:
        yield from (Need("exception", exception) for exception in raised)
        if len(raised) == 1:
            yield from (Need("input", kind, raised[0]) for kind, _ in inputs if kind not in RESULTS)
    else:
        text_comes_out = spec.signature is not None and spec.signature.text.endswith("-> str")
        result = stated_result(said, spec.signature.name) if spec.signature and not a_class else ""
        for kind, outcome in inputs:
            giving = result if kind in _OF_THE_WHOLE and kind != result else ""
            yield Need("value" if outcome or text_comes_out else "input", kind, giving=giving)
    if not OF_ITS_TEXT.search(said):
        yield from (Need("name", name) for name in _names(text, quoted, spec))
    yield from (Need("name", option) for option in _OPTION.findall(said))
    if not raised and not _DENIED.search(said):
        texts = [*_texts_quoted(said, quoted, parameter_names(spec.text))]
        yield from (Need("text", each) for each in (texts if len(texts) < 3 else texts[:1]))
    if not (raised or OF_THE_CODE.search(said)):  # a call that raises is beyond the limit, or at it
        # A method's call does not show what its object was made with.
        names = parameter_names(spec.text)
        given = {unit for name in names for unit in re.findall(rf"(?:\A|_)({_UNIT})s?\Z", name)}
        said = _OF_A_UNIT.sub(lambda match: match[0] if not given or match["unit"].lower() in given else "", said)
        limits = bounds_in(QUOTED.sub(" ", said), () if a_class else names)
        yield from (Need("bound", each) for each in limits)


def _names(text: str, quoted: Sequence[str], spec: Spec) -> Iterator[str]:
    """Yield the functions, methods and attributes that a clause names, without the entry point."""
    entry = spec.signature.name if spec.signature else ""
    known = parameter_names(spec.text)
    own = spec.signature is not None and spec.signature.kind == "class"
    called = [
        match["name"]
        for match in _CALLED.finditer(text)
        if match["owner"] not in BUILTINS | sys.stdlib_module_names
        if match["owner"] in (None, entry) or match["owner"].islower()
        if match["name"] not in (_NOT_TESTED if own else BUILTINS | MAKERS)
        or (own and text[match.end() :].startswith(")"))
    ]
    inside = [each.strip("` ") for each in quoted if each.startswith("`")]
    plain = [each for each in inside if each.isidentifier() and each.islower() and each not in known]
    plain = [each for each in plain if each not in _NO_NAMES or (each in _ASKED and text[1:].startswith(each))]
    plain = [each.strip("_") if each.strip("_") in _ASKED else each for each in plain]
    if spec.signature is not None and not own:
        plain = []  # in a function's spec plain names are its parameters, keys and values
    attributes = [match["name"] for match in _ATTRIBUTE.finditer(text)]
    attributes += _PROPERTY.findall(text) if own else []
    attributes += [each for listed in _METHODS.findall(text) for each in re.findall(r"[a-z_]\w+", listed)]
    wanted = parameters(spec.signature) if spec.signature else None
    said = re.findall(r"\w+", without_headers(text))
    options = [each.arg for each in wanted.kwonlyargs if each.arg in said] if wanted else []
    options += _GIVEN_AS.findall(text)
    defined = re.findall(r"^(?:async )?def (\w+)", spec.text, re.MULTILINE)
    for name in dict.fromkeys([*called, *attributes, *plain, *options]):
        own_name = len(name) > 1 and not name.startswith("_") and not iskeyword(name)  # `p(x)` calls an object
        if own_name and name not in defined and name != entry:
            yield name


def _texts_quoted(text: str, quoted: Sequence[str], parameters: frozenset[str]) -> Iterator[str]:
    """Yield quoted texts, without names, layouts, defined words (`"word" is a group of letters`), and texts that
    something lacks (`a part without "="`)."""
    for each in quoted:
        explained = re.search(rf"{re.escape(each)} (?:is|are|means?|being)\b(?! ['\"`])", text)
        lacking = re.search(rf"(?:{_LACKING}|['\"`] means? ){re.escape(each)}", text, re.IGNORECASE)
        (value,) = literal_value(each.strip("`").strip()) or [None]
        is_text = isinstance(value, str) and value.strip() and not _PATTERN.fullmatch(value)
        if is_text and each.strip("`'\"") not in parameters and not explained and not lacking:
            yield repr(value)

"""Examples as steps: stories (`with c = Countdown(3), c.tick() is 2, then c.tick() is 1`), and Gherkin scenarios
(`When I call f(1)`, `Then I get 2`) with their outlines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, takewhile

from ..records import Signature
from ..syntax.source import statements
from .doubt import is_mistaken
from .in_line import AROUND, asserted, called_until, leading_exception, leading_object, leading_value, says
from .signature import closing
from .tables import tables

_BETWEEN = re.compile(
    r"(?i)(?>(?:[\s,;:.`*•–—]|(?<=\s)-(?=\s)|\d{1,2}[.)]\s|\b(?:given|when|then|and|after|that|this|now|so|next|first|finally"
    r"|later|with|we|have|i|you|call|calling|do|it|again|(?:was|were|is|are)\s[a-z]+ed)\b)*)"
)
"""Words between two steps."""
_AFTERWARDS = re.compile(
    r"(?i)(?:\s+(?:is\s+called|again)\b)?[,\s]*+(?:then\s+(?=[\[({'\"\d-]|None|True|False)|(?:then\s+)?"
    r"(?:(?:(?:I|you)\s+get|it\s+(?:is|returns|gives|raises)|the\s+(?:result|answer)\s+is)\s+|(?=an?\s+\w+\s+is\s+raised)))"
)
"""Signs before a step's result, in addition to those of in_line.py."""
_PLURAL = re.compile(r"(?i)raise|throw|return|give|yield|equal|become|produce|output")
_MOST_STEPS = 30
_LONGEST = 1_000
"""Characters of a story."""
_WHEN = re.compile(
    r"(?i)\s*(?:When|And)\s+(?:I\s+|you\s+|we\s+)?(?:calls?\s+)?"
    r"`?(?:(?P<call>[a-z_]\w*\(.*\))`?\s*|(?P<name>[a-z_]\w*+)`?\s+is\s+called\s+with\s+(?P<given>\S.*))"
)
_AND = re.compile(r"(?<!\s)\s++and\s+(?=[<\w'\"\[({-])")
_THEN = re.compile(
    r"(?i)\s*Then\s+(?:I\s+get|it\s+(?:returns|gives|raises|is)|the\s+(?:result|answer|output|value)\s+(?:is|(?:should|shall)\s+be)"
    r"|(?=an?\s\w+\sis\sraised))\s*(?P<stated>\S.*)"
)


def told(lines: Sequence[str], signature: Signature | None) -> Iterator[tuple[int, list[str]]]:
    """Yield each story about an object of the entry point's class: its line, and its steps as lines of code."""
    if signature is None:
        return
    name = re.escape(signature.name)
    made = re.compile(rf"\b(?P<object>[a-z_]\w*) = (?={name}\()")
    plain = not any(re.search(rf"\b{name}\([^)]|__init__\(self, ", line) for line in lines)
    fresh = rf"|\b(?:fresh|new|empty)\s+(?:`?(?={name}\b)|[a-z]\w*[:,]?\s+(?=(?:after\s+)?`?[a-z_]\w*[.(]))"
    given = re.compile(
        rf"\b(?:[Gg]iven|[Oo]n|[Ww]ith|[Ff]or)\s+(?:an?|the)\s+(?:[a-z]+\s+){{0,3}}`?(?={name}\()" + fresh * plain
    )
    begins = (made, given) if signature.kind == "class" else (made,)
    background = next((number for number, line in enumerate(lines) if line.strip() == "Background:"), None)
    for index, line in enumerate(lines):
        for match in (found for each in begins for found in islice(each.finditer(line), 3)):
            above = [*takewhile(str.strip, reversed(lines[max(0, index - _MOST_STEPS) : index]))]
            heads = (each.strip() for each in above if each.rstrip().endswith(":"))  # of a function, or a loop
            if not is_mistaken(line, match.re) and not any(statements(f"{head} pass") for head in heads):
                text = "\n".join(lines[index : index + _MOST_STEPS])[match.end() :][:_LONGEST]
                if match.re is made:
                    yield index, _steps(text, match["object"], signature)
                    continue
                text = text if text.startswith(signature.name) else f"{signature.name}() {text}"
                below = index - 1 == background
                for start, story in _scenes(lines, index, text) if below else [(index, text)]:
                    yield start, _steps(*_with_object(story, signature), signature)


def _scenes(lines: Sequence[str], index: int, text: str) -> Iterator[tuple[int, str]]:
    """Yield each scenario after the background at the beginning of `text`, with its line."""
    for start, line in enumerate(lines[index + 1 :], index + 1):
        if line.strip().startswith("Scenario:"):
            own = islice(lines, start + 1, start + 1 + _MOST_STEPS)
            steps = takewhile(lambda line: not line.strip().startswith("Scenario:"), own)
            yield start, "\n".join([text.split("\n")[0], *steps])[:_LONGEST]


def _with_object(text: str, signature: Signature) -> tuple[str, str]:
    """Return a story such as `Stack, push(1)` with a name for the object before its methods, and that name."""
    made = signature.name
    rest = text[len(made) :]
    if rest.startswith("("):
        end = closing(rest, 0)
        made, rest = f"{made}{rest[: (end or 0) + 1]}", rest[(end or 0) + 1 :]
    else:
        made += "()"
    begins = _BETWEEN.match(rest)
    own = re.compile(r"([a-z_]\w*)\.[a-z_]").match(rest, begins.end() if begins else 0)
    name = own[1] if own else signature.name.lower()
    if not own:
        rest = re.sub(rf"(?<![\w.])(?!(?:{AROUND})\()(?=[a-z_]\w*\()", f"{name}.", rest)
    return f"{made}{rest}", name


def _steps(text: str, name: str, signature: Signature) -> list[str]:
    """Return the steps at the beginning of `text`; the first makes the object called `name`."""
    end = closing(text, text.index("("))
    found = [] if end is None else [f"{name} = {text[: end + 1]}"]
    while end is not None and len(found) < _MOST_STEPS:
        between = _BETWEEN.match(text, end + 1)
        start = between.end() if between else end + 1
        end = called_until(text, start, name)
        step = "" if end is None else text[start : end + 1]
        if end is not None and (sign := _AFTERWARDS.match(text, end + 1) or says(text, end + 1)):
            if _PLURAL.fullmatch(sign[0].strip(" `:")):
                return []  # after a list of calls the result belongs to each
            following = re.compile(rf"(?<![\w.]){name}[.(\[)]").search(text, sign.end())
            until = following.start() if following else None
            rest = text[sign.end() : until].split("\n")[0].rstrip().rstrip(".,;")
            value, raised = leading_value(rest) or leading_object(rest, signature), leading_exception(rest)
            step = asserted(step, value) if value else f"with pytest.raises({raised}): {step}" if raised else ""
            stated = value or raised or ""
            end = sign.end() + rest.index(stated) + len(stated) - 1
        if not step.endswith(")") and " " not in step:
            break
        found.append(step)
    return found


def scenarios(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the line and `call -> value` of each scenario with the result of a call, and of each outline's row."""
    for index, (when, then) in enumerate(pairwise(lines)):
        call, result = _WHEN.fullmatch(when), _THEN.fullmatch(then)
        if call and result:
            made = call["call"] or f"{call['name']}({_AND.sub(', ', call['given'])})"
            said = f"{made} -> {result['stated']}"
            for row in _rows(lines[index + 2 :]) if re.search(r"<\w+>", said) else [dict[str, str]()]:
                yield index, re.sub(r"<(\w+)>", lambda cell, row=row: row.get(cell[1].lower(), cell[0]), said)  # type: ignore[misc]


def _rows(lines: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the rows of the table below `Examples:`, before the next scenario, by its column names."""
    own = [line.strip() for line in takewhile(lambda line: not line.strip().startswith("Scenario"), lines)]
    below = own[own.index("Examples:") + 1 :] if "Examples:" in own else []
    yield from (dict(zip(heads, row, strict=False)) for heads, rows in tables(below) for _, row in rows)

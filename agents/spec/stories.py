"""Examples told step by step: `with c = Countdown(3), c.tick() is 2, then c.tick() is 1`, and scenarios
(`When I call f(1)`, `Then I get 2`), outlines with a table of examples included."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, takewhile

from ..records import Signature
from ..syntax.source import statements
from .in_line import asserted, called_until, leading_exception, leading_object, leading_value, says
from .signature import closing

_BETWEEN = re.compile(
    r"(?:[\s,;:.`]|\b(?:given|when|then|and|after|that|this|now|so|next|first|finally|later|with|we|have|i|you|call"
    r"|calling|do)\b)*+",
    re.IGNORECASE,
)
"""What may stand between two steps."""
_MOST_STEPS = 30
_LONGEST = 1_000
"""Characters of a story."""
_WHEN = re.compile(
    r"\s*(?:When|And)\s+(?:I\s+|you\s+|we\s+)?(?:calls?\s+)?`?(?P<call>[a-z_]\w*\(.*\))`?\s*", re.IGNORECASE
)
_THEN = re.compile(
    r"\s*Then\s+(?:I\s+get|it\s+(?:returns|gives|raises|is)|the\s+(?:result|answer|output|value)\s+(?:is|should\s+be)"
    r"|(?=an?\s\w+\sis\sraised))\s*(?P<stated>\S.*?)(?:\sis\sraised)?[.\s]*",
    re.IGNORECASE,
)


def told(lines: Sequence[str], signature: Signature | None) -> Iterator[tuple[int, list[str]]]:
    """Yield the steps of each story about an object of the class asked for, as lines of code, with its line."""
    if signature is None:
        return
    made = re.compile(rf"\b(?P<object>[a-z_]\w*) = {re.escape(signature.name)}\(")
    for index, line in enumerate(lines):
        for match in islice(made.finditer(line), 3):
            if not _is_in_code(lines, index):
                text = "\n".join(lines[index : index + _MOST_STEPS])[match.start() :]
                yield index, _steps(text[:_LONGEST], match["object"], signature)


def _is_in_code(lines: Sequence[str], index: int) -> bool:
    """Return True for a line below the header of a function or a loop."""
    above = takewhile(str.strip, reversed(lines[max(0, index - _MOST_STEPS) : index]))
    return any(line.rstrip().endswith(":") and statements(f"{line.strip()} pass") for line in above)


def _steps(text: str, name: str, signature: Signature) -> list[str]:
    """Return the steps that `text` begins with, the first of which makes the object called `name`."""
    end = closing(text, text.index("("))
    found = [] if end is None else [text[: end + 1]]
    while end is not None and len(found) < _MOST_STEPS:
        between = _BETWEEN.match(text, end + 1)
        start = between.end() if between else end + 1
        end = called_until(text, start, name)
        step = "" if end is None else text[start : end + 1]
        if end is not None and (sign := says(text, end + 1)):
            following = re.compile(rf"(?<![\w.]){name}[.(\[)]").search(text, sign.end())
            rest = text[sign.end() : following.start() if following else None].rstrip().rstrip(".,;")
            value, raised = leading_value(rest) or leading_object(rest, signature), leading_exception(rest)
            step = asserted(step, value) if value else f"with pytest.raises({raised}): {step}" if raised else ""
            stated = value or raised or ""
            end = sign.end() + rest.index(stated) + len(stated) - 1
        if not step.endswith(")") and " " not in step:
            break
        found.append(step)
    return found


def scenarios(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield `call -> value` for each scenario that calls a function and says what it gives, with its line: for an
    outline, for each row of its table."""
    for index, (when, then) in enumerate(pairwise(lines)):
        call, result = _WHEN.fullmatch(when), _THEN.fullmatch(then)
        if call and result:
            said = f"{call['call']} -> {result['stated']}"
            for row in _rows(lines[index + 2 :]) if re.search(r"<\w+>", said) else [dict[str, str]()]:
                yield index, re.sub(r"<(\w+)>", lambda cell, row=row: row.get(cell[1], cell[0]), said)  # type: ignore[misc]


def _rows(lines: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the rows of the table below `Examples:`, before the next scenario, by the names in its first."""
    own = [line.strip() for line in takewhile(lambda line: not line.strip().startswith("Scenario"), lines)]
    below = own[own.index("Examples:") + 1 :] if "Examples:" in own else []
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in takewhile(lambda line: line[:1] == "|", below)
    ]
    yield from (dict(zip(cells[0], row, strict=False)) for row in cells[1:])

"""The sentences of a text, and the parts of one that a semicolon or the next call of a list sets apart."""

from __future__ import annotations

import re
from collections.abc import Iterator

QUOTED = re.compile(r"(?<!\w)(?:'[^'\n]{0,40}'|\"[^\"\n]{0,40}\"|``[^`\n]{1,60}``|`[^`\n]{1,60}`)(?!\w)")
_SHORT_FORMS = re.compile(r"(?:\b(?:[Ee]\.g|[Ii]\.e|etc|vs|cf|approx|incl)|\s\.\.)\.$")
_END = re.compile(
    r"[.!?][\"'`)]*\s+(?=[\"'`(]?[A-Za-z0-9`_{\\])|(?<!&lt)(?<!&gt)(?<!&amp)(?<!&quot)(?<!\s);\s+|\n|,\s+(?:and\s+)?(?=[a-z_]\w*\()"
)
_ACTS = re.compile(r"`?[a-z_]\w*\([^()\n]{0,60}\)`?\s+[a-z]+s\b")
"""`push(x) adds`: of the methods in a list each is a part of its own."""


def sentences(text: str) -> Iterator[str]:
    """Yield the parts of `text`; what ends one within quotes or brackets ends none."""
    masked = QUOTED.sub(lambda match: "x" * len(match[0]), text)
    place = seen = depth = 0
    for end in _END.finditer(masked):
        part, seen = masked[seen : end.start()], end.start()
        depth += sum(map(part.count, "([")) - sum(map(part.count, ")]"))
        listed = _ACTS.match(masked, place) and _ACTS.match(masked, end.end())
        short = end[0][0] == "." and _SHORT_FORMS.search(masked[max(place, seen - 12) : seen + 1])
        if depth <= 0 and not short and (listed or end[0][0] != ","):
            yield text[place : seen + 1]
            place, depth = end.end(), 0
    yield text[place:]

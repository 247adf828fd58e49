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
_UNCHANGED = re.compile(
    r"(?:\b(?:not|never|without|nor)|n't)\s+(?:be\s+)?(?:modif|chang|mutat|alter)"
    r"|\b(?:unchanged|untouched|unmodified|intact)\b|\bleav\w+ [^,]{1,40} (?:alone\b|as (?:it|they)\b)"
    r"|\bneither [^,]{1,40}(?:modif|chang|mutat|alter)",
    re.IGNORECASE,
)


def unchanged_apart(sentence: str) -> list[str]:
    """Return a sentence, in two where it says of arguments that they are not changed, and something else: what
    shows the one says nothing of the other."""
    masked = _masked(sentence)
    joined = masked.rfind(", and ")
    parts = [sentence[: max(joined, 0)], sentence[joined + len(", and ") :]]
    within = masked.count("(", 0, len(parts[0])) - masked.count(")", 0, len(parts[0]))
    apart = joined > 0 and not within and len({bool(_UNCHANGED.search(each)) for each in parts}) == 2
    return parts if apart else [sentence]


def _masked(text: str) -> str:
    """Return a text of the same length in which quotations hold no mark."""
    return QUOTED.sub(lambda match: "x" * len(match[0]), text)


def sentences(text: str) -> Iterator[str]:
    """Yield the parts of `text`; what ends one within quotes or brackets ends none."""
    masked = _masked(text)
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

"""The sentences of a text, split also at semicolons and before the next call of a list."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

QUOTED = re.compile(r"(?<!\w)(?:'[^'\n]{0,40}'|\"[^\"\n]{0,40}\"|``[^`\n]{1,60}``|`[^`\n]{1,60}`)(?!\w)")
_SUCH_AS = re.compile(rf"\bsuch as (?:{QUOTED.pattern}(?:,? (?:or |and )?)?)+")
_SHORT_FORMS = re.compile(r"(?:\b(?:[Ee]\.g|[Ii]\.e|etc|vs|cf|approx|incl)|\s\.\.)\.$")
_END = re.compile(
    r"[.!?][\"'`)]*\s+(?=[\"'`(]?[A-Za-z0-9`_{\\[])|(?<!&lt)(?<!&gt)(?<!&amp)(?<!&quot)(?<!\s);\s+|\n|,\s+(?:and\s+)?(?=[a-z_]\w*\()"
)
_ACTS = re.compile(r"`?[a-z_]\w*\([^()\n]{0,60}\)`?\s+[a-z]+s\b")
"""`push(x) adds`: each method in a list is a part of its own."""
_UNCHANGED = re.compile(
    r"(?i)(?:\b(?:not|never|without|nor)|n't)\s+(?:be\s+)?(?:modif|chang|mutat|alter)"
    r"|\b(?:unchanged|untouched|unmodified|intact)\b|\bleav\w+ [^,]{1,40} (?:alone\b|as (?:it|they)\b)"
    r"|\bneither [^,]{1,40}(?:modif|chang|mutat|alter)"
)

VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|must|may|can|will|do|does|should|remain"
    r"|(?:appear|begin|belong|contain|count|end|follow|get|go|keep|mean|return|stand|start|stay|win)(?:e?s)?"
    r"|(?:becom|com|giv|mak|rais|tak)(?:e|e?s)"
    r"|(?:add|cost|fail|leav|matter|mov|need|remov|rotat|set|show|us|yield)e?s)\b"
)
"""A verb as rules have it; those that may be nouns (`a set`, `the use`) only with `s`."""
STATES = re.compile(
    rf"(?i)(?!(?:you|which|that|who|or)\b|{VERB.pattern})"
    rf"(?:(?:if|when|for|with|in|of)\b.*?|(?:[\w'-]+ ){{1,6}}?){VERB.pattern}"
)
"""A subject and a verb."""
_NEAR = 300
"""Characters of a part that are searched."""
CONDITION = re.compile(
    r"(?i)\s*(?:if|when|whenever|for|with|without|on|where|unless|given|otherwise|you (?:can|may))\b"
)
"""The beginning of a condition."""


def apart(sentence: str) -> Iterator[str]:
    """Yield the parts of a sentence joined by `, and`, where each is a statement of its own, or one is about
    unchanged arguments: a test of one part does not show the other."""
    masked = _masked(sentence)
    place = seen = depth = 0
    for end in re.finditer(", and ", masked):
        depth += masked.count("(", seen, end.start()) - masked.count(")", seen, end.start())
        seen = end.start()
        before = masked[max(place, seen - _NEAR) : seen]
        after = masked[end.end() : end.end() + _NEAR].split(", and ")[0]
        unchanged = {bool(_UNCHANGED.search(each)) for each in (before, after)}
        case = CONDITION.match(masked, place) and not CONDITION.match(after)
        if not depth and (len(unchanged) == 2 or (VERB.search(before) and STATES.match(after) and not case)):
            yield sentence[place:seen]
            place = end.end()
    yield sentence[place:]


def meant_quotations(said: str, names: Collection[str]) -> str:
    """Return `said` without quotations that no test has to have: illustrations (`names such as "a.log"`) are
    removed; layouts, made of words beside them (`for a key it is "+key"`) or of `names`, lose their quotes."""
    said = _SUCH_AS.sub("", said)
    known = {*re.findall(r"\w+", QUOTED.sub(" ", said).lower()), *names}
    for quoted in QUOTED.findall(said):
        text = quoted.strip("`'\"")
        if re.fullmatch(r"(?=.*\w)(?=.*[^\w\s])\D*", text) and known.issuperset(re.findall(r"\w+", text.lower())):
            said = said.replace(quoted, text)
    return said


def _masked(text: str) -> str:
    """Return a text of the same length without punctuation in quotations."""
    return QUOTED.sub(lambda match: "x" * len(match[0]), text)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of `text`; punctuation in quotes or brackets ends none."""
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

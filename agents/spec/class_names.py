"""Names of classes in a spec's text, and where a sentence may begin with what it says of one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .asked import ASKED

_CLASS = re.compile(
    r"\b[Cc]lass\s+(?:(?:\w+\s+){0,6}?(?:named|called)\s+|name:?\s+)?[`'\"]?(?P<name>[A-Z]\w*)"
    r"|(?:`|\b(?:[Aa]n?|[Tt]he)\s+(?:\w+\s+)?(?!(?:Python|Base|Data)\b))(?P<other>[A-Z]\w*)`?\s+(?:data)?class\b"
    r"|\b(?!(?:There|This|It|Here)\b)(?P<subject>[A-Z]\w*)`?(?::| is| -)\s+an?\s+(?:[\w-]+\s+){0,3}class\b"
)
_WRITTEN_AS_CLASS = re.compile(
    rf"(?i:{ASKED})\s+(?:(?:an?|the)\s+|[^.:;\n]{{3,60}}:\s+)?`?(?P<name>[A-Z][a-z]+(?:[A-Z][a-z]*)+)`?"
    r"(?=\s+(?:(?:that|which)(?! returns)|with|supporting|for)\b|[:.]\s)"
)
"""`Implement MinStack that`."""
_SENTENCE = re.compile(r"(?:\A|[.!?:;]\s|\n)(?:[ \t]|[#>*`-])*+")
_CLASS_FIRST = re.compile(
    r"(?:(?:an?|the)\s+(?:(?!(?:of|in|on|by|to|for|from|with|per|and|or|the)\b)[\w-]+\s+){1,4}?(?=class\s)"
    r"|(?P<first>\w+)\s+(?:[\w-]+\s+){0,3}?(?=class\s+[`'\"]?(?P=first)))?",
    re.IGNORECASE,
)
"""Before what a sentence says of a class: `A stack class Stack with`, `Event emitter class EventEmitter`."""
_DATA_CLASS = re.compile(
    r"\b(?:dataclass|named tuple|NamedTuple|[Ee]num|IntEnum|StrEnum|Protocol)\s+(?:named\s+|called\s+)?"
    r"[`'\"]?(?P<name>[A-Z]\w*)"
)


def classes_named(prose: str) -> Iterator[tuple[int, str]]:
    """Yield the names of classes in `prose` with their places."""
    yield from ((match.start(), match[match.lastgroup or 0]) for match in _CLASS.finditer(prose))
    for pattern in (_WRITTEN_AS_CLASS, _DATA_CLASS):
        yield from ((match.start("name"), match["name"]) for match in pattern.finditer(prose))


def begins_of_classes(prose: str) -> set[int]:
    """Return the places where a sentence of `prose` begins with a class, with the words before it or without."""
    starts = (_CLASS_FIRST.match(prose, match.end()) for match in _SENTENCE.finditer(prose))
    return {match.end() for match in starts if match}

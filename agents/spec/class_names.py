"""Names of classes in a spec's text, and where a sentence may begin with what it says of one."""

from __future__ import annotations

import re
from collections.abc import Iterator

ASKED = (
    r"\b(?:implement|write|create|build|define|make|design|add|develop|code|provide|complete|need|want)\b(?!\()"
)
_CLASS = re.compile(
    r"\b[Cc]lass\s+(?:(?:\w+\s+){0,6}?(?:named|called)\s+|name:?\s+)?[`'\"]?(?P<name>[A-Z]\w*)"
    r"|(?:`|\b(?:[Aa]n?|[Tt]he)\s+(?!Python\b))(?P<other>[A-Z]\w*)`?\s+(?:data)?class\b"
    r"|\b(?!(?:There|This|It|Here)\b)(?P<subject>[A-Z]\w*)`?(?::| is| -)\s+an?\s+(?:[\w-]+\s+){0,3}class\b"
    r"|(?:\A|\n)[ \t#*]*(?!(?:Python|Base|Abstract|Data|Main|New|The|This|Your)\b)(?P<titled>[A-Z]\w+) class\s?:"
    r"|\b(?:[Aa]n?|[Tt]he)\s+(?P<single>[A-Z][a-z]+)\s+(?:with|supporting|that\s+supports)\s+`?[a-z_]\w*\("
)
_WRITTEN_AS_CLASS = re.compile(
    rf"(?i:{ASKED})\s+(?:(?:an?|the)\s+|[^.:;\n]{{3,60}}:\s+)?`?(?P<name>[A-Z][a-z]+(?:[A-Z][a-z]*)+)`?"
    r"(?=\s+(?:(?:that|which)(?! returns)|with|supporting|for)\b|[:.]\s)"
)
"""`Implement MinStack that`."""
_QUOTED_CLASS = re.compile(
    rf"(?i:{ASKED})\s+(?:(?!(?:that|which|functions?|takes?|returns?|given|for|of)\b)[\w/-]+\s+){{1,6}}"
    r"`(?P<name>[A-Z](?=[A-Z]*+[a-z])\w*+)`\s+(?:that|which|with|supporting|for|to)\b"
)
"""`Design an in-memory store `KVStore` supporting`."""
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
_CALLED = re.compile(
    r"\b(?:with|as|via|using)\s+(?:an?\s+|the\s+)?class\s+`?(?P<name>[A-Z]\w*)"
    r"|\bclass\s+(?:name:?|(?:is|should\s+be|must\s+be)\s+(?:named|called))\s+`?(?P<called>[A-Z]\w*)"
)
_USED = re.compile(r"(?<![\w.])(?P<name>[A-Z]\w*)\.[a-z_]\w*\(")
_BEGINS = re.compile(r"(?:\A|[.:]\s|\n)`?(?P<name>(?:[A-Z][a-z]+){2,})`? (?:is|has|[a-z]+s)\b")
"""`with class Scheduler`, `Board.play(row, col)`, `TrafficLight starts red.`: a class that is spoken of."""


def classes_spoken_of(prose: str) -> set[str]:
    """Return the names by which `prose` speaks of classes that it does not ask for in so many words."""
    patterns = (_CALLED, _USED, _BEGINS)
    return {match[match.lastgroup or 0] for pattern in patterns for match in pattern.finditer(prose)}


def classes_named(prose: str) -> Iterator[tuple[int, str]]:
    """Yield the names of classes in `prose` with their places."""
    yield from ((match.start(), match[match.lastgroup or 0]) for match in _CLASS.finditer(prose))
    for pattern in (_WRITTEN_AS_CLASS, _QUOTED_CLASS, _DATA_CLASS):
        yield from ((match.start("name"), match["name"]) for match in pattern.finditer(prose))


def begins_of_classes(prose: str) -> set[int]:
    """Return the places where a sentence of `prose` begins with a class, with the words before it or without."""
    starts = (_CLASS_FIRST.match(prose, match.end()) for match in _SENTENCE.finditer(prose))
    return {match.end() for match in starts if match}

"""Names of classes in a spec's text, by what is said of them."""

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
_DATA_CLASS = re.compile(
    r"\b(?:dataclass|named tuple|NamedTuple|[Ee]num|IntEnum|StrEnum|Protocol)\s+(?:named\s+|called\s+)?"
    r"[`'\"]?(?P<name>[A-Z]\w*)"
)


def classes_named(prose: str) -> Iterator[tuple[int, str]]:
    """Yield the names of classes in `prose` with their places."""
    yield from ((match.start(), match[match.lastgroup or 0]) for match in _CLASS.finditer(prose))
    for pattern in (_WRITTEN_AS_CLASS, _DATA_CLASS):
        yield from ((match.start("name"), match["name"]) for match in pattern.finditer(prose))

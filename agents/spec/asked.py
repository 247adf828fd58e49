"""The words that ask for something, and whether those of a sentence do."""

from __future__ import annotations

import re

ASKED = (
    r"\b(?:re)?(?:implement|write|create|build|define|make|design|add|develop|code|provide|complete|need|want|fix)\b"
    r"(?!\()"
)
WORDS = r"(?:(?:python|async\w*|coroutine|generator|function|decorator|context\s+manager)\s+){0,3}"
FENCE = re.compile(r"\s*(?:```|~~~)")
"""The begin or the end of a block."""
FENCED = re.compile(r"(?ms)^[ \t]*+(`{3,}+|~{3,}+)[^\n`]*+\n(.*?)(?:^[ \t]*+\1|\Z)")
_FOREIGN = re.compile(
    r"(?ims)^[ \t]*(?P<mark>```|~~~)(?:jsx?|javascript|tsx?|typescript|java|kotlin|c|cpp|c\+\+|csharp|cs|go|golang"
    r"|rust|rs|ruby|rb|php|swift|scala|perl|sql|r|lua|haskell)[ \t]*\n.*?(?:^[ \t]*(?P=mark)[ \t]*$|\Z)"
)
Reading = tuple[str, str, int]
"""An example as it is read: the code of its check, the text that states it, and its line (from 0)."""
ARROW = "[→⇒➞⟶↦➔➙➛➜➝➟➠➡➤➥➨➩➭➯➲➳➵➸➺➻➼➽➾⟹⟼⟾⇨⇾⇝⇢↣⮕▶►]"
_FIRST_WORDS = re.compile(rf"(?i)\s*(?:(?:an?|the)\s+)?{WORDS}`?")
"""Of a spec that begins with what it asks for: `A function f(x) that`, `f(x) returns`."""


def is_asked(text: str, place: int) -> bool:
    """Return True if the sentence of `text` that leads to `place` asks for what stands there."""
    if _FIRST_WORDS.fullmatch(text[: min(place, 60)]):
        return place < 60
    sentence = re.split(r"[.!?](?:\s|$)|\n\s*\n", text[max(0, place - 200) : place])[-1]
    return re.search(ASKED, sentence[-120:], re.IGNORECASE) is not None


def uncommented(text: str) -> str:
    """Return `text` without the marks of a comment that all of its lines, three or more, begin with, without `//`
    before a line, and without what is fenced as code of another language."""
    text = _FOREIGN.sub(lambda fenced: "\n" * fenced[0].count("\n"), text)
    text = re.sub(r"^//+ ", "", text, flags=re.MULTILINE)
    lines = text.split("\n")
    marked = [line.startswith("#") for line in lines if line.strip()]
    if not marked[2:] or not all(marked):
        return text
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines)

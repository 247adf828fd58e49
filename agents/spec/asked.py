"""Words of a spec that ask for a function, class or program."""

from __future__ import annotations

import ast
import re

from ..syntax.definitions import Definition, Function
from ..syntax.source import statements

ASKED = (
    r"\b(?:re)?(?:implement|write|create|build|define|make|design|add|develop|code|provide|complete|need|want|fix)\b"
    r"(?!\()"
)
WORDS = r"(?:(?:python|async\w*|coroutine|generator|function|decorator|context\s+manager)\s+){0,3}"
FENCE = re.compile(r"\s*(?:```|~~~)")
"""The first or the last line of a code block."""
FENCED = re.compile(r"(?ms)^[ \t]*+(`{3,}+|~{3,}+)[^\n`]*+\n(.*?)(?:^[ \t]*+\1|\Z)")
_FOREIGN = re.compile(
    r"(?ims)^[ \t]*(?P<mark>```|~~~)(?:jsx?|javascript|tsx?|typescript|java|kotlin|c|cpp|c\+\+|csharp|cs|go|golang"
    r"|rust|rs|ruby|rb|php|swift|scala|perl|sql|r|lua|haskell)[ \t]*\n.*?(?:^[ \t]*(?P=mark)[ \t]*$|\Z)"
)
Reading = tuple[str, str, int]
"""An example: the code of its check, the text that states it, and its line (from 0)."""
ARROW = "[→⇒➞⟶↦➔➙➛➜➝➟➠➡➤➥➨➩➭➯➲➳➵➸➺➻➼➽➾⟹⟼⟾⇨⇾⇝⇢↣⮕▶►]"
_FIRST_WORDS = re.compile(rf"(?i)\s*(?:(?:an?|the)\s+)?{WORDS}`?")
"""Of a spec that begins with what it asks for: `A function f(x) that`, `f(x) returns`."""


def is_asked(text: str, place: int) -> bool:
    """Return True if the sentence of `text` up to the index `place` asks for what follows there."""
    if _FIRST_WORDS.fullmatch(text[: min(place, 60)]):
        return place < 60
    sentence = re.split(r"[.!?](?:\s|$)|\n\s*\n", text[max(0, place - 200) : place])[-1]
    return re.search(ASKED, sentence[-120:], re.IGNORECASE) is not None


def uncommented(text: str) -> str:
    """Return `text` without comment marks at the beginning of all lines (three or more), without `//` before a
    line, and without fenced code of other languages."""
    text = _FOREIGN.sub(lambda fenced: "\n" * fenced[0].count("\n"), text)
    text = re.sub(r"^//+ ", "", text, flags=re.MULTILINE)
    lines = text.split("\n")
    marked = [line.startswith("#") for line in lines if line.strip()]
    if not marked[2:] or not all(marked):
        return text
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines)


def docstrings(code: str) -> str:
    """Return the docstrings in `code`, a method's after its name; none if it is not Python."""
    nodes = list(ast.walk(ast.Module(statements(code), [])))
    inside = {item for node in nodes if isinstance(node, ast.ClassDef) for item in node.body}
    found = []
    for node in nodes:
        if isinstance(node, Definition | ast.Module) and (text := ast.get_docstring(node)):
            found.append(f"`{node.name}`: {text}" if isinstance(node, Function) and node in inside else text)
    return "\n\n".join(found)

"""Removal of the examples from a stub's docstring, for the variant with generated tests only.

HumanEval's docstrings show examples as doctests, as lines that begin with a call (`f(x) == y`, `* f(x) => y`,
`f(x) returns y`), as sentences (`For x = 1 the output should be 2`), and as blocks under a heading (`Example 1:`
with `Input:`, `Output:`, `Explanation:`). All of these go, with the headings and remarks that belong to them.
What defines the behaviour stays: prose, also where it explains a word by an instance ("e.g. -123 has signed
digits -1, 2, and 3"), and recurrences with their base cases (`f(0) = 1`, `f(n) = n * f(n - 1)`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import groupby

from ..spec.doctests import lines_of, shown
from ..spec.signature import closing, unclosed
from ..syntax.definitions import Function
from ..syntax.laid_out import LaidOut
from ..syntax.literals import expression, is_value
from ..syntax.source import parse

_HEADING = re.compile(r"(?:for\s+)?examples?(?:\s+\d+)?\s*(?::.*)?", re.IGNORECASE)
_FORMS = (
    re.compile(r"(?:for|with|given)\s+[A-Za-z_]\w*\s*=", re.IGNORECASE),
    re.compile(r"\**(?:input|output|explanation)s?\**\s*:", re.IGNORECASE),
    re.compile(r"#|//|[-→➞]|[^A-Za-z]*=|[A-Za-z_]\w*\s*(?:=|\[)"),
)
_LEAD = re.compile(r"(?:[-*+•]\s+|\d+[.)]\s+)?(?:for\s+|assert\s+)?`?")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_QUOTES = re.compile(r"[rRuU]?(\"\"\"|'''|\"|')")


def definition(stub: str, name: str) -> Function:
    """Find the module-level function `name`, the last of several. Raises ValueError where there is none."""
    for node in reversed(parse(stub).body):
        if isinstance(node, Function) and node.name == name:
            return node
    raise ValueError(f"it defines no function {name}")


def without_examples(stub: str, entry_point: str) -> str:
    """Return `stub` without the examples in the docstring of `entry_point`; other bytes stay. Raises ValueError
    where `stub` is not Python or defines no function `entry_point`."""
    docstring = definition(stub, entry_point).body[0]
    laid_out = LaidOut(stub)
    start = laid_out.offset(docstring.lineno, docstring.col_offset)
    end = laid_out.offset(docstring.end_lineno or docstring.lineno, docstring.end_col_offset or 0)
    quotes = _QUOTES.match(stub[start:end])
    if quotes is None or not stub.endswith(quotes[1], start, end):  # no text, or one of several literals
        return stub
    first, last = start + quotes.end(), end - len(quotes[1])
    margin = " " * docstring.col_offset
    lines = (margin + stub[first:last]).split("\n")
    left = "\n".join(_joined(lines, _examples(lines, entry_point)))
    return stub[:first] + left.removeprefix(margin) + stub[last:]


def _examples(lines: Sequence[str], name: str) -> dict[int, str]:
    """Find the lines that belong to examples, by number, each with the text that is left of it."""
    gone = {number: "" for session in shown(lines) for number in lines_of(session)}
    for number, line in enumerate(lines):
        start = _heading(line)
        if number not in gone and start is not None:
            gone.update(dict.fromkeys(_block(lines, number, name, gone), ""))
            gone[number] = line[:start].rstrip()
    for run in _runs_of_calls(lines, name, gone):
        if all(_is_on_values(lines[number], name) for number in run):
            for number in run:
                gone.update(dict.fromkeys([number, *_block(lines, number, name, gone)], ""))
    return gone | _introductions(lines, gone)


def _introductions(lines: Sequence[str], gone: Mapping[int, str]) -> dict[int, str]:
    """Find lines whose last sentence ends in a colon that nothing follows any more."""
    found = {}
    for number in gone:
        above = next((n for n in range(number - 1, -1, -1) if lines[n].strip()), None)
        if above is not None and above not in gone and lines[above].rstrip().endswith(":"):
            found[above] = lines[above][: _sentence_starts(lines[above])[-1]].rstrip()
    return found


def _heading(line: str) -> int | None:
    """Find the start of a sentence, the last of the line, that announces examples, as `For example:` does."""
    return next((start for start in _sentence_starts(line) if _HEADING.fullmatch(line[start:].rstrip())), None)


def _sentence_starts(line: str) -> list[int]:
    return [_indent(line), *(match.end() for match in _SENTENCE_END.finditer(line.rstrip()))]


def _block(lines: Sequence[str], head: int, name: str, gone: Container[int]) -> Iterator[int]:
    """Yield the lines after `head` that belong to its example, blank ones between them included."""
    headed = _heading(lines[head]) is not None
    depth = unclosed(lines[head])
    waiting: list[int] = []
    for number in range(head + 1, len(lines)):
        line = lines[number]
        if not line.strip():
            waiting.append(number)
            continue
        inside = depth > 0 or (headed and not waiting and _indent(line) > _indent(lines[head]))
        example = _called(line, name) is not None or any(form.match(line.strip()) for form in _FORMS)
        if not (inside or number in gone or example):
            return
        depth = max(0, depth + unclosed(line))
        yield from [*waiting, number]
        waiting = []


def _runs_of_calls(lines: Sequence[str], name: str, gone: Container[int]) -> list[list[int]]:
    """Group consecutive lines that begin with a call of `name`."""
    calls = [number not in gone and _called(line, name) is not None for number, line in enumerate(lines)]
    runs = groupby(range(len(lines)), key=calls.__getitem__)
    return [list(run) for begins, run in runs if begins]


def _called(line: str, name: str) -> str | None:
    """Return the call of `name` that a line begins with, as far as the line has it; None without one."""
    lead = _LEAD.match(line.strip())
    text = line.strip()[lead.end() if lead else 0 :]
    if not text.startswith(f"{name}("):
        return None
    end = closing(text, len(name))
    return text if end is None else text[: end + 1]


def _is_on_values(line: str, name: str) -> bool:
    """Return True if the line's call has arguments, and none is a variable, as in `f(n - 1)`."""
    node = expression(_called(line, name) or "")
    if not isinstance(node, ast.Call):
        return True
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    return bool(arguments) and all(is_value(argument) for argument in arguments)


def _joined(lines: Sequence[str], gone: Mapping[int, str]) -> list[str]:
    """Join the lines that stay, with one blank line where some are gone, and none at the end."""
    last = len(lines) - 1
    end = [lines[last]] if last and not lines[last].strip() else []
    left = [(gone.get(number, line), number in gone) for number, line in enumerate(lines[: len(lines) - len(end)])]
    kept: list[str] = []
    for blank, group in groupby(left, key=lambda item: not item[0].strip()):
        run = list(group)
        if not blank or not any(was_example for _, was_example in run):
            kept.extend(line for line, _ in run)
        elif any(not was_example for _, was_example in run):
            kept.append("")
    while len(kept) > 1 and not kept[-1].strip():
        kept.pop()
    return [*(kept or [""]), *end]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())

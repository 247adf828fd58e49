"""Rows of inputs and results in a spec: tables (Markdown, by tabs, aligned by blanks), lists of pairs below a
heading of examples, and lists of valid and invalid inputs."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import takewhile

from ..syntax.literals import expression, is_value, value
from ..syntax.source import unparse
from .asked import ARROW
from .in_line import leading_exception, leading_value

_RULE = re.compile(r"[\s|:+=]*+-[\s|:+=-]++")
_ITEM = re.compile(r"\s*+(?:[-*+•]\s++(?:\[[ xX]?\]\s++)?|\d{1,3}[.)]\s++)")
_EXAMPLES = re.compile(
    r"(?i)\W*(?:(?:for|some|more|usage|a few|the|acceptance|test|sample)\s+)*"
    r"(?:examples?|expected|acceptance|criteria|checks?|cases|tests?|samples?|e\.g\.?|instance"
    r"|check against (?:these|this)|like (?:so|this|these))"
    r"(?!\s+of\s+(?!use|usage|input|call))(?:\s+[a-z]+){0,4}\W*"
)
"""A heading of examples: `Examples:`, `## Acceptance criteria`, `Check against these:`."""
_SIGN = re.compile(
    rf"(?i)\s(?P<arrow>==?>|===?|--?>|{ARROW})\s|\s=\s|,?\s(?:(?:should|shall|must|will)\s+)?(?:returns?|gives?|yields?|becomes?"
    r"|results?\s+in|scores?|raises?|[a-z]+s\s(?:as|to|into)|is(?:\s(?:an?\serror|refused|rejected|invalid)(?:\swith|[:,])?)?)"
    r"\s|:\s"
)
_MOST_SIGNS = 10
_MOST_ROWS = 300
_REMARK = re.compile(r"\A[^\"'\[({]*,\s+(?=[\[({'\"])")
_SORTS = re.compile(
    r"(?i)\W*+(?:(?P<true>valid|accept(?:s|ed)?|good|okay|ok|true|yes|allowed|passes|match(?:es)?)"
    r"|(?:(?:not|in|un)[\s-]?(?:valid|accepted|okay|ok|allowed)|reject(?:s|ed)?|bad|false|no|refused|fails))"
    r"(?:\s(?:inputs?|examples?|values?|for))?\W*:\W*?(?P<listed>\s.*)?"
)
_CASE = re.compile(r"(?i)inputs?,(?:outputs?|results?)|.+,expected\w*")
"""The keys of a JSON object that is an example, not data."""
Table = tuple[list[str], list[tuple[int, list[str]]]]
"""The column heads (none for a list); for each row its line (from 0) and its cells, the result last."""


def tables(lines: Sequence[str], names: Sequence[str] = ()) -> Iterator[Table]:
    """Yield the tables in `lines`: a line of heads, then lines with as many cells (and remarks) or comma-separated
    values; and JSON objects whose keys are parameters in `names`."""
    end = 0
    for index, line in enumerate(lines):
        heads = cells(line)
        if index >= end and len(heads) > 1 and not _RULE.fullmatch(line):
            start = index + 1 + (_RULE.fullmatch("".join(lines[index + 1 : index + 2])) is not None)
            below = [*takewhile(lambda row: len(row) > 1, map(cells, lines[start : start + _MOST_ROWS]))]
            end = start + len(below)
            rows = [
                (number, row[: len(heads)])
                for number, row in enumerate(below, start)
                if all(cell[:1] == "(" for cell in row[len(heads) :])
            ]
            yield [head.strip("*_").lower() for head in heads], rows
    for index, line in enumerate(lines):
        heads = [head.strip() for head in line.split(",")]
        if len(heads) > 1 and all(map(str.isidentifier, heads)):
            below = [*takewhile(bool, map(_literals, lines[index + 1 : index + _MOST_ROWS]))]
            rows = [(number, row) for number, row in enumerate(below, index + 1) if len(row) == len(heads)]
            yield [head.lower() for head in heads], rows
        with suppress(ValueError, RecursionError):
            case = json.loads(line.strip(" \t[],")) if line.lstrip("[ \t").startswith("{") else None
            if case and _CASE.fullmatch(",".join(case)) and {*[*case][:-1]} <= {"input", "inputs", *names}:
                yield [head.lower() for head in case], [(index, [*map(repr, case.values())])]


def _literals(line: str) -> list[str]:
    """Return the values of a comma-separated line, `10, 2, "1010"`; none for other lines."""
    node = expression(line)
    return [*map(unparse, node.elts)] if isinstance(node, ast.Tuple) and is_value(node) else []


def cells(line: str) -> list[str]:
    """Return the cells of a table's line, without backticks; a line of text is one cell."""
    if "|" in line:
        parts = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    else:
        parts = line.strip("\n ").split("\t") if "\t" in line else re.split(r"(?<=\S) {2,}", line.strip())
    return [part.strip().strip("`").strip() for part in parts]


def lists(lines: Sequence[str], *, of_two_sorts: bool) -> Iterator[Table]:
    """Yield the lists of pairs below a heading of examples; or if `of_two_sorts` those below `Valid:` and
    `Invalid:` or the like, with the result for each."""
    end = 0
    for index, line in enumerate(lines):
        item = _ITEM.match(line)
        heading = _SORTS.fullmatch(line, item.end() if item else 0) if of_two_sorts else _EXAMPLES.fullmatch(line)
        if index < end or not heading:
            continue
        said = "True" if of_two_sorts and heading["true"] else "False"
        here = ((of_two_sorts and heading["listed"]) or "").strip()
        items = [(index, each) for each in _values(here)] if here else [*_items(lines, index)]
        end = items[-1][0] + 1 if items else end
        pairs = ([text.strip().strip("`"), said] if of_two_sorts else _pair(text) for _, text in items)
        yield [], [(number, pair) for (number, _), pair in zip(items, pairs, strict=True) if pair]


def _values(text: str) -> list[str]:
    """Return the values listed in `text`; none where it has anything else."""
    parts = re.split(r",\s(?:and\s|or\s)?|\s(?:and|or)\s", text.strip().rstrip("."))
    found = [value(part.strip("` ")) or "" for part in parts]
    return found if all(found) else []


def _items(lines: Sequence[str], index: int) -> Iterator[tuple[int, str]]:
    """Yield the items of a list below the heading at `index`, or the lines there that are not prose."""
    start = index + 1 + (not "".join(lines[index + 1 : index + 2]).strip())
    below = lines[start : start + _MOST_ROWS]
    marked = bool(below) and _ITEM.match(below[0]) is not None
    if marked or start == index + 1 or "".join(below[:1])[:1].isspace():
        for number, line in enumerate(below, start):
            item = _ITEM.match(line)
            if (item is None) == marked if line.strip() else not marked:
                return
            if line.strip():
                yield number, line[item.end() :] if item else line


def _pair(text: str) -> list[str] | None:
    """Return the input and the result of an item; None where it is no pair."""
    plain = text.replace("`", "").strip()
    for sign in [*_SIGN.finditer(plain)][:_MOST_SIGNS]:
        given, stated = plain[: sign.start()].strip(" ,"), plain[sign.end() :].strip()
        made = given if value(given) else _REMARK.sub("", given)  # `all ones, [1] * 20`
        if not value(made) or (sign["arrow"] is None and not (leading_value(stated) or leading_exception(stated))):
            made = given if sign["arrow"] and not re.search(r"[\"'\[\](){}]", given) else ""
        if made and (sign[0][0] != ":" or made != given or made[0] in "[({"):  # not `'port': 80`
            return [made, stated]
    return None

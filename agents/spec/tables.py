"""Rows of inputs and results that a spec lays out: tables (Markdown, by tabs, aligned by blanks), lists of pairs
below a heading that says what they are, and lists of what is valid and what is not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from ..syntax.literals import value
from .in_line import leading_exception, leading_value

_RULE = re.compile(r"[\s|:+=]*+-[\s|:+=-]++")
_ITEM = re.compile(r"\s*+(?:[-*+•]\s++(?:\[[ xX]?\]\s++)?|\d{1,3}[.)]\s++)")
_EXAMPLES = re.compile(
    r"\W*(?:(?:for|some|more|usage|a few|the|acceptance|test|sample)\s+)*(?:examples?|expected|acceptance|criteria"
    r"|checks?|cases|tests?|samples?|e\.g\.?|instance|check against (?:these|this)|like (?:so|this|these))"
    r"(?!\s+of\s+(?!use|usage|input|call))(?:\s+[a-z]+){0,4}\W*",
    re.IGNORECASE,
)
"""A heading of examples: `Examples:`, `## Acceptance criteria`, `Check against these:`."""
_SIGN = re.compile(
    r"\s(?P<arrow>==?>|===?|--?>|➞|→|⇒|⟶|↦)\s|\s=\s|,?\s(?:(?:should|must|will)\s+)?(?:returns?|gives?|yields?|becomes?"
    r"|results?\s+in|scores?|raises?|[a-z]+s\s(?:as|to|into)|is(?:\s(?:an?\serror|refused|rejected|invalid)(?:\swith|[:,])?)?)"
    r"\s|:\s",
    re.IGNORECASE,
)
_MOST_SIGNS = 10
_SORTS = re.compile(
    r"\W*+(?:(?P<true>valid|accept(?:s|ed)?|good|okay|ok|true|yes|allowed|passes|match(?:es)?)"
    r"|(?:(?:not|in|un)[\s-]?(?:valid|accepted|okay|ok|allowed)|reject(?:s|ed)?|bad|false|no|refused|fails))"
    r"(?:\s(?:inputs?|examples?|values?|for))?\W*:\W*?(?P<listed>\s.*)?",
    re.IGNORECASE,
)


class Table(NamedTuple):
    """The heads of its columns, none of a list; and for each row its line (from 0) and its cells, the last of
    which says what the others give."""

    heads: list[str]
    rows: list[tuple[int, list[str]]]


def tables(lines: Sequence[str]) -> Iterator[Table]:
    """Yield the tables in `lines`: a line of heads, and lines below it with as many cells (remarks may follow)."""
    end = 0
    for index, line in enumerate(lines):
        heads = cells(line)
        if index >= end and len(heads) > 1 and not _RULE.fullmatch(line):
            start = index + 1 + (_RULE.fullmatch("".join(lines[index + 1 : index + 2])) is not None)
            below = [*takewhile(lambda row: len(row) > 1, map(cells, lines[start:]))]
            end = start + len(below)
            rows = [
                (number, row[: len(heads)])
                for number, row in enumerate(below, start)
                if all(cell[:1] == "(" for cell in row[len(heads) :])
            ]
            yield Table([head.strip("*_").lower() for head in heads], rows)


def cells(line: str) -> list[str]:
    """Return the cells of a line of a table, without backticks; a line of text is one cell."""
    if "|" in line:
        parts = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    else:
        parts = line.strip("\n ").split("\t") if "\t" in line else re.split(r"(?<=\S) {2,}", line.strip())
    return [part.strip().strip("`").strip() for part in parts]


def lists(lines: Sequence[str]) -> Iterator[Table]:
    """Yield the lists of pairs below a heading of examples."""
    end = 0
    for index, line in enumerate(lines):
        if index >= end and _EXAMPLES.fullmatch(line):
            items = [*_items(lines, index)]
            end = items[-1][0] + 1 if items else end
            yield Table([], [(number, pair) for number, text in items if (pair := _pair(text))])


def sorted_lists(lines: Sequence[str]) -> Iterator[Table]:
    """Yield the lists below `Valid:` and `Invalid:`, or words like these, with what a function says of them."""
    end = 0
    for index, line in enumerate(lines):
        item = _ITEM.match(line)
        if index >= end and (match := _SORTS.fullmatch(line, item.end() if item else 0)):
            here = (match["listed"] or "").strip()
            items = [(index, each) for each in _values(here)] if here else [*_items(lines, index)]
            end = items[-1][0] + 1 if items else end
            said = "True" if match["true"] else "False"
            yield Table([], [(number, [text.strip().strip("`"), said]) for number, text in items])


def _values(text: str) -> list[str]:
    """Return the values that are listed in `text`; none where anything else stands there."""
    parts = re.split(r",\s(?:and\s|or\s)?|\s(?:and|or)\s", text.strip().rstrip("."))
    found = [value(part.strip("` ")) or "" for part in parts]
    return found if all(found) else []


def _items(lines: Sequence[str], index: int) -> Iterator[tuple[int, str]]:
    """Yield the items of a list below the heading at `index`, or the lines there that are no prose."""
    depth = len(lines[index]) - len(lines[index].lstrip())
    marked: bool | None = None
    for number, line in enumerate(lines[index + 1 :], index + 1):
        item = _ITEM.match(line)
        if not line.strip():
            if marked is False:
                return
            continue
        inside = item is not None or len(line) - len(line.lstrip()) > depth or lines[number - 1].strip() != ""
        marked = item is not None if marked is None else marked
        if (item is not None) != marked or not inside:
            return
        yield number, line[item.end() :] if item else line


def _pair(text: str) -> list[str] | None:
    """Return what an item gives and what it states; None where it is no pair."""
    plain = text.replace("`", "").strip()
    for sign in [*_SIGN.finditer(plain)][:_MOST_SIGNS]:
        given, stated = plain[: sign.start()].strip(), plain[sign.end() :].strip()
        made = next((part for part in _endings(given) if value(part)), None)
        if made and not sign["arrow"]:
            certain = leading_value(stated) or leading_exception(stated)
            named = sign[0][0] == ":" and made == given and made[0] not in "[({"  # `'port': 80`
            made = None if named or not certain else made
        if made or (sign["arrow"] and not re.search(r"[\"'\[\](){}]", given)):
            return [made or given, stated]
    return None


def _endings(text: str) -> Iterator[str]:
    """Yield `text`, and what follows a remark in it: `all ones, [1] * 20`."""
    yield text
    for comma in [*re.finditer(r",\s+(?=[\[({'\"])", text)][:_MOST_SIGNS]:
        if not re.search(r"[\"'\[({]", text[: comma.start()]):
            yield text[comma.end() :].rstrip(" ,")

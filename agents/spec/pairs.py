"""Examples without a call, as inputs and outputs: `For n = 5 the output is 8`, `Input:`, a table, `4 -> 'IV'`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from ..records import Signature
from ..syntax.literals import expression, is_value, value
from ..syntax.source import unparse
from .asked import ARROW, Reading
from .doubt import is_mistaken
from .in_line import MOST_BREAKS, asserted, leading_exception, leading_value
from .sentences import sentences
from .signature import parameters
from .tables import Table, lists, tables

_FOR = re.compile(
    r"(?i)\b(?:for|with|given)\s++`?(?P<given>[^\n:]{1,200}?)`?,?(?<!\s)\s++(?:the\s)?(?:(?:function\sshould\sreturn|return(?:s|\svalue\sis)?"
    r"|(?:output|result|answer|value)\s(?:(?:should|shall|would)\sbe|is)|it(?:'s|\sis|\sgives|\sreturns|\s(?:should|shall)\s(?:be|give|return))"
    r"|that(?:'d\sbe|\sis|\sgives)|you\sget))\s*+:?\s*+`?(?P<stated>.+?)(?=,?\sfor\s|\Z)"
)
"""`for n = 5 the output should be 8`, `for 4 the answer is 'IV'`."""
_BOTH = re.compile(
    r"(?i)(?:\A|[.:]\s)(?:[-*]\s)?\**+(?:inputs?|in(?=\**:))\**+\s?:?\**+\s(?P<given>[^\n]{1,200}?)`?\s?"
    rf"(?:[,;]|->|{ARROW})\s?(?:[-*]\s)?\**+(?:outputs?|returns?|out(?=\**:))\**+\s?:?\**+\s(?P<stated>.+)"
)
_EXAMPLE = re.compile(
    r"(?i)(?:(?:\A|[.:,;]\s)\W{0,4}(?:for )?examples?:|\be\.g\.[:,]?|\bfor (?:instance|example),?|\blike so:)"
    r"\s+(?P<pairs>\S.*)"
)
_SAID = ("gives", "returns", "yields")
_FEW_WORDS = re.compile(r"(?i)(?:(?!(?:not|never|unlike|but)\b)[^\n=<>]){0,60}")
_SIGN = rf"(?:{ARROW}|[-=]+>|gives|returns|yields|becomes|(?:should|must)\s(?:become|give|return)|maps\sto|into)"
_ALONE = re.compile(
    r"(?s)(?:\A|:\s+|,\s+(?:so\s+)?(?=['\"`])|\((?=-?[\d.]++\s\S{1,3}\s['\"])|\b(?:turn|convert|chang)(?:s|es|ing)?\s+)(?P<pairs>(?P<given>(?:-?\d|['\"`\[{(]|None|True|False|Decimal\(|date\()"
    rf"(?>(?:(?!\s{_SIGN}\s).)*))\s(?P<sign>{_SIGN})\s(?P<stated>.+))"
)
"""`None returns ''`, `it flattens: {'a': {'b': 1}} becomes {'a.b': 1}`."""
_GIVES = re.compile(
    rf"==?>|--?>|{ARROW}|\b(?:returns|gives|yields|becomes|maps\sto|into"
    r"|(?:should|shall|must)\s(?:return|give|yield|become|produce))\b"
)
_BETWEEN = re.compile(r"[,;]|\band\b")
_RESULT = re.compile(r"(?i)(?:expected\s+)?(?:outputs?|results?|returns?|returned|expected|answer|return value)")
_INPUT = re.compile(r"(?i)(?:inputs?|args?|arguments?|call(?:ed with)?|given|parameters?|text|string)")
_NUMBERS = re.compile(r"#|(?:no|nr|id|row|line|step|case|test|example|version|scenario)s?\.?")
"""Heads of columns with row numbers."""
_SAYS_IF = re.compile(
    r"\b(?:returns?|gives?|is|are|says?|makes?\s+it)\s+`?(?:True|False)\b|\bTrue`?\s+(?:if|for|when|iff)\b"
)
_DENIES = re.compile(r"invalid|not_|error|bad|wrong|reject|illegal|broken")
_TEXT = re.compile(r"(?:\w+\.)?(?:str|Any|AnyStr|object|Hashable|Optional|Union|[A-Z])\b|.*\| ?str\b")
"""Types for which a single text is an argument; for others `'name' -> 'title'` may be about a dict's keys."""
_NUMBER = re.compile(r"[-+]?\d++(?:\.\d++)?")
_WORDS = re.compile(r"[A-Za-z]{2}\s(?:[a-z]{2}|\d)")
_NO_TEXT = re.compile(
    r"(?i)|.*\".*|[(<].*|.*\)|.*(?:\s[-–—#(]|,\s[a-z]).*|[-–—.…]+"
    r"|(?:an?|the|no|only|all|every|some|text|string|list)\s[a-z]{3,}.*"
    r"|(?:\w+\s)?(?:unchanged|same|empty|blank|nothing|none|errors?|invalid|any\w*|others?|else|junk|missing)(?:\s.*)?"
)
"""Cells that are no text of their own, or more than one."""


class _Function(NamedTuple):
    """The entry point: its name, parameters and their types, how many are required, and the type of its result."""

    name: str
    names: list[str]
    types: list[str | None]
    least: int
    returns: str | None

    def check(self, arguments: str, stated: str) -> str:
        """Return the assertion that it returns the value `stated`, or raises an exception of that name."""
        call = f"{self.name}({arguments})"
        return asserted(call, stated) if value(stated) else f"with pytest.raises({stated}):\n    {call}"


def stated_pairs(lines: Sequence[str], doubtful: Sequence[bool], signature: Signature | None) -> Iterator[Reading]:
    """Yield assertions for pairs whose inputs fit the parameters of the signature."""
    wanted = parameters(signature) if signature else None
    every = [*wanted.posonlyargs, *wanted.args] if wanted else [ast.arg("")]  # perhaps only the name is known
    others = not every or (wanted and (wanted.vararg or wanted.kwonlyargs))
    if signature is None or signature.kind == "class" or others:
        return
    asked = _Function(
        signature.name,
        [each.arg for each in every],
        [unparse(each.annotation) if each.annotation else None for each in every],
        len(every) - len(wanted.defaults if wanted else ()),
        signature.text.partition("->")[2].strip() or None,
    )
    certain = ["" if no or is_mistaken(line, _GIVES) else line for line, no in zip(lines, doubtful, strict=True)]
    laid_out = [
        *(table for table in tables(certain, asked.names) if _fits(table[0], asked)),
        *lists(certain, of_two_sorts=False),
    ]
    says = not _DENIES.search(asked.name)
    if says and (asked.returns == "bool" or (not asked.returns and _SAYS_IF.search("\n".join(lines)))):
        laid_out += (
            table
            for table in lists(lines, of_two_sorts=True)
            if asked.types[0] or not any(_NUMBER.fullmatch(cells[0]) for _, cells in table[1])  # perhaps texts
        )
    for table in laid_out:
        yield from ((code, lines[line].strip(), line) for code, line in _fitted(table, asked))
    for index, line in enumerate(certain):
        yield from ((code, line.strip(), index) for code in _told(line.strip(), asked))
        following = next((other for other in certain[index + 1 : index + 3] if other.strip()), "").strip()
        for match in [*_FOR.finditer(line), *filter(None, [_BOTH.search(f"{line.strip()}; {following}")])]:
            given = re.sub(rf"{asked.name}\((.*)\)", r"\1", match["given"])
            arguments, result = _arguments(given, asked), value(leading_value(match["stated"]) or "")
            if arguments and result:
                yield asked.check(arguments, result), match[0], index


def _fits(heads: Sequence[str], asked: _Function) -> bool:
    """Return True if the columns below `heads` are the parameters, or all arguments in one, and the result."""
    *given, stated = heads
    plain = _is_plain(given, asked)
    fits = asked.least <= len(given) <= len(asked.names) or (plain and len(given) == 1)
    in_order = all(asked.names.index(head) == place for place, head in enumerate(given) if head in asked.names)
    named = stated == asked.name or re.fullmatch(rf"{asked.name}\([a-z_, ]*\)", stated, re.IGNORECASE)
    says = named or _RESULT.fullmatch(stated) or (plain and stated in ("value", *asked.name.split("_")))
    counts = any(_NUMBERS.fullmatch(head) and head not in asked.names for head in given)
    return fits and in_order and not counts and bool(says)


def _is_plain(given: Sequence[str], asked: _Function) -> bool:
    """Return True if the heads name the arguments: texts below them need no quotes."""
    return all(head in (*asked.names, *asked.name.split("_")) or _INPUT.fullmatch(head) for head in given)


def _fitted(table: Table, asked: _Function) -> Iterator[tuple[str, int]]:
    """Yield the assertions that a table makes, each with its line."""
    heads, rows = table
    width = len(heads) or 2
    rows = [(line, cells) for line, cells in rows if len(cells) == width]
    plain = _is_plain(heads[:-1], asked)
    places = range(width - 1 if asked.least < width <= len(asked.names) + 1 else 0)
    columns = [_read([cells[place] for _, cells in rows], asked.types[place], plain) for place in places]
    raising = [None if value(cells[-1]) else leading_exception(cells[-1]) for _, cells in rows]
    told = ["" if raised else cells[-1] for (_, cells), raised in zip(rows, raising, strict=True)]
    # Words may tell of the result.
    told = ["" if _WORDS.search(each) and not leading_value(each) else each for each in told]
    results = _read(told, asked.returns, plain=True)
    for number, (line, cells) in enumerate(rows):
        given = [column[number] or "" for column in columns]
        arguments = ", ".join(given) if given and all(given) else width == 2 and _arguments(cells[0], asked)
        if arguments and (stated := raising[number] or results[number]):
            yield asked.check(arguments, stated), line


def _read(cells: Sequence[str], kind: str | None, plain: bool) -> list[str | None]:
    """Return the values of a column's cells. If `plain`, texts need no quotes in a column of the type `str`, or of
    an unknown type where no cell has another value."""
    read = [leading_value(cell) for cell in cells]
    quoted = any(cell[:1] in ("'", '"') for cell in cells)
    if quoted or not plain or not (kind == "str" or (kind is None and not any(read))):
        # Among texts without quotes a number may be one as well.
        plain = kind == "str" or (
            kind is None and any(cell and not each for cell, each in zip(cells, read, strict=True))
        )
        return [None if each is None or (plain and re.match(r"[^'\"\[({]", each)) else each for each in read]
    doubtful = kind is None and any(_WORDS.search(cell) for cell in cells)
    return [None if doubtful or _NO_TEXT.fullmatch(cell) else repr(cell) for cell in cells]


def _told(line: str, asked: _Function) -> Iterator[str]:
    """Yield assertions for pairs alone in a sentence: `Example: 4 -> 'IV', 9 -> 'IX'`, or `None returns ''.`"""
    item = re.match(r"(?:[-*+•]|\d+[.)])\s+", line)
    for sentence in sentences(line[item.end() :] if item else line):
        texts = [found["pairs"] for found in _EXAMPLE.finditer(sentence)]
        texts += [
            found["pairs"]
            for found in _ALONE.finditer(sentence)
            if _is_whole(found["given"], found["sign"], found["stated"])
            and (found[0][0] != "(" or asked.types in (["int"], ["float"]))
            and not (item and found["sign"] not in _SAID)
        ]
        for given, stated in (pair for text in texts for pair in _pairs(text.replace("`", "").rstrip(". "))):
            arguments = _arguments(given, asked)
            if arguments and (arguments[0] not in "'\"" or _TEXT.match(asked.types[0] or "str")):
                yield asked.check(arguments, stated)


def _is_whole(given: str, sign: str, stated: str) -> bool:
    """Return True if the pair is a whole example: `' ' -> '-'` may be about a part of a text."""
    if sign in _SAID:
        return not given.endswith(")")
    if given[-1] not in "'\"`" or stated[0] in "[{(":
        return True
    return len(given) > (9 if sign == "becomes" else 4)


def _pairs(text: str) -> list[tuple[str, str]]:
    """Return the pairs of values at the beginning of `4 -> 'IV', 9 -> 'IX', and so on`, with an exception's name
    for a raised one; none where more than a few words are beside them."""
    parts = _GIVES.split(text)
    if not 1 < len(parts) < MOST_BREAKS:
        return []
    values = [value(parts[0])]
    for part in parts[1:-1]:
        cuts = [*islice(_BETWEEN.finditer(part), MOST_BREAKS)]
        left = next((cut for cut in cuts if _result(part[: cut.start()])), None)
        right = next((cut for cut in reversed(cuts) if value(part[cut.end() :])), None)
        if left is None or right is None or not _FEW_WORDS.fullmatch(part[left.start() : right.end()]):
            return []
        values += [_result(part[: left.start()]), value(part[right.end() :])]
    values.append(_result(leading_value(parts[-1]) or parts[-1]))
    known = [each for each in values if each is not None]
    return list(zip(known[::2], known[1::2], strict=True)) if len(known) == len(values) else []


def _result(text: str) -> str | None:
    return value(text) or leading_exception(text)


def _arguments(given: str, asked: _Function) -> str | None:
    """Return the source of a call's arguments, in the order of the parameters or by their names; None where they
    don't fit, or one value may be several."""
    given = given.rstrip(" ,;")
    call = expression(f"f({given})")
    of_each = isinstance(call, ast.Call) and len(call.args) > 1  # `'yes', 'true' -> True`: each gives True
    if len(asked.names) == 1 and not of_each and (alone := value(given)) is not None:
        return alone
    match call:
        case ast.Call(args=[ast.Tuple(elts=several)], keywords=[]) if asked.least > 1:
            call.args, given = several, given[1:-1]
        case ast.Call(args=[ast.List(elts=several)], keywords=[]) if asked.least == len(several) > 1:
            call.args, given = several, given[1:-1]
    if not isinstance(call, ast.Call) or (asked.least == 1 and len(call.args) > 1):
        return None
    if asked.names == [""] and not call.args and all(each.arg and is_value(each.value) for each in call.keywords):
        return ", ".join(unparse(each.value) for each in call.keywords)  # `nums = [2, 7], target = 9`
    stated = dict(zip(asked.names, call.args, strict=False)) | {each.arg: each.value for each in call.keywords}
    fits = len(stated) == len(call.args) + len(call.keywords) and {*asked.names[: asked.least]} <= {*stated}
    if not fits or not {*stated} <= {*asked.names} or not all(map(is_value, stated.values())):
        return None
    named_in_order = not call.args and [*stated] == asked.names[: len(stated)]
    return ", ".join(map(unparse, stated.values())) if named_in_order else given

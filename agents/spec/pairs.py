"""Examples that name inputs and outputs apart: `For n = 5 the output should be 8`, `Input: ... Output: ...`, rows
of a table, `4 -> 'IV'`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from ..records import Signature
from ..syntax.literals import expression, is_value, value
from .in_line import MOST_BREAKS, asserted, leading_exception, leading_value, quoted_text
from .sentences import sentences
from .signature import parameters

_SENTENCE = re.compile(
    r"[-*]?\s*+(?:for|with|given)\s++`?(?P<given>[A-Za-z_]\w*\s*+=.*?)`?,?(?<!\s)\s++(?:the\s++)?"
    r"(?:function\s+should\s+return|output\s+(?:should\s+be|is)|result\s+(?:should\s+be|is)|return(?:s|\s+value\s+is)?)"
    r"\s*+:?\s*+`?(?P<stated>.+)",
    re.IGNORECASE,
)
_BOTH = re.compile(
    r"(?:\A|[.:]\s)(?:[-*]\s)?\**+inputs?\**+:?\**+\s(?P<given>[^\n]{1,200}?)\s?(?:[,;]|->|→)\s?\**+outputs?\**+:?\**+"
    r"\s(?P<stated>.+)",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"(?:(?:\A|[.:,;]\s)\W{0,4}(?:for )?examples?:|\be\.g\.[:,]?|\bfor (?:instance|example),?|\blike so:)"
    r"\s+(?P<pairs>\S.*)",
    re.IGNORECASE,
)
_EXAMPLES_BELOW = re.compile(r"\W*(?:(?:for|some|more|usage)\s+)?examples?\W*", re.IGNORECASE)
_SAID = ("gives", "returns", "yields")
_VALUE = r"(?:-?\d+(?:\.\d+)?|'[^'\n]*'|\"[^\"\n]*\"|\[[^\n]*?\]|\{[^\n]*?\}|\([^\n]*?\))"
_FOR = re.compile(
    rf"\b[Ff]or `?(?P<given>{_VALUE})`?,? (?:the (?:answer|result|output|value) (?:is|would be|should be)"
    rf"|it(?:'s| is| gives| returns| should (?:be|give|return))|that(?:'d be| is| gives)|you get)"
    rf" `?(?P<stated>{_VALUE})"
)
"""`for 4 the answer is 'IV'`."""
_FEW_WORDS = re.compile(r"(?:(?!(?:not|never|unlike|but)\b)[^\n=<>]){0,60}", re.IGNORECASE)
_SIGN = r"(?:gives|returns|yields|becomes|->|=>|→)"
_ALONE = re.compile(
    r"(?:\A|:\s+)(?P<pairs>(?P<given>(?:-?\d|['\"`\[{(]|None|True|False|Decimal\(|date\()"
    rf"(?:(?!\s{_SIGN}\s).)*+)\s(?P<sign>{_SIGN})\s(?P<stated>.+))",
    re.DOTALL,
)
"""`None returns ''`, `it flattens: {'a': {'b': 1}} becomes {'a.b': 1}`."""
_GIVES = re.compile(r"==?>|--?>|➞|→|⇒|⟶|↦|\b(?:returns|gives|yields|becomes)\b")
_BETWEEN = re.compile(r"[,;]|\band\b")
_RESULT = re.compile(
    r"(?:expected\s+)?(?:outputs?|results?|returns?|returned|expected|answer|value)", re.IGNORECASE
)
_INPUT = re.compile(r"[-*]?\s*+\**inputs?\**\s*+:\**\s*+`?(?P<given>.+)", re.IGNORECASE)
_OUTPUT = re.compile(r"[-*]?\s*+\**(?:outputs?|returns?)\**\s*+:\**\s*+`?(?P<stated>.+)", re.IGNORECASE)


def stated_pairs(lines: Sequence[str], signature: Signature | None) -> list[tuple[str, str, int]]:
    """Return assertions for pairs whose inputs fit the signature's parameters, as (code, source text, line)."""
    stripped = [line.strip() for line in lines]
    wanted = parameters(signature) if signature else None
    if signature is None or signature.kind == "class":
        return []
    if wanted is None:  # only the name is known
        return [*_rows(stripped, signature, 1), *_bare_pairs(stripped, signature, {1})]
    if wanted.vararg or wanted.kwarg or wanted.kwonlyargs:
        return []
    names = [parameter.arg for parameter in [*wanted.posonlyargs, *wanted.args]]
    counts = {len(names), len(names) - len(wanted.defaults)}
    found = [*_rows(stripped, signature, len(names)), *_bare_pairs(stripped, signature, counts)]
    for index, line in enumerate(stripped):
        following = next((other for other in stripped[index + 1 : index + 3] if other), "")
        if match := _SENTENCE.match(line) or _BOTH.search(line):
            given, stated, source = match["given"], match["stated"], line
        elif (match := _INPUT.match(line)) and (output := _OUTPUT.match(following)):
            given, stated, source = match["given"], output["stated"], f"{line} {following}"
        else:
            continue
        given, stated = given.removesuffix("`"), stated.removesuffix("`")
        arguments = _arguments(given, names)
        result = value(stated) or value(re.sub(r"[.;,]$", "", stated))
        if arguments is not None and result is not None:
            found.append((asserted(f"{signature.name}({arguments})", result), source, index))
    return found


def _rows(lines: Sequence[str], signature: Signature, count: int) -> Iterator[tuple[str, str, int]]:
    """Yield assertions for the rows of a table of `count` arguments and, in its last column, what is returned."""
    in_table = False
    for index, line in enumerate(lines):
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        in_table = line.startswith("|") and (
            in_table or _RESULT.fullmatch(cells[-1]) is not None or cells[-1].startswith(f"{signature.name}(")
        )
        *given, stated = map(value, [*cells[:-1], quoted_text(cells[-1], signature)]) if in_table else [None]
        if stated and len(given) == count and None not in given:
            yield asserted(f"{signature.name}({', '.join(map(str, given))})", stated), line, index


def _bare_pairs(lines: Sequence[str], signature: Signature, counts: set[int]) -> Iterator[tuple[str, str, int]]:
    """Yield assertions for arguments and values alone: `Example: 4 -> 'IV', 9 -> 'IX'`, in a list below a heading
    that says that these are examples, and in a sentence such as `None returns ''.`"""
    below = False
    for index, line in enumerate(lines):
        item = re.match(r"(?:[-*+•]|\d+[.)])\s+", line)
        here = _EXAMPLE.search(line)
        texts = [here["pairs"]] if here else [line[item.end() :]] if below and item else []
        if 1 in counts:
            told = line[item.end() :] if item else line
            alone = [found for each in sentences(told) for found in _ALONE.finditer(each)]
            texts += [
                found["pairs"]
                for found in alone
                if _is_whole(found["given"], found["sign"], found["stated"])
                and not (item and found["sign"] not in _SAID)
            ]
            texts += [f"{found['given']} gives {found['stated']}" for found in _FOR.finditer(line)]
        below = bool((below and (item or not line)) or _EXAMPLES_BELOW.fullmatch(line))
        for given, stated in (pair for text in texts for pair in _pairs(text.replace("`", "").rstrip(". "))):
            node = expression(given)
            several = node.elts if isinstance(node, ast.Tuple) and counts != {1} else []
            arguments = list(map(ast.unparse, several)) or [given]
            if len(arguments) in counts and not (several and 1 in counts):
                call = f"{signature.name}({', '.join(arguments)})"
                raising = f"with pytest.raises({stated}):\n    {call}" if value(stated) is None else ""
                yield raising or asserted(call, stated), line, index


def _is_whole(given: str, sign: str, stated: str) -> bool:
    """Return True if what `given` becomes is an example: `' ' -> '-'` may speak of a part of one."""
    if sign in _SAID:
        return not given.endswith(")")
    if given[-1] not in "'\"`" or stated[0] in "[{(":
        return True
    return sign != "becomes" and len(given) > 4


def _pairs(text: str) -> list[tuple[str, str]]:
    """Return the pairs of values that `4 -> 'IV', 9 -> 'IX', and so on` begins with, an exception in place of one
    that is raised; none where anything but a few words stands beside them."""
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


def _arguments(given: str, names: Sequence[str]) -> str | None:
    """Return the source of a call's arguments, in the order of `names`; None where they don't fit them exactly."""
    given = given.rstrip(" ,;")
    if len(names) == 1 and (alone := value(given)) is not None:
        return alone
    call = expression(f"f({given})")
    if not isinstance(call, ast.Call) or call.args:
        return None
    stated = {keyword.arg: keyword.value for keyword in call.keywords}
    if list(stated) != list(names) or not all(is_value(node) for node in stated.values()):
        return None
    return ", ".join(ast.unparse(stated[name]) for name in names)

"""Examples that name inputs and outputs apart: `For n = 5 the output should be 8`, `Input: ... Output: ...`."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from ..records import Signature
from ..syntax.headers import parameters
from ..syntax.literals import expression, is_value, value

_SENTENCE = re.compile(
    r"[-*]?\s*+(?:for|with|given)\s++`?(?P<given>[A-Za-z_]\w*\s*+=.*?)`?,?(?<!\s)\s++(?:the\s++)?"
    r"(?:function\s+should\s+return|output\s+(?:should\s+be|is)|result\s+(?:should\s+be|is)|return(?:s|\s+value\s+is)?)"
    r"\s*+:?\s*+`?(?P<stated>.+)",
    re.IGNORECASE,
)
_INPUT = re.compile(r"[-*]?\s*+\**inputs?\**\s*+:\**\s*+`?(?P<given>.+)", re.IGNORECASE)
_OUTPUT = re.compile(r"[-*]?\s*+\**(?:outputs?|returns?)\**\s*+:\**\s*+`?(?P<stated>.+)", re.IGNORECASE)


def stated_pairs(lines: Sequence[str], signature: Signature | None) -> list[tuple[str, str, int]]:
    """Return assertions for pairs whose inputs fit the signature's parameters, as (code, source text, line)."""
    wanted = parameters(signature) if signature else None
    if signature is None or wanted is None or wanted.vararg or wanted.kwarg or wanted.kwonlyargs:
        return []
    names = [parameter.arg for parameter in [*wanted.posonlyargs, *wanted.args]]
    found: list[tuple[str, str, int]] = []
    stripped = [line.strip() for line in lines]
    for index, line in enumerate(stripped):
        following = next((other for other in stripped[index + 1 : index + 3] if other), "")
        if match := _SENTENCE.match(line):
            given, stated, source = match["given"], match["stated"], line
        elif (match := _INPUT.match(line)) and (output := _OUTPUT.match(following)):
            given, stated, source = match["given"], output["stated"], f"{line} {following}"
        else:
            continue
        given, stated = given.removesuffix("`"), stated.removesuffix("`")
        arguments = _arguments(given, names)
        result = value(stated) or value(re.sub(r"[.;,]$", "", stated))
        if arguments is not None and result is not None:
            operator = "is" if result == "None" else "=="
            found.append((f"assert {signature.name}({arguments}) {operator} {result}", source, index))
    return found


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

"""Examples in one line of a spec: an assertion as code, or a call of the entry point with its result."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from ..records import Signature
from ..syntax.literals import MAKERS, exception, expression, is_value, value
from ..syntax.source import BUILTINS, statements, unparse
from .asked import ARROW
from .doubt import CONTRAST, HELD, REMARK, STATED, in_doubt, is_mistaken, is_taken_back
from .signature import closing

_ARROW = re.compile(
    r"\s*+`?\s*+(?:(?:#|//)\s*+)?(?P<sign>=+>|[-~]++>|" + ARROW + r"|===?|=(?!=)|"
    r"(?:(?:should|shall|must|would|will|ha(?:s|ve)\s+to)\s+)?"
    r"(?:returns?|gives?|yields?|equals?|evaluates?\s+to|results?\s+in|comes?\s+out\s+as|outputs?|produces?|becomes?"
    r"|is(?:\s+(?:just|now|still|then|again|always|equal(?:\s+to)?))?(?:\s+the\s+(?:string|text|list|number))?|be|raises?|throws?|(?:fails?|blows?\s+up|errors?(?:\s+out)?|ends?)\s+(?:with|in)|leads?\s+to)\b:?|,\s(?:(?:must|should|shall|will)\s)?raises?\b|:(?=\s))\s*+`?\s*+"
)
_OPERATOR = r"\s(?:[-+*/%|&^@<>]|//|[<>]=)\s"
AROUND = "str|repr|len|list|tuple|sorted|set|dict|bool|int|float|sum|next|hash"
_FOLLOWS = re.compile(r"\.\w+\(?|[(\[]")
_BESIDE = re.compile(
    r"(?P<sign>\s)\s*(?=[A-Z]\w*(?:Error|Exception)(?:[,;.:]|\s*$)|(?:True|False|None|\[.*\]|'[^']*'|\"[^\"]*\"|-?\d+(?:\.\d+)?)(?:[,;.]|\s+and\b|\s*$))"
)
"""`is_palindrome("ab") False, `"""
_COMMENT = re.compile(r"\s*(?P<sign>#)\s*")
_DENIAL = re.compile(r"(?i)#\s*(?:false|raises|(?:an?\s)?\w*error|not equal)\b|\bshould\b")
"""Comments that deny the code beside them."""
_LEAD = re.compile(r"^\s*(?:>\s+)?(?:[-*+•]\s+|\d+[.)]\s+|\([a-z0-9]\)\s+|for\s+)?`?")
_BREAK = re.compile(
    r"(?P<open>[(\[{])|(?P<quoted>'[^'\n]*+'|\"[^\"\n]*+\")|[`.,;)]|(?<!\s)\s++(?:(?:and|but|because|since)\b|#|//|\(|(?:--?|[–—])\s)"
)
_COMMON = BUILTINS | MAKERS
"""Functions that no spec asks for."""
_LONGEST_VALUE = 5000
MOST_BREAKS = 40
"""Most positions tried as the end of a value: each costs a parse."""
_RAISES_FOR = re.compile(
    r"(?i)(?:\b(?:rais|throw)(?:es?|ing|s)?\s+(?:an?\s+)?`?(?P<named>[A-Z]\w*(?:Error|Exception))`?\s+"
    r"(?:for|on|in|at|when\s+calling)"
    r"|\b(?P<before>[A-Z]\w*(?:Error|Exception))\b(?:(?:(?!unless|except)[^.;:\n]){0,80}?[\s(](?:e\.g\.|for\s(?:instance|example)|such\sas|like|say)"
    r"[,:]?|:))\s+`?(?=\w++\()"
)
_RANGE = re.compile(r"`?(?:\d++(?>(?:-\d++)+)(?!\.\d|[\w(])|-?\d++,\d++(?!,?\d))")
"""`3-5`, `2024-11-16`, `0,5`: ranges, dates and decimals that Python reads as differences and a tuple."""
_OR = re.compile(r"`?(?:,|,?\s(?:or|and))\s`?")
_UNQUOTED = re.compile(
    r"\A`?(?!-?\d+\b|\w*(?:Error|Exception)\b)((?=\w*[\d_-]|[A-Z]{2,}(?![\w-]))[\w-]+)`?(?=[.,;)`]*\s*\Z|[,;]\s|\s+and\b)"
)
"""`IV` or `a-b`: a text without quotes that is no word of a sentence."""
_EXCEPTION = re.compile(
    r"\s*`?(?P<verb>(?:raises?|throws?)\s+)?(?:an?\s+)?(?:error\s\()?`?(?P<name>[A-Z]\w*)(?:\(\))?`?(?:\s+is\s+raised)?"
    r"(?:[.;!]\s|:\s(?!if\b|unless\b|when\b)|\s+(?:with\s+(?:the\s+|a\s+)?message|saying)\b"
    r"|,\s(?!if\b|unless\b|when\b|or\b|otherwise\b|except\b)[a-z]"
    r"|[\s.,;)!]*(?:$|[#(]|(?:and|but|then|because|as\swell|too)\b|\n))"
)
_TAIL = re.compile(
    r"[`.,;)\s]*+(?:and|or|but|while|whereas)?[`\s]*+|[`,;\s]*+(?:because|since)\s.*|(?:#|//).*|`?;\s.*"
    r"|[`,;\s]*+and\s+[a-z]{2,}+\b[^=<>]*+|\([^()]*\)(?:[`.,;\s]*|[`).,;]++\s[^=<>]*+)"
    r"|`?(?:--?|[–—])\s++(?!or\b)[A-Za-z]{2,}+\s[^=<>]*+|[`).,;]++\s[^=<>]*+|`?\.\s[A-Za-z`].*"
)
_CAMEL = re.compile(r"[A-Z]+[a-z0-9]+[A-Z]")
_DENIED = re.compile(r"(?i)\b(?:not?|never|without|but)\b|n't\b")


def in_line(line: str, signature: Signature | None) -> list[tuple[str, bool]]:
    """Return the assertions in one line, with whether each is sure (`=` may also define)."""
    line = _as_call(line.replace("``", "`"))
    text = _LEAD.sub("", line, count=1)
    if whole := _whole(text.strip().rstrip("`;")):
        comment = text[len(text.split("#")[0]) :]
        denied = is_mistaken(comment, _COMMENT) or _DENIAL.search(comment) or is_taken_back(comment)
        return [] if denied else [(code, True) for code in whole]
    made = [(call, _assertion(call, sign, rest, signature)) for call, sign, rest in _calls(text, signature)]
    made += _raising_for(text, signature)
    prose = line
    marks = [f"_{chr(0xE000 + number)}" for number in range(len(made))]
    for mark, (call, assertion) in zip(marks, made, strict=True):
        before, _, after = prose.partition(call)
        prose = before + mark + (after.replace(assertion.stated, STATED, 1) if assertion else after)
    prose = REMARK.sub(STATED, CONTRAST.sub(STATED, prose))
    if is_mistaken(prose, HELD):
        return []
    doubtful = in_doubt(
        prose, {mark: call for mark, (call, assertion) in zip(marks, made, strict=True) if assertion}, signature
    )
    return [
        (assertion.code, assertion.sure)
        for mark, (_, assertion) in zip(marks, made, strict=True)
        if assertion and mark not in doubtful
    ]


def called(line: str) -> set[str]:
    """Return the functions whose calls on values have a result in a line, certain or not."""
    calls = [expression(call) for call, _, _ in _calls(_LEAD.sub("", _as_call(line), count=1), None)]
    on_values = (each for each in calls if isinstance(each, ast.Call) and all(map(is_value, each.args)))
    return {each.func.id for each in on_values if isinstance(each.func, ast.Name)}


def _as_call(line: str) -> str:
    """Return a row of a table, `| f(1) | 2 |`, as `f(1) -> 2`; other lines as they are."""
    row = re.fullmatch(r"\s*\|\s*`?(\w+\(.*?\))`?\s*\|([^|]*)\|\s*", line)
    return f"{row[1]} -> {row[2].strip()}" if row else line


class _Assertion(NamedTuple):
    """An assertion made of a call and its result; `stated` is the text of the value."""

    code: str
    stated: str
    sure: bool


def _whole(text: str) -> list[str]:
    """Return the assertions of a line that is only code: an `assert`, or calls compared with values."""
    match statements(text):
        case [ast.Assert() as node]:
            return [unparse(node) if "#" in text else text]
        case [ast.Expr(value=ast.BoolOp(op=ast.And(), values=parts))]:
            pass
        case [ast.Expr(value=alone)]:
            parts = [alone]
        case _:
            return []
    if not all(map(states, parts)):
        return []
    return [f"assert {ast.get_source_segment(text, part)}" for part in parts]


def states(node: ast.expr) -> bool:
    """Return True if `node` compares something computed with a value, or orders objects made of values."""
    match node:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[stated]):
            return _is_made(stated) or (is_value(stated) and not is_value(left))
        case ast.Compare(left=left, comparators=others):
            return all(map(_is_made, (left, *others)))
    return False


def _is_made(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(name), args=args):
            return name[:1].isupper() and not is_value(node) and all(map(is_value, args))
    return False


def _calls(line: str, signature: Signature | None) -> Iterator[tuple[str, str, str]]:
    """Yield expressions with calls of the entry point, or of any, with the sign after each and what follows."""
    name = re.escape(signature.name) if signature else r"[a-z_]\w*+"
    around = rf"(?P<around>(?>(?:(?:{AROUND})\()*))" if signature else "(?P<around>)"
    member = r"(?:\.[A-Z][A-Z0-9_]*\.\w+)?" if signature and signature.kind == "class" else ""
    every = re.finditer(rf"(?<![\w.]){around}(?P<name>{name}){member}\(", line)
    starts = [match for match in every if signature or match["name"] not in _COMMON]
    for number, match in enumerate(starts):
        end = closing(line, match.end() - 1)
        end = _whole_expression(line, end, match["around"].count("(")) if end and signature else end
        while end and (another := re.compile(rf"{_OPERATOR}(?={name}\()").match(line, end + 1)):
            end = closing(line, line.index("(", another.end()))
        before = line[max(0, match.start() - 100) : match.start()].rstrip()
        # A part of a larger expression is no example.
        if end is None or re.search(r"(?<!\s)\($|[\[{=+\-*/<>%@|&^~]$", before):
            continue
        sign = _ARROW.match(line, end + 1) or (None if before else _COMMENT.match(line, end + 1))
        sign = sign or _BESIDE.match(line, end + 1)
        if sign:
            after = (each.start() for each in islice(starts, number + 1, None))
            following = next((place for place in after if place > sign.end()), len(line))
            yield line[match.start() : end + 1], sign["sign"], line[sign.end() : following]


def _whole_expression(line: str, end: int, brackets: int) -> int | None:
    """Return the end of the expression that a call ending at `end` begins, the `brackets` around it included."""
    while part := _FOLLOWS.match(line, end + 1):
        bracket = part.end() - 1
        closed = closing(line, bracket) if line[bracket] in "([" else bracket
        if closed is None:
            return None
        end = closed
    return end + brackets if line[end + 1 : end + 1 + brackets] == ")" * brackets else None


def called_until(text: str, start: int, name: str) -> int | None:
    """Return the end of the expression on `name` that begins at `start`: `c.tick()`, `len(c)`."""
    match = re.compile(rf"(?>(?:(?:{AROUND})\()*){name}(?=[.(\[)])").match(text, start)
    return _whole_expression(text, match.end() - 1, match[0].count("(")) if match else None


def says(text: str, start: int) -> re.Match[str] | None:
    """Return the match of a result sign (`->`, `returns`) at `start`; `=` may also assign."""
    sign = _ARROW.match(text, start)
    return None if sign is None or sign["sign"] == "=" else sign


def _assertion(call: str, sign: str, rest: str, signature: Signature | None) -> _Assertion | None:
    node = expression(call)
    if not isinstance(node, ast.Call | ast.Attribute | ast.Subscript | ast.BinOp | ast.Compare):
        return None
    if signature and signature.text.endswith("-> str") and not sign[0].isalpha():
        rest = _UNQUOTED.sub(r"'\1'", rest)
    stated = leading_value(rest) or leading_object(rest, signature)
    if stated is None:
        name = leading_exception(rest)
        code = f"with pytest.raises({name}):\n    {call}"
        return _Assertion(code, name, True) if name and "\n" not in call else None
    made = value(stated)
    # `stop() -> None` is a header.
    if re.search(r"raise|throw|fail|blow|error|end|lead", sign) or (made == "None" and call.endswith("()")):
        return None
    if isinstance(node, ast.Compare):
        said = {"True": call, "False": f"not ({call})"}.get(stated)
        return _Assertion(f"assert {said}", stated, True) if said else None
    of_a_class = signature is not None and signature.kind == "class"
    match node:
        case ast.Call(func=ast.Name(name)) if name[:1].isupper() and sign not in ("==", "equals") and of_a_class:
            return None  # a value after an object is seldom one that it equals
    return _Assertion(asserted(call, made or stated), stated, sign != "=")


def _raising_for(line: str, signature: Signature | None) -> Iterator[tuple[str, _Assertion]]:
    """Yield calls of the entry point after their exception: `raises ValueError for f(0)`."""
    if signature is None:
        return
    for match in _RAISES_FOR.finditer(line):
        following: re.Match[str] | None = match
        denied = _DENIED.search(re.split(r"[.;:]\s", line[max(0, match.start() - 300) : match.start()])[-1])
        while following and not denied and line.startswith(f"{signature.name}(", start := following.end()):
            end = closing(line, start + len(signature.name))
            end = None if end is None else _whole_expression(line, end, 0)
            if end is None or "raise" not in (_ARROW.match(line, end + 1) or ["raise"])[0]:
                break
            call, raised = line[start : end + 1], match["named"] or match["before"]
            yield call, _Assertion(f"with pytest.raises({raised}):\n    {call}", raised, True)
            following = _OR.match(line, end + 1)


def asserted(call: str, stated: str) -> str:
    """Return the assertion that `call` returns `stated`."""
    if _is_listed(stated):
        stated = f"({stated})"
    return f"assert {call} {'is' if stated == 'None' else '=='} {stated}"


def _is_listed(stated: str) -> bool:
    """Return True for values with commas between them and no brackets around: `1, 2`, and `[1], [2]`."""
    node = expression(f"f({stated}\n)")
    return isinstance(node, ast.Call) and len(node.args) > 1


def leading_value(rest: str) -> str | None:
    """Return the text of the value that `rest` begins with; None where its end is not certain."""
    first = rest.strip().rstrip("; ")
    if _RANGE.match(first):
        return None
    if value(first) and not is_taken_back("".join(first.partition("#")[1:])):
        return first
    for end in reversed(_breaks(first)):
        head, tail = first[:end].rstrip(), first[end:].strip()
        if head and value(head) and _ends(tail):
            return None if tail.startswith("(") and _is_listed(head) else head  # `1, 2 (as a list)`
    return None


def leading_object(rest: str, signature: Signature | None) -> str | None:
    """Return the call or member of the class at the beginning of `rest`; None without one."""
    text = rest.lstrip(" `")
    if signature is None or signature.kind != "class":
        return None
    member = re.match(rf"{signature.name}\.[A-Z][A-Z0-9_]*(?![\w(.\[])", text)
    if member and _ends(text[member.end() :].strip()):
        return member[0]
    if not text.startswith(f"{signature.name}("):
        return None
    end = closing(text, len(signature.name))
    return text[: end + 1] if end is not None and _ends(text[end + 1 :].strip()) else None


def _breaks(text: str) -> list[int]:
    """Return the indices where a value at the beginning of `text` may end: the first ones outside of brackets."""
    found: list[int] = []
    place = 0
    for match in _BREAK.finditer(text, 0, _LONGEST_VALUE):
        if match.start() < place:
            continue
        if match["open"]:
            place = (closing(text, match.start()) or len(text)) + 1
        elif not match["quoted"] and len(found) < MOST_BREAKS:
            found.append(match.start())
    return found


def _ends(tail: str) -> bool:
    """Return True if `tail` may follow a value: a full stop, a comment, a remark in brackets, the next example."""
    if re.match(r"\.[.\w]|…|\)\S*\w|,\s*[\d'\"\[({-]", tail) or is_taken_back(tail):
        return False
    return _TAIL.fullmatch(tail) is not None


def leading_exception(rest: str) -> str | None:
    """Return the exception that `rest` names first; None where it is anything else."""
    match = _EXCEPTION.match(rest)
    if match and (
        match["name"].endswith(("Error", "Exception")) or (match["verb"] and _CAMEL.match(match["name"]))
    ):
        return match["name"]  # perhaps an exception of the spec's own
    return exception(match["name"]) if match else None

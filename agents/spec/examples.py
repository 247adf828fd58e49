"""Examples in a spec's text, as assertions: only those that are certain.

An example becomes a trusted test, so a wrong one is worse than none. It must call the entry point on values and
state a value or an exception, in prose without mistakes or conditions (doubt.py).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from ..records import PROGRAM_FILE, Example, Signature
from ..syntax.checks import checks_in
from ..syntax.collection import FIXTURES, last_name
from ..syntax.imports import KNOWN
from ..syntax.literals import MAKERS, expression, is_value, value
from ..syntax.source import compile_error, names_unbound, parse, parse_error, parses, statements, unparse
from .asked import Reading, uncommented
from .code_blocks import is_shown, printed_below, samples, set_up
from .doctests import checks, lines_of, shown
from .doubt import lines_in_doubt
from .in_line import in_line, leading_exception
from .pairs import stated_pairs
from .plain_calls import compared, compared_generator, stated_plainly
from .shell import shell_examples
from .signature import names, parameters, unclosed
from .stories import scenarios

_STANDARD = {name for name in KNOWN if name[0].isupper()} | {
    "asyncio", "asdict", "astuple", "collections", "contextlib", "copy", "dataclasses", "deepcopy", "functools",
    "io", "islice", "itertools", "json", "subprocess", "sys",
}  # fmt: skip
"""Names of the standard library that an example may use; no parameter has such a name."""
_RAISES_ALONE = re.compile(r"(?m)(?<=\))`?,? raises(?=[ \t]*$|[.,;)]| and\b)")
"""`f(0) raises.`: clear in a spec that names one exception."""
_SLASHES = re.compile(r"(?m)^(?P<step>[^\n#;/]*\));?[ \t]++//[ \t]?(?P<said>[^\n]+)$")
"""A comment as in other languages: `cache.put(1, 1);  // evicts 2`."""
_REMARK = re.compile(r"(?m)^(?P<step>[^\n#(]{1,80}\([^\n#]{0,200}?\))[ \t]{2,}\((?P<said>[a-z][^()\n]*)\)$")
"""`cache.put("c", 3)   (evicts "b")`."""
_INSTEAD = re.compile(
    r"(?P<call>\b[a-z_]\w*+\([^\n]{0,120}?\)`?)\s"
    r"(?:currently\s(?:returns|gives|raises)|(?:should\snot|used\sto)\s(?:return|give|be))\s[^\n]{1,80}?[.,;]\s"
    r"(?:but\s)?(?:[Ii]t\s)?(?:should|must)\s(?=(?:return|give|be|raise)\s)"
)
"""`f(3) currently returns 9. It should return 4.`"""
_TELLS = re.compile(r"['\"]|(?:returns?|gives?|yields?|is)\b|(?:true|false|null|True|False|None)\b")
"""After `//`: the beginning of a comment, though Python would read a division (`// returns -1 (not found)`)."""
_PRINTS = re.compile(
    r"(?i)(?:\A|[\n.:)`]|\b(?:which|that|to|and|function|it|should|must))[\s`\"'*]{0,9}prints?\b"
    r"|\breturns? nothing\b"
)
_RETURNS = re.compile(
    r"(?i)\b(?:return|yield)(?:s|ed|ing)?\b(?! (?:nothing|None)\b)|\bgives?\b|->(?! None\b)|==|\bassert\b"
)
"""Words for a function that prints, and for one that returns something."""
_OTHERS = {"str": "int float", "int": "str bytes Tuple", "float": "str bytes Tuple", "bytes": "str int"}
_OTHERS |= {"list": "str int float Tuple", "tuple": "str int float List"}
"""For an annotation, the types of literals that contradict it."""
_DECIMALS = re.compile(r"== -?(?P<number>\d*\.\d{3,})\Z")
_SAYS_ROUNDED = re.compile(r"(?i)\bround|\b(?:decimals?|places|precision|digits|assert)\b|>>>")
_GIVES_A_CLASS = re.compile(r"(?i)\b(?:exception|error) (?:class|type)\b")
"""Words of a spec whose function returns an exception's class."""
_WRAPPED = 50
"""Characters of a line of prose that may continue in the next one, at the least."""
_BEGINS = re.compile(r"\s*(?:[-*+•|>#@]|\d+[.)]\s|```|~~~|(?:assert|def|class|import|from|with|return)\b)")
"""A line that continues no other."""
_STATED_ABOVE = re.compile(
    r"\s*#\s*(?:(?:must|should|shall|will)\s+(?:return|be|give|equal)|returns|gives|->|=>)\s+(?P<stated>.+)"
)
"""`# must return 2`, above the call."""
_LONGEST = 30
"""Lines of an example."""


class _Found(NamedTuple):
    """An example: its line (from 0), code and text; one that is not `sure` may be a definition."""

    line: int
    code: str
    source: str
    sure: bool = True


def examples(text: str, signature: Signature | None, importable: Container[str] = ()) -> tuple[Example, ...]:
    """Return the examples in `text`, in order, each once, without those that contradict one another. They may use
    names that are `importable`."""
    lines = _readable(text)
    doubtful = lines_in_doubt(lines)
    optional = signature is not None and re.search(r"None|Optional", signature.text.partition("->")[2]) is not None
    said = _PRINTS.search(text) is not None and _RETURNS.search(text) is None
    header = signature.text if signature and signature.kind == "function" else ""
    prints = bool(header) and (said or header.endswith("-> None"))
    found: list[Reading] = [
        *stated_pairs(lines, doubtful, signature),
        *set_up(lines, doubtful, signature),
    ]
    runs = [
        *shell_examples(lines),
        *samples(lines, signature),
        *(printed_below(lines, signature) if prints else ()),
    ]
    found += [run for run in runs if not doubtful[run[2]]]
    prompted: set[int] = set()
    for session in shown(lines):
        prompted.update(lines_of(session))
        if not doubtful[session[0].line]:
            found += checks(session, optional, prints)
    every = [_Found(line, code, source) for code, source, line in found]
    for index, line in [*_with_joined_paragraphs(lines), *scenarios(lines)]:
        if line.strip() and index not in prompted and not doubtful[index]:
            stated = in_line(line if line != lines[index] else _logical_line(lines, index, signature), signature)
            every += [_Found(index, code, line.strip(), sure) for code, sure in stated]
    # Two backslashes in Markdown may mean one, as in a docstring. They mean two where an example has a single one.
    as_code = parses(text) or any(re.search(r"(?<!\\)\\[ntr]", item.code) for item in every)
    plain = [item for item in every if as_code or "\\\\" not in item.code]
    plain = [item._replace(code=stated_plainly(item.code, signature)) for item in plain]
    certain = [item for item in plain if _is_certain(item.code, signature, text, importable)]
    if signature and prints:  # a value beside a call was printed, not returned
        results = [(item, compared(statements(item.code)[-1], signature)) for item in certain]
        certain = [item for item, check in results if check is None or _kind(check.comparators[0]) == "None"]
    agreeing = _agreeing(sorted(certain, key=lambda item: item.line))
    return tuple(Example(item.code, item.source) for item in agreeing)


def from_statement(text: str, signature: Signature | None) -> Example:
    """Return `text` as an example: an assertion, a comparison, `call -> value`, or a run of the program. Raises
    ValueError, naming the example, where it is none of these."""
    source = text.strip()
    code = stated_plainly(_stated(source, signature), signature)
    if fault := compile_error(code):
        raise ValueError(f"the example `{source}` does not run outside a function ({fault})")
    return Example(code, source)


def _stated(source: str, signature: Signature | None) -> str:
    body = statements(source)
    last = body[-1] if body else None
    if isinstance(last, ast.Assert | ast.With):
        return source
    compared = [isinstance(each, ast.Expr) and isinstance(each.value, ast.Compare | ast.BoolOp) for each in body]
    raised = last and leading_exception(unparse(last).rpartition(" ")[2])  # `f(0) is ValueError`
    if last and compared[-1] and not raised and not any(map(_always_holds, body)):
        before = zip(body[:-1], compared, strict=False)
        asserted = "".join(f"{'assert ' * each}{unparse(node)}\n" for node, each in before)
        return f"{asserted}assert {ast.get_source_segment(source, last)}"
    steps = ["Example:", *re.split(r";\s|\n", source)]
    found = shell_examples(["```", *source.split("\n")]) or in_line(source, signature)
    found = found or set_up(steps, [False] * len(steps), signature)[-1:]
    if len(found) > 1:
        raise ValueError(f"the example `{source}` states several results; write one a line")
    if found:
        return found[0][0]
    if reason := parse_error(source):
        raise ValueError(f"the example `{source}` is not Python ({reason})")
    raise ValueError(f"the example `{source}` states no result; write it as `call(...) == value`")


def _always_holds(node: ast.stmt) -> bool:
    """Return True for a condition with a constant part: `f(1) == 2 or 3`."""
    match node:
        case ast.Expr(value=ast.BoolOp(values=parts)) | ast.Assert(test=ast.BoolOp(values=parts)):
            return any(map(is_value, parts))
    return False


def _readable(text: str) -> list[str]:
    """Return the lines of `text` in one notation of prompts, comments and raises; unescape a stub's docstrings."""
    text = re.sub(r"^([ \t]*)In \[\d+\]: ", r"\1>>> ", uncommented(text), flags=re.MULTILINE)  # IPython's prompt
    text = re.sub(r"^([ \t]*)Out\[\d+\]: ", r"\1", text, flags=re.MULTILINE)
    text = _SLASHES.sub(_comment, re.sub(r"^[ \t]*> ", "", text, flags=re.MULTILINE))
    text = _INSTEAD.sub(r"\g<call> should ", _REMARK.sub(r"\g<step>  # \g<said>", text))
    names = {*re.findall(r"\b[A-Z]\w*(?:Error|Exception)\b", text)}
    if len(names) == 1:
        text = _RAISES_ALONE.sub(rf"\g<0> {names.pop()}", text)
    raw = re.search(r"\br(?:\"\"\"|''')", text, re.IGNORECASE)
    return (text if raw or not parses(text) else text.replace("\\\\", "\\")).split("\n")


def _with_joined_paragraphs(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield each line with its number, and each wrapped paragraph of prose as one line."""
    yield from enumerate(lines)
    paragraph: list[str] = []
    for index, line in enumerate([*lines, ""]):
        before = paragraph[-1].rstrip() if paragraph else ""
        if line.strip() and len(before) >= _WRAPPED and before[-1] != ":" and not _BEGINS.match(line):
            paragraph.append(line.strip())
            continue
        if len(paragraph) > 1:
            yield index - len(paragraph), " ".join(paragraph)
        paragraph = [line]


def _comment(match: re.Match[str]) -> str:
    """Return a step and the text after its `//` as a Python comment."""
    divides = statements(match[0].strip()) and not _TELLS.match(match["said"])
    is_step = statements(match["step"].strip()) and not divides
    return f"{match['step']}  # {match['said']}" if is_step else match[0]


def _logical_line(lines: Sequence[str], index: int, signature: Signature | None) -> str:
    """Return the line at `index` with those that its brackets include, and with a result above or below it."""
    line = whole = lines[index]
    if not (signature and f"{signature.name}(" in line) and not line.strip().startswith("assert "):
        return line
    for following in lines[index + 1 : index + _LONGEST]:
        if unclosed(whole) <= 0:
            break
        whole += "\n" + following
    below = (lines[index + 1 + whole.count("\n") :] or [""])[0].strip()
    above = _STATED_ABOVE.match(lines[index - 1]) if index else None
    if whole.endswith(")") and _comments_are_above(lines, index):
        whole += f" -> {above['stated']}" if above else ""
    elif below.startswith(("# ", "== ")) and whole.endswith(")"):
        whole += f" {below}"
    elif whole == line and whole.endswith(")") and value(below) and expression(whole):
        whole += f" -> {below}"
    return whole if unclosed(whole) == 0 else line


def _comments_are_above(lines: Sequence[str], index: int) -> bool:
    """Return True if comments around the line at `index` are above the lines that they describe."""
    above = takewhile(is_shown, map(lines.__getitem__, range(index - 1, -1, -1)))
    below = takewhile(is_shown, map(lines.__getitem__, range(index + 1, len(lines))))
    first, last = ([lines[index], *part][-1].strip() for part in (above, below))
    return first.startswith("#") and not last.startswith("#")


# --- what is certain ----------------------------------------------------------------------------------------


def _is_certain(code: str, signature: Signature | None, text: str, importable: Container[str]) -> bool:
    """Return True if `code` parses, calls the entry point, and uses no unknown names."""
    body = statements(code)
    if not body or compile_error(code) or not isinstance(body[-1], ast.Assert | ast.With):
        return False
    if _always_holds(body[-1]):
        return False
    if PROGRAM_FILE in code:
        return True
    if compared_generator(parse(code), signature):
        return False
    own = {signature.name} if signature else set()
    unbound = names_unbound(code, *own) - (MAKERS - own) - {"pytest"}
    outside = {name for name in unbound if name not in importable}
    nodes = [node for each in body for node in ast.walk(each)]
    if any(isinstance(node, ast.Constant) and node.value is ... for node in nodes):
        return False  # `...` marks an omission
    if isinstance(body[-1], ast.Assert) and signature and _is_of_another_type(nodes, signature):
        return False
    raises = isinstance(body[-1], ast.With)
    if (_is_rounded(code) and not _SAYS_ROUNDED.search(text)) or (raises and _GIVES_A_CLASS.search(text)):
        return False
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    if signature and signature.kind == "class":
        owners = [function.value for function in calls if isinstance(function, ast.Attribute)]
        calls += [getattr(owner, "value", owner) for owner in owners]  # of a class method, or of a member's
    called = {function.id for function in calls if isinstance(function, ast.Name)}
    wanted = outside if signature is None else {signature.name}
    if outside and outside == wanted and outside <= called:
        return True
    asked = {name for name in outside if name in own & called or names(text, name, called=name in called)}
    return bool(asked) and outside - asked <= FIXTURES | _STANDARD


def _is_rounded(code: str) -> bool:
    """Return True if `code` compares with a rounded number, as in `sqrt(2) = 1.414`."""
    found = _DECIMALS.search(code)
    digits = found["number"].replace(".", "").lstrip("0") if found else ""
    return found is not None and 3 <= len(digits) < 15 and float(found["number"]) * 8 % 1 != 0


def _is_of_another_type(nodes: Sequence[ast.AST], signature: Signature) -> bool:
    """Return True if an argument or the result contradicts its annotation: a number for a text, or the reverse."""
    wanted = parameters(signature)
    types = [getattr(each.annotation, "id", "") for each in wanted.args] if wanted else []
    calls = [each for each in nodes if isinstance(each, ast.Call) and last_name(each) == signature.name]
    check = compared(nodes[0], signature)
    given = [(node, kind) for call in calls for node, kind in zip(call.args, types, strict=False)]
    given += [(check.comparators[0], signature.text.rpartition("-> ")[2].split("[")[0])] if check else []
    return any(_kind(node) in _OTHERS.get(annotated, "").split() for node, annotated in given)


def _agreeing(found: Sequence[_Found]) -> list[_Found]:
    """Return `found` without duplicates, contradictions, and unsure ones where results differ in type."""
    stated = [_question_and_answer(item.code) for item in found]
    answers: dict[str, set[str]] = {}
    for question, answer, _ in stated:
        answers.setdefault(question, set()).add(answer)
    mixed = len({kind for _, _, kind in stated} - {"None", ""}) > 1
    chosen: dict[str, _Found] = {}
    for item, (question, _, _) in zip(found, stated, strict=True):
        if len(answers[question]) == 1 and (item.sure or not mixed):
            chosen.setdefault(question, item)
    return list(chosen.values())


def _question_and_answer(code: str) -> tuple[str, str, str]:
    """Return the question of an example, its answer, and the type of the stated value."""
    if not (found := checks_in(code)):
        return code, "", ""
    check = found[-1]
    stated = expression(check.value) if check.sign == "==" else None
    return "\n".join(check.question), f"{check.sign} {check.value}", _kind(stated) if stated else ""


def _kind(node: ast.expr) -> str:
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    value = node.value if isinstance(node, ast.Constant) else node
    return type(value).__name__.replace("NoneType", "None")

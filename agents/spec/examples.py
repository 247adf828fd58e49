"""Examples in a spec's text, as assertions that hold for right code: found only where they are certain.

An example becomes a trusted test, so a wrong one is worse than none. It must call the entry point on values,
compare with a value, and stand in a line that doesn't speak of exceptions, mistakes or conditions.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from ..records import PROGRAM_FILE, Example, Signature
from ..syntax.collection import FIXTURES, last_name
from ..syntax.definitions import is_definition
from ..syntax.imports import KNOWN
from ..syntax.literals import MAKERS, expression, is_literal, value
from ..syntax.source import compile_error, names_unbound, names_used, parse, parses, statements, unparse
from .asked import uncommented
from .doctests import Before, checks, shown
from .in_line import in_line, leading_exception, states
from .pairs import stated_pairs
from .plain_calls import compared_generator, stated_plainly
from .shell import shell_examples
from .signature import names
from .stories import scenarios, told

_BAD_NEWS = re.compile(
    r"\b(?:not|wrong|wrongly|incorrect|incorrectly|bug|buggy|currently|instead|fails?|bad|broken|actual|actually)\b|n't\b",
    re.IGNORECASE,
)
_EXAMPLE_LINE = re.compile(r"[=-]>|==|➞|→|^\s*(?:```|~~~|>>>|\.\.\.)")
_STANDARD = {name for name in KNOWN if name[0].isupper()} | {
    "asyncio", "asdict", "astuple", "collections", "contextlib", "copy", "dataclasses", "deepcopy", "functools",
    "io", "islice", "itertools", "json", "subprocess", "sys",
}  # fmt: skip
"""Names of the standard library that are no words for a parameter."""
_GIVES = re.compile(
    r"(?P<call>\s*+\S.*\)|\s*+\w++\.\w++)\s*(?:#\s*)?(?P<sign>->|=>|==>|→|➞|\b(?:returns|gives|raises)\b|#)\s*(?P<stated>\S.*)"
)
"""A step of an example and what it gives: `s.pop() -> 1`, `s.pop()  # raises IndexError`."""
_ASKS = re.compile(
    r"(?:get|is|has|can|peek|top|find|next|to|as|count|contains|size|len|str|list|repr|bool|sorted|sum)(?:_|\Z)"
)
"""The names of functions that are called for what they return."""
_PLAIN = re.compile(r"True|False|None|-?[\d.]+|\[.*\]")
"""What `print` shows as it is written."""
_STEPS = re.compile(
    r"^\s*+(?:[-*+•]\s++)?(?:(?:(?:example|usage)s?\b|e\.g\.)\s*+)?|[.:,!]\s++(?:e\.g\.\s*+)?", re.IGNORECASE
)
_LONGEST = 30
"""Lines of an example."""
_FARTHEST = 3
"""Lines from a heading to its example."""


class _Found(NamedTuple):
    """An example on a line (from 0), as code and as text; one that is not `sure` may be a definition."""

    line: int
    code: str
    source: str
    sure: bool = True


def examples(text: str, signature: Signature | None, importable: Container[str] = ()) -> tuple[Example, ...]:
    """Return the examples in `text`, in order, each once; those that contradict one another are left out.

    They may use names that are `importable` beside the code.
    """
    lines = _readable(text)
    doubtful = _in_doubt(lines)
    optional = signature is not None and re.search(r"None|Optional", signature.text.partition("->")[2]) is not None
    prints = signature is not None and signature.text.endswith("-> None") and signature.kind == "function"
    found: list[tuple[str, str, int]] = [*stated_pairs(lines, signature), *_set_up(lines, doubtful, signature)]
    found += [run for run in shell_examples(lines) if not doubtful[run[2]]]
    prompted: set[int] = set()
    for session in shown(lines):
        prompted.update(range(session[0].line, session[-1].line + session[-1].text.count("\n") + 1))
        if not doubtful[session[0].line]:
            found += checks(session, optional, prints)
    every = [_Found(line, code, source) for code, source, line in found]
    for index, line in [*enumerate(lines), *scenarios(lines)]:
        if line.strip() and index not in prompted and not doubtful[index]:
            stated = in_line(line if line != lines[index] else _logical(lines, index, signature), signature)
            every += [_Found(index, code, line.strip(), sure) for code, sure in stated]
    # Two backslashes in Markdown may stand for one, as in a docstring: what is meant is not certain.
    plain = [item for item in every if "\\\\" not in item.code or parses(text)]
    plain = [item._replace(code=stated_plainly(item.code, signature)) for item in plain]
    certain = [item for item in plain if _is_certain(item.code, signature, text, importable)]
    return tuple(
        Example(item.code, item.source) for item in _agreeing(sorted(certain, key=lambda item: item.line))
    )


def from_statement(text: str, signature: Signature | None) -> Example:
    """Return an example given as such: an assertion, a comparison, `call -> value`, or a run of the program.

    Raises ValueError, naming the example, where it is none of these.
    """
    example = _stated(text, signature)
    if fault := compile_error(example.code):
        raise ValueError(f"the example `{example.source_line}` does not run outside a function ({fault})")
    return example


def _stated(text: str, signature: Signature | None) -> Example:
    source = text.strip()
    body, reason = list[ast.stmt](), ""
    try:
        body = parse(source).body
    except ValueError as error:
        reason = str(error)
    last = body[-1] if body else None
    if isinstance(last, ast.Assert | ast.With):
        return Example(stated_plainly(source, signature), source)
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Compare | ast.BoolOp):
        before = "".join(f"{unparse(node)}\n" for node in body[:-1])
        stated = ast.get_source_segment(source, last)
        return Example(stated_plainly(f"{before}assert {stated}", signature), source)
    for code, _, _ in shell_examples(["```", *source.split("\n")]):
        return Example(code, source)
    for code, _ in in_line(source, signature):
        return Example(stated_plainly(code, signature), source)
    if raising := _raising(source):
        return Example(stated_plainly(raising, signature), source)
    if reason:
        raise ValueError(f"the example `{source}` is not Python ({reason})")
    raise ValueError(f"the example `{source}` states no result; write it as `call(...) == value`")


def _raising(source: str) -> str | None:
    """The check that `statements; call raises Name` makes; None where `source` is nothing like that."""
    found = re.search(r"\sraises\s++(?P<name>[A-Z]\w*+)\Z", source)
    match statements(source[: found.start()]) if found else []:
        case [*setup, ast.Expr() as last] if found:
            return "\n".join([*map(unparse, setup), f"with pytest.raises({found['name']}):\n    {unparse(last)}"])
    return None


def _readable(text: str) -> list[str]:
    """Return the lines of `text`; escapes are undone in lines that a stub's docstring escapes."""
    text = uncommented(text)
    raw = re.search(r"\br(?:\"\"\"|''')", text, re.IGNORECASE)
    return (text if raw or not parses(text) else text.replace("\\\\", "\\")).split("\n")


def _in_doubt(lines: Sequence[str]) -> list[bool]:
    """Return for each line True if the heading above it says that what follows is wrong."""
    found, doubtful = [], False
    for line in lines:
        found.append(doubtful)
        if line.strip() and not _EXAMPLE_LINE.search(line):
            heading = line.rstrip().rstrip("*_")
            marked = heading.endswith(":") or heading.startswith("#")
            doubtful = marked and _BAD_NEWS.search(heading) is not None
    return found


def _logical(lines: Sequence[str], index: int, signature: Signature | None) -> str:
    """Return the line at `index`, those after it that its brackets take in, and a comment below a call."""
    line = whole = lines[index]
    if not (signature and f"{signature.name}(" in line) and not line.strip().startswith("assert "):
        return line
    for following in lines[index + 1 : index + _LONGEST]:
        if _depth(whole) <= 0:
            break
        whole += "\n" + following
    below = (lines[index + 1 + whole.count("\n") :] or [""])[0].strip()
    if below.startswith("# ") and whole.endswith(")"):
        whole += f"  {below}"
    return whole if _depth(whole) == 0 else line


def _depth(text: str) -> int:
    """Return how many more brackets open than close in `text`."""
    return sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))


def _set_up(
    lines: Sequence[str], doubtful: Sequence[bool], signature: Signature | None
) -> list[tuple[str, str, int]]:
    """Return checks in code that is shown which stand on statements before them."""
    found: list[tuple[str, str, int]] = []
    for start, block in [*_blocks(lines, signature), *told(lines, signature)]:
        body = statements(textwrap.dedent("\n".join(map(_as_code, block))))
        own = {node.name for node in body if is_definition(node)}
        if doubtful[start] or (own and (signature is None or signature.name in own)):
            continue
        before = Before()
        as_shown = block == lines[start : start + len(block)]
        for node in body:
            try:
                setup = before.needed(names_used(node))
            except ValueError:
                break
            check = ast.Assert(node.value) if isinstance(node, ast.Expr) and states(node.value) else node
            whole = isinstance(check, ast.With) and any(isinstance(inner, ast.Assert) for inner in ast.walk(check))
            raising = isinstance(check, ast.With) and last_name(check.items[0].context_expr) == "raises"
            if whole or (setup and (isinstance(check, ast.Assert) or raising)):
                code = "\n".join(unparse(statement) for statement in [*setup, check])
                line = start + (node.lineno - 1 if as_shown else 0)
                found.append((code, lines[line].strip(), line))
            before.add(_effects(node))
    return found


def _blocks(lines: Sequence[str], signature: Signature | None) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield code that is shown, with the line where it begins: between fences, below a line of prose that ends
    with a colon or below a blank one (`s = Stack()`), and in one line (`Example: s = Stack(); s.push(1)`)."""
    fences = [index for index, line in enumerate(lines) if re.match(r"\s*(?:```|~~~)", line)]
    for start, end in zip(fences[::2], fences[1::2], strict=False):
        yield start + 1, lines[start + 1 : end]
    depths = [len(line) - len(line.lstrip()) if line.strip() else -1 for line in lines]
    for index, line in enumerate(lines):
        if ";" in line:
            yield index, [_steps(line.replace("`", "").rstrip(" ."))]
        start = index + 1
        made = signature is not None and re.match(rf"\s*\w+ = {signature.name}\(", (lines[start:] or [""])[0])
        if not (made and not line.strip()) and (
            not line.rstrip().endswith(":") or statements(f"{line.strip()} pass")
        ):
            continue
        while depths[start : start + 1] == [-1] and start < index + _FARTHEST:
            start += 1
        end = start
        while end < min(len(lines), start + _LONGEST) and depths[end] >= depths[start] >= depths[index]:
            end += 1
        if end > start:
            yield start, lines[start:end]


def _steps(line: str) -> str:
    """Return the statements that a line ends in: all of it, or what follows a sentence, a colon or `e.g.`."""
    for start in [match.end() for match in _STEPS.finditer(line)][:_LONGEST]:
        body = statements(_as_code(line[start:]))
        if len(body) > 1 and not isinstance(body[0], ast.AnnAssign):  # `Example: s = Stack()` reads as one
            return line[start:]
    return ""


def _as_code(line: str) -> str:
    """Return `call -> value` as a comparison, `call -> Error` as a block that expects it, other lines as is."""
    found = _GIVES.fullmatch(line)
    if found is None:
        return line
    call, indent = found["call"].strip(), line[: len(line) - len(line.lstrip())]
    if (stated := value(found["stated"])) is not None:
        is_printed = is_literal(stated) and _PLAIN.fullmatch(stated)
        match expression(call):
            case ast.Call(func=ast.Name("print"), args=[alone], keywords=[]) if is_printed:
                return f"{indent}str({ast.unparse(alone)}) == {str(ast.literal_eval(stated))!r}"
            case ast.Attribute():
                pass
            case ast.Call() as node if last_name(node) == "print":
                return line
            case node if found["sign"] == "#" and not (
                isinstance(node, ast.Call) and _ASKS.match(last_name(node) or "")
            ):
                return line  # beside a step stands what an object holds by then, too
        return f"{indent}{call} {'is' if stated == 'None' else '=='} {stated}"
    raised = leading_exception(found["stated"])
    return f"{indent}with pytest.raises({raised}): {call}" if raised and ";" not in call else line


def _effects(node: ast.stmt) -> list[ast.stmt]:
    """Return the parts of `node` that later statements may need: of a check, the question to an object."""
    checked = node.test if isinstance(node, ast.Assert) else node.value if isinstance(node, ast.Expr) else None
    if not isinstance(checked, ast.Compare):
        return [] if isinstance(node, ast.Assert) else [node]
    asked = [inner for inner in ast.walk(checked.left) if isinstance(inner, ast.Call)]
    acts = any(isinstance(call.func, ast.Attribute) or ast.Name in map(type, call.args) for call in asked)
    return [ast.Expr(checked.left)] if acts else []


# --- what is certain ----------------------------------------------------------------------------------------


def _is_certain(code: str, signature: Signature | None, text: str, importable: Container[str]) -> bool:
    """Return True if `code` parses, uses what the spec asks for, and depends on nothing that it does not give."""
    body = statements(code)
    if not body or compile_error(code) or not isinstance(body[-1], ast.Assert | ast.With):
        return False
    if PROGRAM_FILE in code:
        return True
    if compared_generator(parse(code), signature):
        return False
    unbound = names_unbound(code, signature.name if signature else None) - MAKERS - {"pytest"}
    outside = {name for name in unbound if name not in importable}
    nodes = [node for each in body for node in ast.walk(each)]
    if any(isinstance(node, ast.Constant) and node.value is ... for node in nodes):
        return False  # it stands for something that is left out
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    if signature and signature.kind == "class":
        calls += [function.value for function in calls if isinstance(function, ast.Attribute)]  # a class method
    called = {function.id for function in calls if isinstance(function, ast.Name)}
    wanted = outside if signature is None else {signature.name}
    if outside and outside == wanted and outside <= called:
        return True
    entry = {signature.name} if signature else set()
    asked = {name for name in outside if name in entry & called or names(text, name, called=name in called)}
    return bool(asked) and outside - asked <= FIXTURES | _STANDARD


def _agreeing(found: Sequence[_Found]) -> list[_Found]:
    """Return `found` without repetitions, without rivals, and without unsure ones where results differ in kind."""
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
    """Return the question of an assertion, its answer, and the kind of a value that it states."""
    *before, node = parse(code).body
    parts: Sequence[ast.AST] = [node]
    answer = kind = ""
    match node:
        case ast.Assert(test=ast.Compare(left=asked, comparators=[stated])):
            parts, answer, kind = [asked], ast.dump(stated), _kind(stated)
        case ast.With(body=body):
            parts, answer = [each.value for each in body if isinstance(each, ast.Expr)], "raises"
    return "".join(map(ast.dump, [*before, *parts])), answer, kind


def _kind(node: ast.expr) -> str:
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    value = node.value if isinstance(node, ast.Constant) else node
    return type(value).__name__.replace("NoneType", "None")

"""Examples in a spec's text, as assertions that hold for right code: found only where they are certain.

An example becomes a trusted test, so a wrong one is worse than none. It must call the entry point on values,
compare with a value, and stand in a line that doesn't speak of exceptions, mistakes or conditions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from ..records import PROGRAM_FILE, Example, Signature
from ..syntax.collection import FIXTURES
from ..syntax.imports import KNOWN
from ..syntax.literals import MAKERS, exception, expression, is_value, value
from ..syntax.source import (
    compile_error,
    is_definition,
    names_bound,
    names_unbound,
    names_used,
    parse,
    parses,
    unparse,
)
from .doctests import Before, checks, shown
from .pairs import stated_pairs
from .plain_calls import compares_generator, stated_plainly
from .shell import shell_examples
from .signature import closing, names

_ARROW = re.compile(
    r"\s*+`?\s*+(?:#\s*+)?(?P<sign>==>|=+>|--?>|➞|→|⇒|⟶|↦|===?|=(?!=)|"
    r"(?:should\s+|must\s+|would\s+|will\s+)?(?:returns?|gives?|yields?|equals?|evaluates?\s+to|raises?|throws?)\b:?)\s*+`?\s*+"
)
_DOUBT = re.compile(
    r"\b(?:not|never|cannot|currently|wrong|wrongly|incorrect|incorrectly|bug|buggy|instead|unless|if|when|rather|invalid"
    r"|except|otherwise|mod|modulo|approximately|roughly|about|fails?|broken|actual|actually|but|previously|formerly|bad)\b"
    r"|n't\b|≈|~=|!=",
    re.IGNORECASE,
)
_SPECULATION = re.compile(
    r"\b(?:wrong|incorrect|bug|buggy|currently|instead|fails?|bad|broken|should|actual)\b", re.IGNORECASE
)
_BAD_NEWS = re.compile(
    r"\b(?:not|wrong|wrongly|incorrect|incorrectly|bug|buggy|currently|instead|fails?|bad|broken|actual|actually)\b|n't\b",
    re.IGNORECASE,
)
_LEAD = re.compile(r"^\s*(?:>\s+)?(?:[-*+•]\s+|\d+[.)]\s+|\([a-z0-9]\)\s+|for\s+)?`?")
_EXAMPLE_LINE = re.compile(r"[=-]>|==|➞|→|^\s*(?:```|~~~|>>>|\.\.\.)")
_STANDARD = {name for name in KNOWN if name[0].isupper()} | {
    "asyncio", "asdict", "astuple", "collections", "contextlib", "copy", "dataclasses", "deepcopy", "functools",
    "io", "islice", "itertools", "json", "subprocess", "sys",
}  # fmt: skip
"""Names of the standard library that are no words for a parameter."""
_LONGEST = 30
"""Lines of an example."""
_BREAK = re.compile(r"(?P<open>[(\[{])|(?P<quoted>'[^'\n]*+'|\"[^\"\n]*+\")|[`.,;)]|(?<!\s)\s++(?:and\b|#|//|\()")
_LONGEST_VALUE = 5000
_MOST_BREAKS = 40
"""Places that are tried as the end of a value: each costs a parse."""
_Call = tuple[str, str, str]


def examples(text: str, signature: Signature | None, importable: Container[str] = ()) -> tuple[Example, ...]:
    """Return the examples in `text`, in order, each once; those that contradict one another are left out.

    They may use names that are `importable` beside the code.
    """
    lines = _readable(text)
    doubtful = _in_doubt(lines)
    found: list[tuple[int, str, str, bool]] = []
    optional = signature is not None and re.search(r"None|Optional", signature.text.partition("->")[2]) is not None
    prints = signature is not None and signature.text.endswith("-> None") and signature.kind == "function"
    prompted: set[int] = set()
    for session in shown(lines):
        prompted.update(range(session[0].line, session[-1].line + session[-1].text.count("\n") + 1))
        if not doubtful[session[0].line]:
            found.extend((line, code, source, True) for code, source, line in checks(session, optional, prints))
    for index, line in enumerate(lines):
        if line.strip() and index not in prompted and not doubtful[index]:
            logical = _logical(lines, index, signature)
            found.extend((index, code, line.strip(), sure) for code, sure in _in_line(logical, signature))
    found.extend((line, code, source, True) for code, source, line in stated_pairs(lines, signature))
    found.extend((line, code, source, True) for code, source, line in _set_up(lines, doubtful, signature))
    runs = [run for run in shell_examples(lines) if not doubtful[run[2]]]
    found.extend((line, code, source, True) for code, source, line in runs)
    # Two backslashes in Markdown may stand for one, as in a docstring: what is meant is not certain.
    plain = [item for item in found if "\\\\" not in item[1] or parses(text)]
    plain = [(line, stated_plainly(code, signature), source, sure) for line, code, source, sure in plain]
    certain = [item for item in plain if _is_certain(item[1], signature, text, importable)]
    return tuple(Example(code, source) for code, source in _agreeing(sorted(certain, key=lambda item: item[0])))


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
    for code, _ in _in_line(source, signature):
        return Example(stated_plainly(code, signature), source)
    if raising := _raising(source):
        return Example(stated_plainly(raising, signature), source)
    if reason:
        raise ValueError(f"the example `{source}` is not Python ({reason})")
    raise ValueError(f"the example `{source}` states no result; write it as `call(...) == value`")


def _raising(source: str) -> str | None:
    """The check that `statements; call raises Name` makes; None where `source` is nothing like that."""
    match = re.search(r"\sraises\s++(?P<name>[A-Z]\w*+)\Z", source)
    try:
        *setup, last = parse(source[: match.start()].rstrip()).body if match else []
    except ValueError:
        return None
    if match is None or not isinstance(last, ast.Expr):
        return None
    return "\n".join([*map(unparse, setup), f"with pytest.raises({match['name']}):\n    {unparse(last)}"])


def _readable(text: str) -> list[str]:
    """Return the lines of `text`; escapes are undone in lines that a stub's docstring escapes."""
    try:
        parse(text)
    except ValueError:
        return text.split("\n")
    if re.search(r"\br(?:\"\"\"|''')", text, re.IGNORECASE):
        return text.split("\n")
    return [line.replace("\\\\", "\\") for line in text.split("\n")]


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
    """Return the line at `index`, and those after it that its brackets take in."""
    line = lines[index]
    start = line.find(f"{signature.name}(") if signature else -1
    if start < 0 and not line.strip().startswith("assert "):
        return line
    whole = line
    for end in range(index + 1, min(index + _LONGEST, len(lines))):
        depth = sum(whole.count(mark) for mark in "([{") - sum(whole.count(mark) for mark in ")]}")
        if depth <= 0:
            break
        whole += "\n" + lines[end]
    balanced = sum(whole.count(mark) for mark in "([{") == sum(whole.count(mark) for mark in ")]}")
    return whole if balanced else line


def _in_line(line: str, signature: Signature | None) -> list[tuple[str, bool]]:
    """Return the assertions in one line, with whether each is sure (`=` may also define)."""
    text = _LEAD.sub("", line, count=1)
    if whole := _whole(text.strip().rstrip("`;")):
        comment = text[len(text.split("#")[0]) :]
        return [] if _SPECULATION.search(comment) else [(code, True) for code in whole]
    made = [(call, _assertion(call, sign, rest)) for call, sign, rest in _calls(text, signature)]
    prose = line
    for call, assertion in made:
        prose = prose.replace(call, " ").replace(assertion.stated if assertion else " ", " ", 1)
    if _DOUBT.search(prose):
        return []
    return [(assertion.code, assertion.sure) for _, assertion in made if assertion]


class _Assertion(NamedTuple):
    """An assertion made of a call and what is said of it; `stated` is the text of the value."""

    code: str
    stated: str
    sure: bool


def _whole(text: str) -> list[str]:
    """Return the assertions of a line that is code throughout: an `assert`, or calls compared with values."""
    try:
        body = parse(text).body
    except ValueError:
        return []
    if len(body) == 1 and isinstance(body[0], ast.Assert):
        return [ast.unparse(body[0]) if "#" in text else text]
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        return []
    node = body[0].value
    parts = node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) else [node]
    if not all(_states(part) for part in parts):
        return []
    return [f"assert {ast.get_source_segment(text, part)}" for part in parts]


def _states(node: ast.expr) -> bool:
    """Return True if `node` compares something computed with a value."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.Is):
        return False
    return is_value(node.comparators[0]) and not is_value(node.left)


def _calls(line: str, signature: Signature | None) -> Iterator[_Call]:
    """Yield calls of the entry point in `line`, each with the sign after it and the text after that."""
    if signature is None or signature.kind == "class":
        return
    starts = [match.start() for match in re.finditer(rf"(?<![\w.]){re.escape(signature.name)}\(", line)]
    for number, start in enumerate(starts):
        end = closing(line, start + len(signature.name))
        before = line[max(0, start - 100) : start].rstrip()
        # A part of a larger expression states nothing of its own.
        if end is None or (before and before[-1] in "([{=+-*/<>%@|&^~"):
            continue
        sign = _ARROW.match(line, end + 1)
        if sign:
            following = starts[number + 1] if number + 1 < len(starts) else len(line)
            yield line[start : end + 1], sign["sign"], line[sign.end() : following]


def _assertion(call: str, sign: str, rest: str) -> _Assertion | None:
    node = expression(call)
    if not isinstance(node, ast.Call):
        return None
    stated = _leading_value(rest)
    if stated is None:
        name = _leading_exception(rest)
        code = f"with pytest.raises({name}):\n    {call}"
        return _Assertion(code, name, True) if name and "\n" not in call else None
    made = value(stated)
    # `stop() -> None` is a header.
    if re.match(r"raise|throw", sign) or (made == "None" and not node.args and not node.keywords):
        return None
    return _Assertion(f"assert {call} {'is' if made == 'None' else '=='} {made}", stated, sign != "=")


def _leading_value(rest: str) -> str | None:
    """The text of the value that `rest` begins with, where what follows leaves no doubt that it ends there."""
    first = rest.strip()
    if value(first):
        return first
    for end in reversed(_breaks(first)):
        head, tail = first[:end].rstrip(), first[end:].strip()
        if head and value(head) and _ends(tail):
            return head
    return None


def _breaks(text: str) -> list[int]:
    """Return the places where a value that `text` begins with may end: the first ones outside of brackets."""
    found: list[int] = []
    place = 0
    for match in _BREAK.finditer(text, 0, _LONGEST_VALUE):
        if match.start() < place:
            continue
        if match["open"]:
            place = (closing(text, match.start()) or len(text)) + 1
        elif not match["quoted"] and len(found) < _MOST_BREAKS:
            found.append(match.start())
    return found


def _ends(tail: str) -> bool:
    """Return True if `tail` may follow a value: a full stop, a comment, a remark in brackets, the next example."""
    if re.match(r"\.\w|\)\S*\w|,\s*[\d'\"\[({-]", tail):
        return False
    return (
        re.fullmatch(r"[`.,;)\s]*+(?:and|or)?[`\s]*+|(?:#|//).*|\([^()]*\)[`.,;\s]*|[`).,;]++\s[^=<>]*+", tail)
        is not None
    )


def _leading_exception(rest: str) -> str | None:
    match = re.match(r"\s*`?(?:raises?\s+|an?\s+)*`?([A-Z]\w*)(?:\(\))?`?[\s.,;)]*(?:$|#|and\b|\n)", rest)
    if match and match[1].endswith(("Error", "Exception")):
        return match[1]  # the spec's own, perhaps
    return exception(match[1]) if match else None


def _set_up(
    lines: Sequence[str], doubtful: Sequence[bool], signature: Signature | None
) -> list[tuple[str, str, int]]:
    """Return asserts in fenced code that stand on statements above them."""
    found: list[tuple[str, str, int]] = []
    fences = [index for index, line in enumerate(lines) if re.match(r"\s*(?:```|~~~)", line)]
    for start, end in zip(fences[::2], fences[1::2], strict=False):
        try:
            body = parse("\n".join(lines[start + 1 : end])).body
        except ValueError:
            continue
        own = {name for node in body if is_definition(node) for name in names_bound(node)}
        if doubtful[start] or (own and (signature is None or signature.name in own)):
            continue
        before = Before()
        for node in body:
            try:
                setup = before.needed(names_used(node))
            except ValueError:
                break
            check = ast.Assert(node.value) if isinstance(node, ast.Expr) and _states(node.value) else node
            whole = isinstance(check, ast.With) and any(isinstance(inner, ast.Assert) for inner in ast.walk(check))
            if whole or (isinstance(check, ast.Assert) and setup):
                code = "\n".join(unparse(statement) for statement in [*setup, check])
                found.append((code, lines[start + node.lineno].strip(), start + node.lineno))
            before.add(_effects(node))
    return found


def _effects(node: ast.stmt) -> list[ast.stmt]:
    """What later statements may need of `node`: of a check, that it asked an object for something."""
    checked = node.test if isinstance(node, ast.Assert) else node.value if isinstance(node, ast.Expr) else None
    if not isinstance(checked, ast.Compare):
        return [] if isinstance(node, ast.Assert) else [node]
    asked = [inner.func for inner in ast.walk(checked.left) if isinstance(inner, ast.Call)]
    acts = any(isinstance(function, ast.Attribute) or ast.unparse(function) == "next" for function in asked)
    return [ast.Expr(checked.left)] if acts else []


# --- what is certain ----------------------------------------------------------------------------------------


def _checks(code: str) -> bool:
    if not parses(code) or not (body := parse(code).body) or compile_error(code):
        return False
    return isinstance(body[-1], ast.Assert | ast.With)


def _is_certain(code: str, signature: Signature | None, text: str, importable: Container[str]) -> bool:
    """Return True if `code` parses, uses what the spec asks for, and depends on nothing that it does not give."""
    if not _checks(code):
        return False
    if PROGRAM_FILE in code:
        return True
    if compares_generator(code, signature):
        return False
    unbound = names_unbound(code, signature.name if signature else None) - MAKERS - {"pytest"}
    outside = {name for name in unbound if name not in importable}
    tree = parse(code)
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called = {function.id for function in calls if isinstance(function, ast.Name)}
    wanted = outside if signature is None else {signature.name}
    if outside and outside == wanted and outside <= called:
        return True
    entry = {signature.name} if signature else set()
    asked = {name for name in outside if name in entry & called or names(text, name, called=name in called)}
    return bool(asked) and outside - asked <= FIXTURES | _STANDARD


def _agreeing(found: Sequence[tuple[int, str, str, bool]]) -> list[tuple[str, str]]:
    """Return `found` without repetitions, without rivals, and without unsure ones where results differ in kind."""
    answers: dict[str, set[str]] = {}
    kinds: set[str] = set()
    for _, code, _, _ in found:
        question, answer, kind = _question_and_value(code)
        answers.setdefault(question, set()).add(answer)
        kinds |= {kind} - {"None", ""}
    mixed = len(kinds) > 1
    chosen: dict[str, tuple[str, str]] = {}
    for _, code, source, sure in found:
        question, answer, _ = _question_and_value(code)
        if len(answers[question]) == 1 and (sure or not mixed):
            chosen.setdefault(question + answer, (code, source))
    return list(chosen.values())


def _question_and_value(code: str) -> tuple[str, str, str]:
    """Return the question of an assertion, its stated value, and that value's kind."""
    body = parse(code).body
    node = body[-1]
    before = "".join(ast.dump(other) for other in body[:-1])
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare) and len(node.test.ops) == 1:
        stated = node.test.comparators[0]
        return before + ast.dump(node.test.left), ast.dump(stated), _kind(stated)
    if isinstance(node, ast.With):
        calls = "".join(ast.dump(inner.value) for inner in node.body if isinstance(inner, ast.Expr))
        return before + calls, "raises", ""
    return before + ast.dump(node), "", ""


def _kind(node: ast.expr) -> str:
    if isinstance(node, ast.UnaryOp):
        return _kind(node.operand)
    if isinstance(node, ast.Constant):
        return type(node.value).__name__.replace("NoneType", "None")
    return type(node).__name__

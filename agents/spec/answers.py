"""A file of answers to a run's open questions -> examples of its spec: trusted tests like the spec's own."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import UsageError
from ..records import Example, Signature, Spec
from ..suite import named_imports
from ..syntax.imports import KNOWN
from ..syntax.literals import MAKERS, same_value
from ..syntax.source import names_unbound, parse
from .examples import from_statement
from .front_matter import listed
from .source_file import read_text

LONGEST_ANSWERS = 100_000
"""Bytes of UTF-8."""
_YAML = re.compile(r"\A(?:[ \t]*(?:#[^\n]*)?\n|---[ \t]*\n)*examples[ \t]*:", re.MULTILINE)
_BULLET = re.compile(r"^[-*•][ \t]+")


def with_answers(spec: Spec, path: Path, *, under_way: bool) -> Spec:
    """Return `spec` with the answers in the file `path` as examples, after those it has, each once.

    One answer a line (`f(1) == 2`, `f(1) -> 2`, `f(0) raises ValueError`), blank lines and comments between them,
    or YAML with a list `examples:`. `under_way` says that the run has recorded replies: prompts then stay as they
    were. An answer takes the place of an earlier answer to the same question. Raises UsageError, with the file
    and the line, for what is no answer, is about nothing that the spec defines, or contradicts the spec.
    """
    text = read_text(path, LONGEST_ANSWERS).replace("\r\n", "\n").replace("\r", "\n")
    found: dict[str, tuple[Example, int]] = {}
    for statement, line in statements(text, str(path)):
        answer = replace(_answer(statement, spec, f"{path}, line {line}"), answer=True, told=not under_way)
        _check_rivals(answer, f"{path}, line {line}", spec, found)
        found.setdefault(_meaning(answer), (answer, line))
    if not found:
        wanted = f"`{_called(spec.signature)} == value`"
        raise UsageError(f"{path} holds no answer; uncomment one (remove the #), or write {wanted} on a line.")
    answers = [answer for answer, _ in found.values()]
    replaced = [
        other for other in spec.examples if other.answer and any(_contradicts(new, other) for new in answers)
    ]
    kept = [example for example in spec.examples if example not in replaced]
    known = {_meaning(example) for example in kept}
    return replace(spec, examples=(*kept, *(answer for answer in answers if _meaning(answer) not in known)))


def statements(text: str, origin: str) -> Sequence[tuple[str, int]]:
    """Return the examples in `text`, one a line or a YAML list, and the line of each. Raises UsageError."""
    if _YAML.match(text):
        return listed(text, "examples", origin)
    lines = ((_BULLET.sub("", line.strip()), number) for number, line in enumerate(text.split("\n"), 1))
    return [(line, number) for line, number in lines if line and not line.startswith("#")]


def _answer(statement: str, spec: Spec, where: str) -> Example:
    try:
        example = from_statement(statement, spec.signature)
        code = parse(example.code)
    except ValueError as error:
        remedy = "" if "; write" in str(error) else f"; write it as `{_called(spec.signature)} == value`"
        raise UsageError(f"{where}: {error}{remedy}.") from error
    own = spec.signature.name if spec.signature else None
    beside = named_imports(spec.packages, spec.modules).keys()
    outside = sorted(names_unbound(example.code, own) - MAKERS - {"pytest"} - beside)
    defined = [name for name in outside if _defines(spec, name)]
    strange = [name for name in outside if name not in defined and name not in KNOWN]
    if strange:
        raise UsageError(f"{where}: the spec does not define `{strange[0]}`; {_remedy(strange[0], spec)}.")
    asked = defined or (spec.program and example.runs_program)
    if not asked or not any(isinstance(node, ast.Call) for node in ast.walk(code)):
        raise UsageError(
            f"{where}: `{statement}` calls nothing that the spec defines; "
            f"write it as `{_called(spec.signature)} == value`."
        )
    return example


def _called(signature: Signature | None) -> str:
    return f"{signature.name if signature else 'name'}(...)"


def _defines(spec: Spec, name: str) -> bool:
    """Return True if `name` is the spec's entry point or written like a definition, a call or code in its text."""
    if spec.signature is not None and name == spec.signature.name:
        return True
    word = re.escape(name)
    if spec.signature is None:
        return re.search(rf"\b{word}\b", spec.text) is not None
    return re.search(rf"(?<![\w.]){word}\s*\(|\b(?:class|def)\s+{word}\b|`{word}`", spec.text) is not None


def _remedy(name: str, spec: Spec) -> str:
    entry = spec.signature.name if spec.signature else None
    if entry is None:
        return "answer with a call of a function that it names"
    if difflib.get_close_matches(name, [entry], 1):
        return f"write `{entry}` if that is meant"
    return f"answer with a call of `{entry}`"


# --- what contradicts what ----------------------------------------------------------------------------------


def _check_rivals(answer: Example, where: str, spec: Spec, found: Mapping[str, tuple[Example, int]]) -> None:
    """Raise UsageError where the file, or what the spec itself says, states something else."""
    for other, line in found.values():
        if _contradicts(answer, other):
            raise UsageError(f"{where}: `{answer.source_line}` contradicts line {line}; keep one of the two.")
    for example in spec.examples:
        if not example.answer and _contradicts(answer, example):
            raise UsageError(
                f"{where}: `{answer.source_line}` contradicts the spec's `{_stated(example)}`; "
                "leave the answer out, or change the spec and start a new run."
            )


def _stated(example: Example) -> str:
    return example.code.strip().split("\n")[-1].strip().removeprefix("assert ")


def _contradicts(one: Example, other: Example) -> bool:
    here, there = _question_and_value(one.code), _question_and_value(other.code)
    if here is None or there is None or here[0] != there[0]:
        return False
    return not same_value(here[1], there[1])


def _question_and_value(code: str) -> tuple[str, str] | None:
    """Return the question and the stated value of an example; None where it is no plain pair of the two."""
    match parse(code).body:
        case [ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[stated]))]:
            return ast.dump(left), ast.unparse(stated)
        case [ast.With(items=[ast.withitem(context_expr=expected)], body=[ast.Expr(value=call)])]:
            return ast.dump(call), ast.unparse(expected)
    return None


def _meaning(example: Example) -> str:
    return ast.dump(parse(example.code))

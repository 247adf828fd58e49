"""Answers to a run's open questions: trusted examples, tests that are wrong, calls that the spec leaves open."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ..errors import UsageError
from ..records import Example, Signature, Spec, Test
from ..suite import named_imports
from ..syntax.checks import Check, asked_in, checks_in, same_check
from ..syntax.collection import FIXTURES
from ..syntax.imports import KNOWN
from ..syntax.literals import MAKERS
from ..syntax.source import names_unbound, parse, parse_error, unparse
from .examples import from_statement
from .front_matter import listed
from .place import check_text, read_text

LONGEST_ANSWERS = 100_000
"""Bytes of UTF-8."""
_YAML = re.compile(r"(?m)\A(?:[ \t]*(?:#[^\n]*)?\n|---[ \t]*\n)*examples[ \t]*:")
_BULLET = re.compile(r"^[-*•][ \t]+")
_KIND = re.compile(r"(?is)(?P<kind>wrong|any)[ \t]*:[ \t]*(?P<said>\S.*)")


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer as code: an example, a `wrong` test, or a call of which `any` outcome is right."""

    kind: Literal["example", "wrong", "any"]
    code: str
    text: str

    def contradicts(self, other: _Answer) -> bool:
        """Return True if both can't be right."""
        match self.kind, other.kind:
            case "example", "example":
                return any(one.contradicts(each) for one in checks_in(self.code) for each in checks_in(other.code))
            case "any", "example":
                return any(_begins_with(each, asked_in(self.code)) for each in checks_in(other.code))
            case "wrong", "example":
                return same_check(self.code, other.code)
            case "example", _:
                return other.contradicts(self)
        return False

    def replaces(self, other: _Answer) -> bool:
        """Return True if it replaces an earlier answer: both can't be right, or they differ on a call's result."""
        asked, before = ([each.question for each in checks_in(one.code)[-1:]] for one in (self, other))
        again = self.kind == "example" and bool(asked) and asked == before and self.meaning != other.meaning
        return self.contradicts(other) or again

    @property
    def meaning(self) -> tuple[str, str]:
        """A key that equal answers share."""
        return self.kind, ast.dump(parse(self.code))


def with_answers(spec: Spec, path: Path, *, under_way: bool, tests: Sequence[Test] = ()) -> Spec:
    """Return `spec` with the answers in the file `path`. Raises UsageError."""
    return answered(spec, read_text(path, LONGEST_ANSWERS), str(path), under_way=under_way, tests=tests)


def answered(spec: Spec, text: str, origin: str, *, under_way: bool, tests: Sequence[Test] = ()) -> Spec:
    """Return `spec` with the answers in `text` after those it has, each once.

    One answer a line (`f(1) == 2`, `f(1) -> 2`, `f(0) raises ValueError`, `wrong: test_name`, `any: f(0)`), blank
    lines and comments between them, or YAML with a list `examples:`. `under_way` says that the run has recorded
    replies: prompts then stay as they were; `tests` are the run's. An answer takes the place of earlier ones about
    the same call. Raises UsageError, with the line in `origin`, for what is no answer, is about nothing that the
    spec defines, or contradicts the spec.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    own = [_stated(example) for example in spec.examples if not example.answer]
    found: dict[tuple[str, str], tuple[_Answer, int]] = {}
    for statement, line in statements(text, origin):
        where = f"{origin}, line {line}"
        answer = _read(statement, spec, tests, where)
        for other, earlier in found.values():
            if answer.contradicts(other):
                raise UsageError(f"{where}: `{answer.text}` contradicts line {earlier}; keep one of the two.")
        for other in own:
            if answer.contradicts(other):
                raise UsageError(
                    f"{where}: `{answer.text}` contradicts the spec's `{other.text}`; "
                    "leave the answer out, or change the spec and start a new run."
                )
        found.setdefault(answer.meaning, (answer, line))
    if not found:
        wanted = f"`{_called(spec.signature)} == value`"
        raise UsageError(f"{origin} holds no answer; uncomment one (remove the #), or write {wanted} on a line.")
    answers = [answer for answer, _ in found.values()]
    examples = [
        example
        for example in spec.examples
        if not (example.answer and any(answer.replaces(_stated(example)) for answer in answers))
    ]
    known = {_stated(example).meaning for example in examples}
    examples += [
        Example(answer.code, answer.text, answer=True, told=not under_way)
        for answer in answers
        if answer.kind == "example" and answer.meaning not in known
    ]
    return replace(
        spec,
        examples=tuple(examples),
        wrong_tests=_kept("wrong", spec.wrong_tests, answers),
        unspecified=_kept("any", spec.unspecified, answers),
    )


def _kept(kind: Literal["wrong", "any"], earlier: Sequence[str], answers: Sequence[_Answer]) -> tuple[str, ...]:
    """Return the code of the answers of a kind: the earlier ones that no new one contradicts, and the new ones."""
    known = [_Answer(kind, code, "") for code in earlier]
    kept = [each.code for each in known if not any(each.contradicts(answer) for answer in answers)]
    return tuple(dict.fromkeys([*kept, *(answer.code for answer in answers if answer.kind == kind)]))


def why_ruled_out(test: Test, spec: Spec) -> str:
    """Return the answer that rules out `test`, as a reason; empty without one, and for a trusted test."""
    if test.trusted:
        return ""
    if any(same_check(code, test.source, test.preamble) for code in spec.wrong_tests):
        return "you answered that it is wrong"
    for code in spec.unspecified:
        asked = asked_in(code)
        if any(_begins_with(check, asked) for check in checks_in(test.source, test.preamble)):
            return f"you answered that the spec says nothing about `{'; '.join(code.splitlines())}`"
    return ""


def _begins_with(check: Check, asked: tuple[str, ...]) -> bool:
    return bool(asked) and check.question[: len(asked)] == asked


def statements(text: str, origin: str) -> Sequence[tuple[str, int]]:
    """Return the examples in `text`, one a line or a YAML list, and the line of each. Raises UsageError."""
    check_text(text, origin)
    if _YAML.match(text):
        return listed(text, "examples", origin)
    lines = ((_BULLET.sub("", line.strip()), number) for number, line in enumerate(text.split("\n"), 1))
    return [(line, number) for line, number in lines if line and not line.startswith("#")]


def _stated(example: Example) -> _Answer:
    return _Answer("example", example.code, example.code.strip().split("\n")[-1].strip().removeprefix("assert "))


def _read(statement: str, spec: Spec, tests: Sequence[Test], where: str) -> _Answer:
    match = _KIND.fullmatch(statement)
    said = match["said"].strip("`") if match else statement
    if match and match["kind"].lower() == "any":
        return _Answer("any", _about(_call(said, spec, where), said, spec, where), statement)
    if match and said.isidentifier():
        return _Answer("wrong", _named(said, tests, where), statement)
    try:
        code = from_statement(said, spec.signature).code
    except ValueError as error:
        remedy = "" if "; write" in str(error) else f"; write it as `{_called(spec.signature)} == value`"
        raise UsageError(f"{where}: {error}{remedy}.") from error
    code = _about(code, said, spec, where)
    if match is None:
        return _Answer("example", code, statement)
    if tests and not any(same_check(code, each.source, each.preamble) for each in tests if not each.trusted):
        remedy = "name the test: `wrong: test_...`"
        raise UsageError(f"{where}: no generated test of the run states `{said}`; {remedy}.")
    return _Answer("wrong", code, statement)


def _named(name: str, tests: Sequence[Test], where: str) -> str:
    """Return the source of the generated test called `name`."""
    generated = {test.id: test.source for test in tests if not test.trusted}
    if name in generated:
        return generated[name]
    if not tests:
        remedy = "a test is named with --resume RUN alone"
        raise UsageError(f"{where}: `{name}` is the name of no test here: {remedy}.")
    near = difflib.get_close_matches(name, generated, 3) or list(generated)[:3]
    known = f"; take one of: {', '.join(near)}" if near else ""
    raise UsageError(f"{where}: the run has no generated test `{name}`{known}.")


def _call(said: str, spec: Spec, where: str) -> str:
    """Return the steps and the call of `any: ...`, without a value after it."""
    if reason := parse_error(said):
        raise UsageError(f"{where}: `{said}` is not Python ({reason}).")
    match parse(said).body:
        case [*before, ast.Expr(value=ast.Compare(left=asked))] | [*before, ast.Expr(value=asked)]:
            return "\n".join(map(unparse, [*before, asked]))
    raise UsageError(f"{where}: `{said}` ends in no call; write `any: {_called(spec.signature)}`.")


def _about(code: str, statement: str, spec: Spec, where: str) -> str:
    """Return `code`. Raises UsageError where it is about nothing that the spec defines."""
    own = spec.signature.name if spec.signature else None
    beside = named_imports(spec.packages, spec.modules).keys()
    outside = sorted(names_unbound(code, own) - MAKERS - FIXTURES - {"pytest"} - beside)
    defined = [name for name in outside if _defines(spec, name)]
    strange = [name for name in outside if name not in defined and name not in KNOWN]
    if strange:
        raise UsageError(f"{where}: the spec does not define `{strange[0]}`; {_remedy(strange[0], spec)}.")
    asked = defined or (spec.program and Example(code, "").runs_program)
    if not asked or not any(isinstance(node, ast.Call) for node in ast.walk(parse(code))):
        remedy = f"write it as `{_called(spec.signature)} == value`"
        raise UsageError(f"{where}: `{statement}` calls nothing that the spec defines; {remedy}.")
    return code


def _called(signature: Signature | None) -> str:
    return f"{signature.name if signature else 'name'}(...)"


def _defines(spec: Spec, name: str) -> bool:
    """Return True if `name` is the spec's entry point or written like a definition, a call or code in its text."""
    word = re.escape(name)
    if spec.signature is None:
        return re.search(rf"\b{word}\b", spec.text) is not None
    introduced = rf"(?<![\w.]){word}\s*\(|\b(?:class|def)\s+{word}\b|`{word}`"
    return name == spec.signature.name or re.search(introduced, spec.text) is not None


def _remedy(name: str, spec: Spec) -> str:
    if spec.signature is None:
        return "answer with a call of a function that it names"
    entry = spec.signature.name
    meant = difflib.get_close_matches(name, [entry], 1)
    return f"write `{entry}` if that is meant" if meant else f"answer with a call of `{entry}`"

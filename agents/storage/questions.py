"""Open questions as text: one line each for a person, and a file of answers to uncomment for `--answers`."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from math import isclose
from pathlib import Path
from shlex import join

from ..errors import UsageError
from ..records import Dispute, Spec, Test
from ..spec.answers import answered
from ..syntax.checks import statements_of
from ..syntax.clean_text import one_line
from ..syntax.literals import LONGEST_WHOLE, exception, value
from ..syntax.source import parses, unparse

QUESTIONS_FILE = "questions.txt"
_MOST_TEXT = 300
_MOST_ANSWER = 100
"""Characters of an answer in a question; the answer lines have all of it."""


def question_line(dispute: Dispute) -> str:
    """Return the question of `dispute` in one line, without a prefix."""
    if (call := _call(dispute.question)) is None:
        return f"is this right: {_condition(dispute.question)}?"
    answers = [each if len(each) <= _MOST_ANSWER else f"{each[:_MOST_ANSWER]}…" for each in dispute.answers]
    rivals = " or ".join(answers if len(answers) > 1 else [*answers, "something else"])
    steps, _, asked = call.rpartition("; ")
    if asked.isidentifier():
        return f"after {steps}, {asked} is {rivals}?"
    return f"{call} {'' if rivals.startswith('raises ') else 'returns '}{rivals}?"


def stated_lines(dispute: Dispute) -> tuple[str, ...]:
    """Return the rival answers as lines of a file of answers, without those that fit no line."""
    if (call := _call(dispute.question)) is None:
        return _stated(dispute.question)
    said = [said_of(answer) for answer in dispute.answers]
    return tuple(f"{call} {each}" for each in said if each)


def answer_lines(dispute: Dispute, spec: Spec, tests: Sequence[Test]) -> tuple[str, ...]:
    """Return the lines that answer `dispute` and are valid in a file of answers for `spec` and `tests`."""

    def is_taken(line: str) -> bool:
        try:
            answered(spec, line, "", under_way=True, tests=tests)
        except UsageError:
            return False
        return True

    return tuple(line for line in (*stated_lines(dispute), *_rulings(dispute)) if is_taken(line))


def _rulings(dispute: Dispute) -> tuple[str, ...]:
    """Return the lines `any: CALL` and `wrong: TEST`, as far as they apply."""
    asked = asked_call(dispute)
    return (*([f"any: {asked}"] if asked else []), f"wrong: {dispute.test_id}")


def _differs_by_rounding(typed: str, answer: str) -> bool:
    """Return True if two texts are floats, or lists of them, that are close and not equal."""
    try:
        pair = [ast.literal_eval(text) for text in (typed, answer)]
    except (ValueError, SyntaxError):
        return False
    one, other = (each if isinstance(each, list) else [each] for each in pair)
    if pair[0] == pair[1] or len(one) != len(other) or not any(isinstance(each, float) for each in other):
        return False
    numbers = all(isinstance(each, int | float) for each in (*one, *other))
    return numbers and all(isclose(each, near, rel_tol=1e-9) for each, near in zip(one, other, strict=True))


def asked_call(dispute: Dispute) -> str | None:
    """Return the steps and the call of `dispute` on one line; None where they don't fit one."""
    return _call(dispute.question) or _asked(dispute.question)


def _call(question: str) -> str | None:
    """Return a question that is a call with its steps; None for one that is a test."""
    body = [] if "\n" in question.strip() else statements_of(question)
    if not body or not isinstance(body[-1], ast.Expr):
        return None
    return "; ".join(map(unparse, body))


def said_of(answer: str, *, negated: bool = False) -> str | None:
    """Return the part of a line after the call: `answer` (a value, or `raises` and an exception), or its negation;
    None where it fits no line."""
    if answer.startswith("raises "):
        return answer if exception(answer.removeprefix("raises ")) and not negated else None
    equal, is_it = ("!=", "is not") if negated else ("==", "is")
    sign = is_it if answer in ("None", "True", "False") else equal
    whole = value(answer) == answer and "\n" not in answer
    return f"{sign} {answer}" if whole and not (len(answer) > LONGEST_WHOLE and "..." in answer) else None


def value_line(dispute: Dispute, typed: str) -> str:
    """Return the line for the answer `typed` to `dispute`: a value, an exception, or a whole line. A float that
    differs from a draft's answer only by rounding means that answer. Raises UsageError."""
    call = asked_call(dispute)
    raised = re.fullmatch(r"(?:raises?\s+)?(?P<name>[A-Z]\w*)(?:\(.*\))?", typed)
    if call is None:
        raise UsageError(f"`{typed}` is none of the keys.")
    if raised and exception(raised["name"]):
        return f"{call} raises {raised['name']}"
    said = value(typed)
    if said is None and parses(typed) and ("==" in typed or " is " in typed or typed.startswith("assert ")):
        return typed
    if said is None:
        raise UsageError(f"`{typed}` is no value in Python; a text stands in quotes, an exception by its name.")
    if any(_differs_by_rounding(said, answer) for answer in dispute.answers):
        return f"{call} == pytest.approx({said})"
    return f"{call} {'is' if said in ('None', 'True', 'False') else '=='} {said}"


def how_to_answer(disputes: Sequence[Dispute], by_file: bool = True) -> str:
    """Return a sentence with the shortest line that answers one of the questions; without `by_file` (as a batch
    has no --answers) the spec takes it, if it can."""
    lines = [line for dispute in disputes for line in stated_lines(dispute)]
    line = min(lines or [line for dispute in disputes for line in _rulings(dispute)[:1]], key=len)
    where = "in a file for --answers FILE"
    if lines:
        where = f"{where}, or under examples: in the spec" if by_file else "under examples: in the spec"
    return f"Answer with a line such as  {line}  {where}."


def questions_text(disputes: Sequence[Dispute], run: Path, spec: Spec, tests: Sequence[Test]) -> str:
    """Return a file of the run's questions, with each answer commented out."""
    head = (
        "# Open questions. Remove the # from the answers that are right, or write others, then go on with:\n"
        f"# {one_line(join(['--resume', str(run), '--answers', str(run / QUESTIONS_FILE)]))}\n"
        "# any: the spec does not say what comes of that call. wrong: that test asks for the wrong thing.\n"
    )
    return head + "".join(_paragraph(each, answer_lines(each, spec, tests)) for each in disputes)


def is_answered(text: str) -> bool:
    """Return True if the text of a file of questions has an answer that is not commented out."""
    return any(line.strip() and not line.strip().startswith("#") for line in text.splitlines())


def _paragraph(dispute: Dispute, answers: Sequence[str]) -> str:
    shown = () if _call(dispute.question) or stated_lines(dispute) else dispute.question.splitlines()
    lines = ("", question_line(dispute), *(f"    {line}" for line in shown), *answers)
    return "".join(f"# {line}\n" for line in lines).replace("# \n", "\n", 1)


def _condition(source: str) -> str:
    """Return the condition that the test `source` checks, in one line."""
    if stated := _stated(source):
        return stated[0].removeprefix("assert ")
    lines = [line.strip() for line in (source.partition("\n")[2] or source).splitlines()]
    return "; ".join(line for line in lines if line)[:_MOST_TEXT]


def _stated(source: str) -> tuple[str, ...]:
    """Return the statements of the test `source` on one line, and if it checks one thing its negation; none where
    they don't fit a line."""
    *steps, last = statements_of(source) or [ast.Pass()]
    before = _line(steps)
    match last:
        case ast.Assert(test=test) if before is not None:
            checks = [ast.Assert(test)]
            if not any(isinstance(step, ast.Assert) for step in steps):
                checks.append(ast.Assert(ast.UnaryOp(ast.Not(), test)))
            lines = [f"{before}{unparse(check)}" for check in checks]
        case ast.With(
            items=[ast.withitem(context_expr=ast.Call(func=func, args=[ast.Name(id=name)]))],
            body=[ast.Expr(value=ast.Call() as call)],
        ) if before is not None and unparse(func) == "pytest.raises" and exception(name):
            lines = [f"{before}{unparse(call)} raises {name}"]
        case _:
            return ()
    return tuple(line for line in lines if "\n" not in line)


def _asked(source: str) -> str | None:
    """Return the steps and the call of a test that checks one thing, on one line; None for other tests."""
    *steps, last = statements_of(source) or [ast.Pass()]
    before = None if any(isinstance(step, ast.Assert) for step in steps) else _line(steps)
    match last:
        case (
            ast.Assert(test=ast.Compare(left=ast.Call() as call) | (ast.Call() as call))
            | ast.With(body=[ast.Expr(value=ast.Call() as call)])
        ) if before is not None and "\n" not in unparse(call):
            return f"{before}{unparse(call)}"
    return None


def _line(steps: Sequence[ast.stmt]) -> str | None:
    """Return the statements `steps` as the beginning of a line; None where one is compound."""
    simple = ast.Assign | ast.AugAssign | ast.Expr | ast.Assert | ast.Delete
    texts = [unparse(step) for step in steps]
    if any("\n" in text for text in texts) or not all(isinstance(step, simple) for step in steps):
        return None
    return "".join(f"{text}; " for text in texts)

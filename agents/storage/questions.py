"""Open questions as text: one line each for a person, and a file of answers to uncomment for `--answers`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..records import Dispute
from ..syntax.literals import LONGEST_WHOLE, exception, is_value, value
from ..syntax.source import parse

QUESTIONS_FILE = "questions.txt"
_MOST_TEXT = 300


def question_line(dispute: Dispute) -> str:
    """The question of `dispute` in one line, without a prefix."""
    if not _is_call(dispute.question):
        return f"is this right: {_condition(dispute.question)}?"
    if len(dispute.answers) == 1:
        return f"{dispute.question} returns {dispute.answers[0]} or something else?"
    return f"{dispute.question} returns {' or '.join(dispute.answers)}?"


def answer_lines(dispute: Dispute) -> tuple[str, ...]:
    """The rival answers as lines of an answers file; those that can't be written as one are left out."""
    if not _is_call(dispute.question):
        return _stated(dispute.question)
    said = [_said(answer) for answer in dispute.answers]
    return tuple(f"{dispute.question} {each}" for each in said if each)


def _is_call(question: str) -> bool:
    """Return True if `question` is a call, with the statements before it on the same line; else it is a test."""
    try:
        body = parse(question).body
    except ValueError:
        return False
    return "\n" not in question.strip() and bool(body) and isinstance(body[-1], ast.Expr)


def _said(answer: str) -> str | None:
    """`answer` as the second half of a line; None where it fits no line."""
    if answer.startswith("raises "):
        return answer if exception(answer.removeprefix("raises ")) else None
    sign = "is" if answer in ("None", "True", "False") else "=="
    return f"{sign} {answer}" if _is_whole(answer) else None


def how_to_answer(disputes: Sequence[Dispute]) -> str:
    """One sentence with a line that answers one of the questions: the shortest there is."""
    lines = [line for dispute in disputes for line in answer_lines(dispute)]
    if not lines:
        return "Answer by an example of yours in the spec, or with --tests FILE."
    line = min(lines, key=len)
    return f"Answer with a line such as  {line}  in a file for --answers FILE, or under examples: in the spec."


def questions_text(disputes: Sequence[Dispute], run: Path) -> str:
    """The questions of the run in the directory `run`, each answer commented out."""
    head = (
        "# Open questions. Remove the # from the answers that are right, or write others, then go on with:\n"
        f"# --resume {run} --answers {run / QUESTIONS_FILE}\n"
    )
    return head + "".join(_paragraph(dispute) for dispute in disputes)


def is_answered(text: str) -> bool:
    """Return True if the text of a questions file has an answer that is not commented out."""
    return any(line.strip() and not line.strip().startswith("#") for line in text.splitlines())


def _paragraph(dispute: Dispute) -> str:
    lines = answer_lines(dispute) or ("no answer to this fits a line: say it in the spec, or with --tests FILE",)
    return "".join(f"# {line}\n" for line in ("", question_line(dispute), *lines)).replace("# \n", "\n")


def _is_whole(answer: str) -> bool:
    return value(answer) == answer and "\n" not in answer and not (len(answer) > LONGEST_WHOLE and "..." in answer)


def _condition(source: str) -> str:
    """The condition that the test `source` checks, in one line."""
    if stated := _stated(source):
        return stated[0].removeprefix("assert ")
    lines = [line.strip() for line in (source.partition("\n")[2] or source).splitlines()]
    return "; ".join(line for line in lines if line)[:_MOST_TEXT]


def _stated(source: str) -> tuple[str, ...]:
    """The statement of the test `source` and its contrary, as lines of an answers file where they fit one."""
    try:
        body = parse(source).body
    except ValueError:
        return ()
    match body:
        case [ast.FunctionDef(args=ast.arguments(args=[]), decorator_list=[], body=statements)]:
            return tuple(line for line in _lines_of(_inlined(statements)) if "\n" not in line)
    return ()


def _lines_of(statement: ast.stmt | None) -> tuple[str, ...]:
    match statement:
        case ast.Assert(test=test):
            return f"assert {ast.unparse(test)}", f"assert {ast.unparse(ast.UnaryOp(ast.Not(), test))}"
        case ast.With(
            items=[ast.withitem(context_expr=ast.Call(func=func, args=[ast.Name(id=name)]))],
            body=[ast.Expr(value=ast.Call() as call)],
        ) if ast.unparse(func) == "pytest.raises" and exception(name):
            return (f"{ast.unparse(call)} raises {name}",)
    return ()


def _inlined(statements: Sequence[ast.stmt]) -> ast.stmt | None:
    """The last of `statements` with the values that those before it give to names; None if they do more."""
    values: dict[str, ast.expr] = {}
    for statement in statements[:-1]:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=stated) if is_value(stated):
                values[name] = stated
            case _:
                return None
    made = _Inlining(values).visit(statements[-1])
    return made if isinstance(made, ast.stmt) else None


class _Inlining(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node)

"""Answers to a run's open questions by the reference solution: what a person's answers would be worth."""

from __future__ import annotations

import ast

from ..errors import UsageError
from ..judge.agreement import exception_of
from ..judge.probes import UNKNOWN
from ..records import Candidate, Outcome, Ruling, Spec, Test
from ..spec.answers import answered
from ..storage.questions import stated_lines
from ..syntax.source import names_bound, parse, unparse
from ..verifier.cached_verifier import CachedVerifier
from .everyday import EverydayTask
from .tasks import BenchTask

_NAME = "test_asked"


SpecTask = BenchTask | EverydayTask


def with_answer(task: SpecTask, spec: Spec, ruling: Ruling, verifier: CachedVerifier) -> Spec | None:
    """Return `spec` with the reference's answer to the first question that it has one to, as a person would give
    it to the run; None where there is none. Raises SandboxBroken."""
    tests = {entry.test.id: entry.test for entry in ruling.ledger}
    for dispute in ruling.disputes:
        value = _answer(task.reference, dispute.question, verifier)
        if value is not None:
            line = f"{dispute.question} {value if value.startswith('raises ') else f'== {value}'}"
        elif (test := tests.get(dispute.test_id)) and _outcome(task.reference, test, verifier).status != "passed":
            line = f"wrong: {dispute.test_id}"
        else:
            line = next(iter(stated_lines(dispute)), "")
        try:
            found = answered(spec, line, "the reference", under_way=True, tests=list(tests.values()))
        except UsageError:
            continue
        if found != spec:
            return found
    return None


def _outcome(reference: str, test: Test, verifier: CachedVerifier) -> Outcome:
    board = verifier.board([Candidate("reference", reference, "user", 1)], [test])
    return board.verdicts[0].outcome(test.id)


def _answer(reference: str, question: str, verifier: CachedVerifier) -> str | None:
    """Return what `reference` answers to the call `question`, statements before it included: a `repr`, or `raises`
    and the exception; None where `question` is no call, or its answer fits no line."""
    try:
        body = parse(question).body
        names = [name for node in parse(reference).body for name in names_bound(node)]
    except ValueError:
        return None
    if "\n" in question.strip() or not body or not isinstance(body[-1], ast.Expr):
        return None
    lines = [*map(unparse, body[:-1]), f"assert {unparse(body[-1].value)} == {UNKNOWN}"]
    source = "\n    ".join([f"def {_NAME}():", *lines]) + "\n"
    test = Test(_NAME, source, "generated", f"from user_code import {', '.join(names)}")
    outcome = _outcome(reference, test, verifier)
    if outcome.actual is not None:
        return outcome.actual
    raised = exception_of(outcome)
    return f"raises {raised}" if outcome.status == "error" and raised.isidentifier() else None

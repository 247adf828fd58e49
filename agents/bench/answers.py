"""Answers to a run's open questions by the reference solution: what a person's answers would be worth."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from ..judge.probes import UNKNOWN
from ..records import Candidate, Dispute, Spec, Test
from ..spec.examples import from_statement
from ..syntax.source import names_bound, parse, unparse
from ..verifier.cached_verifier import CachedVerifier

_NAME = "test_asked"


class SpecTask(Protocol):
    """A spec to be solved, with a solution."""

    @property
    def task_id(self) -> str:
        """Name the task."""

    @property
    def reference(self) -> str:
        """Return the module that solves it."""

    def spec(self, strip_examples: bool = False) -> Spec:
        """Make the spec, with `strip_examples` without its examples."""

    def solution(self, code: str) -> str:
        """Complete a strategy's module to the one that the hidden tests take."""


def with_answer(task: SpecTask, spec: Spec, disputes: Sequence[Dispute], verifier: CachedVerifier) -> Spec | None:
    """Return `spec` with the reference's answer to the first question that it has one to, as an example that no
    prompt shows; None where there is none. Raises SandboxBroken."""
    known = {example.source_line for example in spec.examples}
    for dispute in disputes:
        value = _answer(task.reference, dispute.question, verifier)
        if value is None:
            continue
        line = f"{dispute.question} {value if value.startswith('raises ') else f'== {value}'}"
        try:
            example = replace(from_statement(line, spec.signature), answer=True, told=False, source_line=line)
        except ValueError:
            continue
        if line not in known:
            return replace(spec, examples=(*spec.examples, example))
    return None


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
    outcome = verifier.board([Candidate("reference", reference, "user", 1)], [test]).verdicts[0].outcome(_NAME)
    if outcome.actual is not None:
        return outcome.actual
    raised = outcome.detail.partition(":")[0].strip()
    return f"raises {raised}" if outcome.status == "error" and raised.isidentifier() else None

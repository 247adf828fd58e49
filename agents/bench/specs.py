"""Strategies on specs: a loop with its record in memory, and answers by the reference in the place of a person."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..errors import UsageError
from ..events import ignore_event
from ..judge.agreement import exception_of
from ..judge.claims import ValueClaim, as_test
from ..judge.leader_view import SUCCESSES
from ..judge.probes import UNKNOWN
from ..judge.ruling_by_tests import passes_own_tests
from ..llm_backends.budget import Budget
from ..loop.plan import plan
from ..loop.state import LoopState
from ..loop.strategies import run_strategy
from ..records import Candidate, Outcome, RoundRecord, Ruling, Spec, Test
from ..run.role_models import RoleModels, SharedModels
from ..settings import Settings, Strategy
from ..spec.answers import answered
from ..storage.questions import stated_lines
from ..syntax.source import names_bound, parse, unparse
from ..verifier.cached_verifier import CachedVerifier
from .everyday import EverydayTask
from .results import TaskResult
from .runner import Means, Runner, asked
from .tasks import BenchTask

ORDER: tuple[Strategy, ...] = ("greenloop", "best-of-n", "classic", "single")
"""greenloop comes first: its tokens on a task are the limit of best-of-n."""
_MOST_DRAFTS = 100
SpecTask = BenchTask | EverydayTask


def spec_runner(
    tasks: Sequence[SpecTask],
    strategies: Collection[Strategy],
    means: Means,
    *,
    strip_examples: bool = False,
    answers: int = 0,
) -> Runner:
    """Return the runner of `strategies`; with `answers` greenloop runs again with that many answers of the
    reference."""

    def measured(
        strategy: Strategy, most: int, task: SpecTask, seed: int, matched: int | None, verifier: CachedVerifier
    ) -> TaskResult:
        settings = replace(means.settings, strategy=strategy, seed=seed)
        spec: Spec | None = task.spec(strip_examples)
        given = -1
        while spec is not None:
            given += 1
            attempt = Attempt(spec, settings, matched)
            attempt.make(means.models, means.journal.replies, verifier)
            ruling = attempt.rounds[-1].ruling if attempt.rounds else None
            if ruling is None or ruling.grade == "verified" or given == most:
                break
            spec = with_answer(task, spec, ruling, verifier)
        solution = task.solution(attempt.code) if attempt.code else ""
        found = means.judge(task.task_id, solution) if solution else None
        right = found is not None and found.plus
        first = task.solution(attempt.first_code) if attempt.repaired and not right else ""
        clauses = ruling.clauses if ruling is not None else ()
        return TaskResult(
            task_id=task.task_id,
            strategy=f"{strategy}-{most}-answers" if most else strategy,
            seed=seed,
            solution=solution,
            grade=ruling.grade if ruling is not None else None,
            claimed=attempt.claimed,
            hidden=found,
            rounds=len(attempt.rounds),
            drafts=attempt.drafts,
            usage=attempt.budget.usage,
            seconds=attempt.seconds,
            error=attempt.error,
            matched=matched,
            lost_to_repair=bool(first) and means.judge(task.task_id, first).plus,
            clauses=len(clauses),
            alike=ruling.alike if ruling is not None else 0,
            unchecked=sum(bool(each.missing) and not each.open for each in clauses),
            answers=given,
        )

    made = {str(name): partial(measured, name, 0) for name in ORDER if name in strategies}
    if answers:
        made[f"greenloop-{answers}-answers"] = partial(measured, "greenloop", answers)
    return Runner(tasks, made, CachedVerifier, means)


class Attempt:
    """The archive of one loop, and its outcome."""

    def __init__(self, spec: Spec, settings: Settings, tokens: int | None = None) -> None:
        """With `tokens` only the budget limits the number of drafts."""
        self._spec = spec
        self._settings = settings
        made = plan(settings, spec.limits)
        self._plan = replace(made, most_drafts=_MOST_DRAFTS) if tokens else made
        self.budget = Budget(max_tokens=tokens or settings.max_tokens)
        """Charged for model calls, replayed ones included."""
        self.code = ""
        self.first_code = ""
        self.rounds: list[RoundRecord] = []
        self.claimed = False
        """True if the strategy says that it is right: by its own tests (classic), else by its grade."""
        self.repaired = False
        """True if a repair leads in the end."""
        self.drafts = 0
        self.error: str | None = None
        self.seconds = 0.0

    def append(self, record: RoundRecord) -> None:
        """Keep one round."""
        self.rounds.append(record)

    def save_code(self, code: str) -> None:
        """Keep the best candidate so far."""
        self.first_code = self.first_code or code
        self.code = code

    def save_tests(self, tests: Sequence[Test]) -> None:
        """Do nothing: the rounds have the suite."""

    def make(self, backends: SharedModels, replies: Path, verifier: CachedVerifier) -> None:
        """Run the loop; returns and raises as `asked`."""

        def work(models: RoleModels) -> None:
            state = LoopState(self._spec, self._plan, models.roles(verifier, at_once=1), self, ignore_event)
            try:
                ruling = run_strategy(self._settings.strategy, state)
            finally:
                self.drafts = state.drafts_asked
            classic = self._settings.strategy == "classic"
            self.claimed = passes_own_tests(self.rounds[-1].ruling) if classic else ruling.grade in SUCCESSES
            self.repaired = ruling.leader is not None and state.leader(ruling).origin == "repair"

        _, self.error, self.seconds = asked(work, backends, self._settings, self.budget, replies)


def with_answer(task: SpecTask, spec: Spec, ruling: Ruling, verifier: CachedVerifier) -> Spec | None:
    """Return `spec` with the reference's answer to the first question that it can answer; None without one. Raises
    SandboxBroken."""
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
    return verifier.board([Candidate("reference", reference, "user", 1)], [test]).verdicts[0].outcome(test.id)


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
    claim = ValueClaim(unparse(body[-1].value), UNKNOWN, tuple(map(unparse, body[:-1])))
    test = as_test(claim, "test_asked", "generated", f"from user_code import {', '.join(names)}")
    outcome = _outcome(reference, test, verifier)
    if outcome.actual is not None:
        return outcome.actual
    raised = exception_of(outcome)
    return f"raises {raised}" if outcome.status == "error" and raised.isidentifier() else None

"""Repairs of programs with a bug: tasks, the tests that a repair may see, the case of healing, strategies.

A case is a module and a pytest file: each of its runs is a verification, the module apart from its tests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256

from ..healing.case import Case
from ..healing.expectations import literals_in
from ..healing.heal import heal_case
from ..judge.leader_view import SUCCESSES
from ..judge.probes import argument_nodes, probe
from ..llm_backends.budget import Budget
from ..records import Grade, Outcome, Test, Verdict
from ..records.heal import Answer, Call, HealResult, Item, Observation, Symptom
from ..roles.prompt import PYTHON
from ..run.role_models import RoleModels
from ..sandbox import Sandbox, SandboxLimits
from ..settings import Settings
from ..strength.mutants import mutants
from ..suite import example_tests, render, split
from ..syntax.changes import changed_lines
from ..syntax.literals import is_literal
from ..syntax.source import parse
from ..verifier import Verifier
from .quixbugs import Program, without_docstring
from .results import TaskResult
from .runner import Means, Runner, asked
from .tasks import BenchTask

MODULE = "user_code.py"
_LIMITS = SandboxLimits(wall_seconds=15.0, cpu_seconds=15)
_CALL_SECONDS = 7.0


@dataclass(frozen=True, slots=True)
class RepairTask:
    """A module with a bug in the function `entry_point`; `tests` is a pytest file, of which some fail on it."""

    task_id: str
    entry_point: str
    code: str
    tests: str


def quixbugs_tasks(
    programs: Sequence[Program], visible: Mapping[str, Sequence[str]], *, strip: bool = False
) -> tuple[RepairTask, ...]:
    """Make the tasks of QuixBugs; with `strip` without the text that says what a program does."""
    return tuple(
        RepairTask(
            one.name, one.name, without_docstring(one.buggy) if strip else one.buggy, one.tests(visible[one.name])
        )
        for one in programs
    )


def of_one_item(tasks: Sequence[RepairTask], verifier: Verifier) -> tuple[RepairTask, ...]:
    """Return the tasks with only the first failing test of each. Raises SandboxBroken."""
    return tuple(replace(task, tests=render([_first_failing(task, verifier)])) for task in tasks)


def _first_failing(task: RepairTask, verifier: Verifier) -> Test:
    verdict = verifier.verify(task.code, task.tests)
    tests = split(task.tests, "user")
    return next((test for test in tests if not verdict.passes(test.id)), tests[0])


def seeded_tasks(tasks: Sequence[BenchTask], verifier: Verifier) -> tuple[RepairTask, ...]:
    """Return tasks with a mutant of each reference: the first, by a hash, that fails an example of its docstring.
    Tasks without one are left out. Raises SandboxBroken."""
    return tuple(seeded for task in tasks for seeded in _seeded(task, verifier))


def _seeded(task: BenchTask, verifier: Verifier) -> Iterator[RepairTask]:
    examples = example_tests(task.spec())
    if not examples:
        return
    tests = render(examples)
    if verifier.verify(task.reference, tests).kind != "passed":
        return
    codes = [mutant.code for mutant in mutants(task.reference)]
    for code in sorted(codes, key=lambda code: sha256(f"{task.task_id}\0{code}".encode()).digest()):
        if verifier.verify(code, tests).kind == "failed":
            yield RepairTask(task.task_id, task.entry_point, code, tests)
            return


# --- the case of healing -------------------------------------------------------------------------------------


def open_verifier(sandbox: Sandbox) -> Verifier:
    """Return a verifier for programs whose items take 3 s at most (levenshtein has no cache), or never end."""
    return Verifier(sandbox, _LIMITS, call_seconds=_CALL_SECONDS)


@dataclass(frozen=True, slots=True)
class VerifiedCase(Case):
    """The case of a task of a benchmark; the caller closes the verifier."""

    subject: RepairTask
    verifier: Verifier

    @property
    def files(self) -> Mapping[str, str]:
        """The module."""
        return {MODULE: self.subject.code}

    def made_by(self, items: Sequence[Item], changed: Mapping[str, str]) -> tuple[Sequence[Call], Sequence[Call]]:
        """Return the calls of literals that these tests make."""
        names = {item.name for item in items}
        return self._calls_of([each for each in self._tests if each.id in names])

    def _calls_of(self, tests: Sequence[Test]) -> tuple[Sequence[Call], Sequence[Call]]:
        own = self.subject.entry_point
        nodes = (node for test in tests for node in ast.walk(parse(test.source)) if isinstance(node, ast.Call))
        made = (node for node in nodes if ast.unparse(node.func) == own and argument_nodes(node))
        sources = [
            ast.unparse(node) for node in made if all(map(is_literal, map(ast.unparse, argument_nodes(node))))
        ]
        calls = [Call(MODULE, own, source) for source in sources]
        return calls, [] if calls else [Call(MODULE, own, "its arguments are no literals")]

    def answers(self, changed: Mapping[str, str], calls: Sequence[Call]) -> list[Answer | None]:
        """Verify tests that can't pass, which tell what is returned, of a generator its items. Raises
        SandboxBroken."""
        listed = f"list({self.subject.entry_point}(" in self.subject.tests
        sources = (f"list({call.source})" if listed else call.source for call in calls)
        probes = [probe(number, source, self._tests[0].preamble) for number, source in enumerate(sources)]
        verdict = self.verifier.verify(changed.get(MODULE, self.subject.code), render(probes))
        return [_answer(verdict.outcome(each.id)) for each in probes]

    @property
    def task(self) -> str:
        """Say what is run, and what is expected."""
        return f"The tests of `{self.subject.entry_point}` in {MODULE} are run, and have to pass."

    def observe(self, changed: Mapping[str, str], *, seed: int = 0) -> Observation:
        """Verify the module in fresh processes, whatever the `seed`. Raises SandboxBroken."""
        code = changed.get(MODULE, self.subject.code)
        verdict = self.verifier.verify(code, self.subject.tests)
        behavior = "\n".join(f"{each.test_id} {each.status} {each.actual}" for each in verdict.outcomes)
        calls, left_out = map(tuple, self._calls_of(self._tests))
        reached = {} if changed else self._functions()
        return Observation(
            self._symptom(verdict), behavior=behavior, calls=calls, left_out=left_out, reached=reached
        )

    def _functions(self) -> dict[str, float]:
        """Return the functions at the top of the module, that which the tests call first."""
        nodes = [node for node in parse(self.subject.code).body if isinstance(node, ast.FunctionDef)]
        own = self.subject.entry_point
        return {f"{MODULE}::{node.lineno}": 1.0 if node.name == own else 0.5 for node in nodes}

    @property
    def _tests(self) -> Sequence[Test]:
        return split(self.subject.tests, "user")

    def _symptom(self, verdict: Verdict) -> Symptom | None:
        if verdict.kind == "passed":
            return None
        sources = {test.id: test.source for test in self._tests}
        failing = [each for each in verdict.outcomes if each.status != "passed"]
        items = tuple(_item(each, sources.get(each.test_id, "")) for each in failing)
        if not items:
            return Symptom("limit", verdict.reason)
        return Symptom("tests", f"{len(items)} tests fail", items=items)


def _answer(outcome: Outcome) -> Answer | None:
    """Return the value of an outcome, or the exception at the beginning of its detail; None for neither."""
    if outcome.actual is not None:
        return Answer(outcome.actual, seconds=outcome.seconds)
    raised = re.match(r"(\w+)(?::|$)", outcome.detail)
    deliberate = re.search(r" line \d+: raise\b", outcome.detail) is not None
    return Answer(None, raised[1], deliberate=deliberate) if raised else None


def _item(outcome: Outcome, source: str) -> Item:
    return Item(outcome.test_id, outcome.detail, source, tuple(literals_in(source)))


# --- strategies ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Repair:
    """A strategy's answer to a task; `code` is empty where it has none."""

    code: str = ""
    grade: Grade | None = None
    claimed: bool = False
    """True if the strategy says that it is right."""
    patches: int = 0


RepairStrategy = Callable[[RepairTask, RoleModels, Verifier, Settings], Repair]


def greenloop(task: RepairTask, models: RoleModels, verifier: Verifier, settings: Settings) -> Repair:
    """Heal as the command does: claimed from `consensus` on."""
    healed = heal_case(VerifiedCase(task, verifier), models.healer(python=PYTHON), max_rounds=settings.max_rounds)
    return _repair(healed, claimed=healed.grade in SUCCESSES)


def single(task: RepairTask, models: RoleModels, verifier: Verifier, _: Settings) -> Repair:
    """Ask for one patch, and claim that it is right if the tests that it may see pass."""
    healed = heal_case(VerifiedCase(task, verifier), models.healer(python=PYTHON), max_rounds=1, patches=1)
    return _repair(healed, claimed=any(trial.plausible for trial in healed.trials))


REPAIR_STRATEGIES: Mapping[str, RepairStrategy] = {"greenloop": greenloop, "single": single}


def repair_runner(tasks: Sequence[RepairTask], strategies: Mapping[str, RepairStrategy], means: Means) -> Runner:
    """Make the runner of `strategies`."""

    def measured(name: str, task: RepairTask, seed: int, _: int | None, verifier: Verifier) -> TaskResult:
        settings = replace(means.settings, seed=seed)
        budget = Budget(max_tokens=settings.max_tokens)
        made, fault, seconds = asked(
            lambda models: strategies[name](task, models, verifier, settings),
            *(means.models, settings, budget, means.journal.replies),
        )
        repair = made or Repair()
        return TaskResult(
            task_id=task.task_id,
            strategy=name,
            seed=seed,
            solution=repair.code,
            grade=repair.grade,
            claimed=repair.claimed,
            hidden=means.judge(task.task_id, repair.code) if repair.code else None,
            drafts=repair.patches,
            usage=budget.usage,
            seconds=seconds,
            error=fault,
            changed_lines=changed_lines(task.code, repair.code) if repair.code else None,
        )

    made = {name: partial(measured, name) for name in strategies}
    return Runner(tasks, made, open_verifier, means)


def _repair(healed: HealResult, *, claimed: bool) -> Repair:
    return Repair(healed.files.get(MODULE, ""), healed.grade, claimed, len(healed.trials))

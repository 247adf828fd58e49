"""A module and a pytest file as a case of healing: each run is a verification, the module apart from its tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..healing.case import Case
from ..judge.probes import argument_nodes, probe
from ..records import Outcome, Test, Verdict
from ..records.heal import Answer, Call, Item, Observation, Symptom
from ..sandbox import Sandbox, SandboxLimits
from ..suite import render, split
from ..syntax.literals import is_literal
from ..syntax.source import parse
from ..verifier import Verifier
from .repair_tasks import RepairTask

MODULE = "user_code.py"
_LIMITS = SandboxLimits(wall_seconds=20.0, cpu_seconds=20)
_CALL_SECONDS = 10.0


def open_verifier(sandbox: Sandbox) -> Verifier:
    """A verifier for programs of which an item takes 3 s at most (levenshtein's, uncached), or never ends."""
    return Verifier(sandbox, _LIMITS, call_seconds=_CALL_SECONDS)


@dataclass(frozen=True, slots=True)
class VerifiedCase(Case):
    """The case of a task of a benchmark; the verifier stays its owner's."""

    subject: RepairTask
    verifier: Verifier

    @property
    def files(self) -> Mapping[str, str]:
        """The module."""
        return {MODULE: self.subject.code}

    def calls(self, changed: Mapping[str, str]) -> Sequence[Call]:
        """The calls of literals that the tests make, whatever the module."""
        return self._calls_of(split(self.subject.tests, "user"))[0]

    def made_by(self, items: Sequence[Item], changed: Mapping[str, str]) -> tuple[Sequence[Call], Sequence[Call]]:
        """The calls of literals that these tests make."""
        names = {item.name for item in items}
        return self._calls_of([each for each in split(self.subject.tests, "user") if each.id in names])

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
        preamble = next((test.preamble for test in split(self.subject.tests, "user")), "")
        listed = f"list({self.subject.entry_point}(" in self.subject.tests
        sources = (f"list({call.source})" if listed else call.source for call in calls)
        probes = [probe(number, source, preamble) for number, source in enumerate(sources)]
        verdict = self.verifier.verify(changed.get(MODULE, self.subject.code), render(probes))
        found = (verdict.outcome(each.id) for each in probes)
        return [_answer(each) for each in found]

    @property
    def task(self) -> str:
        """Say what is run, and what is expected."""
        return f"The tests of `{self.subject.entry_point}` in {MODULE} are run, and have to pass."

    def observe(self, changed: Mapping[str, str], *, seed: int = 0) -> Observation:
        """Verify the module in fresh processes, whatever the `seed`. Raises SandboxBroken."""
        code = changed.get(MODULE, self.subject.code)
        verdict = self.verifier.verify(code, self.subject.tests)
        behavior = "\n".join(f"{each.test_id} {each.status} {each.actual}" for each in verdict.outcomes)
        reached = {} if changed else self._functions()
        calls, left_out = self._calls_of(split(self.subject.tests, "user"))
        return Observation(
            self._symptom(verdict),
            behavior=behavior,
            calls=tuple(calls),
            left_out=tuple(left_out),
            reached=reached,
        )

    def _functions(self) -> dict[str, float]:
        """The functions at the top of the module, that which the tests call first."""
        nodes = [node for node in parse(self.subject.code).body if isinstance(node, ast.FunctionDef)]
        own = self.subject.entry_point
        return {f"{MODULE}::{node.lineno}": 1.0 if node.name == own else 0.5 for node in nodes}

    def _symptom(self, verdict: Verdict) -> Symptom | None:
        if verdict.kind == "passed":
            return None
        sources = {test.id: test.source for test in split(self.subject.tests, "user")}
        failing = [each for each in verdict.outcomes if each.status != "passed"]
        items = tuple(_item(each, sources.get(each.test_id, "")) for each in failing)
        if not items:
            return Symptom("limit", verdict.reason)
        return Symptom("tests", f"{len(items)} tests fail", items=items)


def _answer(outcome: Outcome) -> Answer | None:
    """A value, or the exception that the detail of a test that raises begins with; the statement ends it."""
    if outcome.actual is not None:
        return Answer(outcome.actual, seconds=outcome.seconds)
    raised = re.match(r"(\w+)(?::|$)", outcome.detail)
    deliberate = re.search(r" line \d+: raise\b", outcome.detail) is not None
    return Answer(None, raised[1], deliberate=deliberate) if raised else None


def _item(outcome: Outcome, source: str) -> Item:
    literals = [node for node in ast.walk(parse(source)) if isinstance(node, ast.Constant)]
    texts = dict.fromkeys(repr(node.value) for node in literals)
    return Item(outcome.test_id, outcome.detail, source, tuple(texts))

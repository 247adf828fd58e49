"""A module and a pytest file as a case of healing: each run is a verification, the module apart from its tests."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..healing.case import Case
from ..judge.probes import literal_calls, probe
from ..records import Outcome, Test, Verdict
from ..records.heal import Answer, Call, Item, Observation, Symptom
from ..sandbox import Sandbox, SandboxLimits
from ..suite import render, split
from ..syntax.source import parse
from ..verifier import Verifier
from .repair_tasks import RepairTask

MODULE = "user_code.py"
_LIMITS = SandboxLimits(wall_seconds=10.0, cpu_seconds=10)
_CALL_SECONDS = 4.0


def open_verifier(sandbox: Sandbox) -> Verifier:
    """A verifier for programs of which each item takes milliseconds, or never ends."""
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

    def calls(self, changed: Mapping[str, str]) -> tuple[Call, ...]:
        """The calls of literals that the tests make, whatever the module."""
        return self._calls_of(split(self.subject.tests, "user"))

    def made_by(self, items: Sequence[Item], changed: Mapping[str, str]) -> tuple[Sequence[Call], Sequence[Call]]:
        """The calls of literals that these tests make."""
        names = {item.name for item in items}
        return self._calls_of([each for each in split(self.subject.tests, "user") if each.id in names]), ()

    def _calls_of(self, tests: Sequence[Test]) -> tuple[Call, ...]:
        own = self.subject.entry_point
        calls = literal_calls(tests)
        return tuple(Call(MODULE, own, ast.unparse(call)) for call, _ in calls if ast.unparse(call.func) == own)

    def answers(self, changed: Mapping[str, str], calls: Sequence[Call]) -> list[Answer | None]:
        """Verify tests that can't pass, which tell what is returned. Raises SandboxBroken."""
        preamble = next((test.preamble for test in split(self.subject.tests, "user")), "")
        probes = [probe(number, call.source, preamble) for number, call in enumerate(calls)]
        verdict = self.verifier.verify(changed.get(MODULE, self.subject.code), render(probes))
        found = (verdict.outcome(each.id) for each in probes)
        return [None if each.actual is None else Answer(each.actual, seconds=each.seconds) for each in found]

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
        return Observation(self._symptom(verdict), behavior=behavior, calls=self.calls(changed), reached=reached)

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


def _item(outcome: Outcome, source: str) -> Item:
    literals = [node for node in ast.walk(parse(source)) if isinstance(node, ast.Constant)]
    texts = dict.fromkeys(repr(node.value) for node in literals)
    return Item(outcome.test_id, outcome.detail, source, tuple(texts))

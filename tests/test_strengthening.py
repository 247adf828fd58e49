"""Tests for surviving mutants, on the real verifier and a model that answers as it is told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.asking import SMALL_MODEL
from agents.code_writer import CodeWriter
from agents.critic import Critic
from agents.effort import Plan
from agents.records import Candidate, Reply, Request, Test
from agents.rig import Rig
from agents.sandbox import open_sandbox
from agents.spec import read_spec
from agents.strength import measure
from agents.strengthening import killing_tests
from agents.test_writer import TestWriter
from agents.workbench import Crew, Workbench

from .test_orchestrator import Archive

CODE = "def grade(points: int) -> str:\n    return 'pass' if points >= 50 else 'fail'\n"
LEADER = Candidate("a", CODE, "draft", 1)
WEAK = Test(
    "test_high", "def test_high():\n    assert grade(90) == 'pass'\n", "generated", "from user_code import grade\n"
)
SPEC = read_spec(
    "Implement grade(points: int) -> str that returns 'pass' from 50 points, else 'fail'.", origin="x"
)
PLAN = Plan(
    drafts=2,
    more_drafts=1,
    most_drafts=4,
    tests=4,
    opinions=3,
    most_disputes=1,
    probes=8,
    max_rounds=5,
    killing_calls=2,
)


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    sandbox = open_sandbox("auto")
    rig = Rig(sandbox)
    yield rig
    rig.close()
    sandbox.close()


class Oracle:
    """Answers what a call returns by the spec, or always the same."""

    def __init__(self, always: str | None = None) -> None:
        self.always = always
        self.asked: list[str] = []

    def __call__(self, request: Request) -> Reply:
        self.asked.append(request.messages[-1].content)
        points = int(request.purpose.partition("grade(")[2].rstrip(")"))
        value = self.always or repr("pass" if points >= 50 else "fail")
        return Reply(f"```python\nresult = {value}\n```", "stop")


def bench(model: Oracle, rig: Rig) -> Workbench:
    crew = Crew(
        CodeWriter(model, SMALL_MODEL, temperature=0.8, seed=0),
        TestWriter(model, SMALL_MODEL, temperature=0.8, seed=0),
        Critic(model, SMALL_MODEL, seed=0),
        at_once=1,
        rig=rig,
    )
    return Workbench(SPEC, PLAN, crew, Archive(), lambda event: None)


def test_opinions_that_are_what_the_code_returns_make_tests(rig: Rig) -> None:
    model = Oracle()
    found = killing_tests(bench(model, rig), LEADER, [WEAK], rig)
    assert 1 <= len(found) <= PLAN.killing_calls
    stronger = [WEAK, *found]
    assert rig.board([LEADER], stronger).verdicts[0].kind == "passed"
    assert measure(CODE, stronger, rig).killed > measure(CODE, [WEAK], rig).killed
    assert all(test.origin == "generated" for test in found)


def test_the_code_is_never_shown(rig: Rig) -> None:
    model = Oracle()
    killing_tests(bench(model, rig), LEADER, [WEAK], rig)
    assert model.asked
    assert not any("if points" in question for question in model.asked)


def test_opinions_that_are_something_else_make_none(rig: Rig) -> None:
    assert killing_tests(bench(Oracle("None"), rig), LEADER, [WEAK], rig) == []


def test_a_suite_that_does_not_pass_makes_none(rig: Rig) -> None:
    wrong = Candidate("w", CODE.replace(">=", "<"), "draft", 1)
    assert killing_tests(bench(Oracle(), rig), wrong, [WEAK], rig) == []

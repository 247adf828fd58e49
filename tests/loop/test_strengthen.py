"""Tests for surviving mutants, on the real verifier."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.loop.orchestrator import killing_tests
from agents.loop.plan import Plan
from agents.loop.roles import Roles
from agents.loop.state import LoopState
from agents.records import Candidate, Reply, Request, Test
from agents.roles.ask import SMALL_MODEL
from agents.roles.code_writer import CodeWriter
from agents.roles.critic import Critic
from agents.roles.test_writer import TestWriter
from agents.sandbox import open_sandbox
from agents.spec import read_spec
from agents.strength.measure import measure
from agents.verifier.cached_verifier import CachedVerifier

from ..support.loop_parts import Archive

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
    doubtful_drafts=4,
    most_drafts=4,
    tests=4,
    probes=8,
    max_rounds=5,
    killing_calls=2,
)


@pytest.fixture(scope="module")
def verifier() -> Iterator[CachedVerifier]:
    sandbox = open_sandbox("auto")
    verifier = CachedVerifier(sandbox)
    yield verifier
    verifier.close()
    sandbox.close()


def silent(request: Request) -> Reply:
    raise AssertionError(f"nothing is asked: {request.purpose}")


def state(verifier: CachedVerifier, *codes: str) -> LoopState:
    """A workbench with these drafts in its pool, and no model."""
    roles = Roles(
        CodeWriter(silent, SMALL_MODEL, temperature=0.8, seed=0),
        TestWriter(silent, SMALL_MODEL, seed=0),
        Critic(silent, SMALL_MODEL, seed=0),
        at_once=1,
        verifier=verifier,
    )
    made = LoopState(SPEC, PLAN, roles, Archive(), lambda event: None)
    made.pool += [Candidate(f"draft{number}", code, "draft", 1) for number, code in enumerate(codes)]
    return made


SAME = (CODE, CODE + "\n# in other words\n", CODE + "\n# and again\n")
OTHER = "def grade(points: int) -> str:\n    return 'none'\n"


def test_calls_on_which_enough_drafts_return_what_the_leader_does_make_tests(verifier: CachedVerifier) -> None:
    found = killing_tests(state(verifier, *SAME), LEADER, [WEAK])
    assert 1 <= len(found) <= PLAN.killing_calls
    stronger = [WEAK, *found]
    assert verifier.board([LEADER], stronger).verdicts[0].kind == "passed"
    assert measure(CODE, stronger, verifier).killed > measure(CODE, [WEAK], verifier).killed
    assert all(test.origin == "settled" for test in found)


@pytest.mark.thorough
def test_calls_on_which_too_few_drafts_do_so_make_none(verifier: CachedVerifier) -> None:
    assert killing_tests(state(verifier, *SAME[:2]), LEADER, [WEAK]) == []
    assert killing_tests(state(verifier, *SAME, *[OTHER] * 3), LEADER, [WEAK]) == []


def test_a_suite_that_does_not_pass_makes_none(verifier: CachedVerifier) -> None:
    wrong = Candidate("w", CODE.replace(">=", "<"), "draft", 1)
    assert killing_tests(state(verifier, *SAME), wrong, [WEAK]) == []

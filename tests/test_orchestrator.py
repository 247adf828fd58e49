"""The loop, on replies written for the purpose and a board that runs calls in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from agents.asking import SMALL_MODEL
from agents.claims import claim_of, same_value
from agents.code_writer import CodeWriter
from agents.critic import Critic
from agents.effort import Plan
from agents.errors import BudgetSpent, ModelError
from agents.events import Event, Note
from agents.orchestrator import Orchestrator
from agents.records import Board, Candidate, Outcome, Reply, Request, Spec, Test, Verdict, VerdictKind
from agents.run_record import RoundRecord
from agents.spec import read_spec
from agents.test_writer import TestWriter
from agents.workbench import Crew, Workbench

PLAN = Plan(drafts=2, most_drafts=4, tests=4, opinions=3, most_disputes=4, probes=0, max_rounds=5)
SPEC = read_spec("Implement double(x: int) -> int that returns twice x.", origin="argument")
RIGHT = "def double(x: int) -> int:\n    return 2 * x\n"
ALSO_RIGHT = "def double(x: int) -> int:\n    return x + x\n"
WRONG = "def double(x: int) -> int:\n    return x * x\n"
GOOD_TESTS = ((0, 0), (1, 2), (3, 6), (-2, -4))


def suite(*cases: tuple[int, int]) -> str:
    tests = [
        f"def test_{n}():\n    assert double({given}) == {expected}\n" for n, (given, expected) in enumerate(cases)
    ]
    return "from user_code import double\n\n" + "\n".join(tests)


class Model:
    """Answers by the purpose of a question; a missing answer means that the budget is spent."""

    def __init__(self, **answers: Sequence[str]) -> None:
        self.answers = {purpose: list(texts) for purpose, texts in answers.items()}
        self.asked: list[str] = []

    def __call__(self, request: Request) -> Reply:
        purpose = request.purpose.split()[0]
        self.asked.append(purpose)
        if not self.answers.get(purpose):
            raise BudgetSpent("tokens", 10, 10)
        return Reply(f"```python\n{self.answers[purpose].pop(0)}\n```", "stop")


class Archive:
    def __init__(self) -> None:
        self.rounds: list[RoundRecord] = []
        self.code: list[str] = []
        self.tests: list[Test] = []

    def append(self, record: RoundRecord) -> None:
        self.rounds.append(record)

    def save_code(self, code: str) -> None:
        self.code.append(code)

    def save_tests(self, tests: Sequence[Test]) -> None:
        self.tests = list(tests)


def run_board(candidates: Sequence[Candidate], tests: Sequence[Test]) -> Board:
    """Run the code here: it is the test's own."""
    verdicts = []
    for candidate in candidates:
        namespace: dict[str, object] = {}
        exec(candidate.code, namespace)
        outcomes = tuple(_outcome(test, namespace) for test in tests)
        passed = all(outcome.status == "passed" for outcome in outcomes)
        verdicts.append(Verdict("passed" if passed else "failed", outcomes))
    return Board(tuple(candidates), tuple(tests), tuple(verdicts))


class Rig:
    """Boards in this process; `confirms` is what a cold run says."""

    def __init__(self, confirms: VerdictKind = "passed") -> None:
        self.confirms = confirms
        self.confirmed: list[str] = []

    def board(self, candidates: Sequence[Candidate], tests: Sequence[Test]) -> Board:
        return run_board(candidates, tests)

    def confirm(self, candidate: Candidate, tests: Sequence[Test]) -> Verdict:
        self.confirmed.append(candidate.code)
        return Verdict(self.confirms, reason="import missing")


def _outcome(test: Test, namespace: dict[str, object]) -> Outcome:
    claim = claim_of(test)
    assert claim is not None
    actual = repr(eval(claim.call, namespace))
    if same_value(actual, claim.expected):
        return Outcome(test.id, "passed")
    return Outcome(test.id, "failed", "assert", actual, claim.expected)


def loop(
    model: Model,
    plan: Plan = PLAN,
    spec: Spec = SPEC,
    told: list[Event] | None = None,
    rig: Rig | None = None,
) -> tuple[Orchestrator, Archive]:
    archive = Archive()
    crew = Crew(
        CodeWriter(model, SMALL_MODEL, temperature=0.8, seed=0),
        TestWriter(model, SMALL_MODEL, temperature=0.8, seed=0),
        Critic(model, SMALL_MODEL, seed=0),
        at_once=1,
        rig=rig or Rig(),
    )
    events: list[Event] = [] if told is None else told
    return Orchestrator(Workbench(spec, plan, crew, archive, events.append)), archive


def test_drafts_that_agree_with_blind_tests_end_in_one_round() -> None:
    orchestrator, archive = loop(Model(draft=[RIGHT, ALSO_RIGHT], tests=[suite(*GOOD_TESTS)]))
    ruling = orchestrator.run().ruling
    assert (ruling.grade, len(archive.rounds)) == ("consensus", 1)
    assert archive.code[-1] == RIGHT
    assert len(archive.tests) == 4


def test_a_wrong_test_is_put_to_the_vote_and_settled() -> None:
    model = Model(
        draft=[RIGHT, ALSO_RIGHT],
        tests=[suite(*GOOD_TESTS, (5, 11))],
        opinion=["10", "10", "11"],
    )
    orchestrator, archive = loop(model)
    ruling = orchestrator.run().ruling
    assert ruling.grade == "consensus"
    standings = {entry.test.id: entry.standing for entry in ruling.ledger}
    assert (standings["test_4"], standings["test_4_settled"]) == ("ruled out", "counts")
    assert "test_4" not in [test.id for test in archive.tests]
    assert model.asked.count("opinion") == 3


def test_a_right_test_that_is_upheld_sends_the_code_to_the_critic() -> None:
    model = Model(
        draft=[WRONG, WRONG],
        tests=[suite(*GOOD_TESTS)],
        opinion=["result = 2"] * 3 + ["result = 6"] * 3 + ["result = -4"] * 3,
        replacement=[RIGHT],
    )
    orchestrator, archive = loop(model)
    ruling = orchestrator.run().ruling
    assert archive.code[-1] == RIGHT
    assert ruling.grade == "contested", "the repair has seen the tests, and no draft agrees with it"
    assert [record.ruling.next_step for record in archive.rounds][:2] == ["settle", "repair"]


def test_a_trusted_test_that_passes_verifies() -> None:
    spec = read_spec("Implement double(x: int) -> int. double(4) == 8", origin="argument")
    orchestrator, archive = loop(Model(draft=[RIGHT, WRONG], tests=[suite(*GOOD_TESTS)]), spec=spec)
    ruling = orchestrator.run().ruling
    assert (ruling.grade, archive.code[-1]) == ("verified", RIGHT)
    assert archive.tests[0].origin == "spec"


def test_user_tests_with_the_name_of_a_generated_one_keep_it() -> None:
    mine = "from user_code import double\ndef test_0():\n    assert double(7) == 14\n"
    spec = replace(SPEC, user_tests=mine)
    orchestrator, archive = loop(Model(draft=[RIGHT, RIGHT], tests=[suite(*GOOD_TESTS)]), spec=spec)
    orchestrator.run()
    origins = {test.id: test.origin for test in archive.tests}
    assert (origins["test_0"], origins["test_0_generated"]) == ("user", "generated")


def test_the_best_candidate_is_kept_before_any_test_exists() -> None:
    orchestrator, archive = loop(Model(draft=[RIGHT]))
    with pytest.raises(BudgetSpent):
        orchestrator.run()
    assert archive.code == [RIGHT]


def test_a_budget_spent_with_trusted_tests_at_hand_still_gives_a_ruling() -> None:
    spec = read_spec("Implement double(x: int) -> int. double(4) == 8", origin="argument")
    told: list[Event] = []
    orchestrator, _ = loop(Model(draft=[RIGHT]), spec=spec, told=told)
    assert orchestrator.run().ruling.grade == "verified"
    assert any(isinstance(event, Note) and "budget" in event.text for event in told)


def test_a_budget_spent_after_a_ruling_keeps_that_ruling() -> None:
    orchestrator, _ = loop(Model(draft=[WRONG, WRONG], tests=[suite(*GOOD_TESTS)]))
    ruling = orchestrator.run().ruling
    assert (ruling.grade, ruling.done) == ("contested", True)


def test_the_rounds_end_at_the_limit() -> None:
    wrong_too = "def double(x: int) -> int:\n    return x\n"
    model = Model(
        draft=[wrong_too] * 9,
        tests=[suite(*GOOD_TESTS)],
        opinion=["result = 2", "result = 6"] * 30,
        replacement=[WRONG] * 9,
    )
    orchestrator, archive = loop(model, replace(PLAN, max_rounds=2))
    assert orchestrator.run().ruling.done
    assert len(archive.rounds) == 2


def test_drafts_that_cannot_be_read_are_told_and_the_others_go_on() -> None:
    told: list[Event] = []
    model = Model(draft=["no code", "still none", RIGHT], tests=[suite(*GOOD_TESTS)])
    orchestrator, archive = loop(model, told=told)
    orchestrator.run()
    assert archive.code[0] == RIGHT
    assert any(isinstance(event, Note) and "Draft 1" in event.text for event in told)


def test_no_readable_draft_at_all_is_an_error_with_the_way_out() -> None:
    orchestrator, _ = loop(Model(draft=["none"] * 4))
    with pytest.raises(ModelError, match="signature") as raised:
        orchestrator.run()
    assert raised.value.kind == "unusable_reply"


def test_no_readable_test_at_all_is_an_error_with_the_way_out() -> None:
    orchestrator, _ = loop(Model(draft=[RIGHT, RIGHT], tests=["none", "none"]))
    with pytest.raises(ModelError, match="examples"):
        orchestrator.run()


def test_a_success_is_run_once_more_and_stands_only_if_it_comes_again() -> None:
    good = {"draft": [RIGHT, ALSO_RIGHT], "tests": [suite(*GOOD_TESTS)]}
    rig = Rig()
    orchestrator, _ = loop(Model(**good), rig=rig)
    assert orchestrator.run().ruling.grade == "consensus"
    assert rig.confirmed == [RIGHT]
    orchestrator, archive = loop(Model(draft=[RIGHT, ALSO_RIGHT], tests=[suite(*GOOD_TESTS)]), rig=Rig("failed"))
    ruling = orchestrator.run().ruling
    assert (ruling.grade, archive.rounds[-1].ruling.grade) == ("failed", "failed")
    assert "import missing" in ruling.why

"""The loop, on replies written for the purpose and a board that runs calls in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from agents.errors import BudgetSpent, ModelError
from agents.events import Event, Note
from agents.judge.claims import claim_of
from agents.loop.orchestrator import Orchestrator
from agents.loop.plan import Plan
from agents.loop.state import LoopState, Roles
from agents.records import Board, Candidate, Outcome, Reply, Request, RoundRecord, Spec, Test, Verdict, VerdictKind
from agents.roles.ask import SMALL_MODEL
from agents.roles.code_writer import CodeWriter
from agents.roles.critic import Critic
from agents.roles.test_writer import TestWriter
from agents.spec import read_spec
from agents.syntax.literals import same_value

PLAN = Plan(
    drafts=5,
    more_drafts=1,
    doubtful_drafts=5,
    most_drafts=5,
    tests=4,
    probes=0,
    properties=0,
    killing_calls=0,
    max_rounds=5,
)
"""All drafts at once, so that what is enough agreement to end does not matter."""
SPEC = read_spec("Implement double(x: int) -> int that returns twice x.", origin="argument")
WITH_EXAMPLE = read_spec("Implement double(x: int) -> int. double(4) == 8", origin="argument")
RIGHT = "def double(x: int) -> int:\n    return 2 * x\n"
ALSO_RIGHT = "def double(x: int) -> int:\n    return x + x\n"
WRONG = "def double(x: int) -> int:\n    return x * x\n"
WRONG_TOO = "def double(x: int) -> int:\n    return x - 9\n"
WRONG_BEYOND = "def double(x: int) -> int:\n    return 2 * x if abs(x) < 4 else x\n"
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
        answers = self.answers.get(purpose)
        if not answers:
            raise BudgetSpent("tokens", 10, 10)
        return Reply(f"```python\n{answers.pop(0)}\n```", "stop")


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


class CachedVerifier:
    """Boards in this process; `confirms` is what a cold run says."""

    def __init__(self, confirms: VerdictKind = "passed") -> None:
        self.confirms = confirms
        self.confirmed: list[str] = []

    def board(self, candidates: Sequence[Candidate], tests: Sequence[Test]) -> Board:
        return run_board(candidates, tests)

    def hasty_board(self, candidates: Sequence[Candidate], tests: Sequence[Test], call_seconds: float) -> Board:
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


def loop_state(
    model: Model,
    plan: Plan = PLAN,
    spec: Spec = SPEC,
    told: list[Event] | None = None,
    verifier: CachedVerifier | None = None,
    at_once: int = 1,
) -> tuple[LoopState, Archive]:
    archive = Archive()
    roles = Roles(
        CodeWriter(model, SMALL_MODEL, temperature=0.8, seed=0),
        TestWriter(model, SMALL_MODEL, seed=0),
        Critic(model, SMALL_MODEL, seed=0),
        at_once,
        verifier=verifier or CachedVerifier(),
    )
    events: list[Event] = [] if told is None else told
    return LoopState(spec, plan, roles, archive, events.append), archive


def loop(
    model: Model,
    plan: Plan = PLAN,
    spec: Spec = SPEC,
    told: list[Event] | None = None,
    verifier: CachedVerifier | None = None,
) -> tuple[Orchestrator, Archive]:
    state, archive = loop_state(model, plan, spec, told, verifier)
    return Orchestrator(state), archive


def steps(archive: Archive) -> list[str]:
    return [record.ruling.next_step for record in archive.rounds]


def test_drafts_that_agree_with_blind_tests_end_in_one_round() -> None:
    model = Model(draft=[RIGHT, ALSO_RIGHT, RIGHT, RIGHT, RIGHT], tests=[suite(*GOOD_TESTS)])
    orchestrator, archive = loop(model)
    conclusion = orchestrator.run()
    assert (conclusion.ruling.grade, conclusion.claimed, len(archive.rounds)) == ("consensus", True, 1)
    assert archive.code[-1] == RIGHT
    assert len(archive.tests) == 4
    assert model.asked == ["draft"] * 5 + ["tests"]


def test_a_wrong_test_is_outvoted_by_the_drafts() -> None:
    model = Model(draft=[RIGHT, ALSO_RIGHT, RIGHT, RIGHT, RIGHT], tests=[suite(*GOOD_TESTS, (5, 11))])
    orchestrator, archive = loop(model)
    ruling = orchestrator.run().ruling
    assert ruling.grade == "consensus"
    assert {entry.test.id: entry.standing for entry in ruling.ledger}["test_4"] == "ruled out"
    assert "test_4" not in [test.id for test in archive.tests]
    assert set(model.asked) == {"draft", "tests"}


def test_a_draft_that_differs_calls_for_all_drafts_and_no_question() -> None:
    model = Model(draft=[WRONG_TOO, RIGHT, RIGHT, RIGHT, RIGHT], tests=[suite(*GOOD_TESTS)])
    orchestrator, archive = loop(model, replace(PLAN, drafts=2, more_drafts=3))
    ruling = orchestrator.run().ruling
    assert steps(archive) == ["redraft", "done"]
    assert (ruling.grade, archive.code[-1]) == ("consensus", RIGHT)
    assert model.asked == ["draft"] * 2 + ["tests"] + ["draft"] * 3


def test_drafts_that_pass_the_trusted_tests_and_differ_are_drawn_up_to_their_number_and_not_beyond() -> None:
    model = Model(draft=[RIGHT, WRONG_BEYOND, RIGHT, RIGHT, RIGHT, RIGHT], tests=[suite(*GOOD_TESTS)])
    orchestrator, _ = loop(model, replace(PLAN, drafts=2, doubtful_drafts=4, most_drafts=6), spec=WITH_EXAMPLE)
    orchestrator.run()
    assert model.asked.count("draft") == 4


def test_a_value_that_enough_drafts_return_takes_the_place_of_a_wrong_one() -> None:
    model = Model(draft=[RIGHT, RIGHT, ALSO_RIGHT, RIGHT, WRONG_TOO, RIGHT], tests=[suite(*GOOD_TESTS, (5, 11))])
    orchestrator, archive = loop(model, replace(PLAN, doubtful_drafts=6))
    ruling = orchestrator.run().ruling
    standings = {entry.test.id: entry.standing for entry in ruling.ledger}
    assert (standings["test_4"], standings["test_4_settled"]) == ("ruled out", "counts")
    assert (archive.tests[-1].origin, ruling.grade) == ("settled", "consensus")


def test_a_trusted_test_decides_on_the_drafts_that_count() -> None:
    model = Model(draft=[WRONG, RIGHT, WRONG, ALSO_RIGHT, WRONG], tests=[suite(*GOOD_TESTS)])
    orchestrator, archive = loop(model, spec=WITH_EXAMPLE)
    ruling = orchestrator.run().ruling
    assert (ruling.grade, archive.code[-1]) == ("contested", RIGHT)
    assert "2 of 2 independent drafts" in ruling.why
    assert archive.tests[0].origin == "spec"


def test_drafts_come_until_one_passes_the_trusted_tests_and_then_the_tests() -> None:
    model = Model(draft=[WRONG, WRONG, RIGHT], tests=[suite(*GOOD_TESTS)])
    orchestrator, archive = loop(model, replace(PLAN, drafts=1), spec=WITH_EXAMPLE)
    orchestrator.run()
    assert model.asked[:4] == ["draft", "draft", "draft", "tests"]
    assert archive.rounds[0].ruling.leader == archive.rounds[0].board.candidates[2].id


def test_no_tests_are_asked_for_where_no_draft_passes_the_trusted_ones() -> None:
    model = Model(draft=[WRONG] * 5, tests=[suite(*GOOD_TESTS)], replacement=[WRONG_TOO])
    orchestrator, _ = loop(model, spec=WITH_EXAMPLE)
    assert orchestrator.run().ruling.grade == "failed"
    assert "tests" not in model.asked


def test_a_repair_that_passes_the_trusted_tests_leads_to_tests_and_proves_nothing() -> None:
    model = Model(draft=[WRONG], replacement=[RIGHT], tests=[suite(*GOOD_TESTS)])
    orchestrator, archive = loop(
        model, replace(PLAN, drafts=1, doubtful_drafts=1, most_drafts=1), spec=WITH_EXAMPLE
    )
    ruling = orchestrator.run().ruling
    assert steps(archive) == ["repair", "test", "done"]
    assert archive.code[-1] == RIGHT
    assert ruling.grade == "contested", "the repair has seen the tests, and no draft agrees with it"


def test_user_tests_with_the_name_of_a_generated_one_keep_it() -> None:
    mine = "from user_code import double\ndef test_0():\n    assert double(7) == 14\n"
    spec = replace(SPEC, user_tests=mine)
    orchestrator, archive = loop(Model(draft=[RIGHT] * 5, tests=[suite(*GOOD_TESTS)]), spec=spec)
    orchestrator.run()
    origins = {test.id: test.origin for test in archive.tests}
    assert (origins["test_0"], origins["test_0_generated"]) == ("user", "generated")


def test_the_best_candidate_is_kept_before_any_test_exists() -> None:
    orchestrator, archive = loop(Model(draft=[RIGHT]))
    with pytest.raises(BudgetSpent):
        orchestrator.run()
    assert archive.code == [RIGHT]


def test_a_budget_spent_with_trusted_tests_at_hand_still_gives_a_ruling() -> None:
    told: list[Event] = []
    orchestrator, _ = loop(Model(draft=[RIGHT] * 5), spec=WITH_EXAMPLE, told=told)
    assert orchestrator.run().ruling.grade == "verified"
    assert any(isinstance(event, Note) and "budget" in event.text for event in told)


def test_a_budget_spent_after_a_ruling_keeps_that_ruling() -> None:
    model = Model(draft=[WRONG_TOO, RIGHT], tests=[suite(*GOOD_TESTS)])
    orchestrator, archive = loop(model, replace(PLAN, drafts=2))
    conclusion = orchestrator.run()
    assert (conclusion.ruling.grade, conclusion.claimed, conclusion.ruling.done) == ("contested", False, True)
    assert steps(archive) == ["redraft", "done"]


def test_the_rounds_end_at_the_limit() -> None:
    model = Model(draft=[WRONG_TOO, RIGHT] * 9, tests=[suite(*GOOD_TESTS)])
    orchestrator, archive = loop(model, replace(PLAN, drafts=2, most_drafts=9, max_rounds=3))
    assert orchestrator.run().ruling.done
    assert len(archive.rounds) == 3


def test_drafts_that_cannot_be_read_are_told_and_the_others_go_on() -> None:
    told: list[Event] = []
    model = Model(draft=["no code", "still none", *[RIGHT] * 4], tests=[suite(*GOOD_TESTS)])
    orchestrator, archive = loop(model, told=told)
    assert orchestrator.run().ruling.grade == "consensus"
    assert archive.code[0] == RIGHT
    assert any(isinstance(event, Note) and "Draft 1" in event.text for event in told)


def test_no_readable_draft_at_all_is_an_error_with_the_way_out() -> None:
    orchestrator, _ = loop(Model(draft=["none"] * 10))
    with pytest.raises(ModelError, match="signature") as raised:
        orchestrator.run()
    assert raised.value.kind == "unusable_reply"


def test_drafts_without_any_readable_test_end_contested_with_what_there_is() -> None:
    told: list[Event] = []
    orchestrator, archive = loop(Model(draft=[RIGHT] * 5, tests=["none", "none"]), told=told)
    ruling = orchestrator.run().ruling
    assert (ruling.grade, archive.code[-1], archive.tests) == ("contested", RIGHT, [])
    assert any(isinstance(event, Note) and event.warning for event in told)


def test_the_critic_is_shown_a_candidate_once() -> None:
    model = Model(draft=[WRONG] * 5, replacement=["none", "still none", RIGHT])
    orchestrator, archive = loop(model, spec=WITH_EXAMPLE)
    assert orchestrator.run().ruling.grade == "failed"
    assert steps(archive) == ["repair", "done"]


def test_a_success_is_run_once_more() -> None:
    verifier = CachedVerifier()
    orchestrator, _ = loop(Model(draft=[RIGHT] * 5, tests=[suite(*GOOD_TESTS)]), verifier=verifier)
    assert orchestrator.run().ruling.grade == "consensus"
    assert verifier.confirmed == [RIGHT]


@pytest.mark.parametrize(("cold", "grade"), [("failed", "failed"), ("stopped", "contested")])
def test_a_success_that_does_not_come_again_is_none(cold: VerdictKind, grade: str) -> None:
    orchestrator, archive = loop(
        Model(draft=[RIGHT] * 5, tests=[suite(*GOOD_TESTS)]), verifier=CachedVerifier(cold)
    )
    conclusion = orchestrator.run()
    ruling = conclusion.ruling
    assert (ruling.grade, conclusion.claimed, archive.rounds[-1].ruling.grade) == (grade, False, grade)
    assert "import missing" in ruling.why

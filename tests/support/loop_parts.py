"""The parts of a loop for tests: replies written for the purpose, and boards that run calls in this process."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from agents.errors import BudgetSpent
from agents.events import Event
from agents.judge.claims import claim_of
from agents.loop.plan import Plan
from agents.loop.roles import Roles
from agents.loop.state import LoopState
from agents.records import (
    Board,
    Candidate,
    Outcome,
    Reply,
    Request,
    RoundRecord,
    Spec,
    Test,
    Verdict,
    VerdictKind,
)
from agents.roles.ask import SMALL_MODEL
from agents.roles.code_writer import CodeWriter
from agents.roles.critic import Critic
from agents.roles.test_writer import TestWriter
from agents.spec import read_spec
from agents.syntax.literals import same_value
from agents.verifier.cached_verifier import CachedVerifier

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
    """Answers by the purpose of a question; a missing answer means that the budget is spent, or `missing`."""

    missing: Exception = BudgetSpent("tokens", 10, 10)

    def __init__(self, **answers: Sequence[str]) -> None:
        self.answers = {purpose: list(texts) for purpose, texts in answers.items()}
        self.asked: list[str] = []

    def __call__(self, request: Request) -> Reply:
        purpose = request.purpose.split()[0]
        self.asked.append(purpose)
        answers = self.answers.get(purpose)
        if not answers:
            raise self.missing
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


class BoardsHere(CachedVerifier):
    """Boards in this process; `confirms` is what a cold run says."""

    def __init__(self, confirms: VerdictKind = "passed") -> None:
        self.confirms = confirms
        self.confirmed: list[str] = []

    def board(self, candidates: Sequence[Candidate], tests: Sequence[Test]) -> Board:
        return run_board(candidates, tests)

    def hasty_board(
        self, candidates: Sequence[Candidate], tests: Sequence[Test], call_seconds: float | None
    ) -> Board:
        return run_board(candidates, tests)

    def confirm(self, candidate: Candidate, tests: Sequence[Test]) -> Verdict:
        self.confirmed.append(candidate.code)
        return Verdict(self.confirms, reason="import missing")

    def verify(self, code: str, tests: str, stop: threading.Event | None = None) -> Verdict:
        return Verdict("passed")


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
        verifier=verifier or BoardsHere(),
    )
    events: list[Event] = [] if told is None else told
    return LoopState(spec, plan, roles, archive, events.append), archive

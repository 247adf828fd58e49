"""More tests for a suite that is too weak for its code, aimed at its surviving mutants, by the drafts' votes."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import SandboxBroken
from ..events import Note
from ..judge.agreement import Agreement
from ..judge.thresholds import MEASURED, Thresholds
from ..records import Candidate, Test, fingerprint
from ..strength import KillingCall, killing_calls, measure
from .state import LoopState


def killing_tests(
    state: LoopState, leader: Candidate, suite: Sequence[Test], thresholds: Thresholds = MEASURED
) -> list[Test]:
    """Tests on which surviving mutants of `leader` fail, as many as the plan allows.

    Only where enough independent drafts return what the leader returns is there a test: its own word is none.
    """
    runner = state.roles.verifier
    try:
        survivors = measure(leader.code, suite, runner).survivors
        calls = killing_calls(leader.code, survivors, suite, runner, most=state.plan.killing_calls)
        made = [_test(call) for call in calls]
        agreement = Agreement(runner.board(state.pool, [*(each for each in suite if each.trusted), *made]))
    except (SandboxBroken, ValueError) as reason:
        state.emit(Note(f"No tests were added for strength: {str(reason).rstrip('.')}."))
        return []
    voters = agreement.voters
    needed = max(thresholds.settling_drafts, thresholds.decisive * len(voters))
    return [test for test in made if sum(agreement.passes(voter, test) for voter in voters) >= needed]


def _test(call: KillingCall) -> Test:
    name = f"test_{fingerprint(call.claim.call)[:8]}"
    source = f"def {name}():\n    assert {call.claim.call} == {call.claim.expected}\n"
    return Test(name, source, "settled", call.preamble)

"""More tests for a suite that is too weak for its code: aimed at its surviving mutants, blind to the code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from .asking import together
from .claims import same_value
from .errors import SandboxBroken
from .events import Note
from .records import Candidate, Test, fingerprint
from .strength import KillingCall, MutantRunner, killing_calls, measure
from .votes import count
from .workbench import Workbench


def killing_tests(bench: Workbench, leader: Candidate, suite: Sequence[Test], runner: MutantRunner) -> list[Test]:
    """Tests on which surviving mutants of `leader` fail, as many as the plan allows.

    The TestWriter is asked what a call returns on which a mutant and the code part, and sees neither of them; only
    where most of its opinions are what the code returns is there a test. Raises BudgetSpent and ModelError.
    """
    try:
        survivors = measure(leader.code, suite, runner).survivors
        calls = killing_calls(leader.code, survivors, suite, runner, most=bench.plan.killing_calls)
    except (SandboxBroken, ValueError) as reason:
        bench.tell(Note(f"No tests were added for strength: {str(reason).rstrip('.')}."))
        return []
    return [_test(call) for call in calls if _is_confirmed(bench, call)]


def _is_confirmed(bench: Workbench, call: KillingCall) -> bool:
    predict = partial(bench.crew.test_writer.predict, bench.spec, call.claim)
    opinions = together([partial(predict, number) for number in range(bench.plan.opinions)], bench.crew.at_once)
    counted = count(opinion for opinion in opinions if opinion is not None)
    if not counted:
        return False
    value, votes = counted[0]
    return same_value(value, call.claim.expected) and 2 * votes > len(opinions)


def _test(call: KillingCall) -> Test:
    name = f"test_{fingerprint(call.claim.call)[:8]}"
    source = f"def {name}():\n    assert {call.claim.call} == {call.claim.expected}\n"
    return Test(name, source, "generated", call.preamble)

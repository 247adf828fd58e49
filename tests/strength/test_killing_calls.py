from __future__ import annotations

from agents.records import Survivor, Test
from agents.strength import KillingCall, killing_calls, mutants
from agents.strength.measure import as_candidate
from agents.verifier.cached_verifier import CachedVerifier

from .modules import ABOVE, BELOW, CLAMP, INSIDE, suite


def as_test(call: KillingCall) -> Test:
    name = "test_killing"
    body = f"    assert {call.claim.call} == {call.claim.expected}\n"
    return Test(name, f"def {name}():\n{body}", "generated", call.preamble)


def test_a_killing_call_makes_a_test_that_passes_on_the_code_and_kills(verifier: CachedVerifier) -> None:
    survivors = [mutant.survivor for mutant in mutants(CLAMP) if mutant.before == "return low"]
    (call,) = killing_calls(CLAMP, survivors, suite(INSIDE), verifier, tried=24)
    assert call.kills == len(survivors) == 1
    (mutant,) = [mutant for mutant in mutants(CLAMP) if mutant.survivor in survivors]
    test = as_test(call)
    board = verifier.board([as_candidate(CLAMP), as_candidate(mutant.code)], [test])
    assert [verdict.kind for verdict in board.verdicts] == ["passed", "failed"]


def test_calls_cover_the_survivors_with_the_greatest_first(verifier: CachedVerifier) -> None:
    survivors = [mutant.survivor for mutant in mutants(CLAMP) if mutant.line in (4, 6, 7)]
    calls = killing_calls(CLAMP, survivors, suite(INSIDE), verifier, most=9, tried=24)
    assert [call.kills for call in calls] == sorted((call.kills for call in calls), reverse=True)
    assert sum(call.kills for call in calls) == len(survivors)
    assert len(calls) < len(survivors), "one call could kill several"
    for call in calls:
        assert call.claim.call.startswith("clamp(")
        assert call.preamble == "from user_code import clamp"


def test_no_more_calls_come_than_are_wanted(verifier: CachedVerifier) -> None:
    survivors = [mutant.survivor for mutant in mutants(CLAMP) if mutant.line in (4, 6)]
    assert len(killing_calls(CLAMP, survivors, suite(INSIDE), verifier, most=1, tried=16)) == 1


def test_a_constant_of_the_code_that_no_test_comes_near_is_reached(verifier: CachedVerifier) -> None:
    code = "def clamp(x, low, high):\n    return 0 if x == 4711 else max(low, min(x, high))\n"
    survivor = next(m.survivor for m in mutants(code) if m.after.startswith("return 1 if"))
    (call,) = killing_calls(code, [survivor], suite(INSIDE, ABOVE), verifier)
    assert "4711" in call.claim.call
    assert call.claim.expected == "0"


def test_a_change_without_effect_has_no_killing_call(verifier: CachedVerifier) -> None:
    survivor = Survivor(3, "if x < low:", "if x <= low:")
    assert survivor in [mutant.survivor for mutant in mutants(CLAMP)]
    assert killing_calls(CLAMP, [survivor], suite(INSIDE, BELOW), verifier, tried=24) == ()


def test_what_the_code_does_not_return_again_is_no_answer(verifier: CachedVerifier) -> None:
    usual = "x if (x, low, high) == (5, 0, 10) else random.random()"
    code = f"import random\ndef clamp(x, low, high):\n    return {usual}\n"
    survivors = [mutant.survivor for mutant in mutants(code)]
    assert len(survivors) > 4
    assert killing_calls(code, survivors, suite(INSIDE), verifier, tried=16) == ()


def test_without_survivors_nothing_is_run() -> None:
    assert killing_calls(CLAMP, [], suite(INSIDE), None) == ()  # type: ignore[arg-type]

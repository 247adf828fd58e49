from __future__ import annotations

from agents.records import Survivor
from agents.strength.killing_calls import killing_calls
from agents.strength.measure import as_candidate
from agents.strength.mutants import mutants, mutants_of
from agents.verifier.cached_verifier import CachedVerifier

from .modules import ABOVE, BELOW, CLAMP, INSIDE, suite


def test_a_killing_call_makes_a_test_that_passes_on_the_code_and_kills(verifier: CachedVerifier) -> None:
    survivors = [mutant.survivor for mutant in mutants(CLAMP) if mutant.before == "return low"]
    (test,) = killing_calls(CLAMP, survivors, suite(INSIDE), verifier, tried=24)
    (mutant,) = mutants_of(CLAMP, survivors)
    board = verifier.board([as_candidate(CLAMP), as_candidate(mutant.code)], [test])
    assert [verdict.kind for verdict in board.verdicts] == ["passed", "failed"]


def test_a_few_calls_cover_the_survivors(verifier: CachedVerifier) -> None:
    survivors = [mutant.survivor for mutant in mutants(CLAMP) if mutant.line in (4, 6, 7)]
    tests = killing_calls(CLAMP, survivors, suite(INSIDE), verifier, most=9, tried=24)
    candidates = [as_candidate(mutant.code) for mutant in mutants_of(CLAMP, survivors)]
    boards = [verifier.board(candidates, [test]) for test in tests]
    killed = [{at for at, each in enumerate(board.verdicts) if each.kind != "passed"} for board in boards]
    assert set().union(*killed) == {*range(len(survivors))}
    assert all(each - set().union(*killed[:at]) for at, each in enumerate(killed)), "each kills another one"
    assert len(tests) < len(survivors), "one call could kill several"
    assert all("assert clamp(" in test.source for test in tests)
    assert {test.preamble for test in tests} == {"from user_code import clamp"}


def test_no_more_calls_come_than_are_wanted(verifier: CachedVerifier) -> None:
    survivors = [mutant.survivor for mutant in mutants(CLAMP) if mutant.line in (4, 6)]
    assert len(killing_calls(CLAMP, survivors, suite(INSIDE), verifier, most=1, tried=16)) == 1


def test_a_constant_of_the_code_that_no_test_comes_near_is_reached(verifier: CachedVerifier) -> None:
    code = "def clamp(x, low, high):\n    return 0 if x == 4711 else max(low, min(x, high))\n"
    survivor = next(m.survivor for m in mutants(code) if m.after.startswith("return 1 if"))
    (test,) = killing_calls(code, [survivor], suite(INSIDE, ABOVE), verifier)
    assert "4711" in test.source
    assert test.source.endswith(" == 0\n")


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

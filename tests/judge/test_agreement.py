from __future__ import annotations

import pytest

from agents.judge.agreement import Agreement, independent
from agents.records import Board, Candidate, Outcome, Test, Verdict

from ..support.boards import board, candidate, value_test

TRUSTED = value_test("test_spec_example_1", "f(9)", "9", "spec")
USERS = value_test("test_mine", "f(8)", "8", "user")
ONE, TWO = value_test("test_1", "f(1)", "1"), value_test("test_2", "f(2)", "2")
A, B, C = (candidate(name) for name in "abc")
REPAIR, REDRAFT = candidate("r", "repair"), candidate("n", "redraft")
PROBES = tuple(
    Test(f"test_probe_{n}", f"def test_probe_{n}():\n    assert f({n}) == ...\n", "generated") for n in (1, 2)
)


def probed(returned: dict[Candidate, tuple[str | None, str | None]]) -> Board:
    verdicts = [
        Verdict(
            "failed",
            tuple(
                Outcome(probe.id, "error" if value is None else "failed", actual=value)
                for probe, value in zip(PROBES, values, strict=True)
            ),
        )
        for values in returned.values()
    ]
    return Board(tuple(returned), PROBES, tuple(verdicts))


def test_repairs_are_not_independent_and_redrafts_are() -> None:
    assert independent((A, REPAIR, REDRAFT)) == (A, REDRAFT)


def test_voters_pass_as_many_trusted_tests_as_any_independent_candidate() -> None:
    tests = {TRUSTED: "9", USERS: "8", ONE: "1"}
    drafts = {A: ("9", "0", "1"), B: ("9", "8", "0"), C: ("9", "8", "1"), REPAIR: ("9", "8", "1")}
    assert Agreement(board(tests, drafts)).voters == (B, C)


def test_drafts_lose_their_vote_to_a_repair_that_passes_more_trusted_tests() -> None:
    drafts = {A: ("0",), B: ("0",), REPAIR: ("9",)}
    assert Agreement(board({TRUSTED: "9"}, drafts)).voters == ()


def test_generated_tests_decide_on_no_vote() -> None:
    assert Agreement(board({ONE: "1"}, {A: ("0",), B: ("1",)})).voters == (A, B)


@pytest.mark.parametrize("kind", ["void", "forged", "incomplete", "refused"])
def test_a_candidate_that_could_not_be_run_has_no_vote(kind: str) -> None:
    passed = (Outcome(ONE.id, "passed"),)
    verdicts = (Verdict(kind, passed), Verdict("passed", passed))  # type: ignore[arg-type]
    assert Agreement(Board((A, B), (ONE,), verdicts)).voters == (B,)


def test_nobody_votes_where_nobody_runs() -> None:
    assert Agreement(Board((A,), (ONE,), (Verdict("void"),))).voters == ()


def test_candidates_are_alike_that_do_the_same_on_every_test() -> None:
    tests = {ONE: "1", TWO: "2"}
    agreement = Agreement(board(tests, {A: ("1", "0"), B: ("1", "0"), C: ("1", "3")}))
    assert agreement.alike(A, B)
    assert not agreement.alike(A, C), "both fail the second test, with other values"
    assert agreement.following(A) == (A, B)


def test_an_object_that_says_nothing_of_itself_is_the_same_at_any_address() -> None:
    drafts = {A: ("<user_code.Node object at 0x7f01>",), B: ("<user_code.Node object at 0x7f02>",)}
    assert Agreement(board({ONE: "1"}, drafts)).alike(A, B)


def test_a_crash_is_unlike_a_wrong_value() -> None:
    agreement = Agreement(board({ONE: "1"}, {A: (None,), B: ("0",), C: (None,)}))
    assert agreement.following(A) == (A, C)


def test_candidates_that_return_otherwise_on_a_probe_are_not_alike() -> None:
    probes = probed({A: ("1", "2"), B: ("1", "3"), C: ("1", "2")})
    agreement = Agreement(board({ONE: "1"}, dict.fromkeys((A, B, C), ("1",))), probes)
    assert agreement.following(A) == (A, C)


def test_a_probe_on_which_one_raises_tells_nothing() -> None:
    probes = probed({A: ("1", "2"), B: ("1", None), C: (None, "3")})
    agreement = Agreement(board({ONE: "1"}, dict.fromkeys((A, B, C), ("1",))), probes)
    assert (agreement.alike(A, B), agreement.alike(B, C), agreement.alike(A, C)) == (True, True, False)


def test_the_same_on_probes_does_not_outweigh_a_test() -> None:
    agreement = Agreement(board({ONE: "1"}, {A: ("1",), B: ("0",)}), probed({A: ("1", "2"), B: ("1", "2")}))
    assert not agreement.alike(A, B)


def test_a_repair_is_followed_by_the_drafts_that_behave_as_it_does() -> None:
    agreement = Agreement(board({ONE: "1"}, {A: ("1",), B: ("0",), REPAIR: ("1",)}))
    assert agreement.following(REPAIR) == (A,)

from __future__ import annotations

from agents.agreement import Agreement
from agents.claims import claim_of
from agents.inquiry import Inquiry, inquiries, settled_by_inquiry
from agents.probes import probe
from agents.records import Board, Candidate, LedgerEntry, Outcome, Test, Verdict
from agents.thresholds import Thresholds
from agents.votes import LONGEST_WHOLE

from .boards import board, candidate, value_test

TWO_THIRDS = Thresholds(decisive=2 / 3)
ONE, TWO = value_test("test_1", "f(1)", "1"), value_test("test_2", "f(2)", "2")
A, B, C = (candidate(name) for name in "abc")
REPAIR = candidate("r", "repair")
LONG, SHORT = probe(1, "f(1234)", "import f\n"), probe(2, "f(7)", "from user_code import f\n")


def agreement(
    returned: dict[Candidate, tuple[str | None, ...]], *made: Test, more: tuple[Test, ...] = ()
) -> Agreement:
    """Candidates that pass `ONE` and `more`, and what they return for the probes `made`."""
    verdicts = tuple(
        Verdict(
            "failed",
            tuple(
                Outcome(each.id, "error" if value is None else "failed", actual=value)
                for each, value in zip(made, values, strict=True)
            ),
        )
        for values in returned.values()
    )
    tests = {ONE: "1", **dict.fromkeys(more, "7")}
    judged = board(tests, dict.fromkeys(returned, ("1", *["7"] * len(more))))
    return Agreement(judged, Board(tuple(returned), made, verdicts))


def settled(judged: Agreement, *opinions: str | None, rules: Thresholds = TWO_THIRDS) -> list[str]:
    found = settled_by_inquiry(judged, {"f(7)": opinions}, rules)
    return [claim.expected for test in found if (claim := claim_of(test)) is not None]


def test_contested_calls_come_first_without_rivals_and_then_the_shortest_probes() -> None:
    split = agreement({A: ("1", "2"), B: ("3", "4"), C: ("3", "4")}, LONG, SHORT)
    ledger = [LedgerEntry(ONE, "counts"), LedgerEntry(TWO, "contested")]
    assert inquiries(split, ledger, {}) == (
        Inquiry("f(2)"),
        Inquiry("f(7)", ("4", "2")),
        Inquiry("f(1234)", ("3", "1")),
    )


def test_nothing_is_asked_that_was_asked_before() -> None:
    split = agreement({A: ("1", "2"), B: ("3", "4")}, LONG, SHORT)
    asked = {"f(2)": (None,), "f(7)": ("2",)}
    assert [each.call for each in inquiries(split, [LedgerEntry(TWO, "contested")], asked)] == ["f(1234)"]


def test_probes_on_which_the_voters_return_the_same_raise_no_question() -> None:
    assert inquiries(agreement({A: ("7",), B: ("7",), C: (None,), REPAIR: ("9",)}, SHORT), [], {}) == ()
    assert inquiries(Agreement(board({ONE: "1"}, {A: ("1",)})), [], {}) == ()


def test_a_contested_test_that_claims_no_value_is_no_question_for_the_model() -> None:
    raising = Test("test_r", "def test_r():\n    with pytest.raises(TypeError):\n        f(None)\n", "generated")
    assert inquiries(agreement({A: ("7",)}, SHORT), [LedgerEntry(raising, "contested")], {}) == ()


def test_a_value_with_a_decisive_share_of_drafts_and_opinions_becomes_a_test() -> None:
    split = agreement({A: ("7",), B: ("8",)}, SHORT)
    assert settled(split, "7", "7", "8") == []
    assert settled(split, "7", "7", "7") == ["7"]
    (test,) = settled_by_inquiry(split, {"f(7)": ("7", "7", "7")}, TWO_THIRDS)
    assert (test.origin, test.preamble) == ("settled", SHORT.preamble)
    assert test.source.startswith(f"def {test.id}():\n    assert f(7) == 7")


def test_each_draft_has_its_vote() -> None:
    assert settled(agreement({A: ("7",), B: ("8",), C: ("8",)}, SHORT), "7", "8") == []
    assert settled(agreement({A: ("8",), B: ("8",), C: ("8",)}, SHORT), "7") == ["8"]


def test_the_decisive_share_is_the_rules() -> None:
    split = agreement({A: ("7",), B: ("8",)}, SHORT)
    assert settled(split, "7", "8", "7", rules=Thresholds(decisive=0.6)) == ["7"]
    assert settled(split, "7", "8", "7", rules=Thresholds(decisive=0.61)) == []


def test_drafts_alone_settle_no_probe() -> None:
    unanimous = agreement({A: ("7",), B: ("7",)}, SHORT)
    assert settled(unanimous) == settled(unanimous, None, None) == []


def test_a_value_that_no_draft_returns_settles_nothing() -> None:
    assert settled(agreement({A: ("7",), B: ("8",)}, SHORT), *["9"] * 9) == []


def test_a_value_is_the_same_however_an_opinion_writes_it() -> None:
    assert settled(agreement({A: ("'a'",), B: ("'b'",)}, SHORT), '"a"', '"a"', '"a"') == ["'a'"]


def test_a_value_that_may_have_been_cut_settles_nothing() -> None:
    whole, cut = (repr("x" * (length - 2)) for length in (LONGEST_WHOLE, LONGEST_WHOLE + 1))
    assert settled(agreement({A: (whole,), B: (whole,)}, SHORT), whole) == [whole]
    assert settled(agreement({A: (cut,), B: (cut,)}, SHORT), cut) == []


def test_what_is_settled_is_not_settled_again() -> None:
    split = agreement({A: ("7",), B: ("7",)}, SHORT)
    (test,) = settled_by_inquiry(split, {"f(7)": ("7",)}, TWO_THIRDS)
    again = agreement({A: ("7",), B: ("7",)}, SHORT, more=(test,))
    assert settled(again, "7") == []

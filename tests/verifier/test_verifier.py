"""The public face: boards and a user's own files, run in a plain process (the sandbox has tests of its own)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.records import Candidate, Test, TestOrigin, Verdict
from agents.sandbox import SandboxLimits, open_sandbox
from agents.verifier import Verifier

DOUBLE = "def double(x):\n    return x * 2\n"


@pytest.fixture
def verifier() -> Iterator[Verifier]:
    with Verifier(open_sandbox("none"), SandboxLimits(), jobs=2, call_seconds=1.5) as opened:
        yield opened


def candidate(code: str, name: str = "c") -> Candidate:
    return Candidate(name, code, "draft", 0)


def doubling(*numbers: int, origin: TestOrigin = "generated") -> list[Test]:
    return [
        Test(
            f"test_{n}",
            f"def test_{n}():\n    assert double({n}) == {2 * n}\n",
            origin,
            "from user_code import double",
        )
        for n in numbers
    ]


def test_right_code_passes_with_an_outcome_for_each_test(verifier: Verifier) -> None:
    board = verifier.board([candidate(DOUBLE)], doubling(0, 1, 2))
    (verdict,) = board.verdicts
    assert verdict.kind == "passed"
    assert [(outcome.test_id, outcome.status) for outcome in verdict.outcomes] == [
        ("test_0", "passed"), ("test_1", "passed"), ("test_2", "passed")
    ]  # fmt: skip


def test_wrong_code_fails_with_both_values(verifier: Verifier) -> None:
    (verdict,) = verifier.board([candidate("def double(x):\n    return x\n")], doubling(3)).verdicts
    assert verdict.kind == "failed"
    outcome = verdict.outcome("test_3")
    assert (outcome.actual, outcome.expected) == ("3", "6")
    assert outcome.detail == "assert double(3) == 6: got 3, expected 6"


def test_an_exception_is_reported_with_its_line(verifier: Verifier) -> None:
    (verdict,) = verifier.board([candidate("def double(x):\n    return x / 0\n")], doubling(3)).verdicts
    detail = verdict.outcome("test_3").detail
    assert "ZeroDivisionError: division by zero" in detail
    assert "user_code.py line 2: return x / 0" in detail


def test_a_hanging_test_is_stopped_and_the_others_keep_their_outcomes(verifier: Verifier) -> None:
    code = "def double(x):\n    while x == 2:\n        pass\n    return x * 2\n"
    (verdict,) = verifier.board([candidate(code)], doubling(1, 2, 3)).verdicts
    assert verdict.kind == "stopped"
    assert verdict.stopped is not None
    assert verdict.stopped.limit == "wall"
    assert [outcome.status for outcome in verdict.outcomes] == ["passed", "stopped", "passed"]
    assert "did not return within 1.5 s" in verdict.outcome("test_2").detail


def test_code_that_cannot_be_imported_fails_every_test(verifier: Verifier) -> None:
    (verdict,) = verifier.board([candidate("import nowhere_to_be_found\n")], doubling(1, 2)).verdicts
    assert verdict.kind == "failed"
    assert all("ModuleNotFoundError" in outcome.detail for outcome in verdict.outcomes)


def test_equal_code_is_verified_once_and_reported_for_each_candidate(verifier: Verifier) -> None:
    seen: list[tuple[str, Verdict]] = []
    candidates = [candidate(DOUBLE, "a"), candidate(DOUBLE, "b")]
    board = verifier.board(candidates, doubling(1), lambda one, verdict: seen.append((one.id, verdict)))
    assert board.verdicts[0] is board.verdicts[1]
    assert [name for name, _ in seen] == ["a", "b"]


def test_no_test_at_all_is_not_a_pass(verifier: Verifier) -> None:
    (verdict,) = verifier.board([candidate(DOUBLE)], []).verdicts
    assert verdict.kind == "refused"


def test_a_users_own_file_runs_as_it_stands_with_an_outcome_for_each_case(verifier: Verifier) -> None:
    tests = (
        "import pytest\nfrom user_code import double\n"
        "@pytest.mark.parametrize('n', [1, 2])\ndef test_it(n):\n    assert double(n) == n + n\n"
    )
    verdict = verifier.verify(DOUBLE, tests)
    assert verdict.kind == "passed"
    assert [outcome.test_id for outcome in verdict.outcomes] == ["test_it[1]", "test_it[2]"]

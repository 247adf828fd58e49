from __future__ import annotations

import pytest

from agents.errors import SandboxUnavailable
from agents.records import Candidate, Test
from agents.sandbox import Sandbox, open_sandbox
from agents.verifier.cached_verifier import CachedVerifier

from ..support.boards import value_test

RIGHT = Candidate("right", "def f(x):\n    return x\n", "draft", 1)
WRONG = Candidate("wrong", "def f(x):\n    return x + 1\n", "draft", 1)
TESTS = (value_test("test_1", "f(1)", "1"), value_test("test_2", "f(2)", "2"))


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    try:
        return open_sandbox()
    except SandboxUnavailable as reason:
        pytest.skip(f"no sandbox here: {reason}")


@pytest.fixture
def verifier(sandbox: Sandbox) -> CachedVerifier:
    return CachedVerifier(sandbox)


def test_a_board_tells_right_from_wrong(verifier: CachedVerifier) -> None:
    board = verifier.board([RIGHT, WRONG], TESTS)
    assert [verdict.kind for verdict in board.verdicts] == ["passed", "failed"]
    assert board.verdict("wrong").outcome("test_1").actual == "2"
    verifier.close()


def test_what_was_run_is_not_run_again(verifier: CachedVerifier) -> None:
    first = verifier.board([RIGHT], TESTS)
    second = verifier.board([RIGHT, WRONG], TESTS)
    assert second.verdicts[0] is first.verdicts[0]
    assert verifier.board([WRONG, RIGHT], TESTS).verdicts == second.verdicts[::-1]
    verifier.close()


def test_another_suite_is_another_question(verifier: CachedVerifier) -> None:
    verifier.board([WRONG], TESTS)
    other: tuple[Test, ...] = (value_test("test_3", "f(1)", "2"),)
    assert verifier.board([WRONG], other).verdicts[0].kind == "passed"
    verifier.close()


def test_a_success_that_rests_on_what_the_worker_has_imported_is_none_in_the_cold(
    verifier: CachedVerifier,
) -> None:
    code = "import sys\ndef f(x):\n    return x if 'pytest' in sys.modules else 0\n"
    leaning = Candidate("leaning", code, "draft", 1)
    assert verifier.board([leaning, RIGHT], TESTS).verdicts[0].kind == "passed", "the warm worker hides it no more"
    assert verifier.confirm(leaning, TESTS).kind != "passed"
    assert verifier.confirm(RIGHT, TESTS).kind == "passed"
    verifier.close()

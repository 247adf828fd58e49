"""Boards for tests of the judge, written as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agents.records import Board, Candidate, CandidateOrigin, Outcome, Refusal, Test, TestOrigin, Verdict


def value_test(name: str, call: str, expected: str, origin: TestOrigin = "generated") -> Test:
    source = f"def {name}():\n    assert {call} == {expected}\n"
    return Test(name, source, origin, "from user_code import f\n")


def candidate(name: str, origin: CandidateOrigin = "draft", code: str | None = None) -> Candidate:
    return Candidate(name, code if code is not None else f"# {name}\n", origin, 1)


def outcome(test: Test, returned: str | None, expected: str) -> Outcome:
    """Return what `test` shows on code that returns `returned` (None: it uses a name that is not there;
    `raise X`: it raises X)."""
    if returned is None:
        return Outcome(test.id, "error", "NameError: name 'x' is not defined")
    if returned.startswith("raise "):
        return Outcome(test.id, "error", returned.removeprefix("raise "))
    if returned == expected:
        return Outcome(test.id, "passed")
    return Outcome(test.id, "failed", f"assert {returned} == {expected}", returned, expected)


def board(
    tests: Mapping[Test, str],
    returns: Mapping[Candidate, Sequence[str | None]],
    refused: Sequence[Refusal] = (),
) -> Board:
    """`tests` gives each test's expected value; `returns` what each candidate returns for each test."""
    verdicts = []
    for values in returns.values():
        outcomes = tuple(
            outcome(test, value, expected)
            for (test, expected), value in zip(tests.items(), values, strict=True)
            if all(refusal.test_id != test.id for refusal in refused)
        )
        passed = all(each.status == "passed" for each in outcomes)
        verdicts.append(Verdict("passed" if passed else "failed", outcomes, tuple(refused)))
    return Board(tuple(returns), tuple(tests), tuple(verdicts))

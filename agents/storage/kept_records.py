"""Checks of records that a run has kept, which may be anybody's, beyond what their types say."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..errors import UsageError
from ..records import RoundRecord, Spec
from ..syntax.source import parses


def check_spec(spec: Spec, place: Path) -> None:
    """Raise UsageError where an example or a test of a spec kept at `place` is not Python."""
    examples = (example.code for example in spec.examples)
    _check_tests((*examples, *spec.wrong_tests, *spec.unspecified, spec.user_tests or ""), place)


def check_round(record: RoundRecord, place: Path) -> None:
    """Raise UsageError where parts of a round kept at `place` do not fit, or a test is not Python."""
    for board in (record.board, record.probes or record.board):
        if len(board.candidates) != len(board.verdicts):
            raise UsageError(f"{place} has {len(board.verdicts)} verdicts on other candidates.")
    if record.ruling.leader not in (None, *(each.id for each in record.board.candidates)):
        raise UsageError(f"{place} is led by a candidate that it does not have.")
    tests = (*record.board.tests, *(entry.test for entry in record.ruling.ledger))
    _check_tests({f"{test.preamble}\n{test.source}" for test in tests}, place)


def _check_tests(tests: Iterable[str], place: Path) -> None:
    if not all(map(parses, tests)):
        raise UsageError(f"{place} has a test that is not Python; it can't be shown or resumed.")

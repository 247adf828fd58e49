"""The thresholds of votes and grades; docs/benchmark.md has the benchmark's data on each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The least numbers and shares (0 to 1) for votes and grades."""

    decisive: float = 2 / 3
    """Share of the ballots that a value needs to settle a dispute."""
    settling_drafts: int = 3
    """Independent drafts that must return a value for it to become a test, or to speak against an example."""
    agreeing_drafts: int = 4
    """Independent drafts that must behave alike, on every test and probe, for `verified` and `consensus`. Where
    they do and no draft differs, no further one is asked for."""
    agreeing_share: float = 0.85
    """Share of the drafts with the most trusted tests that must behave alike, for `verified` and `consensus`: all
    of up to six, all but one of seven to twelve (docs/decisions/021-four-drafts-and-no-dissent.md)."""
    stood_share: float = 2 / 3
    """Share of the generated tests that must stand as they were written and pass, for both grades."""
    settling_answers: int = 2
    """Answers of the user with which `stood_beside_answers` replaces `stood_share`."""
    stood_beside_answers: float = 1 / 3
    passed_tests: int = 3
    """Tests that must count and pass, for `consensus`."""


MEASURED = Thresholds()

"""Where decisions fall, in one place; what the benchmark's data says of each is in docs/benchmark.md."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Votes and grades begin here. A share is of 0 to 1."""

    decisive: float = 2 / 3
    """Share of the ballots that a value needs to settle a dispute."""
    agreeing_drafts: int = 2
    """Independent drafts that behave alike, on every test and beyond, for `verified` and `consensus`."""
    verified_share: float = 0.4
    """Share of the drafts with the most trusted tests that must behave alike, for `verified`."""
    consensus_share: float = 0.6
    """Share of the drafts that must behave alike, for `consensus`."""
    passed_tests: int = 3
    """Tests that must count and pass, for `consensus`."""
    stood_share: float = 2 / 3
    """Share of the generated tests that must have stood as they were written, for `consensus`."""
    certain_drafts: int = 3
    """Drafts that behave alike, and nobody otherwise: then no further draft is asked for."""


MEASURED = Thresholds()

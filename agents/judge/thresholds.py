"""Where decisions fall, in one place; what the benchmark's data says of each is in docs/benchmark.md."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Votes and grades begin here. A share is of 0 to 1."""

    decisive: float = 2 / 3
    """Share of the ballots that a value needs to settle a dispute."""
    agreeing_drafts: int = 3
    """Independent drafts that must behave alike, on every test and beyond, for `verified`, for `consensus`, and
    for a value to become a test. As many, and nobody otherwise: then no further draft is asked for."""
    agreeing_share: float = 0.8
    """Share of the drafts with the most trusted tests that must behave alike, for `verified` and `consensus`. At
    this share a second look at more drafts lets less through than the first (docs/simulate_stopping.py)."""
    stood_share: float = 2 / 3
    """Share of the generated tests that must stand as they were written and pass, for both grades."""
    passed_tests: int = 3
    """Tests that must count and pass, for `consensus`."""


MEASURED = Thresholds()

"""The model of a batch on many workers, by which docs/scale.md predicts."""

from __future__ import annotations

import pytest

from docs.measure.scale import throughput


def test_one_worker_never_stands_in_line() -> None:
    assert throughput(1, waiting=3.0, cpu=1.0, cores=2) == pytest.approx(1 / 4)


def test_two_workers_that_need_nothing_but_one_processor_are_as_fast_as_one() -> None:
    assert throughput(2, waiting=0.0, cpu=0.5, cores=1) == pytest.approx(2.0)


def test_the_rate_of_two_workers_is_that_of_the_known_closed_network() -> None:
    """One processor, waiting 1, CPU 1: of two customers the second finds Q(1) = 1/2, so X(2) = 2 / (1 + 3/2)."""
    assert throughput(2, waiting=1.0, cpu=1.0, cores=1) == pytest.approx(0.8)


def test_many_workers_are_bound_by_the_processors() -> None:
    rates = [throughput(workers, waiting=10.0, cpu=1.0, cores=4) for workers in (1, 8, 64, 1000)]
    assert rates == sorted(rates)
    assert rates[-1] == pytest.approx(4.0, rel=0.01)
    assert rates[-1] <= 4.0

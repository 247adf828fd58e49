from __future__ import annotations

import pytest

from agents.errors import BudgetSpent, TotalSpent
from agents.llm_backends.budget import Budget, RunBudget, TotalBudget
from agents.records import Usage
from agents.settings import Totals


def usage(tokens: int, cost: float | None = None) -> Usage:
    return Usage(calls=1, completion_tokens=tokens, cost_usd=cost)


def test_all_runs_spend_from_one_total() -> None:
    total = TotalBudget(Totals(total_tokens=100), Usage())
    first, second = (Budget(shared_budget=RunBudget(total, Usage())) for _ in range(2))
    first.charge(usage(60))
    second.check()
    second.charge(usage(40))
    with pytest.raises(TotalSpent, match=r"tokens reached 100 of 100; raise --total-tokens"):
        first.check()
    assert first.usage.completion_tokens == 60


def test_earlier_sittings_count() -> None:
    total = TotalBudget(Totals(total_cost=1.0), Usage(cost_usd=1.0))
    with pytest.raises(TotalSpent):
        total.check()


def test_recorded_replies_of_a_run_that_goes_on_are_counted_once() -> None:
    total = TotalBudget(Totals(total_tokens=100), usage(90))
    again = Budget(shared_budget=RunBudget(total, usage(90)))
    again.charge(usage(90))
    again.check()
    again.charge(usage(9))
    again.check()
    again.charge(usage(1))
    with pytest.raises(TotalSpent):
        again.check()


def test_seconds_are_those_of_the_sitting_and_bound_a_silent_call() -> None:
    now = [100.0]
    total = TotalBudget(Totals(total_seconds=10), Usage(), clock=lambda: now[0])
    budget = Budget(max_seconds=60, shared_budget=RunBudget(total, Usage()), clock=lambda: now[0])
    assert budget.seconds_left() == 10
    now[0] += 8
    assert budget.seconds_left() == 2
    budget.check()
    with pytest.raises(TotalSpent):
        budget.check(wait=2)


def test_a_runs_own_limit_still_binds() -> None:
    budget = Budget(max_tokens=5, shared_budget=RunBudget(TotalBudget(Totals(total_tokens=100), Usage()), Usage()))
    budget.charge(usage(5))
    with pytest.raises(BudgetSpent):
        budget.check()

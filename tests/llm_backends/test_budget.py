from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from agents.errors import BudgetSpent
from agents.llm_backends.budget import Budget
from agents.records import Usage


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_budget_without_limits_never_ends() -> None:
    budget = Budget()
    budget.charge(Usage(calls=10**6, completion_tokens=10**9, cost_usd=1e6))
    budget.check()
    assert budget.seconds_left() is None


def test_generated_tokens_are_limited_and_prompt_tokens_are_not() -> None:
    budget = Budget(max_tokens=100)
    budget.charge(Usage(prompt_tokens=500, completion_tokens=99))
    budget.check()
    budget.charge(Usage(completion_tokens=1))
    with pytest.raises(BudgetSpent, match=r"tokens reached 100 of 100; raise --max-tokens"):
        budget.check()


def test_an_overdrawn_budget_has_nothing_left_and_not_less() -> None:
    clock = Clock()
    budget = Budget(max_tokens=10, max_seconds=5, clock=clock)
    budget.charge(Usage(completion_tokens=30))
    clock.now += 9
    assert budget.seconds_left() == 0


def test_seconds_are_those_of_the_clock_and_not_of_the_calls() -> None:
    clock = Clock()
    budget = Budget(max_seconds=60, clock=clock)
    budget.charge(Usage(seconds=1000))
    budget.check()
    clock.now += 45
    assert budget.seconds_left() == 15
    clock.now += 15
    with pytest.raises(BudgetSpent) as spent:
        budget.check()
    assert (spent.value.limit, spent.value.value, spent.value.allowed) == ("seconds", 60, 60)


def test_a_wait_that_would_pass_the_limit_spends_it_now() -> None:
    budget = Budget(max_seconds=60, clock=Clock())
    budget.check(wait=59)
    with pytest.raises(BudgetSpent, match="seconds reached 61 of 60"):
        budget.check(wait=61)


def test_cost_is_limited() -> None:
    budget = Budget(max_cost=0.5)
    budget.charge(Usage(calls=1, cost_usd=0.25))
    budget.check()
    budget.charge(Usage(calls=1, cost_usd=0.25))
    with pytest.raises(BudgetSpent) as spent:
        budget.check()
    assert spent.value.limit == "cost"


def test_nothing_is_lost_when_threads_charge_at_once() -> None:
    budget = Budget()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: budget.charge(Usage(calls=1, completion_tokens=3)), range(4000)))
    assert (budget.usage.calls, budget.usage.completion_tokens) == (4000, 12000)

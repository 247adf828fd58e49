from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import pytest

from agents.errors import BudgetSpent, Interrupted, ModelError
from agents.events import Note
from agents.llm_backends.budget import Budget
from agents.llm_backends.call import Caller
from agents.llm_backends.hosted import hosted_model
from agents.llm_backends.pacing import LONGEST_WAIT, PATIENCE_SECONDS, Pacer, backoff_seconds

from ..support.provider import Fails, Handler, Provider, Streams
from .test_call import BUSY, REQUEST, Calls, Scripted, Waits, end, text

LIMITED = ModelError("rate_limit", "Too fast; wait.", transient=True)


class Full(Exception):
    """There is no turn to be had without waiting."""


def free(wait: float) -> float | None:
    """Waits for as long as it takes."""


def at_once(wait: float) -> float | None:
    """Waits for nothing."""
    raise Full(wait)


@dataclass
class Clock:
    """A clock that is set by hand."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def turns(pacer: Pacer, count: int) -> Iterator[None]:
    """Hold `count` turns at once."""
    with ExitStack() as held:
        for _ in range(count):
            held.enter_context(pacer.turn(at_once))
        yield


def fail(pacer: Pacer, fault: ModelError = LIMITED, beside: int = 0) -> None:
    """One request that ends in `fault` while `beside` others are under way and end well afterwards."""
    with turns(pacer, beside), pytest.raises(ModelError), pacer.turn(at_once):
        raise fault


def turns_at_once(pacer: Pacer, most: int = 100) -> int:
    """How many turns can be had at once."""
    with ExitStack() as held:
        for count in range(most):
            try:
                held.enter_context(pacer.turn(at_once))
            except Full:
                return count
    return most


def test_nothing_is_held_back_before_a_limit_was_heard_of() -> None:
    pacer = Pacer()
    assert turns_at_once(pacer) == 100
    assert pacer._limit is None


def test_a_limit_halves_what_is_under_way_and_a_burst_of_them_halves_it_once() -> None:
    pacer = Pacer(Clock())
    with ThreadPoolExecutor(8) as pool:
        sent = threading.Barrier(8, timeout=10)

        def hear() -> None:
            with pacer.turn(free):
                sent.wait()
                raise replaced(retry_after=0.0)

        assert all(
            isinstance(future.exception(10), ModelError) for future in [pool.submit(hear) for _ in range(8)]
        )
    assert pacer._limit == 4
    assert turns_at_once(pacer) == 4


def replaced(retry_after: float | None, kind: str = "rate_limit") -> ModelError:
    return ModelError(kind, "Too fast; wait.", transient=True, retry_after=retry_after)


def test_the_limit_is_at_least_one() -> None:
    pacer = Pacer(Clock())
    for _ in range(3):
        fail(pacer, replaced(0.0))
    assert pacer._limit == turns_at_once(pacer) == 1


def test_a_full_run_of_successes_adds_one_and_only_while_the_limit_holds_back() -> None:
    pacer = Pacer(Clock())
    fail(pacer, replaced(0.0), beside=3)
    assert pacer._limit == 2
    for _ in range(10):
        with pacer.turn(at_once):
            pass
    assert pacer._limit == 2
    for _ in range(2):
        with turns(pacer, 1), pacer.turn(at_once):
            pass
    assert pacer._limit == 3


def test_nobody_asks_before_the_time_that_the_server_named() -> None:
    clock = Clock()
    pacer = Pacer(clock)
    fail(pacer, replaced(7.0))
    clock.now = 6.9
    with pytest.raises(Full) as left, pacer.turn(at_once):
        pass
    assert left.value.args[0] == pytest.approx(0.1)
    clock.now = 7.0
    with pacer.turn(at_once):
        pass


def test_without_a_named_time_the_pause_doubles_until_a_success() -> None:
    clock = Clock()
    pacer = Pacer(clock)
    pauses = []
    for succeed in (False, False, True, False):
        if succeed:
            with pacer.turn(at_once):
                pass
        fail(pacer)
        with pytest.raises(Full) as left, pacer.turn(at_once):
            pass
        pauses.append(left.value.args[0])
        clock.now += pauses[-1]
    assert pauses == [1, 2, 1, 2]


def test_a_busy_server_that_names_a_time_holds_back_all_and_one_that_names_none_only_its_caller() -> None:
    for fault, held_back in ((replaced(5.0, "server_error"), True), (BUSY, False)):
        pacer = Pacer(Clock())
        fail(pacer, fault)
        assert (turns_at_once(pacer) == 0) == held_back


def test_a_wait_that_nobody_has_the_patience_for_holds_nobody_else_up() -> None:
    pacer = Pacer(Clock())
    fail(pacer, replaced(PATIENCE_SECONDS + 1))
    assert turns_at_once(pacer) == 1


def test_who_comes_first_goes_first() -> None:
    pacer = Pacer()
    fail(pacer, replaced(0.0))
    order: list[int] = []

    def ask(number: int) -> None:
        with pacer.turn(free):
            order.append(number)

    with ThreadPoolExecutor(5) as pool, pacer.turn(free):
        for number in range(5):
            pool.submit(ask, number)
            time.sleep(0.03)
    assert order == [0, 1, 2, 3, 4]


# --- callers that share one --------------------------------------------------------------------------------------


def limited_pacer(retry_after: float) -> Pacer:
    """A pacer that has just heard of a limit."""
    pacer = Pacer()
    fail(pacer, replaced(retry_after))
    return pacer


def ended_after(ask: Callable[[], object], expected: type[Exception]) -> float:
    started = time.monotonic()
    with pytest.raises(expected):
        ask()
    return time.monotonic() - started


def test_cancelling_ends_a_callers_wait_for_its_turn_at_once() -> None:
    caller = Caller(Scripted([*text("a"), end()]), Budget(), pacer=limited_pacer(60))
    threading.Timer(0.1, caller.cancel).start()
    assert ended_after(lambda: caller.ask(REQUEST), Interrupted) < 5


def test_a_wait_that_the_budget_does_not_allow_is_not_begun() -> None:
    caller = Caller(Scripted([*text("a"), end()]), Budget(max_seconds=50), pacer=limited_pacer(60))
    assert ended_after(lambda: caller.ask(REQUEST), BudgetSpent) < 5


def test_the_budgets_last_second_ends_a_wait_for_another_caller() -> None:
    pacer = limited_pacer(0.0)
    caller = Caller(Scripted([*text("a"), end()]), Budget(max_seconds=0.3), pacer=pacer)
    with pacer.turn(free):
        assert ended_after(lambda: caller.ask(REQUEST), BudgetSpent) < 5


def test_a_limit_that_one_caller_hears_of_holds_back_another() -> None:
    pacer, waits = Pacer(), Waits()
    first = Scripted([replaced(0.4)], [*text("a"), end()])
    second = Scripted([*text("b"), end()])
    started = time.monotonic()
    with pytest.raises(BudgetSpent):
        Caller(first, Budget(shared_budget=Calls(1)), pacer=pacer, sleep=waits).ask(REQUEST)
    Caller(second, Budget(), pacer=pacer).ask(REQUEST)
    assert time.monotonic() - started >= 0.4


def test_time_spent_waiting_for_others_does_not_use_up_a_callers_patience() -> None:
    clock = Clock()
    pacer = Pacer(clock)
    held = pacer.turn(free)
    fail(pacer, replaced(0.0), beside=0)
    model = Scripted([replaced(0.0)], [*text("a"), end()])
    caller = Caller(model, Budget(), pacer=pacer, sleep=Waits())
    with ThreadPoolExecutor(1) as pool:
        with held:
            asked = pool.submit(caller.ask, REQUEST)
            time.sleep(0.1)
            clock.now = 2 * PATIENCE_SECONDS
        assert asked.result(10).text == "a"


# --- the same, through the real LiteLLM and a server on loopback that limits its rate ----------------------------


class Closed:
    """Refuses every request for `seconds` from the first one on, with the time that is left, and then none."""

    def __init__(self, seconds: float) -> None:
        self.refused = 0
        self._seconds = seconds
        self._opens: float | None = None
        self._lock = threading.Lock()

    def __call__(self, handler: Handler) -> None:
        now = time.monotonic()
        with self._lock:
            self._opens = now + self._seconds if self._opens is None else self._opens
            left = self._opens - now
            self.refused += left > 0
        if left > 0:
            Fails(429, "slow down", headers={"Retry-After-Ms": str(int(left * 1000) + 1)})(handler)
        else:
            Streams(["a"])(handler)


def refusals(provider: Provider, pacer: Pacer | None) -> int:
    """How often 8 threads are refused by a provider that is closed for two seconds, where 7 of them come after the
    first has heard of it. All get their answer in the end."""
    closed, heard = Closed(2.0), threading.Event()
    provider.script(closed)
    model = hosted_model("m", provider.api_base, environ={})

    def ask(seed: int) -> str:
        caller = Caller(
            model, Budget(), pacer=pacer, emit=lambda event: heard.set() if isinstance(event, Note) else None
        )
        return caller.ask(replace(REQUEST, seed=seed)).text

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(ask, 0)
        assert heard.wait(30)
        assert [*pool.map(ask, range(1, 8)), first.result()] == ["a"] * 8
    return closed.refused


@pytest.mark.thorough
def test_callers_that_share_a_pacer_are_refused_far_less_often(provider: Provider) -> None:
    provider.script(Streams(["a"]))
    Caller(hosted_model("m", provider.api_base, environ={}), Budget()).ask(REQUEST)  # imports what LiteLLM needs
    alone, together = refusals(provider, None), refusals(provider, Pacer())
    assert together * 2 <= alone, f"{together} refusals together, {alone} alone"


def test_a_wait_stays_bounded_however_often_there_was_one_before() -> None:
    assert backoff_seconds(5000) == LONGEST_WAIT

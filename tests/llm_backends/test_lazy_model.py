from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from agents.errors import BudgetSpent, Interrupted, ModelError
from agents.llm_backends.budget import Budget
from agents.llm_backends.call import Caller
from agents.llm_backends.lazy_model import LazyModel
from agents.llm_backends.litellm_import import price_usd
from agents.llm_backends.recorded import ReplyStore
from agents.llm_backends.streaming_model import StreamingModel

from .test_call import BAD_KEY, NETWORK, REQUEST, Scripted, end, text


class Opening:
    """Opens a scripted model, counting; the first calls raise `faults`."""

    def __init__(self, *faults: Exception, meanwhile: Callable[[], object] = lambda: None) -> None:
        self.faults = list(faults)
        self.meanwhile = meanwhile
        self.count = 0
        self.model = Scripted([*text("a"), end()])

    def __call__(self) -> StreamingModel:
        self.count += 1
        self.meanwhile()
        if self.faults:
            raise self.faults.pop(0)
        return self.model


def deferred(opening: Opening, companions: list[LazyModel] | None = None) -> LazyModel:
    return LazyModel("openai/scripted", opening, [] if companions is None else companions)


def test_what_is_recorded_opens_no_model(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path, "openai/scripted")
    opening = Opening()
    Caller(opening.model, Budget(), store=store).ask(REQUEST)
    model = deferred(opening)
    caller = Caller(model, Budget(max_cost=1), store=store)
    assert caller.ask(REQUEST).replayed
    assert (model.model_id, opening.count, model.is_open) == ("openai/scripted", 0, False)


def test_threads_that_ask_first_at_once_open_it_once() -> None:
    opening = Opening(meanwhile=lambda: time.sleep(0.1))
    caller = Caller(deferred(opening), Budget())
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda seed: caller.ask(replace(REQUEST, seed=seed)), range(8)))
    assert [reply.text for reply in replies] == ["a"] * 8
    assert opening.count == 1


def test_the_fault_of_opening_comes_out_as_it_is_untried_and_uncharged() -> None:
    opening = Opening(NETWORK)
    budget = Budget()
    caller = Caller(deferred(opening), budget)
    with pytest.raises(ModelError) as error:
        caller.ask(REQUEST)
    assert error.value is NETWORK
    assert (opening.count, budget.usage.calls) == (1, 0)


def test_a_fault_that_may_pass_is_tried_again_by_the_next_request_and_another_is_not() -> None:
    passing, lasting = Opening(NETWORK), Opening(BAD_KEY)
    first, second = (Caller(deferred(opening), Budget()) for opening in (passing, lasting))
    for caller in (first, second):
        with pytest.raises(ModelError):
            caller.ask(REQUEST)
    assert first.ask(REQUEST).text == "a"
    with pytest.raises(ModelError) as error:
        second.ask(REQUEST)
    assert error.value is BAD_KEY
    assert (passing.count, lasting.count) == (2, 1)


def test_what_is_wrong_with_one_model_shows_before_another_is_asked() -> None:
    companions: list[LazyModel] = []
    good, bad = Opening(), Opening(BAD_KEY)
    caller = Caller(deferred(good, companions), Budget())
    deferred(bad, companions)
    with pytest.raises(ModelError) as error:
        caller.ask(REQUEST)
    assert error.value.kind == "bad_key"
    assert good.model.calls == []


def test_cancelling_ends_an_opening_at_once() -> None:
    released = threading.Event()
    caller = Caller(deferred(Opening(meanwhile=lambda: released.wait(20))), Budget())
    threading.Timer(0.1, caller.cancel).start()
    started = time.monotonic()
    with pytest.raises(Interrupted):
        caller.ask(REQUEST)
    assert time.monotonic() - started < 5
    released.set()


def test_the_last_second_of_the_budget_ends_an_opening() -> None:
    released = threading.Event()
    caller = Caller(deferred(Opening(meanwhile=lambda: released.wait(20))), Budget(max_seconds=0.2))
    with pytest.raises(BudgetSpent, match="seconds"):
        caller.ask(REQUEST)
    released.set()


@pytest.mark.parametrize(
    ("model_id", "priced"), [("embedded", 0.0), ("ollama_chat/x", 0.0), ("openai/nobodys", None)]
)
def test_a_price_needs_no_open_model(model_id: str, priced: float | None) -> None:
    assert price_usd(model_id, 10, 10) == priced


def test_closing_closes_what_was_opened_and_nothing_else() -> None:
    closed: list[str] = []

    class Closable(Scripted):
        def close(self) -> None:
            closed.append(self.model_id)

    opening = Opening()
    opening.model = Closable([*text("a"), end()])
    model = deferred(opening)
    model.close()
    assert closed == []
    list(model.open())
    model.close()
    assert closed == ["openai/scripted"]

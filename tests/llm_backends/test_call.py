from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from smolagents.models import ChatMessageStreamDelta
from smolagents.monitoring import TokenUsage

from agents.errors import BudgetSpent, Interrupted, ModelError, UsageError
from agents.events import Event, Note, Streamed
from agents.llm_backends.budget import Budget
from agents.llm_backends.call import TRIES, TRIES_OF_KIND, Caller
from agents.llm_backends.hosted import hosted_model
from agents.llm_backends.recorded import ReplyStore
from agents.llm_backends.streaming_model import FinalDelta
from agents.llm_backends.streams import StreamedReply
from agents.records import Message, Request, Usage

from ..support.provider import Fails, Hangs, Provider, Streams

REQUEST = Request("code_writer", (Message("system", "s" * 40), Message("user", "u" * 40)), 50, 0.5, 3)


def text(*pieces: str) -> list[Any]:
    return [ChatMessageStreamDelta(content=piece) for piece in pieces]


def end(reason: str | None = "stop", prompt: int = 20, completion: int = 4, **more: Any) -> FinalDelta:
    return FinalDelta(token_usage=TokenUsage(prompt, completion), finish_reason=reason, **more)


BUSY = ModelError("server_error", "The server is busy; wait.", transient=True)
NETWORK = ModelError("network", "The server is away; start it.", transient=True)
BAD_KEY = ModelError("bad_key", "The key is wrong; set another.")


class Scripted:
    """Answers each call with the next list of deltas, calls to make meanwhile and errors; the last one repeats."""

    model_id = "openai/scripted"

    def __init__(self, *answers: list[Any]) -> None:
        self.answers = list(answers)
        self.calls: list[dict[str, Any]] = []
        self.closed = threading.Event()

    def generate_stream(self, messages: Any, stop_sequences: Any = None, **params: Any) -> Iterator[Any]:
        self.calls.append({"messages": messages, "stop_sequences": stop_sequences, **params})
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        try:
            for item in answer:
                if isinstance(item, Exception):
                    raise item
                if callable(item):
                    item()
                else:
                    yield item
        finally:
            self.closed.set()


def priced(usd: float | None) -> Callable[[str, int, int, int], float | None]:
    """A price of so many USD a token, whatever the model; None: it is not known."""
    return lambda _, prompt, completion, cached: None if usd is None else usd * (prompt + completion)


class Calls(Budget):
    """A shared budget of at most `most` calls."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.made, self.most = 0, most

    def check(self, wait: float = 0.0) -> None:
        if self.made >= self.most:
            raise BudgetSpent("calls", self.made, self.most)

    def charge(self, usage: Usage) -> None:
        self.made += usage.calls


class Waits:
    """Sleeps no time and remembers how long it should have."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def test_a_reply_carries_text_finish_usage_model_and_speed() -> None:
    final = end(
        prompt=20, completion=4, cached_prompt_tokens=9, drafted_tokens=3, accepted_tokens=2, tokens_per_second=7.5
    )
    reply = Caller(Scripted([*text("def ", "f"), final]), Budget(), price=priced(0.5)).ask(REQUEST)
    assert (reply.text, reply.finish, reply.model) == ("def f", "stop", "openai/scripted")
    assert (reply.tokens_per_second, reply.replayed) == (7.5, False)
    assert replace(reply.usage, seconds=0) == Usage(1, 20, 4, 0, 12.0, 9, 3, 2)


def test_the_model_is_asked_what_the_request_says() -> None:
    model = Scripted([*text("a"), end()])
    Caller(model, Budget()).ask(replace(REQUEST, stop=("END",)))
    call = model.calls[0]
    assert [(m.role.value, m.content[0]["text"]) for m in call["messages"]] == [
        ("system", "s" * 40),
        ("user", "u" * 40),
    ]
    assert (call["stop_sequences"], call["max_tokens"], call["temperature"], call["seed"]) == (["END"], 50, 0.5, 3)


def test_each_piece_is_told_as_it_arrives() -> None:
    heard: list[Event] = []
    Caller(Scripted([*text("a", "b"), end()]), Budget(), emit=heard.append).ask(REQUEST)
    assert heard == [Streamed(REQUEST, "a"), Streamed(REQUEST, "b")]


@pytest.mark.parametrize(("tokens", "cached"), [(-(10**9), 0), (10**20, 0), (4, -1)])
def test_numbers_that_nothing_can_have_cost_are_taken_for_an_estimate(tokens: int, cached: int) -> None:
    """They would be taken off what the limits of a run count."""
    budget = Budget()
    Caller(Scripted([*text("abcd" * 3), end(completion=tokens, cached_prompt_tokens=cached)]), budget).ask(REQUEST)
    assert (budget.usage.prompt_tokens, budget.usage.completion_tokens) == (20, 3)


def test_more_is_cached_of_no_prompt_than_it_has() -> None:
    reply = Caller(Scripted([*text("a"), end(prompt=20, cached_prompt_tokens=10**9)]), Budget()).ask(REQUEST)
    assert reply.usage.cached_prompt_tokens == 20


def test_a_reply_without_end_is_cut_beyond_the_length_that_was_asked_for() -> None:
    model = Scripted([*(ChatMessageStreamDelta(content=f"{number} is no end\n") for number in range(10**5))])
    reply = Caller(model, Budget()).ask(REQUEST)
    assert reply.finish == "length"
    assert len(reply.text) < 40 * REQUEST.max_tokens
    assert model.closed.wait(5)


def test_no_time_goes_into_repetitions_of_a_piece_without_end() -> None:
    reply = StreamedReply(max_tokens=10)
    began = time.monotonic()
    assert reply.take(ChatMessageStreamDelta(content="\n" * 3_000_000))
    assert time.monotonic() - began < 5
    assert reply.finish == "length"


def test_a_reply_cut_at_its_length_says_so() -> None:
    assert Caller(Scripted([*text("a"), end("length")]), Budget()).ask(REQUEST).finish == "length"


def test_a_stop_sequence_ends_the_text_where_the_model_ignores_it() -> None:
    model = Scripted([*text("keep EN", "D drop STOP"), end()])
    assert Caller(model, Budget()).ask(replace(REQUEST, stop=("STOP", "END"))).text == "keep "


def test_halves_of_a_character_are_joined_and_one_alone_is_no_text() -> None:
    reply = Caller(Scripted([*text("a\ud83d", "\ude00 b", "\ud83d c\ude00"), end()]), Budget()).ask(REQUEST)
    assert reply.text == "a\U0001f600 b\ufffd c\ufffd"


def test_a_loop_is_stopped_and_cut_and_its_tokens_are_estimated() -> None:
    model = Scripted([*text(*["    assert f(1) == 2\n"] * 400), end("length")])
    budget = Budget()
    reply = Caller(model, budget).ask(REQUEST)
    assert (reply.finish, reply.text) == ("repetition", "    assert f(1) == 2\n")
    assert model.closed.wait(5)
    assert reply.usage.prompt_tokens == 20
    assert 6 <= reply.usage.completion_tokens <= 40
    assert budget.usage == reply.usage


def test_a_transient_fault_is_tried_again_and_every_try_is_charged() -> None:
    model = Scripted([*text("half"), BUSY], [BUSY], [*text("whole"), end()])
    budget, waits = Budget(), Waits()
    heard: list[Event] = []
    caller = Caller(model, budget, sleep=waits, emit=heard.append)
    reply = caller.ask(REQUEST)
    assert reply.text == "whole"
    assert reply.usage.calls == 3
    assert reply.usage.prompt_tokens == 20 + 0 + 20
    assert reply.usage.completion_tokens == 1 + 0 + 4
    assert budget.usage == reply.usage
    assert [event for event in heard if isinstance(event, Note)] == [
        Note(f"{BUSY} Trying again in {seconds:.0f} s.", warning=True) for seconds in waits.seconds
    ]


def test_waits_grow_and_stay_bounded() -> None:
    waits = Waits()
    with pytest.raises(ModelError, match="busy"):
        Caller(Scripted([BUSY]), Budget(), sleep=waits).ask(REQUEST)
    assert len(waits.seconds) == TRIES - 1
    for seconds, base in zip(waits.seconds, (1, 2, 4, 8, 16), strict=True):
        assert base <= seconds <= base + 1


def test_the_wait_that_the_server_asks_for_is_kept() -> None:
    waits = Waits()
    limited = ModelError("rate_limit", "Too fast; wait.", transient=True, retry_after=20)
    Caller(Scripted([limited], [*text("a"), end()]), Budget(), sleep=waits).ask(REQUEST)
    assert 20 <= waits.seconds[0] <= 21


def test_a_wait_beyond_all_patience_is_not_begun() -> None:
    waits = Waits()
    tomorrow = ModelError("rate_limit", "Come back tomorrow.", transient=True, retry_after=86400)
    with pytest.raises(ModelError, match="tomorrow"):
        Caller(Scripted([tomorrow]), Budget(), sleep=waits).ask(REQUEST)
    assert waits.seconds == []


def test_a_server_that_is_away_is_given_up_sooner() -> None:
    model = Scripted([NETWORK])
    with pytest.raises(ModelError, match="away"):
        Caller(model, Budget(), sleep=Waits()).ask(REQUEST)
    assert len(model.calls) == TRIES_OF_KIND["network"]


def test_a_fatal_fault_is_raised_at_once() -> None:
    model = Scripted([BAD_KEY])
    budget = Budget()
    with pytest.raises(ModelError, match="key is wrong"):
        Caller(model, budget, sleep=Waits()).ask(REQUEST)
    assert (len(model.calls), budget.usage.calls) == (1, 1)


def test_a_bug_is_a_model_error_that_keeps_its_cause() -> None:
    with pytest.raises(ModelError) as error:
        Caller(Scripted([ZeroDivisionError("division")]), Budget()).ask(REQUEST)
    assert error.value.kind == "runtime"
    assert isinstance(error.value.__cause__, ZeroDivisionError)


def test_a_bug_in_what_listens_is_not_laid_at_the_models_door() -> None:
    def broken(event: Event) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Caller(Scripted([*text("a"), end()]), Budget(), emit=broken).ask(REQUEST)


@pytest.mark.parametrize(
    ("answer", "kind", "calls"),
    [
        ([end()], "empty_reply", 2),
        ([*text(" \n"), end()], "empty_reply", 2),
        ([end("length")], "empty_reply", 1),
        ([*text("a"), end("content_filter")], "refusal", 1),
        ([end(refusal="I can't.")], "refusal", 1),
        ([*text("a"), end(None)], "network", 3),
        ([end(None)], "no_chat_reply", 3),
        ([], "no_chat_reply", 3),
    ],
)
def test_a_reply_that_is_no_answer_is_an_error_and_is_charged(answer: list[Any], kind: str, calls: int) -> None:
    budget = Budget()
    with pytest.raises(ModelError) as error:
        Caller(Scripted(answer), budget, sleep=Waits()).ask(REQUEST)
    assert error.value.kind == kind
    assert budget.usage.calls == calls


def test_no_call_is_made_on_a_spent_budget() -> None:
    model = Scripted([*text("a"), end()])
    budget = Budget(max_tokens=4)
    caller = Caller(model, budget)
    caller.ask(REQUEST)
    with pytest.raises(BudgetSpent, match="--max-tokens"):
        caller.ask(REQUEST)
    assert len(model.calls) == 1


def test_no_retry_is_made_on_a_spent_budget() -> None:
    model = Scripted([BUSY])
    with pytest.raises(BudgetSpent, match="calls"):
        Caller(model, Budget(shared_budget=Calls(2)), sleep=Waits()).ask(REQUEST)
    assert len(model.calls) == 2


def test_a_wait_that_would_pass_the_budgets_seconds_spends_it_now() -> None:
    waits = Waits()
    limited = ModelError("rate_limit", "Too fast; wait.", transient=True, retry_after=200)
    with pytest.raises(BudgetSpent, match="--max-seconds") as spent:
        Caller(Scripted([limited]), Budget(max_seconds=100), sleep=waits).ask(REQUEST)
    assert waits.seconds == []
    assert spent.value.__cause__ is limited


def test_a_silent_model_is_left_when_the_budgets_seconds_are_over() -> None:
    released = threading.Event()
    budget = Budget(max_seconds=0.2)
    started = time.monotonic()
    with pytest.raises(BudgetSpent, match="seconds"):
        Caller(Scripted([*text("a"), lambda: released.wait(20), end()]), budget).ask(REQUEST)
    assert time.monotonic() - started < 5
    assert budget.usage.completion_tokens == 1
    released.set()


def test_a_cost_limit_is_refused_where_no_price_is_known() -> None:
    with pytest.raises(UsageError, match=r"--max-cost can't be kept.*openai/scripted"):
        Caller(Scripted([*text("a"), end()]), Budget(max_cost=1), price=priced(None)).ask(REQUEST)
    Caller(Scripted([*text("a"), end()]), Budget(max_cost=1), price=priced(0.0)).ask(REQUEST)


def test_a_cost_limit_binds() -> None:
    caller = Caller(Scripted([*text("a"), end(prompt=20, completion=4)]), Budget(max_cost=0.2), price=priced(0.01))
    assert caller.ask(REQUEST).usage.cost_usd == pytest.approx(0.24)
    with pytest.raises(BudgetSpent, match="--max-cost"):
        caller.ask(REQUEST)


def test_a_recorded_reply_is_replayed_without_a_call_and_charged_as_it_was(tmp_path: Path) -> None:
    model = Scripted([BUSY], [*text("ans", "wer"), end()])
    live = Caller(model, Budget(), store=ReplyStore(tmp_path, model.model_id), sleep=Waits()).ask(REQUEST)
    budget = Budget()
    heard: list[Event] = []
    caller = Caller(None, budget, store=ReplyStore(tmp_path), emit=heard.append)
    spent = replace(live.usage, replayed=2)
    assert caller.ask(REQUEST) == replace(live, usage=spent, replayed=True)
    assert budget.usage == spent
    assert heard == [Streamed(REQUEST, "answer")]
    assert len(model.calls) == 2


def test_a_resumed_run_asks_only_what_it_has_not_heard_yet(tmp_path: Path) -> None:
    model = Scripted([*text("a"), end()])
    store = ReplyStore(tmp_path, model.model_id)
    Caller(model, Budget(), store=store).ask(REQUEST)
    caller = Caller(model, Budget(), store=store)
    assert caller.ask(REQUEST).replayed
    assert not caller.ask(replace(REQUEST, seed=99)).replayed
    assert len(model.calls) == 2


def test_a_failed_attempt_records_nothing(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        Caller(Scripted([BAD_KEY]), Budget(), store=ReplyStore(tmp_path, "m")).ask(REQUEST)
    assert list(tmp_path.rglob("*.json")) == []


def test_without_a_model_what_is_not_recorded_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="--record") as error:
        Caller(None, Budget(), store=ReplyStore(tmp_path)).ask(REQUEST)
    assert error.value.kind == "not_recorded"


def test_several_requests_are_answered_at_once() -> None:
    together = threading.Barrier(4, timeout=10)
    model = Scripted([*text("a"), together.wait, end()])
    budget = Budget()
    caller = Caller(model, budget)
    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda seed: caller.ask(replace(REQUEST, seed=seed)), range(4)))
    assert [reply.text for reply in replies] == ["a"] * 4
    assert budget.usage.calls == 4


def ended_by(caller: Caller, ask: Callable[[], object]) -> tuple[BaseException, float]:
    """Return what `ask` raises when the caller is cancelled meanwhile, and after how many seconds."""
    threading.Timer(0.1, caller.cancel).start()
    started = time.monotonic()
    with pytest.raises(Interrupted) as error:
        ask()
    return error.value, time.monotonic() - started


def test_cancelling_ends_a_silent_call_at_once_and_refuses_the_next() -> None:
    released = threading.Event()
    model = Scripted([*text("a"), lambda: released.wait(20), *text("b"), end()])
    caller = Caller(model, Budget())
    _, seconds = ended_by(caller, lambda: caller.ask(REQUEST))
    assert seconds < 5
    released.set()
    assert model.closed.wait(5)
    with pytest.raises(Interrupted):
        caller.ask(REQUEST)
    assert len(model.calls) == 1


def test_cancelling_ends_a_wait_between_tries_at_once() -> None:
    limited = ModelError("rate_limit", "Too fast; wait.", transient=True, retry_after=30)
    caller = Caller(Scripted([limited]), Budget())
    assert ended_by(caller, lambda: caller.ask(REQUEST))[1] < 5


def test_cancelling_frees_every_thread_of_a_pool() -> None:
    released = threading.Event()
    caller = Caller(Scripted([lambda: released.wait(20), end()]), Budget())
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(caller.ask, replace(REQUEST, seed=seed)) for seed in range(4)]
        threading.Timer(0.1, caller.cancel).start()
        started = time.monotonic()
        assert all(isinstance(future.exception(10), Interrupted) for future in asked)
    assert time.monotonic() - started < 5
    released.set()


# --- the same, through the real LiteLLM and a server on loopback -------------------------------------------------


def test_a_busy_server_is_asked_again_and_by_nobody_else(provider: Provider) -> None:
    provider.script(Fails(500, "boom"), Fails(429, "slow", headers={"Retry-After": "2"}), Streams(["a"]))
    waits = Waits()
    caller = Caller(hosted_model("m", provider.api_base, environ={}), Budget(), sleep=waits)
    reply = caller.ask(REQUEST)
    assert (reply.text, reply.usage.calls, len(provider.requests)) == ("a", 3, 3)
    assert 2 <= waits.seconds[1] <= 3


def test_a_server_that_goes_away_is_asked_again_and_what_it_sent_is_charged(provider: Provider) -> None:
    provider.script(Streams(["half", " of it"], cut=True), Streams(["whole"], usage=(10, 2, 0)))
    reply = Caller(hosted_model("m", provider.api_base, environ={}), Budget(), sleep=Waits()).ask(REQUEST)
    assert (reply.text, reply.usage.calls) == ("whole", 2)
    assert reply.usage.completion_tokens == 2 + 2


def test_one_hosted_model_answers_several_requests_at_once(provider: Provider) -> None:
    provider.script(Streams(["a", "b"], pause=0.05))
    budget = Budget()
    caller = Caller(hosted_model("m", provider.api_base, environ={}), budget)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda seed: caller.ask(replace(REQUEST, seed=seed)), range(16)))
    assert [reply.text for reply in replies] == ["ab"] * 16
    assert sorted(body["seed"] for body in provider.requests) == list(range(16))
    assert budget.usage.calls == 16


def test_a_page_instead_of_a_reply_is_an_error_after_three_tries(provider: Provider) -> None:
    provider.script(lambda handler: handler.send_text(200, "<html>Welcome</html>", "text/html"))
    with pytest.raises(ModelError, match="sent no chat reply; check --api-base"):
        Caller(hosted_model("m", provider.api_base, environ={}), Budget(), sleep=Waits()).ask(REQUEST)
    assert len(provider.requests) == 3


def test_a_loop_closes_the_connection(provider: Provider) -> None:
    provider.script(Streams(["    assert f(1) == 2\n"] * 2000, pause=0.002))
    reply = Caller(hosted_model("m", provider.api_base, environ={}), Budget()).ask(REQUEST)
    assert reply.finish == "repetition"
    assert provider.disconnected.wait(5)


def test_an_interrupt_ends_the_process_while_its_threads_hang_in_calls(provider: Provider, tmp_path: Path) -> None:
    released = threading.Event()
    provider.script(Hangs(released))
    program = f"""
from concurrent.futures import ThreadPoolExecutor
from agents.llm_backends.budget import Budget
from agents.llm_backends.call import Caller
from agents.llm_backends.hosted import hosted_model
from agents.records import Message, Request

caller = Caller(hosted_model("m", {provider.api_base!r}, environ={{}}), Budget())
request = Request("critic", (Message("user", "hi"),), 9, 0.0, 0)
with ThreadPoolExecutor(2) as pool:
    asked = [pool.submit(caller.ask, request) for _ in range(2)]
    try:
        asked[0].result()
    except KeyboardInterrupt:
        caller.cancel()
        raise SystemExit(130)
"""
    environment = {"PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(tmp_path)}
    process = subprocess.Popen([sys.executable, "-c", program], env=environment)
    try:
        assert provider.waits_for_requests(2, seconds=60)
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert time.monotonic() - started < 10
    finally:
        process.kill()
        process.wait()
        released.set()

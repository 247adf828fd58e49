from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from agents.errors import ReplyError
from agents.records import Message, Reply, Request
from agents.roles.ask import CORRECTION_TEMPERATURE, ask_all, ask_until_readable

REQUEST = Request("code_writer", (Message("system", "s"), Message("user", "u")), 100, 0.0, 7)


class Model:
    """Answers from a list and keeps what it was asked."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> Reply:
        self.asked.append(request)
        return Reply(self.texts.pop(0), "stop")


def read(reply: Reply) -> str:
    if "good" not in reply.text:
        raise ReplyError("it holds no code")
    return reply.text


def test_a_usable_reply_is_asked_for_once() -> None:
    model = Model("good")
    assert ask_until_readable(model, REQUEST, read) == "good"
    assert model.asked == [REQUEST]


def test_an_unusable_reply_is_asked_for_again_with_the_reason() -> None:
    model = Model("bad", "good now")
    assert ask_until_readable(model, REQUEST, read) == "good now"
    first, second = model.asked
    assert second.messages[:2] == first.messages
    assert [message.role for message in second.messages[2:]] == ["assistant", "user"]
    assert second.messages[2].content == "bad"
    assert "it holds no code" in second.messages[3].content


def test_it_is_never_asked_for_again_at_temperature_0_where_the_same_text_would_come_back() -> None:
    for before, after in ((0.0, CORRECTION_TEMPERATURE), (0.5, 0.5)):
        model = Model("bad", "good now")
        ask_until_readable(model, replace(REQUEST, temperature=before), read)
        assert model.asked[1].temperature == after


def test_it_is_asked_again_only_once() -> None:
    model = Model("bad", "bad again", "good")
    with pytest.raises(ReplyError):
        ask_until_readable(model, REQUEST, read)
    assert len(model.asked) == 2


def test_calls_run_together_and_their_results_keep_the_order() -> None:
    meeting = threading.Barrier(3, timeout=10)

    def call(number: int) -> int:
        meeting.wait()
        time.sleep(0.05 * (3 - number))
        return number

    assert ask_all([lambda n=n: call(n) for n in range(3)], 3) == [0, 1, 2]  # type: ignore[misc]


def test_one_at_a_time_runs_in_the_callers_thread() -> None:
    here = threading.get_ident()
    assert ask_all([threading.get_ident, threading.get_ident], 1) == [here, here]


def test_the_first_error_comes_out() -> None:
    def fail() -> int:
        raise ReplyError("no")

    with pytest.raises(ReplyError):
        ask_all([lambda: 1, fail], 2)


def test_the_others_end_before_the_error_of_one_comes_out() -> None:
    ended = threading.Event()

    def slow() -> None:
        time.sleep(0.3)
        ended.set()

    def fail() -> None:
        raise ReplyError("no")

    with pytest.raises(ReplyError):
        ask_all([fail, slow], 2)
    assert ended.is_set()

"""Requests of the roles: a reply that can't be used is asked for once more, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import TypeVar

from ..errors import ReplyError
from ..records import Message, Reply, Request

T = TypeVar("T")
CORRECTION_TEMPERATURE = 0.8
"""For the correction of a reply at temperature 0: at 0 again, 56 of 63 recorded corrections were the same text."""
Ask = Callable[[Request], Reply]


@dataclass(frozen=True, slots=True)
class ReplyLengths:
    """The longest reply of each kind, in tokens. A small model that repeats itself writes up to the limit."""

    code: int
    tests: int


SMALL_MODEL = ReplyLengths(code=1024, tests=768)
LARGE_MODEL = ReplyLengths(code=16_384, tests=16_384)


def ask_until_readable(ask: Ask, request: Request, read: Callable[[Reply], T]) -> T:
    """Return what `read` makes of the reply to `request`; where it raises ReplyError, ask once more with the
    reason. Raises ReplyError when the second reply can't be read either, and the errors of `ask`."""
    reply = ask(request)
    try:
        return read(reply)
    except ReplyError as reason:
        return read(ask(_correction(request, reply, str(reason))))


def _correction(request: Request, reply: Reply, reason: str) -> Request:
    cut = reply.text if reply.finish == "stop" else reply.text[:1000]
    complaint = (
        f"That reply can't be used: {reason}. Answer again, with one complete file in one Python code block."
    )
    asked = request.messages[:-1] if request.messages[-1].role == "assistant" else request.messages
    said = (Message("assistant", cut), Message("user", complaint))
    warmer = request.temperature or CORRECTION_TEMPERATURE
    return replace(request, messages=(*asked, *said), temperature=warmer, seed=request.seed + 1)


def ask_all(calls: Sequence[Callable[[], T]], at_once: int) -> list[T]:
    """Return the results of `calls`, in order; up to `at_once` of them run at the same time, in threads.

    The first error is raised after all calls have ended, since their replies are paid for; an interrupt does not
    wait. With `at_once` 1 they run in this thread.
    """
    if at_once <= 1 or len(calls) <= 1:
        return [call() for call in calls]
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="ask")
    try:
        asked = [pool.submit(call) for call in calls]
        wait(asked)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return [each.result() for each in asked]

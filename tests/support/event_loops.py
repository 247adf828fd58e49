"""Run coroutines of tests."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run `coroutine` with `asyncio.run` in a thread of its own.

    LiteLLM gives the main thread an event loop (`asyncio.get_event_loop`); `asyncio.run` there would
    drop it unclosed, and whichever test collects it would fail.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
